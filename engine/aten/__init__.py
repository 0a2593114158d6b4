"""aten/src/ATen: the operators, their dispatcher and their kernels."""

from engine.aten.core.ops import at

__all__ = ["at"]
