"""torch/csrc/autograd/variable.h, variable.cpp: what autograd knows of a tensor, and the functions of ``impl::``.

A tensor without ``_autograd_meta`` neither requires grad nor is a view. ``grad_fn`` of a view is made anew after an
in-place write to its base (the version counters tell), so read it through ``grad_fn(t)``.

Differs: forward-mode gradients are left out; a view has one ViewInfo, for backward.
"""

from __future__ import annotations

import threading
import weakref

from engine import doors
from engine.aten.core.tensor import Tensor
from engine.c10.exception import TORCH_CHECK
from engine.c10.local_dispatch_key_set import tls
from engine.c10.tensor_impl import VersionCounter
from engine.torch.csrc.autograd.autograd_meta import (
    AutogradMeta,
    CreationMeta,
    DifferentiableViewMeta,
    is_differentiable_type,
)
from engine.torch.csrc.autograd.edge import Edge
from engine.torch.csrc.autograd.function import Node, collect_next_edges

__all__ = [
    "AutogradMeta",
    "CreationMeta",
    "DifferentiableViewMeta",
    "base",
    "bump_version",
    "grad_accumulator",
    "grad_fn",
    "gradient_edge",
    "handle_view_on_rebase",
    "is_differentiable_type",
    "is_leaf",
    "is_view",
    "make_variable",
    "materialize_autograd_meta",
    "output_nr",
    "rebase_history",
    "requires_grad",
    "requires_grad_",
    "retain_grad",
    "retains_grad",
    "set_gradient_edge",
    "set_requires_grad",
    "shallow_copy_and_detach",
    "tensor_data",
    "try_get_grad_accumulator",
    "update_tensor_hooks_on_new_gradfn",
    "variable_data",
    "version",
]

_edge = tuple.__new__


# -- impl::


def materialize_autograd_meta(t: Tensor) -> AutogradMeta:
    meta = t._autograd_meta
    if meta is None:
        meta = t._autograd_meta = AutogradMeta()
    return meta  # type: ignore[no-any-return]


def requires_grad(t: Tensor) -> bool:
    meta = t._autograd_meta
    if meta is None:
        return False
    if meta.requires_grad_ or meta.grad_fn_ is not None:
        return True
    return meta.is_view_ and requires_grad(meta.backward_info_.base_)


def is_view(t: Tensor) -> bool:
    meta = t._autograd_meta
    return meta is not None and meta.is_view_


def base(t: Tensor) -> Tensor:
    meta = t._autograd_meta
    TORCH_CHECK(meta is not None and meta.is_view_, "Can't get base of non-view Tensor")
    return meta.backward_info_.base_  # type: ignore[no-any-return]


def is_leaf(t: Tensor) -> bool:
    """No grad_fn as it stands: that of a view is not made anew for the question."""
    meta = t._autograd_meta
    return meta is None or meta.grad_fn_ is None


def output_nr(t: Tensor) -> int:
    meta = t._autograd_meta
    return 0 if meta is None else meta.output_nr_


def grad_fn(t: Tensor) -> Node | None:
    """The node that made ``t``; for a view whose base was written since, a new one is made first."""
    meta = t._autograd_meta
    if meta is None:
        return None
    if not meta.is_view_:
        return meta.grad_fn_  # type: ignore[no-any-return]
    root = meta.backward_info_.base_
    if meta.grad_fn_ is None and not requires_grad(root):
        return None
    counter = t._version_counter
    if counter is None or meta.attr_version_ == counter.version:
        return meta.grad_fn_  # type: ignore[no-any-return]
    return _regenerate_grad_fn(t, meta, root)


_view_mutex = threading.RLock()


def _regenerate_grad_fn(t: Tensor, meta: DifferentiableViewMeta, root: Tensor) -> Node | None:
    """The base has a new history: let the view's start at it."""
    from engine.torchgen.gen_autograd_functions import as_strided_node

    with _view_mutex:
        current = version(t)
        if meta.attr_version_ == current:
            return meta.grad_fn_
        handle_view_on_rebase(t, meta, indirect=True)
        old = meta.grad_fn_
        replay = meta.backward_info_.view_fn_
        # reached from backward too, where grad mode is off
        saved = tls.grad_mode
        tls.grad_mode = True
        try:
            if replay is not None:
                meta.grad_fn_ = grad_fn(replay(root))
            else:
                node = as_strided_node(root, t._sizes, t._strides, t._offset)
                node.set_next_edges(collect_next_edges(root))
                node.add_input_metadata(t)
                meta.grad_fn_ = node
        finally:
            tls.grad_mode = saved
        meta.output_nr_ = 0
        meta.attr_version_ = current
        if meta.grad_fn_ is not None:
            update_tensor_hooks_on_new_gradfn(t, old, meta.grad_fn_)
            if replay is None:
                _announce(meta.grad_fn_, t)
        return meta.grad_fn_


