"""torch/csrc/autograd/python_function.cpp, custom_function.cpp: torch.autograd.Function, functions written in Python.

Differs: one object is the node (PyNode), the ``ctx`` of forward and backward, and the ``grad_fn``. Forward-mode,
functorch and vmap rules are left out.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from engine import doors
from engine.aten.core.ops import at
from engine.aten.core.tensor import Tensor
from engine.c10.exception import TORCH_CHECK, TORCH_WARN, Error, translate
from engine.c10.local_dispatch_key_set import tls
from engine.torch.csrc.autograd import variable as impl
from engine.torch.csrc.autograd.autograd_meta import CreationMeta, is_differentiable_type
from engine.torch.csrc.autograd.edge import Edge
from engine.torch.csrc.autograd.function import Node, collect_next_edges
from engine.torch.csrc.autograd.saved_variable import ERR_BACKWARD_TWICE, SavedVariable

__all__ = ["PyNode", "THPFunction_apply"]


class PyNode(Node):
    """The node of a Python function.

    is_variable_input: which arguments of forward were tensors, since backward returns something for each argument.
    output_info: shape and dtype of each output, to fill in gradients that are undefined.
    """

    cpp_name: ClassVar[str] = "torch::autograd::PyNode"

    def __init__(self) -> None:
        super().__init__()
        self.to_save: tuple[Any, ...] | None = None
        self.dirty_tensors: tuple[Any, ...] | None = None
        self.non_differentiable: tuple[Any, ...] | None = None
        self.materialize_grads = True
        self.needs_input_grad: tuple[bool, ...] = ()
        self._is_variable_input: list[bool] = []
        self._output_info: list[Any] = []
        self._saved_variables: list[SavedVariable] = []
        self._has_freed_buffers = False

    def name(self) -> str:
        return type(self).__name__

    def __call__(self, *args: Any) -> Any:
        raise TypeError(f"'{type(self).__name__}' object is not callable")

    def call_backward(self, grads: list[Any]) -> Any:
        """The user's backward with these gradients."""
        raise NotImplementedError

    def apply_node(self, grads: list[Any]) -> list[Any]:
        """PyNode::apply: calls backward and checks what it returns."""
        inputs = [
            _zeros(info) if grad is None and info is not None and self.materialize_grads else grad
            for grad, info in zip(grads, self._output_info, strict=True)
        ]
        result = self.call_backward(inputs)
        outputs = list(result) if isinstance(result, tuple) else [result]
        is_variable = self._is_variable_input
        expected = len(is_variable)
        # more are fine as long as they are None
        if len(outputs) > expected and all(value is None for value in outputs[expected:]):
            outputs = outputs[:expected]
        if len(outputs) != expected:
            raise RuntimeError(
                f"function {self.name()} returned an incorrect number of gradients (expected {expected}, got "
                f"{len(outputs)})"
            )
        found = []
        for i, (value, wanted) in enumerate(zip(outputs, is_variable, strict=True)):
            if not wanted:
                if value is not None:
                    raise RuntimeError(
                        f"function {self.name()} returned a gradient different than None at position {i + 1}, but the "
                        "corresponding forward input was not a Variable"
                    )
                continue
            if value is not None and not isinstance(value, Tensor):
                raise RuntimeError(f"expected Variable or None (got {type(value).__name__})")
            found.append(value)
        return found

    def release_variables(self) -> None:
        self._saved_variables = []
        self._has_freed_buffers = True

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        if self._has_freed_buffers:
            raise RuntimeError(ERR_BACKWARD_TWICE)
        if not self._saved_variables and self.to_save is not None:
            # still in forward or setup_context
            return tuple(self.to_save)
        try:
            return tuple(saved.unpack(self) for saved in self._saved_variables)
        except Error as error:
            raise translate(error) from None

    @property
    def _raw_saved_tensors(self) -> tuple[SavedVariable, ...]:
        if self._has_freed_buffers:
            raise RuntimeError(ERR_BACKWARD_TWICE)
        return tuple(self._saved_variables)


PyNode._apply_site = doors.site_of(PyNode.apply_node, "torch::autograd::PyNode::apply", "node", ("grads",))


def _zeros(info: Any) -> Any:
    sizes, dtype, layout, device = info
    return at.zeros.call(sizes, dtype, layout, device, None)


def _as_tuple(values: Any, name: str) -> tuple[Any, ...]:
    if not isinstance(values, tuple):
        raise TypeError(f"{name} attribute is expected to be a tuple, but is {type(values).__name__}")
    return values


@doors.frame("THPFunction_apply", layer="python")
def THPFunction_apply(cls: Any, args: tuple[Any, ...], overridden_setup_context: bool) -> Any:
    """``Function.apply``: forward without grad mode, then the outputs hang on a new node."""
    try:
        return _apply(cls, args, overridden_setup_context)
    except Error as error:
        raise translate(error) from None


def _apply(cls: Any, args: tuple[Any, ...], overridden_setup_context: bool) -> Any:
    ctx: PyNode = cls._backward_cls()
    tensors = [arg for arg in args if isinstance(arg, Tensor)]
    ctx._is_variable_input = [isinstance(arg, Tensor) for arg in args]
    ctx.needs_input_grad = tuple(isinstance(arg, Tensor) and impl.requires_grad(arg) for arg in args)
    is_executable = tls.grad_mode and any(ctx.needs_input_grad)
    if is_executable:
        ctx.set_next_edges(collect_next_edges(*tensors))
    grad_mode = tls.grad_mode
    tls.grad_mode = False
    try:
        if overridden_setup_context:
            output = cls.forward(*args)
            cls.setup_context(ctx, args, output)
        else:
            output = cls.forward(ctx, *args)
    finally:
        tls.grad_mode = grad_mode
    outputs = output if isinstance(output, tuple) else (output,)
    wrapped = _wrap_outputs(ctx if is_executable else None, ctx, tensors, outputs)
    if is_executable:
        _save_variables(ctx)
        door = doors.listener
        if door is not None:
            door.node(ctx, tuple(t for t in wrapped if isinstance(t, Tensor)))
    else:
        # nobody will run backward
        ctx.to_save = None
    ctx.dirty_tensors = None
    ctx.non_differentiable = None
    return tuple(wrapped) if isinstance(output, tuple) else wrapped[0]


