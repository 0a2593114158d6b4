"""torch/csrc/autograd/VariableTypeManual.cpp: the Autograd and ADInplaceOrView kernels that are written by hand.

``autograd_X`` are those of VariableType, ``adinplaceorview_X`` those of ADInplaceOrView; all take the key set first.

Differs: forward-mode gradients are left out, and with them _fw_primal and _make_dual.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from engine import doors
from engine.aten.core.ops import at
from engine.aten.core.tensor import Tensor
from engine.c10.dispatch_key_set import (
    after_ADInplaceOrView_keyset,
    after_autograd_keyset,
    autograd_dispatch_keyset,
    autograd_dispatch_keyset_with_ADInplaceOrView,
)
from engine.c10.exception import TORCH_CHECK
from engine.c10.local_dispatch_key_set import tls
from engine.torch.csrc.autograd import variable as impl
from engine.torch.csrc.autograd.autograd_meta import is_differentiable_type
from engine.torch.csrc.autograd.copy_slices import CopyBackwards
from engine.torch.csrc.autograd.edge import Edge
from engine.torch.csrc.autograd.function import collect_next_edges
from engine.torch.csrc.autograd.variable_type_utils import as_view, check_inplace, compute_requires_grad

__all__ = [
    "adinplaceorview_copy_",
    "adinplaceorview_detach",
    "adinplaceorview_resize_",
    "adinplaceorview_resize_as_",
    "autograd_copy_",
    "autograd_detach",
    "autograd_detach_",
    "autograd_resize_",
    "autograd_resize_as_",
]

F = TypeVar("F", bound=Callable[..., Any])


def _kernel(name: str, layer: str, guard: str | None) -> Callable[[F], F]:
    """Names a kernel and gives it the frame that the dispatcher announces."""

    def decorate(fn: F) -> F:
        fn.__site__ = doors.site_of(fn, name, layer, None, guard)  # type: ignore[attr-defined]
        return doors.rename(fn, name)

    return decorate


def _autograd(name: str, guard: str | None = "at::AutoDispatchBelowAutograd") -> Callable[[F], F]:
    return _kernel(f"torch::autograd::VariableType::{name}", "autograd", guard)


def _adinplaceorview(name: str) -> Callable[[F], F]:
    return _kernel(f"torch::ADInplaceOrView::{name}", "adinplaceorview", "at::AutoDispatchBelowADInplaceOrView")


def _below_autograd(op: Any, ks: int, *args: Any) -> Any:
    excluded = tls.excluded
    tls.excluded = excluded | autograd_dispatch_keyset
    try:
        return op.redispatch(ks & after_autograd_keyset, *args)
    finally:
        tls.excluded = excluded


def _below_adinplaceorview(op: Any, ks: int, *args: Any) -> Any:
    excluded = tls.excluded
    tls.excluded = excluded | autograd_dispatch_keyset_with_ADInplaceOrView
    try:
        return op.redispatch(ks & after_ADInplaceOrView_keyset, *args)
    finally:
        tls.excluded = excluded


# -- Autograd


@_autograd("copy_")
def autograd_copy_(ks: int, self: Tensor, src: Tensor, non_blocking: bool) -> Tensor:
    grad_fn = None
    wanted = compute_requires_grad(self, src) and is_differentiable_type(self._dtype)
    check_inplace(self, wanted)
    if wanted:
        grad_fn = CopyBackwards((src._dtype, src._device))
        grad_fn.set_next_edges(collect_next_edges(self, src))
    _below_autograd(at.copy_, ks, self, src, non_blocking)
    if grad_fn is not None:
        grad_fn.add_input_metadata(self)
        impl.rebase_history(self, Edge(grad_fn, 0))
        door = doors.listener
        if door is not None:
            door.node(grad_fn, (self,))
    return self


def _check_resize(t: Tensor) -> None:
    TORCH_CHECK(not impl.requires_grad(t), "cannot resize variables that require grad")


@_autograd("resize_")
def autograd_resize_(ks: int, self: Tensor, size: tuple[int, ...], memory_format: Any) -> Tensor:
    _check_resize(self)
    _below_autograd(at.resize_, ks, self, size, memory_format)
    return self


@_autograd("resize_as_")
def autograd_resize_as_(ks: int, self: Tensor, the_template: Tensor, memory_format: Any) -> Tensor:
    _check_resize(self)
    _below_autograd(at.resize_as_, ks, self, the_template, memory_format)
    return self


@_autograd("detach")
def autograd_detach(ks: int, self: Tensor) -> Tensor:
    result: Tensor = _below_autograd(at.detach, ks, self)
    result._names = self._names
    return result


@_autograd("detach_", None)
def autograd_detach_(ks: int, self: Tensor) -> Tensor:
    """Makes ``self`` a leaf that needs no gradient; nothing is redispatched."""
    TORCH_CHECK(
        not impl.is_view(self),
        "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
        "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() "
        "cannot be called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
        "torch/optim/optimizer.py as the solution.",
    )
    meta = impl.materialize_autograd_meta(self)
    meta.requires_grad_ = False
    meta.grad_fn_ = None
    meta.output_nr_ = 0
    return self


# -- ADInplaceOrView


@_adinplaceorview("copy_")
def adinplaceorview_copy_(ks: int, self: Tensor, src: Tensor, non_blocking: bool) -> Tensor:
    _below_adinplaceorview(at.copy_, ks, self, src, non_blocking)
    impl.bump_version(self)
    return self


@_adinplaceorview("resize_")
def adinplaceorview_resize_(ks: int, self: Tensor, size: tuple[int, ...], memory_format: Any) -> Tensor:
    """A resize counts as a write only when the sizes change."""
    before = self._sizes
    _below_adinplaceorview(at.resize_, ks, self, size, memory_format)
    if before != self._sizes:
        impl.bump_version(self)
    return self


@_adinplaceorview("resize_as_")
def adinplaceorview_resize_as_(ks: int, self: Tensor, the_template: Tensor, memory_format: Any) -> Tensor:
    before = self._sizes
    _below_adinplaceorview(at.resize_as_, ks, self, the_template, memory_format)
    if before != the_template._sizes:
        impl.bump_version(self)
    return self


@_adinplaceorview("detach")
def adinplaceorview_detach(ks: int, self: Tensor) -> Tensor:
    """A view that no gradient flows through: it shares the version counter alone."""
    out = _below_adinplaceorview(at.detach, ks, self)
    return as_view(self, out, is_bw_differentiable=False)
