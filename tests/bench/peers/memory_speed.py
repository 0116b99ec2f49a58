"""What the machine's memory gives at the moment: a virtual machine whose two cores move between the caches of its host was seen to change
from 42 to 70 GB/s and back within seconds, and decoding, which reads all weights for every token, with it.
"""

from __future__ import annotations

import ctypes
import mmap
import statistics
import time
from concurrent.futures import ThreadPoolExecutor

THREADS = 2  # as the peers have
BYTES = 128 << 20  # of each thread: beyond the caches
PASSES = 5
ALIKE = 0.15  # readings that differ by less are the same speed

_libc = ctypes.CDLL(None)
_libc.memchr.restype = ctypes.c_void_p
_libc.memchr.argtypes = [ctypes.c_void_p, ctypes.c_int, ctypes.c_size_t]


class MemorySpeed:
    """Reads memory of its own with memchr, which Python runs side by side."""

    def __init__(self) -> None:
        self._maps = [mmap.mmap(-1, BYTES, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS) for _ in range(THREADS)]
        for memory in self._maps:
            memory.madvise(mmap.MADV_HUGEPAGE)
        self._places = [ctypes.addressof(ctypes.c_char.from_buffer(memory)) for memory in self._maps]
        for place in self._places:
            ctypes.memset(place, 1, BYTES)
        self._threads = ThreadPoolExecutor(THREADS)

    def measure(self) -> float:
        """GB/s of all threads together, the median of PASSES passes."""
        self._pass()  # wakes the threads
        return statistics.median(THREADS * BYTES / self._pass() / 1e9 for _ in range(PASSES))

    def _pass(self) -> float:
        started = time.perf_counter()
        list(self._threads.map(lambda place: _libc.memchr(place, 0, BYTES), self._places))
        return time.perf_counter() - started


def alike(speeds: list[float]) -> bool:
    """Whether the memory was as fast for all of them."""
    return min(speeds) >= (1 - ALIKE) * max(speeds)
