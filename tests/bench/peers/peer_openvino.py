"""OpenVINO GenAI, continuous batching, bf16 weights, products and cache: peer_openvino.py IR_DIR [--loads ...].

The IR: `optimum-cli export openvino -m MODEL_DIR --task text-generation-with-past IR_DIR`.
"""

from __future__ import annotations

import workloads


def main() -> None:
    given = workloads.arguments(__doc__)
    import numpy
    import openvino
    import openvino_genai

    scheduler = openvino_genai.SchedulerConfig()
    scheduler.cache_size = 1  # GB
    scheduler.enable_prefix_caching = False
    options = {
        "INFERENCE_NUM_THREADS": given.threads,
        "INFERENCE_PRECISION_HINT": "bf16",
        "KV_CACHE_PRECISION": "bf16",
    }
    pipeline = openvino_genai.ContinuousBatchingPipeline(str(given.model), scheduler, "CPU", options)

    def generate(texts: list[list[int]], new_tokens: int) -> object:
        config = openvino_genai.GenerationConfig()
        config.max_new_tokens = config.min_new_tokens = new_tokens
        config.ignore_eos = True
        config.do_sample = False
        inputs = [openvino.Tensor(numpy.array([text], dtype=numpy.int64)) for text in texts]
        results = pipeline.generate(inputs, [config] * len(inputs))
        assert all(len(result.m_generation_ids[0]) == new_tokens for result in results)
        return results

    workloads.report("openvino-genai", workloads.measure(generate, given.loads), openvino_genai=openvino_genai.__version__)


if __name__ == "__main__":
    main()
