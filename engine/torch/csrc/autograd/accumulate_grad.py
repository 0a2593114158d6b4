"""torch/csrc/autograd/functions/accumulate_grad.h: the node at a leaf, which adds what arrives to the leaf's grad.

Differs: sparse, mkldnn and nested gradients are left out.
"""

from __future__ import annotations

import threading
from typing import Any, ClassVar

from engine import doors
from engine.c10.exception import TORCH_CHECK
from engine.c10.local_dispatch_key_set import tls
from engine.torch.csrc.autograd import variable as impl
from engine.torch.csrc.autograd.function import MAX_SEQUENCE_NR, Node, sequence_number
from engine.torch.csrc.autograd.grad_layout_contract import clone_obey_contract, obeys_layout_contract
from engine.torch.csrc.autograd.use_count import use_count

__all__ = ["AccumulateGrad"]

_mutex = threading.RLock()


class AccumulateGrad(Node):
    """Holds its leaf; the leaf refers to it weakly."""

    __slots__ = ("variable",)

    display_name: ClassVar[str | None] = "torch::autograd::AccumulateGrad"

    def __init__(self, variable: Any) -> None:
        super().__init__()
        sequence_number.value -= 1
        self._sequence_nr_ = MAX_SEQUENCE_NR
        self.add_input_metadata(variable)
        self.variable = variable

    def tensor_pre_hooks(self) -> list[Any]:
        return impl.materialize_autograd_meta(self.variable).hooks_ or []

    def apply(self, grads: list[Any]) -> list[Any]:
        door = doors.listener
        if door is None:
            self._apply_impl(None, grads)
        else:
            door.enter(_APPLY_IMPL_SITE, (grads, self.variable))
            try:
                self._apply_impl(door, grads)
            except BaseException as error:
                door.fail(_APPLY_IMPL_SITE, error)
                raise
            door.leave(_APPLY_IMPL_SITE, None)
        hook = impl.materialize_autograd_meta(self.variable).post_acc_grad_hooks_
        if hook is not None:
            hook(self.variable)
        return []

    def _apply_impl(self, door: doors.Listener | None, grads: list[Any]) -> None:
        TORCH_CHECK(len(grads) == 1, f"AccumulateGrad: expected 1 arguments (got {len(grads)})")
        if grads[0] is None:
            return
        variable = self.variable
        if impl.grad_fn(variable) is not None:
            raise RuntimeError("leaf variable has been moved into the graph interior")
        if not impl.requires_grad(variable):
            return
        hooks = self._hooks
        # a copy of the inputs waits for the post hooks: one more holder that does not matter
        expected = 1 if hooks is None or not hooks.post_hooks else 2
        with _mutex:
            if door is None:
                _accumulate_grad(variable, grads, expected)
                return
            door.enter(_ACCUMULATE_SITE, (variable, variable._autograd_meta.grad_, grads[0], expected))
            try:
                _accumulate_grad(variable, grads, expected)
            except BaseException as error:
                door.fail(_ACCUMULATE_SITE, error)
                raise
            door.leave(_ACCUMULATE_SITE, None)


def _accumulate_grad(variable: Any, grads: list[Any], num_expected_refs: int) -> None:
    """AccumulateGrad::accumulateGrad. The first gradient is taken over where nobody else holds it, else copied."""
    from engine.aten import at

    meta = variable._autograd_meta
    old = meta.grad_
    if old is None:
        if (
            not tls.grad_mode
            and use_count(grads, 0) <= num_expected_refs
            and (not tls.grad_layout_enforcement_enabled or obeys_layout_contract(grads[0], variable))
        ):
            meta.grad_ = at.detach.call(grads[0])
        else:
            meta.grad_ = clone_obey_contract(grads[0], variable)
    elif not tls.grad_mode:
        at.add__Tensor.call(old, grads[0], 1)
    else:
        meta.grad_ = at.add_Tensor.call(old, grads[0], 1)


_APPLY_IMPL_SITE = doors.site_of(
    AccumulateGrad._apply_impl, "torch::autograd::AccumulateGrad_apply_impl", "node", ("grads", "variable")
)
_ACCUMULATE_SITE = doors.site_of(
    _accumulate_grad,
    "torch::autograd::AccumulateGrad::accumulateGrad",
    "node",
    ("variable", "variable_grad", "new_grad", "num_expected_refs"),
)