def _save_variables(ctx: PyNode) -> None:
    to_save, ctx.to_save = ctx.to_save, None
    if to_save is None:
        return
    saved = []
    for i, value in enumerate(_as_tuple(to_save, "saved_for_backward")):
        if value is None:
            saved.append(SavedVariable(None))
        elif isinstance(value, Tensor):
            is_output = impl.grad_fn(value) is ctx
            saved.append(SavedVariable(value, is_output))
        else:
            raise TypeError(
                f"save_for_backward can only save variables, but argument {i} is of type {type(value).__name__}"
            )
    ctx._saved_variables = saved


def _view_as_self_with_no_grad(t: Any) -> Any:
    grad_mode = tls.grad_mode
    tls.grad_mode = False
    try:
        return at.view.call(t, t._sizes)
    finally:
        tls.grad_mode = grad_mode


def _identities(values: Sequence[Any] | None, name: str) -> list[int]:
    found = []
    for i, value in enumerate(_as_tuple(values, name) if values is not None else ()):
        if not isinstance(value, Tensor):
            raise TypeError(
                f"{name} can only accept variable arguments, but argument {i} is of type {type(value).__name__}"
            )
        found.append(id(value))
    return found


def _wrap_outputs(node: PyNode | None, ctx: PyNode, inputs: list[Any], outputs: tuple[Any, ...]) -> list[Any]:
    """Connects the outputs to ``node``; inputs that were returned or written need care."""
    dirty = _identities(ctx.dirty_tensors, "mark_dirty")
    fixed = set(_identities(ctx.non_differentiable, "mark_non_differentiable"))
    input_ids = {id(t) for t in inputs}
    input_of = {id(t): t for t in inputs}
    num_outputs = sum(isinstance(t, Tensor) for t in outputs)
    wrapped: list[Any] = []
    seen_dirty = set()
    num_diff_outputs = 0
    for value in outputs:
        if not isinstance(value, Tensor):
            if node is not None:
                node.add_input_metadata(None)
            ctx._output_info.append(None)
            wrapped.append(value)
            continue
        is_input = id(value) in input_ids
        is_modified = id(value) in dirty
        is_differentiable = node is not None and id(value) not in fixed and is_differentiable_type(value._dtype)
        if is_modified:
            seen_dirty.add(id(value))
            impl.bump_version(value)
        var = _output(node, value, is_input, is_modified, is_differentiable, num_outputs)
        meta = var._autograd_meta
        if not (is_input and is_modified) and meta is not None and meta.is_view_:
            meta.creation_meta_ = CreationMeta.IN_CUSTOM_FUNCTION
        num_diff_outputs += is_differentiable
        ctx._output_info.append((var._sizes, var._dtype, var._layout, var._device))
        wrapped.append(var)
    if num_diff_outputs > 1:
        for var in wrapped:
            if isinstance(var, Tensor) and impl.is_view(var):
                var._autograd_meta.creation_meta_ = CreationMeta.MULTI_OUTPUT_NODE
    TORCH_CHECK(
        len(seen_dirty) == len({i for i in dirty if i in input_of or i in seen_dirty}),
        "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
        "modified inplace must all be outputs of the Function.",
    )
    return wrapped


def _output(
    node: PyNode | None, var: Any, is_input: bool, is_modified: bool, is_differentiable: bool, num_outputs: int
) -> Any:
    if not is_differentiable:
        if node is not None:
            node.add_input_metadata(None)
        if not impl.requires_grad(var):
            return _view_as_self_with_no_grad(var) if is_input and not is_modified else var
        if is_input:
            # an alias, rather than a change of what the caller holds
            return at.detach.call(var)
        if not impl.is_view(var):
            at.detach_.call(var)
        return var
    assert node is not None
    if is_modified:
        TORCH_CHECK(
            not (impl.is_leaf(var) and impl.requires_grad(var)),
            "a leaf Variable that requires grad has been used in an in-place operation.",
        )
        if not is_input:
            TORCH_WARN(
                "Only input Tensors should be given to ctx.mark_dirty(). If a Tensor is not an input, there is no need "
                "to pass it to mark_dirty()."
            )
        TORCH_CHECK(
            not (impl.is_view(var) and num_outputs > 1),
            "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return "
            "more than one Tensor. This is not supported by the current autograd engine. You should either make sure "
            "the input is not a view (using .clone() for example) or make your Function only return one Tensor "
            "(potentially splitting it into two Functions: one doing the inplace that returns a single Tensor and a "
            "second one that does the other operations). You can ask on the forum https://discuss.pytorch.org/ if you "
            "need help to do this change.",
        )
        impl.rebase_history(var, Edge(node, node.add_input_metadata(var)))
        return var
    if is_input:
        # returned as it came: a view of it can hang on the node
        var = _view_as_self_with_no_grad(var)
    nr = node.add_input_metadata(var)
    impl.set_gradient_edge(var, Edge(node, nr))
    return var
