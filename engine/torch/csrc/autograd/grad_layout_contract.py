"""torch/csrc/autograd/utils/grad_layout_contract.h: the layout that a leaf's gradient should have: the leaf's own."""

from __future__ import annotations

from typing import Any

from engine import doors
from engine.c10.memory_format import contiguous_format

__all__ = ["clone_obey_contract", "is_non_overlapping_and_dense", "obeys_layout_contract"]


def is_non_overlapping_and_dense(t: Any) -> bool:
    """TensorImpl::is_non_overlapping_and_dense: the elements fill a range of memory, each once, in some order."""
    if t.is_contiguous_():
        return True
    expected = 1
    for stride, size in sorted((stride, size) for size, stride in zip(t._sizes, t._strides, strict=True) if size != 1):
        if stride != expected:
            return False
        expected *= size
    return True


def obeys_layout_contract(grad: Any, variable: Any) -> bool:
    if grad._strides == variable._strides and 0 not in grad._strides:
        return True
    if not is_non_overlapping_and_dense(variable):
        return bool(grad.is_contiguous_())
    return not any(
        stride == 0 if size == 1 else stride != wanted
        for size, stride, wanted in zip(grad._sizes, grad._strides, variable._strides, strict=True)
    )


@doors.frame("torch::autograd::utils::clone_obey_contract", layer="node", params=("new_grad", "variable"))
def clone_obey_contract(new_grad: Any, variable: Any) -> Any:
    """A copy of ``new_grad`` in ``variable``'s layout; part of the graph when grad mode is on."""
    from engine.aten import at

    if not is_non_overlapping_and_dense(variable):
        return at.clone.call(new_grad, contiguous_format)
    empty = at.new_empty_strided.call(
        new_grad, variable._sizes, variable._strides, variable._dtype, variable._layout, variable._device, None
    )
    return at.copy_.call(empty, new_grad, False)
