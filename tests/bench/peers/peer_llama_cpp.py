"""llama.cpp through llama-cpp-python, bf16 weights, one sequence: peer_llama_cpp.py MODEL.gguf [--loads decode,prefill].

Requests at once need llama.cpp's own tool (llama-batched-bench); the Python package runs one sequence.
"""

from __future__ import annotations

import workloads


def main() -> None:
    given = workloads.arguments(__doc__)
    import llama_cpp

    model = llama_cpp.Llama(str(given.model), n_ctx=1024, n_batch=512, n_threads=given.threads, n_threads_batch=given.threads, verbose=False)

    def generate(texts: list[list[int]], new_tokens: int) -> object:
        (text,) = texts
        model.reset()
        tokens = model.generate(text, temp=0.0, reset=True)
        return [next(tokens) for _ in range(new_tokens)]

    loads = [load for load in given.loads if load != "mixed"]
    workloads.report("llama.cpp", workloads.measure(generate, loads), llama_cpp_python=llama_cpp.__version__)


if __name__ == "__main__":
    main()
