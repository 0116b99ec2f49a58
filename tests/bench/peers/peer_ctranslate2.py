"""CTranslate2, static batch: peer_ctranslate2.py CT2_DIR [--loads ...] [--compute-type float32].

The directory: `ct2-transformers-converter --model MODEL_DIR --output_dir CT2_DIR`. Of bfloat16 it needs a processor and a build that have it;
"auto" takes the fastest type that both have.
"""

from __future__ import annotations

import argparse
import json

import workloads


def main() -> None:
    given = workloads.arguments(__doc__, passes_on=True)
    own = argparse.ArgumentParser()
    own.add_argument("--compute-type", default="auto")
    compute_type = own.parse_args(given.rest).compute_type
    import ctranslate2

    words = json.loads((given.model / "vocabulary.json").read_text())
    generator = ctranslate2.Generator(str(given.model), device="cpu", compute_type=compute_type, inter_threads=1, intra_threads=given.threads)

    def generate(texts: list[list[int]], new_tokens: int) -> object:
        prompts = [[words[token] for token in text] for text in texts]
        results = generator.generate_batch(
            prompts, max_length=new_tokens, min_length=new_tokens, include_prompt_in_result=False, beam_size=1, sampling_topk=1, end_token=[])
        assert all(len(result.sequences_ids[0]) == new_tokens for result in results)
        return results

    speeds = workloads.measure(generate, given.loads)
    workloads.report("ctranslate2", speeds, ctranslate2=ctranslate2.__version__, compute_type=generator.compute_type)


if __name__ == "__main__":
    main()
