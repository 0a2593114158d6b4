"""torch/csrc/autograd/input_metadata.h: what a node expects of a gradient it is given: shape, dtype, device.

Differs: streams, nested tensors and tensor subclasses are left out.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from engine import doors
from engine.c10.device import Device
from engine.c10.exception import TORCH_CHECK, Error
from engine.c10.layout import Layout
from engine.c10.scalar_type import ScalarType

__all__ = ["UNDEFINED_INPUT", "InputMetadata", "input_metadata_of", "is_expandable_to", "maybe_reduce", "shape_text"]


class InputMetadata(NamedTuple):
    """Of the forward output that the gradient belongs to. ``valid`` is False for an output that has no gradient."""

    shape: tuple[int, ...]
    dtype: ScalarType | None
    device: Device | None
    layout: Layout | None
    valid: bool = True

    @property
    def is_nested_tensor(self) -> bool:
        return False

    @property
    def is_cpp_nested_tensor(self) -> bool:
        return False

    @property
    def is_tensor_subclass(self) -> bool:
        return False


UNDEFINED_INPUT = InputMetadata((), None, None, None, False)

_new = tuple.__new__


def input_metadata_of(t: Any) -> InputMetadata:
    return _new(InputMetadata, (t._sizes, t._dtype, t._device, t._layout, True))


def is_expandable_to(shape: tuple[int, ...], desired: tuple[int, ...]) -> bool:
    """at::is_expandable_to: whether ``shape`` broadcasts to exactly ``desired``."""
    if len(shape) > len(desired):
        return False
    return all(size in (target, 1) for size, target in zip(reversed(shape), reversed(desired), strict=False))


def shape_text(sizes: tuple[int, ...]) -> str:
    """How C++ prints an IntArrayRef: ``[2, 3]``."""
    return "[" + ", ".join(map(str, sizes)) + "]"


@doors.frame("torch::autograd::InputMetadata::reduce_grad", layer="node", params=("this", "grad"))
def reduce_grad(metadata: InputMetadata, grad: Any) -> Any:
    from engine.torch.csrc.autograd.functions_manual import sum_to

    return sum_to(grad, metadata.shape)


@doors.frame(
    "torch::autograd::InputMetadata::maybe_reduce", layer="node", params=("this", "index", "grad", "format_error")
)
def maybe_reduce(metadata: InputMetadata, index: int, grad: Any, format_error: Callable[[str], str]) -> Any:
    """The gradient summed down to the expected shape, or an error when its shape does not fit."""
    if grad._sizes == metadata.shape:
        return grad
    if is_expandable_to(metadata.shape, grad._sizes):
        return reduce_grad(metadata, grad)
    TORCH_CHECK(
        False,
        format_error(
            f"invalid gradient at index {index} - got {shape_text(grad._sizes)} but expected shape compatible with "
            f"{shape_text(metadata.shape)}"
        ),
    )
    raise Error("unreachable")
