"""aten/src/ATen/TensorIterator.h: what an operation asks of its iterator, and what the iterator knows of an operand."""

from __future__ import annotations

from dataclasses import dataclass, field

from engine.aten.core.tensor import Tensor
from engine.c10.device import Device
from engine.c10.scalar_type import ScalarType, Undefined

__all__ = ["OperandInfo", "TensorIteratorConfig"]

Sizes = tuple[int, ...]


@dataclass(slots=True)
class TensorIteratorConfig:
    """What an operation asks of its iterator; outputs come first in ``tensors``."""

    tensors: list[Tensor | None] = field(default_factory=list)
    num_outputs: int = 0
    check_mem_overlap: bool = True
    allow_cpu_scalars: bool = False
    is_reduction: bool = False
    resize_outputs: bool = True
    check_all_same_dtype: bool = True
    check_all_same_device: bool = True
    enforce_safe_casting_to_output: bool = False
    promote_inputs_to_common_dtype: bool = False
    promote_integer_inputs_to_float: bool = False
    cast_common_dtype_to_outputs: bool = False
    static_shape: Sizes | None = None

    def add_output(self, output: Tensor | None) -> TensorIteratorConfig:
        self.tensors.insert(self.num_outputs, output)
        self.num_outputs += 1
        return self

    def add_input(self, *inputs: Tensor) -> TensorIteratorConfig:
        self.tensors.extend(inputs)
        return self


class OperandInfo:
    """An output or input; ``original_tensor`` is what the caller gave where ``tensor`` is a converted temporary."""

    __slots__ = (
        "current_dtype",
        "device",
        "is_output",
        "is_read_write",
        "original_tensor",
        "stride_bytes",
        "target_dtype",
        "tensor",
        "will_resize",
    )

    def __init__(self, tensor: Tensor | None, is_output: bool) -> None:
        self.tensor = tensor
        self.is_output = is_output
        self.will_resize = False
        self.is_read_write = False
        self.original_tensor: Tensor | None = None
        self.stride_bytes: list[int] | None = None
        self.device: Device | None
        if tensor is None:
            self.current_dtype: ScalarType = Undefined
            self.target_dtype: ScalarType = Undefined
            self.device = None
        else:
            self.current_dtype = self.target_dtype = tensor._dtype
            self.device = tensor._device
