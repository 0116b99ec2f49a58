"""transformers on PyTorch, eager, static batch, the checkpoint's dtype: peer_transformers.py MODEL_DIR [--loads ...]."""

from __future__ import annotations

import workloads


def main() -> None:
    given = workloads.arguments(__doc__)
    import torch
    import transformers

    torch.set_num_threads(given.threads)
    model = transformers.AutoModelForCausalLM.from_pretrained(given.model, dtype="auto").eval()
    model.generation_config.eos_token_id = None
    model.generation_config.pad_token_id = 0

    def generate(texts: list[list[int]], new_tokens: int) -> object:
        tokens = torch.tensor(texts)
        with torch.inference_mode():
            return model.generate(input_ids=tokens, attention_mask=torch.ones_like(tokens), do_sample=False, max_new_tokens=new_tokens)

    speeds = workloads.measure(generate, given.loads)
    workloads.report("transformers", speeds, torch=torch.__version__, transformers=transformers.__version__)


if __name__ == "__main__":
    main()
