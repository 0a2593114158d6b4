"""torch/_prims/__init__.py: the primitive operators that PyTorch's Python reference functions end in.

They are operators of the dispatcher (``prims::add``), reached from the Meta kernels of ``meta_refs``.

Differs: only those that the reference functions here need; they are not in ``at``.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine import doors
from engine.aten import at
from engine.aten.core.dispatcher import OperatorHandle, singleton
from engine.aten.core.function_schema import parse_schema
from engine.aten.core.kernel_function import KernelFunction
from engine.aten.core.tensor import Tensor
from engine.aten.native.expand_utils import insertion_sort
from engine.c10.device import Device
from engine.c10.dispatch_key import DispatchKey
from engine.c10.exception import TORCH_CHECK
from engine.c10.layout import Strided
from engine.c10.memory_format import contiguous_strides
from engine.c10.scalar_type import ScalarType

__all__ = ["check_same_device", "elementwise_meta", "is_cpu_scalar", "logical_to_physical_perm", "op"]

Sizes = tuple[int, ...]

_REGISTERED = "registered at torch/_prims/__init__.py"
_handles: dict[str, OperatorHandle] = {}


def op(name: str) -> OperatorHandle:
    """The primitive ``prims::NAME``; ``.call(*args)`` dispatches."""
    return _handles[name]


def _prim(schema: str, key: str = "Meta") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Define ``prims::…``; the decorated function is its kernel for ``key``."""

    def decorate(fn: Callable[..., Any]) -> Callable[..., Any]:
        parsed = parse_schema("prims::" + schema)
        handle, _ = singleton.register_def(parsed, _REGISTERED)
        name = handle.name.partition("::")[2]
        site = doors.site_of(fn, f"torch._prims._{name}_meta", "native")
        kernel = KernelFunction(doors.rename(fn, site.name), site.name, site=site)
        singleton.register_impl(handle.name, DispatchKey[key], kernel, _REGISTERED)
        _handles[name] = handle
        return fn

    return decorate


# ---- geometry of elementwise results


def is_cpu_scalar(t: Tensor) -> bool:
    return not t._sizes and t._device.type == "cpu"


def check_same_device(*tensors: Tensor, allow_cpu_scalar_tensors: bool) -> None:
    device: Device | None = None
    for t in tensors:
        if allow_cpu_scalar_tensors and is_cpu_scalar(t):
            continue
        if device is None:
            device = t._device
        TORCH_CHECK(
            t._device == device,
            f"Tensor on device {t._device.str()} is not on the expected device ",
            device.str(),
            "!",
        )


def logical_to_physical_perm(*tensors: Tensor) -> Sizes:
    """compute_elementwise_output_logical_to_physical_perm: the dimensions from the slowest to the fastest moving."""
    shaped = [t for t in tensors if not is_cpu_scalar(t)]
    if not shaped or not shaped[0]._sizes:
        return ()
    shape = shaped[0]._sizes
    ndim = len(shape)
    if ndim == 1:
        return (0,)
    if all(t.is_contiguous_() for t in shaped):
        return tuple(range(ndim))

    def should_swap(idx_a: int, idx_b: int) -> int:
        for t in shaped:
            stride_a, stride_b = t._strides[idx_a], t._strides[idx_b]
            if stride_a == 0 or stride_b == 0:
                continue
            if stride_a != stride_b:
                return -1 if stride_a < stride_b else 1
            if shape[idx_a] > shape[idx_b]:
                return 1
        return 0

    perm = list(range(ndim - 1, -1, -1))
    insertion_sort(perm, should_swap)
    return tuple(reversed(perm))


def elementwise_meta(*args: Tensor, dtype: ScalarType | None = None) -> Tensor:
    """_prim_elementwise_meta: a tensor in the order of the operands, which have one shape and one type by now."""
    check_same_device(*args, allow_cpu_scalar_tensors=True)
    shaped = [t for t in args if not is_cpu_scalar(t)] or list(args)
    like = shaped[0]
    perm = logical_to_physical_perm(*args)
    return at.empty_permuted.call(like._sizes, perm, dtype or like._dtype, None, like._device, None)


# ---- the primitives


@_prim("add(Tensor self, Tensor other) -> Tensor")
def _add(self: Tensor, other: Tensor) -> Tensor:
    return elementwise_meta(self, other)


@_prim("sub(Tensor self, Tensor other) -> Tensor")
def _sub(self: Tensor, other: Tensor) -> Tensor:
    return elementwise_meta(self, other)


