"""OpenVINO GenAI, continuous batching, bf16 weights: peer_openvino.py IR_DIR [--loads ...].

Products and cache are bf16 where the processor has instructions for it, else f32: OpenVINO takes no other cache then.

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
    scheduler.max_num_batched_tokens = 2048  # by default 256: a prompt of 512 would be cut in two
    precision = "bf16" if "BF16" in openvino.Core().get_property("CPU", "OPTIMIZATION_CAPABILITIES") else "f32"
    options = {"INFERENCE_NUM_THREADS": given.threads, "INFERENCE_PRECISION_HINT": precision, "KV_CACHE_PRECISION": precision}
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

    workloads.report("openvino-genai", workloads.measure(generate, given.loads), openvino_genai=openvino_genai.__version__, precision=precision)


if __name__ == "__main__":
    main()
