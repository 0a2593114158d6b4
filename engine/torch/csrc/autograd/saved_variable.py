"""torch/csrc/autograd/saved_variable.h: a tensor kept for backward, with a check that nobody wrote it since.

Differs: forward-mode gradients are left out.
"""

from __future__ import annotations

import threading
import weakref
from collections.abc import Callable
from typing import Any

from engine import doors
from engine.aten.core.tensor import Tensor
from engine.c10.exception import TORCH_CHECK, Error, translate
from engine.c10.local_dispatch_key_set import tls
from engine.torch.csrc.autograd import variable as impl
from engine.torch.csrc.autograd.edge import Edge
from engine.torch.csrc.autograd.function import Node, tls_anomaly
from engine.torch.csrc.autograd.input_metadata import shape_text

__all__ = ["ERR_BACKWARD_TWICE", "UNDEFINED", "SavedTensorDefaultHooks", "SavedVariable", "default_hooks"]

ERR_BACKWARD_TWICE = (
    "Trying to backward through the graph a second time (or directly access saved tensors after they have already been "
    "freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). Specify "
    "retain_graph=True if you need to backward through the graph a second time or if you need to access saved tensors "
    "after calling backward."
)

Hooks = tuple[Callable[[Any], Any], Callable[[Any], Any]]