def gradient_edge(t: Tensor) -> Edge:
    """Where a gradient of ``t`` goes: its grad_fn, or for a leaf its accumulator."""
    meta = t._autograd_meta
    if meta is None:
        return _edge(Edge, (None, 0))
    fn = meta.grad_fn_ if not meta.is_view_ else grad_fn(t)
    if fn is not None:
        return _edge(Edge, (fn, meta.output_nr_))
    return _edge(Edge, (grad_accumulator(t), 0))


def set_gradient_edge(t: Tensor, edge: Edge) -> None:
    meta = t._autograd_meta
    if meta is None:
        meta = t._autograd_meta = AutogradMeta()
    meta.grad_fn_, meta.output_nr_ = edge
    if meta.is_view_:
        meta.attr_version_ = version(t)


def grad_accumulator(t: Tensor) -> Node | None:
    """The node that adds gradients to a leaf's ``grad``; made when first asked for, None when it needs no gradient."""
    meta = t._autograd_meta
    if meta is None:
        return None
    if meta.grad_fn_ is not None:
        raise RuntimeError("grad_accumulator() should be only called on leaf Variables")
    if not meta.requires_grad_:
        return None
    reference = meta.grad_accumulator_
    if reference is not None:
        existing = reference()
        if existing is not None:
            return existing  # type: ignore[no-any-return]
    from engine.torch.csrc.autograd.accumulate_grad import AccumulateGrad

    node = AccumulateGrad(t)
    meta.grad_accumulator_ = weakref.ref(node)
    return node


def try_get_grad_accumulator(t: Tensor) -> Node | None:
    meta = t._autograd_meta
    if meta is None or meta.grad_accumulator_ is None:
        return None
    return meta.grad_accumulator_()  # type: ignore[no-any-return]


def set_grad_accumulator(t: Tensor, node: Node | None) -> None:
    materialize_autograd_meta(t).grad_accumulator_ = None if node is None else weakref.ref(node)


def rebase_history(t: Tensor, edge: Edge) -> None:
    """``t`` was written in place by ``edge.function``; of a view, the write is one to its base (CopySlices)."""
    fn = edge.function
    assert fn is not None
    meta = t._autograd_meta
    old = meta.grad_fn_ if meta is not None else None
    if meta is not None and meta.is_view_:
        TORCH_CHECK(fn.num_inputs() == 1, "Functions which modify views in-place must return a single Variable")
        from engine.torch.csrc.autograd.copy_slices import CopySlices

        info = meta.backward_info_
        root = info.base_
        meta.output_nr_ = edge.input_nr
        copy_slices = CopySlices(root, t, info.view_fn_, fn)
        root_meta = root._autograd_meta
        if requires_grad(t) and root_meta is not None:
            update_tensor_hooks_on_new_gradfn(root, grad_fn(root), copy_slices)
        set_gradient_edge(root, _edge(Edge, (copy_slices, 0)))
        _announce(copy_slices, root)
        grad_fn(t)
        return
    set_gradient_edge(t, edge)
    update_tensor_hooks_on_new_gradfn(t, old, fn)


def _announce(node: Node, t: Tensor) -> None:
    door = doors.listener
    if door is not None:
        door.node(node, (t,))


def update_tensor_hooks_on_new_gradfn(t: Tensor, old_fn: Node | None, new_fn: Node) -> None:
    """New hooks of ``t`` go to its new grad_fn; hooks on the old one stay there, but retain_grad's moves along."""
    meta = t._autograd_meta
    meta.backward_hooks = None
    if meta.retains_grad_:
        assert old_fn is not None
        new_fn.add_retains_grad_hook(old_fn.pop_retains_grad_hook(meta.output_nr_), meta.output_nr_)


# -- versions


def version(t: Tensor) -> int:
    """``_version``; inference tensors have none."""
    counter = t._version_counter
    TORCH_CHECK(counter is not None, "Inference tensors do not track version counter.")
    return counter.version  # type: ignore[union-attr]


def bump_version(t: Tensor) -> None:
    counter = t._version_counter
    if counter is None:
        TORCH_CHECK(
            tls.inference_mode,
            "Inplace update to inference tensor outside InferenceMode is not allowed."
            "You can make a clone to get a normal tensor before doing inplace update."
            "See https://github.com/pytorch/rfcs/pull/17 for more details.",
        )
        return
    counter.version += 1


# -- requires_grad


def set_requires_grad(t: Tensor, value: bool) -> None:
    """TensorImpl::set_requires_grad, with its checks."""
    TORCH_CHECK(
        not (value and t.is_inference_() and not tls.inference_mode),
        "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.",
    )
    meta = t._autograd_meta
    if meta is None:
        if not value:
            return
        meta = AutogradMeta()
        TORCH_CHECK(
            is_differentiable_type(t._dtype), "Only Tensors of floating point and complex dtype can require gradients"
        )
        t._autograd_meta = meta
    elif value:
        TORCH_CHECK(
            is_differentiable_type(t._dtype), "Only Tensors of floating point and complex dtype can require gradients"
        )
    meta.requires_grad_ = value


