"""torch/csrc/autograd/VariableTypeUtils.h: what the autograd kernels share: views, in-place and out= checks."""

from __future__ import annotations

from typing import Any

from engine.aten.core.tensor import Tensor
from engine.c10.exception import TORCH_CHECK
from engine.c10.local_dispatch_key_set import tls
from engine.torch.csrc.autograd import variable as impl
from engine.torch.csrc.autograd.autograd_meta import (
    CreationMeta,
    DifferentiableViewMeta,
    ViewFunc,
    ViewInfo,
    is_differentiable_type,
    propagate_creation_meta,
)
from engine.torch.csrc.autograd.edge import Edge
from engine.torch.csrc.autograd.function import Node
from engine.torch.csrc.autograd.variable import handle_view_on_rebase, is_leaf, requires_grad, set_gradient_edge

__all__ = [
    "as_view",
    "check_inplace",
    "compute_requires_grad",
    "make_variable_differentiable_view",
    "make_variable_non_differentiable_view",
    "rebase_history",
    "set_history",
    "throw_error_out_requires_grad",
]

_edge = tuple.__new__


def make_variable_differentiable_view(data: Tensor, info: ViewInfo, creation_meta: CreationMeta) -> Tensor:
    TORCH_CHECK(
        data._autograd_meta is None,
        "Attempted to make a tensor into a differentiable view, but the tensor already had autograd metadata "
        "associated with it.  If you are using a __torch_dispatch__ mode, the most common cause for this problem is "
        "that you used torch.overrides.enable_reentrant_dispatch() improperly; tensors created within the extent of "
        "reentrant dispatch MUST NOT be directly returned from __torch_dispatch__; instead, they must be wrapped into "
        "fresh tensors that serve as the output.  If you are not using wrappers, you probably don't need reentrant "
        "dispatch.  If this doesn't seem applicable, please file a bug to PyTorch.",
    )
    data._autograd_meta = DifferentiableViewMeta(data, info, creation_meta)
    return data


def make_variable_non_differentiable_view(base: Tensor, data: Tensor) -> Tensor:
    """``data`` shares ``base``'s version counter but not its history."""
    data._version_counter = base._version_counter
    data._autograd_meta = None
    return data


def as_view(
    base: Tensor,
    tensor: Tensor,
    is_bw_differentiable: bool = True,
    view_func: ViewFunc | None = None,
    creation_meta: CreationMeta = CreationMeta.DEFAULT,
) -> Tensor:
    """Makes ``tensor``, which shares ``base``'s memory, a view of it (of its root, when ``base`` is a view itself)."""
    if base.is_inference_():
        return tensor
    if not is_bw_differentiable:
        TORCH_CHECK(
            creation_meta == CreationMeta.DEFAULT,
            "Non-backward differentiable views must have creation_meta=CreationMeta::DEFAULT",
        )
        return make_variable_non_differentiable_view(base, tensor)
    TORCH_CHECK(
        base is not tensor,
        "View operation returned a tensor that is the same as the input base tensor.  This is no longer allowed; you "
        "must explicitly create a new tensor (e.g., using .detach()). As a user, you could have made a mistake "
        "implementing __torch_dispatch__ or a Python operator decomposition or meta registration; if that's not the "
        "case, please report a bug to PyTorch or the backend you are using.",
    )
    meta = base._autograd_meta
    if meta is not None and meta.is_view_:
        creation_meta = propagate_creation_meta(meta.creation_meta_, creation_meta)
        info = meta.backward_info_.chain(base, tensor, view_func)
    else:
        info = ViewInfo(base, view_func)
    return make_variable_differentiable_view(tensor, info, creation_meta)


def check_inplace(t: Tensor, requires_grad_now: bool) -> None:
    """Raises where an in-place operation that needs gradients may not write ``t``."""
    if not requires_grad_now or not tls.grad_mode:
        return
    meta = t._autograd_meta
    if meta is None:
        return
    if meta.is_view_:
        if meta.creation_meta_ != CreationMeta.DEFAULT:
            handle_view_on_rebase(t, meta)
        TORCH_CHECK(
            not (requires_grad(t) and is_leaf(meta.backward_info_.base_)),
            "a view of a leaf Variable that requires grad is being used in an in-place operation.",
        )
    TORCH_CHECK(
        not (requires_grad(t) and is_leaf(t)),
        "a leaf Variable that requires grad is being used in an in-place operation.",
    )


def compute_requires_grad(*args: Any) -> bool:
    """Grad mode is on and one of the tensors (None and lists allowed) requires grad."""
    if not tls.grad_mode:
        return False
    for arg in args:
        if isinstance(arg, (list, tuple)):
            if any(t is not None and requires_grad(t) for t in arg):
                return True
        elif arg is not None and requires_grad(arg):
            return True
    return False


def set_history(result: Any, grad_fn: Node) -> None:
    """Makes ``result`` (a tensor or several) outputs of ``grad_fn``."""
    for t in result if isinstance(result, (list, tuple)) else (result,):
        if t is None:
            grad_fn.add_input_metadata(None)
        elif is_differentiable_type(t._dtype):
            nr = grad_fn.add_input_metadata(t)
            set_gradient_edge(t, _edge(Edge, (grad_fn, nr)))
        else:
            grad_fn.add_input_metadata(None)


def rebase_history(result: Any, grad_fn: Node) -> None:
    """As set_history, of what was written in place."""
    for t in result if isinstance(result, (list, tuple)) else (result,):
        if t is None:
            grad_fn.add_input_metadata(None)
        else:
            nr = grad_fn.add_input_metadata(t)
            impl.rebase_history(t, _edge(Edge, (grad_fn, nr)))


def throw_error_out_requires_grad(name: str) -> None:
    TORCH_CHECK(
        False,
        f"{name}(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
        "requires grad.",
    )
