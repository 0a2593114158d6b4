"""torch/csrc/autograd/autograd_not_implemented_fallback.cpp: the autograd kernel of operators without a derivative.

Forward runs as usual; a result that would need a gradient gets a NotImplemented grad_fn, which raises in backward.
"""

from __future__ import annotations

from typing import Any

from engine import doors
from engine.c10.dispatch_key_set import (
    after_ADInplaceOrView_keyset,
    after_autograd_keyset,
    autograd_dispatch_keyset,
    autograd_dispatch_keyset_with_ADInplaceOrView,
)
from engine.c10.local_dispatch_key_set import tls
from engine.c10.tensor_impl import TensorImpl
from engine.torch.csrc.autograd.autograd_meta import is_differentiable_type
from engine.torch.csrc.autograd.basic_ops import NotImplemented
from engine.torch.csrc.autograd.function import collect_next_edges
from engine.torch.csrc.autograd.variable import requires_grad
from engine.torch.csrc.autograd.variable_type_utils import check_inplace, rebase_history, set_history

__all__ = ["autogradNotImplementedFallbackImpl"]


def _tensors(values: list[Any]) -> list[tuple[int, Any]]:
    """Each tensor, in lists too, with the index of the value it is in."""
    found = []
    for index, value in enumerate(values):
        if isinstance(value, TensorImpl):
            found.append((index, value))
        elif isinstance(value, (list, tuple)):
            found.extend((index, t) for t in value if isinstance(t, TensorImpl))
    return found


def autogradNotImplementedFallbackImpl(op: Any, ks: int, stack: list[Any]) -> None:
    """Boxed kernel: arguments on ``stack`` are replaced by results."""
    schema = op.schema
    arguments = schema.all_arguments
    returns = schema.returns
    inputs = _tensors(stack[len(stack) - len(arguments) :])
    wanting = [t for _, t in inputs if requires_grad(t)] if tls.grad_mode else []
    for index, t in inputs:
        if arguments[index].is_write:
            check_inplace(t, bool(wanting))
    grad_fn = None
    if wanting:
        grad_fn = NotImplemented(schema.name.name)
        grad_fn.set_next_edges(collect_next_edges(*wanting))
    is_inplace = any(r.is_write for r in returns)
    is_view = any(a.alias_info is not None and not a.is_write for a in arguments)
    excluded = tls.excluded
    try:
        if is_view or is_inplace:
            tls.excluded = excluded | autograd_dispatch_keyset
            op.redispatchBoxed(ks & after_autograd_keyset, stack)
        else:
            tls.excluded = excluded | autograd_dispatch_keyset_with_ADInplaceOrView
            op.redispatchBoxed(ks & after_ADInplaceOrView_keyset, stack)
    finally:
        tls.excluded = excluded
    if grad_fn is None:
        return
    outputs = _tensors(stack[len(stack) - len(returns) :])
    for index, t in outputs:
        if is_differentiable_type(t._dtype):
            (rebase_history if returns[index].is_write else set_history)(t, grad_fn)
    door = doors.listener
    if door is not None:
        door.node(grad_fn, tuple(t for _, t in outputs))


autogradNotImplementedFallbackImpl.__boxed__ = True  # type: ignore[attr-defined]
autogradNotImplementedFallbackImpl.__site__ = doors.site_of(  # type: ignore[attr-defined]
    autogradNotImplementedFallbackImpl, "torch::autograd::autogradNotImplementedFallbackImpl", "autograd", ()
)
