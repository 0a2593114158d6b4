"""torch/csrc/autograd/variable.h: AutogradMeta, what a tensor carries for autograd, and ViewInfo, what a view is of."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from enum import IntEnum
from typing import TYPE_CHECKING, Any

from engine.aten.core.tensor import Tensor
from engine.c10.scalar_type import ScalarType

if TYPE_CHECKING:
    from engine.torch.csrc.autograd.function import Node

__all__ = [
    "AutogradMeta",
    "CreationMeta",
    "DifferentiableViewMeta",
    "ViewFunc",
    "ViewInfo",
    "is_differentiable_type",
    "propagate_creation_meta",
]


def is_differentiable_type(dtype: ScalarType) -> bool:
    """isDifferentiableType: floating point and complex."""
    return dtype.is_floating_point or dtype.is_complex


class AutogradMeta:
    """A tensor's place in the graph and its gradient.

    grad_accumulator_ is a weak reference: the node holds its tensor, not the other way round. hooks_ are a leaf's
    tensor hooks; those of a non-leaf sit on its grad_fn. ``allow_any_grad_dtype`` and ``grad_dtype_`` say which dtype
    ``grad_`` may have.
    """

    __slots__ = (
        "allow_any_grad_dtype",
        "backward_hooks",
        "grad_",
        "grad_accumulator_",
        "grad_dtype_",
        "grad_fn_",
        "hooks_",
        "is_view_",
        "name_",
        "output_nr_",
        "post_acc_grad_hooks_",
        "requires_grad_",
        "retains_grad_",
    )

    def __init__(self) -> None:
        self.grad_: Any = None
        self.grad_fn_: Node | None = None
        self.requires_grad_ = False
        self.output_nr_ = 0
        self.is_view_ = False
        self.grad_accumulator_: weakref.ref[Node] | None = None
        self.hooks_: list[Any] | None = None
        self.post_acc_grad_hooks_: Any = None
        self.retains_grad_ = False
        self.backward_hooks: Any = None
        self.grad_dtype_: ScalarType | None = None
        self.allow_any_grad_dtype = False
        self.name_ = ""


class CreationMeta(IntEnum):
    """How a view came to be, which decides whether it may be written in place."""

    DEFAULT = 0
    IN_CUSTOM_FUNCTION = 1
    MULTI_OUTPUT_NODE = 2
    NO_GRAD_MODE = 3
    INFERENCE_MODE = 4


def propagate_creation_meta(prev: CreationMeta, new: CreationMeta) -> CreationMeta:
    if new == CreationMeta.DEFAULT:
        return prev
    return prev if prev == CreationMeta.INFERENCE_MODE else new


ViewFunc = Callable[[Tensor], Tensor]


class ViewInfo:
    """The root base of a view; ``view_fn_`` replays the view where strides alone cannot."""

    __slots__ = ("base_", "view_fn_")

    def __init__(self, base: Tensor, view_fn: ViewFunc | None = None) -> None:
        self.base_ = base
        self.view_fn_ = view_fn

    def chain(self, base: Tensor, tensor: Tensor, view_func: ViewFunc | None = None) -> ViewInfo:
        """The info of ``tensor``, a view by ``view_func`` of ``base``, which is the view this info is of."""
        previous = self.view_fn_
        if view_func is not None:
            if previous is not None:
                return ViewInfo(self.base_, lambda root: view_func(previous(root)))
            sizes, strides, offset = base._sizes, base._strides, base._offset
            return ViewInfo(self.base_, lambda root: view_func(_as_strided(root, sizes, strides, offset)))
        if previous is not None:
            sizes, strides, offset = tensor._sizes, tensor._strides, tensor._offset
            return ViewInfo(self.base_, lambda root: _as_strided(previous(root), sizes, strides, offset))
        return ViewInfo(self.base_)


def _as_strided(t: Tensor, sizes: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Tensor:
    from engine.aten import at

    return at.as_strided.call(t, sizes, strides, offset)


class DifferentiableViewMeta(AutogradMeta):
    """Of a tensor that is a view of ``backward_info_.base_``, through which gradients flow."""

    __slots__ = ("attr_version_", "backward_info_", "creation_meta_", "mutex_")

    def __init__(self, t: Tensor, backward_info: ViewInfo, creation_meta: CreationMeta = CreationMeta.DEFAULT) -> None:
        super().__init__()
        self.is_view_ = True
        self.backward_info_ = backward_info
        self.creation_meta_ = creation_meta
        counter = backward_info.base_._version_counter
        t._version_counter = counter
        self.attr_version_ = 0 if counter is None else counter.version
        self.mutex_: Any = None