class SavedTensorDefaultHooks(threading.local):
    """at::SavedTensorDefaultHooks: this thread's stack of (pack, unpack) pairs; the last one is used."""

    def __init__(self) -> None:
        self.stack: list[Hooks] = []
        self.disabled_error_message: str | None = None

    def push_hooks(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
        TORCH_CHECK(self.disabled_error_message is None, self.disabled_error_message or "")
        self.stack.append((pack, unpack))

    def pop_hooks(self) -> Hooks:
        return self.stack.pop()


default_hooks = SavedTensorDefaultHooks()


class _Metadata:
    """What is needed to rebuild a tensor that is not kept itself."""

    __slots__ = ("grad_accumulator_", "grad_fn_", "output_nr_", "requires_grad_")

    def __init__(self, t: Any, is_leaf: bool, is_output: bool) -> None:
        self.output_nr_ = impl.output_nr(t)
        self.grad_accumulator_: Node | None = None
        self.grad_fn_: Node | None = None
        self.requires_grad_ = False
        if is_leaf:
            self.grad_accumulator_ = impl.grad_accumulator(t)
            self.requires_grad_ = impl.requires_grad(t)
        elif not is_output:
            self.grad_fn_ = impl.grad_fn(t)


class SavedVariable:
    """A tensor saved by a node; ``unpack`` gives it back.

    An output of the node itself is saved without its history, or node and tensor would hold each other.
    """

    __slots__ = (
        "data_",
        "hooks_",
        "is_inplace_on_view_",
        "is_leaf_",
        "is_output_",
        "metadata_",
        "packed_",
        "saved_original_",
        "saved_version_",
        "undefined_",
        "weak_grad_fn_",
    )

    def __init__(self, t: Any, is_output: bool = False, is_inplace_on_view: bool = False) -> None:
        self.hooks_: Hooks | None = None
        self.data_: Any = None
        if t is None:
            self.undefined_ = True
            return
        self.undefined_ = False
        TORCH_CHECK(
            not t.is_inference_(),
            "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
            "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use "
            "it in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.",
        )
        self.saved_version_ = t._version_counter.version
        meta = t._autograd_meta
        is_leaf = meta is None or (impl.grad_fn(t) if meta.is_view_ else meta.grad_fn_) is None
        self.is_leaf_ = is_leaf
        self.is_output_ = is_output
        self.is_inplace_on_view_ = is_inplace_on_view
        if is_inplace_on_view:
            fn = impl.grad_fn(t)
            assert fn is not None and is_output
            self.weak_grad_fn_ = weakref.ref(fn)
        if default_hooks.stack and not t._wrapped:
            self.saved_original_ = False
            self.metadata_ = _Metadata(t, is_leaf, is_output)
            self._set_hooks_and_pack_data(default_hooks.stack[-1], t)
        elif not is_output or is_leaf:
            self.saved_original_ = True
            self.data_ = t
        else:
            self.saved_original_ = False
            self.metadata_ = _Metadata(t, is_leaf, is_output)
            self.data_ = impl.tensor_data(t)

    def reset_data(self) -> None:
        self.data_ = None
        if self.hooks_ is not None:
            self.hooks_ = None
            self.packed_ = None
            self.metadata_.grad_fn_ = None

    @doors.named("torch::autograd::SavedVariable::unpack")
    def unpack(self, saved_for: Node | None = None) -> Any:
        """The tensor, with its history; ``saved_for`` is the node that made it when it was saved as an output."""
        data = self.data_
        hooks = self.hooks_
        if data is None:
            if self.undefined_:
                return None
            TORCH_CHECK(hooks is not None, ERR_BACKWARD_TWICE)
        elif self.saved_original_ and data._version_counter.version == self.saved_version_:
            meta = data._autograd_meta
            if self.is_leaf_ or (meta is not None and (meta.is_view_ or meta.grad_fn_ is not None)):
                return data
        fn: Node | None
        if self.is_inplace_on_view_:
            fn = self.weak_grad_fn_()
        elif hooks is not None:
            fn = self.metadata_.grad_fn_
        else:
            fn = impl.grad_fn(data) if self.saved_original_ else None
        if not self.is_leaf_ and fn is None:
            TORCH_CHECK(
                saved_for is not None,
                "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_()."
                "This is not supported, please use out-of-place `.detach()` instead",
            )
            fn = saved_for
        if hooks is None:
            current = data._version_counter.version
            if current != self.saved_version_:
                TORCH_CHECK(False, self._modified_message(data, fn, current))
            if self.saved_original_:
                return data
        else:
            data = hooks[1](self.packed_)
            if not isinstance(data, Tensor):
                raise TypeError(
                    "Output of saved tensor unpack_hook expected to be a Tensor but got result of type "
                    f"{type(data).__name__}"
                )
        metadata = self.metadata_
        if fn is None and not metadata.requires_grad_ and not impl.requires_grad(data):
            return data
        var = impl.shallow_copy_and_detach(data, data._version_counter)
        if fn is not None:
            impl.set_gradient_edge(var, Edge(fn, metadata.output_nr_))
        elif metadata.requires_grad_:
            impl.set_requires_grad(var, True)
        if metadata.grad_accumulator_ is not None:
            impl.set_grad_accumulator(var, metadata.grad_accumulator_)
        return var

    def _modified_message(self, data: Any, fn: Node | None, current: int) -> str:
        message = (
            "one of the variables needed for gradient computation has been modified by an inplace operation: "
            f"[torch.{data._dtype.name}Tensor {shape_text(data._sizes)}]"
        )
        if fn is not None:
            nr = impl.output_nr(data) if self.saved_original_ else self.metadata_.output_nr_
            message += f", which is output {nr} of {fn.forward_op_name()},"
        message += f" is at version {current}; expected version {self.saved_version_} instead."
        if not tls_anomaly.enabled:
            return message + (
                " Hint: enable anomaly detection to find the operation that failed to compute its gradient, with "
                "torch.autograd.set_detect_anomaly(True, check_nan=False)."
            )
        return message + (
            " Hint: the backtrace further above shows the operation that failed to compute its gradient. The variable "
            "in question was changed in there or anywhere later. Good luck!"
        )

    def register_hooks(self, pack: Callable[[Any], Any], unpack: Callable[[Any], Any]) -> None:
        """SavedTensor.register_hooks, as Python calls it: ``pack``'s result is kept instead of the tensor."""
        try:
            self._register_hooks((pack, unpack))
        except Error as error:
            raise translate(error) from None

    def _register_hooks(self, hooks: Hooks) -> None:
        TORCH_CHECK(
            self.hooks_ is None,
            "Calling register_hooks on a saved tensor whose hooks have already been set. "
            "Hint: only one pair of hooks is allowed at a time.",
        )
        data = self.data_
        if data is None:
            TORCH_CHECK(
                self.undefined_,
                "Calling register_hooks on a saved tensor after it has been freed. Saved intermediate values of the "
                "graph are freed when you call .backward() or autograd.grad(). Specify retain_graph=True if you need "
                "to backward through the graph a second time or if you need to access saved variables after calling "
                "backward.",
            )
            TORCH_CHECK(False, "Calling register_hooks on a saved tensor with value None is forbidden")
        if self.saved_original_:
            self.metadata_ = _Metadata(data, self.is_leaf_, self.is_output_)
        self._set_hooks_and_pack_data(hooks, data)
        self.data_ = None

    def _set_hooks_and_pack_data(self, hooks: Hooks, data: Any) -> None:
        self.hooks_ = hooks
        saved = tls.grad_mode
        tls.grad_mode = False
        try:
            before = impl.version(data)
            if self.saved_original_:
                from engine.aten import at

                data = at.detach.call(data)
            self.packed_ = hooks[0](data)
            TORCH_CHECK(
                before == impl.version(data),
                "A saved tensor pack hook is modifying its input in place. Tensors provided as input to pack hook "
                "cannot be modified by in-place operations as this can lead to unexpected side-effects. Please open an "
                "issue if you need to perform in-place operations on the input to a pack hook.",
            )
        finally:
            tls.grad_mode = saved


# its name in Python
SavedVariable.__name__ = SavedVariable.__qualname__ = "SavedTensor"
SavedVariable.__module__ = "torch._C._autograd"

# of an input that is None, or that backward does not need
UNDEFINED = SavedVariable(None)
