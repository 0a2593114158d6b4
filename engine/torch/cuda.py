"""torch/cuda/__init__.py, as much of it as a program asks before it decides to stay on the CPU."""

from __future__ import annotations

from typing import NoReturn

from engine.torch.csrc.utils.device_lazy_init import device_lazy_init

__all__ = ["current_device", "device_count", "init", "is_available", "is_initialized", "manual_seed", "manual_seed_all"]


def is_available() -> bool:
    return False


def is_initialized() -> bool:
    return False


def device_count() -> int:
    return 0


def init() -> NoReturn:
    device_lazy_init("cuda")


def current_device() -> NoReturn:
    device_lazy_init("cuda")


def manual_seed(seed: int) -> None:
    """Ignored, as it is where there is no GPU."""


def manual_seed_all(seed: int) -> None:
    """Ignored, as it is where there is no GPU."""
