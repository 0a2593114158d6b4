"""torch/random.py: the default generator of random numbers."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from engine.aten.core.generator import Generator, default_cpu_generator

__all__ = [
    "default_generator",
    "fork_rng",
    "get_rng_state",
    "initial_seed",
    "manual_seed",
    "seed",
    "set_rng_state",
]

default_generator = default_cpu_generator


def set_rng_state(new_state: Any) -> None:
    """Go back to a state that ``get_rng_state`` gave."""
    default_generator.set_state(new_state)


def get_rng_state() -> Any:
    """The state of the default generator, as a ByteTensor."""
    return default_generator.get_state()


def manual_seed(seed: Any) -> Generator:
    """Seed the default generator."""
    return default_generator.manual_seed(int(seed))


def seed() -> int:
    """Seed the default generator from the operating system; returns the seed."""
    return default_generator.seed()


def initial_seed() -> int:
    return default_generator.initial_seed()


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True) -> Iterator[None]:
    """Within it random numbers are drawn without effect on what comes after."""
    state = get_rng_state() if enabled else None
    try:
        yield
    finally:
        if enabled:
            set_rng_state(state)
