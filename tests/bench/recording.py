"""What a recording costs: ``(x * x).mean().backward()`` on 3 x 4, untraced, recorded in memory and to a file.

    python tests/bench/recording.py

Each round times the three side by side; the ratios are of the medians over the rounds.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import tracer
from engine import torch

ROUNDS = 15
STEPS = 100


def step() -> None:
    x = torch.ones(3, 4, requires_grad=True)
    (x * x).mean().backward()


def timed(run: Callable[[], None]) -> float:
    """Seconds a step."""
    start = time.perf_counter()
    run()
    return (time.perf_counter() - start) / STEPS


def plain() -> None:
    for _ in range(STEPS):
        step()


def in_memory() -> None:
    with tracer.record():
        plain()


def to_file(path: Path) -> Callable[[], None]:
    def run() -> None:
        with tracer.record(path=path):
            plain()

    return run


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        ways = {
            "untraced": plain,
            "in memory": in_memory,
            "to a file": to_file(Path(folder) / "step.trace"),
            "to a .gz": to_file(Path(folder) / "step.trace.gz"),
        }
        for run in ways.values():
            run()
        taken: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(ROUNDS):
            for name, run in ways.items():
                taken[name].append(timed(run))
    base = statistics.median(taken["untraced"])
    print(f"{'':12}{'µs a step':>12}{'ratio':>8}")
    for name, times in taken.items():
        median = statistics.median(times)
        print(f"{name:12}{median * 1e6:12.0f}{median / base:8.2f}")


if __name__ == "__main__":
    main()
