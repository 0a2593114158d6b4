"""build/aten/src/ATen/RegisterCPU.cpp: how a structured kernel gets its outputs, in its three forms.

A structured operator has one meta function, which sets the outputs' geometry, and one impl. The functional form
creates its outputs without a dispatcher call; the in-place form checks that the output is what it was given; the out
form resizes it.

Differs: written once, where torchgen generates a class per operator.
"""

from __future__ import annotations

from engine import doors
from engine.aten.core.tensor import Tensor
from engine.aten.native.tensor_iterator import TensorIteratorBase, create_out, resize_and_restride
from engine.c10.device import Device
from engine.c10.exception import TORCH_CHECK
from engine.c10.memory_format import MemoryFormat
from engine.c10.scalar_type import ScalarType

__all__ = ["Functional", "Inplace", "Out", "StructuredKernel"]

Sizes = tuple[int, ...]


class StructuredKernel(TensorIteratorBase):
    """``outputs[0]`` is the output once it exists."""

    def __init__(self, out: Tensor | None = None) -> None:
        super().__init__()
        self.out = out

    def maybe_get_output(self, output_idx: int = 0) -> Tensor | None:
        return self.out

    def set_output_raw_strided(
        self,
        output_idx: int,
        sizes: Sizes,
        strides: Sizes,
        dtype: ScalarType,
        device: Device,
        memory_format: MemoryFormat | None = None,
    ) -> None:
        self._give(sizes, strides, dtype, device, memory_format)
        if not self.operands:  # a meta function without an iterator
            return
        op = self.operands[output_idx]
        if op.tensor is None:
            op.tensor = self.out
            op.current_dtype = op.target_dtype
        elif op.will_resize and op.original_tensor is not None:
            # the temporary that stands for the output follows it
            resize_and_restride(op.tensor, sizes, strides, memory_format)

    def _give(
        self, sizes: Sizes, strides: Sizes, dtype: ScalarType, device: Device, memory_format: MemoryFormat | None
    ) -> None:
        raise NotImplementedError


class Functional(StructuredKernel):
    def _give(
        self, sizes: Sizes, strides: Sizes, dtype: ScalarType, device: Device, memory_format: MemoryFormat | None
    ) -> None:
        self.out = create_out(sizes, strides, dtype, device, memory_format)


class Inplace(StructuredKernel):
    def _give(
        self, sizes: Sizes, strides: Sizes, dtype: ScalarType, device: Device, memory_format: MemoryFormat | None
    ) -> None:
        assert self.out is not None
        check_inplace(self.out, sizes, dtype, device)


class Out(StructuredKernel):
    def _give(
        self, sizes: Sizes, strides: Sizes, dtype: ScalarType, device: Device, memory_format: MemoryFormat | None
    ) -> None:
        assert self.out is not None
        resize_out(self.out, sizes, strides, dtype, device, memory_format)


@doors.frame("at::check_inplace")
def check_inplace(out: Tensor, sizes: Sizes, dtype: ScalarType, device: Device) -> None:
    if dtype is not out._dtype:
        TORCH_CHECK(
            False,
            f"Bad in-place call: input tensor dtype {out._dtype.cpp_name} and output tensor dtype "
            f"{dtype.cpp_name} should match",
        )
    if device != out._device:
        TORCH_CHECK(
            False,
            f"Bad in-place call: input tensor device {out._device.str()} and output tensor device "
            f"{device.str()} should match",
        )
    if sizes != out._sizes:
        TORCH_CHECK(
            False,
            f"Bad in-place call: input tensor size {list(out._sizes)} and output tensor size "
            f"{list(sizes)} should match",
        )


@doors.frame("at::resize_out")
def resize_out(
    out: Tensor,
    sizes: Sizes,
    strides: Sizes,
    dtype: ScalarType,
    device: Device,
    memory_format: MemoryFormat | None,
) -> None:
    if dtype is not out._dtype:
        TORCH_CHECK(False, f"Expected out tensor to have dtype {dtype.cpp_name}, but got {out._dtype.cpp_name} instead")
    if device != out._device:
        TORCH_CHECK(False, f"Expected out tensor to have device {device.str()}, but got {out._device.str()} instead")
    resize_and_restride(out, sizes, strides, memory_format)
