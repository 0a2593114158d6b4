"""torch/csrc/autograd/autograd_not_implemented_fallback.cpp: autograd for operators that registered none.

Differs: the backend fallback of the Autograd keys only; the kernel that operators register themselves is in
not_implemented_kernel.py.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.c10.dispatch_key_set import after_autograd_keyset
from engine.c10.exception import TORCH_CHECK, TORCH_WARN
from engine.c10.local_dispatch_key_set import tls
from engine.c10.tensor_impl import TensorImpl
from engine.torch.csrc.autograd.autograd_meta import is_differentiable_type
from engine.torch.csrc.autograd.cpp_hook import CppFunctionSingleTensorPreHook
from engine.torch.csrc.autograd.function import Node, collect_next_edges
from engine.torch.csrc.autograd.variable import (
    base,
    grad_fn,
    is_view,
    materialize_autograd_meta,
    output_nr,
    requires_grad,
)
from engine.torch.csrc.autograd.variable_type_utils import set_history

__all__ = [
    "WarnNotImplemented",
    "basicAutogradNotImplementedFallbackImpl",
    "getAutogradFallbackMode",
    "setAutogradFallbackMode",
]

_mode = "warn"


def getAutogradFallbackMode() -> str:
    return _mode


def setAutogradFallbackMode(mode: str) -> None:
    """``"warn"``: backward through such an operator warns. ``"nothing"``: it is as if detached."""
    global _mode
    TORCH_CHECK(mode in ("warn", "nothing"), "Expected mode to be one of warn, nothing; got: ", mode)
    _mode = mode


def _warn(op_name: str) -> None:
    TORCH_WARN(
        f"{op_name}: an autograd kernel was not registered to the Autograd key(s) but we are trying to backprop "
        "through it. This may lead to silently incorrect behavior. This behavior is deprecated and will be removed "
        "in a future version of PyTorch. If your operator is differentiable, please ensure you have registered an "
        "autograd kernel to the correct Autograd key (e.g. DispatchKey::Autograd, "
        "DispatchKey::CompositeImplicitAutograd). If your operator is not differentiable, or to squash this warning "
        "and use the previous behavior, please register torch::CppFunction::makeFallthrough() to "
        "DispatchKey::Autograd."
    )


class WarnNotImplemented(Node):
    """The grad_fn of such an operator's results: warns, and passes no gradient on."""

    __slots__ = ("num_outputs_", "op_name")

    display_name = "torch::autograd::WarnNotImplemented"

    def __init__(self, op_name: str, num_outputs: int) -> None:
        super().__init__()
        self.op_name = op_name
        self.num_outputs_ = num_outputs

    def apply(self, grads: list[Any]) -> list[Any]:
        _warn(self.op_name)
        return [None] * self.num_outputs_


def _tensors(values: list[Any]) -> Iterator[tuple[int, Any]]:
    """_foreach_tensor: each defined tensor, in lists too, with the index of the value it is in."""
    for index, value in enumerate(values):
        for t in value if isinstance(value, (list, tuple)) else (value,):
            if isinstance(t, TensorImpl):
                yield index, t


def basicAutogradNotImplementedFallbackImpl(op: Any, ks: int, stack: list[Any]) -> None:
    """Redispatch below autograd; where a gradient is wanted, mark the results so that backward warns."""
    if _mode == "nothing":
        op.redispatchBoxed(ks & after_autograd_keyset, stack)
        return
    schema = op.schema
    inputs = [t for _, t in _tensors(stack[len(stack) - len(schema.all_arguments) :])]
    node: WarnNotImplemented | None = None
    if any(requires_grad(t) for t in inputs) and tls.grad_mode:
        node = WarnNotImplemented(op.name, len(inputs))
        node.set_next_edges(collect_next_edges(*inputs))
    op.redispatchBoxed(ks & after_autograd_keyset, stack)
    if node is None:
        return
    for index, t in _tensors(stack[len(stack) - len(schema.returns) :]):
        if not is_differentiable_type(t._dtype):
            continue
        is_mutable_output = schema.returns[index].is_write
        if requires_grad(t):
            _warn_in_backward(op.name, t)
            if is_mutable_output and is_view(t):
                _warn_in_backward(op.name, base(t))
        elif not is_mutable_output:
            set_history(t, node)


def _warn_in_backward(op_name: str, t: Any) -> None:
    """A hook on ``t`` that warns once its gradient is known."""
    hook = CppFunctionSingleTensorPreHook(lambda grad: _warn(op_name), output_nr(t))
    fn = grad_fn(t)
    if fn is not None:
        fn.add_tensor_pre_hook(hook)
    else:
        meta = materialize_autograd_meta(t)
        meta.hooks_ = [*(meta.hooks_ or ()), hook]
