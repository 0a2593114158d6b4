"""torch/version.py: the release whose behaviour is modelled, and what it was built with."""

from __future__ import annotations

__all__ = ["__version__", "cuda", "debug", "hip"]

__version__ = "2.13.0"
debug = False
cuda: str | None = None
hip: str | None = None