def requires_grad_(t: Tensor, value: bool) -> None:
    """VariableHooks::requires_grad_, behind the ``requires_grad_`` operator."""
    TORCH_CHECK(
        is_leaf(t) or value,
        "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
        "subgraph that doesn't require differentiation use var_no_grad = var.detach().",
    )
    set_requires_grad(t, value)


# -- making variables


def shallow_copy_and_detach(t: Tensor, counter: VersionCounter | None) -> Tensor:
    """The same memory and geometry in a new tensor outside the graph, with ``counter``."""
    copy = Tensor.__new__(Tensor)
    copy._storage = t._storage
    copy._sizes = t._sizes
    copy._strides = t._strides
    copy._offset = t._offset
    copy._dtype = t._dtype
    copy._device = t._device
    copy._layout = t._layout
    copy._autograd_meta = None
    copy._wrapped = t._wrapped
    copy._names = t._names
    copy._debug_id = 0
    copy._array = None
    copy._array_of = None
    copy._ks = t._ks
    if t.is_inference_():
        # the constructor's, which depends on the mode
        counter = None if tls.inference_mode else VersionCounter()
    copy._version_counter = counter
    return copy


def tensor_data(t: Tensor) -> Tensor:
    """``t`` outside the graph, with its version counter."""
    return shallow_copy_and_detach(t, t._version_counter)


def variable_data(t: Tensor) -> Tensor:
    """``t.data``: outside the graph, with a version counter of its own."""
    return shallow_copy_and_detach(t, VersionCounter())


def make_variable(
    data: Tensor | None, requires_grad: bool | Edge = False, allow_tensor_metadata_change: bool = True
) -> Tensor | None:
    """A tensor with ``data``'s memory and no history, which requires grad or hangs on an edge.

    Differs: a tensor that nobody else could see keeps its identity in PyTorch and here always.
    """
    if data is None:
        return None
    if isinstance(requires_grad, Edge):
        copy = shallow_copy_and_detach(data, VersionCounter())
        set_gradient_edge(copy, requires_grad)
        return copy
    data._autograd_meta = None
    if requires_grad:
        set_requires_grad(data, True)
    return data


def handle_view_on_rebase(t: Tensor, meta: DifferentiableViewMeta, indirect: bool = False) -> None:
    """Raises where the view ``t`` (``indirect``: its base) may not be written in place."""
    creation = meta.creation_meta_
    if creation == CreationMeta.DEFAULT:
        return
    what = "its base or another view of its base has been" if indirect else "is being"
    fn = meta.grad_fn_
    mode = {CreationMeta.NO_GRAD_MODE: "no_grad", CreationMeta.INFERENCE_MODE: "inference"}.get(creation)
    end = "modified inplace in normal mode." if mode == "inference" else "modified inplace with grad mode enabled."
    if fn is None:
        message = f"A view was created in {mode or 'no_grad'} mode and {what} {end}"
    elif mode is None:
        message = f"Output {meta.output_nr_} of {fn.forward_op_name()} is a view and {what} modified inplace."
    else:
        message = (
            f"Output {meta.output_nr_} of {fn.forward_op_name()} is a view of a view which was created in {mode} mode "
            f"and {what} {end}"
        )
    if creation == CreationMeta.MULTI_OUTPUT_NODE:
        message += (
            " This view is the output of a function that returns multiple views. Such functions do not allow the output"
            " views to be modified inplace. You should replace the inplace operation by an out-of-place one."
        )
    elif creation == CreationMeta.IN_CUSTOM_FUNCTION:
        message += (
            " This view was created inside a custom Function (or because an input was returned as-is) and the autograd"
            " logic to handle view+inplace would override the custom backward associated with the custom Function,"
            " leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the"
            " custom Function."
        )
    else:
        block = "no_grad" if mode == "no_grad" else "inference_mode"
        message += (
            " Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
            f"moving both the view and the inplace either both inside the {block} block (if you don't want the inplace "
            "to be tracked) or both outside (if you want the inplace to be tracked)."
        )
    TORCH_CHECK(False, message)


# -- retain_grad


@doors.named("torch::autograd::VariableHooks::retain_grad")
def retain_grad(t: Tensor) -> None:
    """VariableHooks::retain_grad: from now on backward stores ``t``'s gradient in ``t.grad``."""
    TORCH_CHECK(requires_grad(t), "can't retain_grad on Tensor that has requires_grad=False")
    if is_leaf(t) or retains_grad(t):
        return
    from engine.torch.csrc.autograd.cpp_hook import CppFunctionSingleTensorPreHook, RetainGrad

    fn = grad_fn(t)
    assert fn is not None
    meta = t._autograd_meta
    fn.add_retains_grad_hook(CppFunctionSingleTensorPreHook(RetainGrad(t), meta.output_nr_), meta.output_nr_)
    meta.retains_grad_ = True


def retains_grad(t: Tensor) -> bool:
    meta = t._autograd_meta
    return meta is not None and meta.retains_grad_
