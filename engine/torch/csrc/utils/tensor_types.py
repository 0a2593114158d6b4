"""torch/csrc/utils/tensor_types.cpp: the names of the old tensor types, ``torch.FloatTensor``."""

from __future__ import annotations

from engine.aten.core.tensor import Tensor
from engine.c10.scalar_type import ScalarType, all_scalar_types

__all__ = ["options_from_string", "options_to_string"]


def options_to_string(tensor: Tensor) -> str:
    """``torch.FloatTensor``, or ``torch.meta.FloatTensor`` away from the CPU."""
    where = "" if tensor._device.type == "cpu" else f"{tensor._device.type}."
    return f"torch.{where}{tensor._dtype.name}Tensor"


def options_from_string(name: str) -> ScalarType | None:
    """The element type of ``torch.FloatTensor``; None for another name."""
    for dtype in all_scalar_types():
        if name == f"torch.{dtype.name}Tensor":
            return dtype
    return None