@_prim("mul(Tensor self, Tensor other) -> Tensor")
def _mul(self: Tensor, other: Tensor) -> Tensor:
    return elementwise_meta(self, other)


@_prim("div(Tensor self, Tensor other) -> Tensor")
def _div(self: Tensor, other: Tensor) -> Tensor:
    return elementwise_meta(self, other)


@_prim("neg(Tensor self) -> Tensor")
def _neg(self: Tensor) -> Tensor:
    return elementwise_meta(self)


@_prim("reciprocal(Tensor self) -> Tensor")
def _reciprocal(self: Tensor) -> Tensor:
    return elementwise_meta(self)


@_prim("sum(Tensor inp, int[]? dims, *, ScalarType? output_dtype=None) -> Tensor")
def _sum(inp: Tensor, dims: Sizes, output_dtype: ScalarType | None) -> Tensor:
    shape = tuple(size for d, size in enumerate(inp._sizes) if d not in dims)
    return _contiguous(shape, output_dtype or inp._dtype, inp._device)


@_prim("broadcast_in_dim(Tensor(a) a, SymInt[] shape, int[] broadcast_dimensions) -> Tensor(a)")
def _broadcast_in_dim(a: Tensor, shape: Sizes, broadcast_dimensions: Sizes) -> Tensor:
    strides = []
    d = 0  # the next dimension of ``a``
    for i, size in enumerate(shape):
        if i in broadcast_dimensions:
            strides.append(a._strides[d] if a._sizes[d] == size else 0)
            d += 1
        elif size != 1:
            strides.append(0)
        else:
            strides.append(a._strides[d] * a._sizes[d] if d < a.dim_() else 1)
    return at.as_strided.call(a, shape, tuple(strides), a._offset)


@_prim("convert_element_type(Tensor a, ScalarType dtype) -> Tensor")
def _convert_element_type(a: Tensor, dtype: ScalarType) -> Tensor:
    return at.empty_strided.call(a._sizes, a._strides, dtype, None, a._device, None)


@_prim(
    "iota(SymInt length, *, SymInt start, SymInt step, ScalarType dtype, Device device, bool requires_grad) -> Tensor",
    "BackendSelect",
)
def _iota(length: int, start: int, step: int, dtype: ScalarType, device: Device, requires_grad: bool) -> Tensor:
    return at.empty_memory_format.call((length,), dtype, Strided, device, False, None)


@_prim(
    "uniform(SymInt[] shape, *, Scalar low, Scalar high, ScalarType dtype, Device device, Generator? generator=None)"
    " -> Tensor",
    "BackendSelect",
)
def _uniform(shape: Sizes, low: float, high: float, dtype: ScalarType, device: Device, generator: Any) -> Tensor:
    return _contiguous(shape, dtype, device)


@_prim(
    "normal(SymInt[] shape, *, Scalar mean, Scalar std, ScalarType dtype, Device device, bool requires_grad, "
    "Generator? generator=None) -> Tensor",
    "BackendSelect",
)
def _normal(
    shape: Sizes, mean: float, std: float, dtype: ScalarType, device: Device, requires_grad: bool, generator: Any
) -> Tensor:
    return _contiguous(shape, dtype, device)


# ---- what they are on the devices that compute: the operator itself


def _impl_aten(name: str, run: Callable[..., Tensor]) -> None:
    site = doors.site_of(run, f"torch._prims.{name}_impl_aten", "native")
    kernel = KernelFunction(doors.rename(run, site.name), site.name, site=site)
    singleton.register_impl(f"prims::{name}", DispatchKey.CompositeExplicitAutograd, kernel, _REGISTERED)


for _name, _struct, _more in (
    ("add", "add_Tensor", (1,)),
    ("sub", "sub_Tensor", (1,)),
    ("mul", "mul_Tensor", ()),
    ("div", "div_Tensor", ()),
    ("neg", "neg", ()),
    ("reciprocal", "reciprocal", ()),
):
    _impl_aten(_name, lambda *args, struct=_struct, more=_more: getattr(at, struct).call(*args, *more))
_impl_aten("sum", lambda inp, dims, output_dtype: at.sum_dim_IntList.call(inp, dims, False, output_dtype))


def _contiguous(shape: Sizes, dtype: ScalarType, device: Device) -> Tensor:
    return at.empty_strided.call(shape, contiguous_strides(shape), dtype, None, device, None)
