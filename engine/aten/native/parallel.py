"""aten/src/ATen/Parallel.h: how work is split among threads.

Differs: nothing runs in parallel; the ranges are those that PyTorch's threads would get, because a sum depends on them.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

__all__ = ["GRAIN_SIZE", "get_num_threads", "parallel_ranges", "set_num_threads"]

GRAIN_SIZE = 32768

_num_threads: int | None = None


def get_num_threads() -> int:
    global _num_threads
    if _num_threads is None:
        named = os.environ.get("OMP_NUM_THREADS", "")
        if named.isdigit() and int(named) > 0:
            _num_threads = int(named)
        else:
            _num_threads = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return _num_threads


def set_num_threads(nthreads: int) -> None:
    global _num_threads
    _num_threads = nthreads


def parallel_ranges(begin: int, end: int, grain_size: int) -> Iterator[tuple[int, int, int]]:
    """(thread number, begin, end) of what ``parallel_for`` hands out."""
    if begin >= end:
        return
    threads = get_num_threads()
    if grain_size > 0:
        threads = min(threads, -(-(end - begin) // grain_size))
    chunk = -(-(end - begin) // threads)
    for thread in range(threads):
        first = begin + thread * chunk
        if first < end:
            yield thread, first, min(end, first + chunk)
