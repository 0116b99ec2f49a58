"""Traces Hugging Face language models with torch.export, without loading their weights. Run as `python -m workbench_tracer`."""
