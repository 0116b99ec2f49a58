"""Rewrites a .cu file for a C++ compiler: translate.py kernels.cu kernels.cpp.

What nvcc's language adds to C++ and no header can define becomes calls of device.h:

    kernel<T><<<grid, threads, bytes, stream>>>(call)   launcher("kernel<T>", kernel<T>, grid, ...)(call)
    extern __shared__ float4 memory[];                  float4* const memory = ...dynamicShared();
    __shared__ S values[32];                            a Shared<S[32]> and a reference to this block's

Lines stay where they are, and compilers and debuggers name those of the .cu file.
"""

import pathlib
import re
import sys

SPACE = "workbench::emulated_cuda::"

LAUNCH = re.compile(r"([\w:]+(?:<[\w:, ]*>)?)(\s*)<<<(.*?)>>>(?=\s*\()", re.DOTALL)
DYNAMIC = re.compile(r"extern __shared__ ([\w:]+) (\w+)\[\];")
STATIC = re.compile(r"__shared__ ([^;\[\]]+?) (\w+)((?:\[\w+\])*);")


def launch(match: re.Match[str]) -> str:
    kernel, space, configuration = match.groups()
    return f'{SPACE}launcher("{kernel}", {kernel},{space or " "}{configuration})'


def dynamic(match: re.Match[str]) -> str:
    element, name = match.groups()
    return f"{element}* const {name} = static_cast<{element}*>({SPACE}dynamicShared());"


def static(match: re.Match[str]) -> str:
    element, name, sizes = match.groups()
    return f"static {SPACE}Shared<{element}{sizes}> {name}Shared; auto& {name} = {name}Shared.inBlock();"


def translate(source: pathlib.Path) -> str:
    text = source.read_text(encoding="utf-8")
    for pattern, replacement in ((LAUNCH, launch), (DYNAMIC, dynamic), (STATIC, static)):
        text = pattern.sub(replacement, text)
    left = re.search(r"<<<|__shared__", text)
    if left:
        line = text.count("\n", 0, left.start()) + 1
        sys.exit(f"{source}:{line}: translate.py does not know this form of {left.group()}; write it as in "
                 "the other kernels, or teach it the form.")
    return f'#include "tests/runtime/ops/emulated_cuda/device.h"\n#line 1 "{source}"\n{text}'


if __name__ == "__main__":
    pathlib.Path(sys.argv[2]).write_text(translate(pathlib.Path(sys.argv[1])), encoding="utf-8")
