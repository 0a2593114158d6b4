"""torch/csrc/utils/tensor_list.cpp: ``tensor.tolist()``."""

from __future__ import annotations

from typing import Any

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor
from engine.c10 import exception

__all__ = ["tensor_to_list"]


@doors.frame("torch::utils::tensor_to_list", layer="python")
def tensor_to_list(tensor: Tensor) -> Any:
    """Nested lists of Python numbers; a 0-dim tensor is a number."""
    data = at.resolve_neg.call(at.resolve_conj.call(tensor))
    exception.TORCH_CHECK_NOT_IMPLEMENTED(data._storage.buffer is not None, "Cannot copy out of meta tensor; no data!")
    array = data.array
    return array.tolist() if array.dtype.kind in "biufc" else array.astype("float64").tolist()
