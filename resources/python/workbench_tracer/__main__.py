"""python -m workbench_tracer COMMAND ...: every command is a module that is imported only when it is asked for."""

from __future__ import annotations

import sys

from .commands import main

if __name__ == "__main__":
    sys.exit(main())
