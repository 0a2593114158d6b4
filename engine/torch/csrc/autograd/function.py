"""torch/csrc/autograd/node.h, function.h, function.cpp: Node, a function of the backward graph.

Differs: one object is the C++ node and the Python ``grad_fn``, so that what Python sees of a node (``next_functions``,
``metadata``, ``register_hook``, …; python_cpp_function.cpp) are members here. Forward-mode and compiled autograd are
left out.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, ClassVar

from engine import doors
from engine.c10.exception import TORCH_CHECK
from engine.c10.local_dispatch_key_set import tls
from engine.torch.csrc.autograd.edge import NO_EDGE, Edge, edge_list
from engine.torch.csrc.autograd.input_metadata import UNDEFINED_INPUT, InputMetadata, input_metadata_of

__all__ = [
    "MAX_SEQUENCE_NR",
    "Node",
    "NodeHooks",
    "collect_next_edges",
    "sequence_number",
]

variable_list = list[Any]

# AccumulateGrad's: it runs before anything else that is ready
MAX_SEQUENCE_NR = 2**64 - 1

class _SequenceNumber(threading.local):
    """at::sequence_number: counts the nodes of a thread, so that backward runs the latest first."""

    def __init__(self) -> None:
        self.value = 0
        # the node whose apply runs (only set during backward)
        self.current_node: Node | None = None


sequence_number = _SequenceNumber()


class NodeHooks:
    """The hooks of a node: on tensors it produced in forward, on its inputs, and on its outputs."""

    __slots__ = ("post_hooks", "pre_hooks", "retains_grad_hooks", "tensor_pre_hooks")

    def __init__(self) -> None:
        self.tensor_pre_hooks: list[Callable[[variable_list], variable_list]] = []
        self.retains_grad_hooks: dict[int, Callable[[variable_list], variable_list]] = {}
        self.pre_hooks: list[Callable[[variable_list], variable_list]] = []
        self.post_hooks: list[Callable[[variable_list, variable_list], variable_list]] = []


class Node:
    """A function of the backward graph; ``next_edges`` lead to the nodes its outputs go to.

    Subclasses define ``apply(grads) -> list``; ``call_operator(grads)`` is ``operator()``. Calling a node from Python
    takes and gives tensors as THPCppFunction_call does.
    """

    __slots__ = (
        "__weakref__",
        "_debug_id",
        "_hooks",
        "_input_metadata_",
        "_metadata",
        "_next_edges",
        "_sequence_nr_",
        "_topological_nr",
    )

    # the C++ class ("torch::autograd::generated::MulBackward0"), and what name() says where it is not the class's name
    cpp_name: ClassVar[str] = "torch::autograd::Node"
    display_name: ClassVar[str | None] = None
    _apply_site: ClassVar[doors.Site | None] = None

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if cls.__module__.startswith("engine."):
            # a C++ class, for Python
            cls.__module__ = "builtins"
        if "cpp_name" not in cls.__dict__:
            cls.cpp_name = f"torch::autograd::{cls.__name__}"
        if "apply" in cls.__dict__:
            cls._apply_site = doors.site_of(cls.apply, cls.cpp_name + "::apply", "node", ("grads",))

    def __init__(self, next_edges: edge_list | None = None) -> None:
        counter = sequence_number
        self._sequence_nr_ = counter.value
        counter.value += 1
        self._topological_nr = 0
        self._input_metadata_: list[InputMetadata] = []
        self._hooks: NodeHooks | None = None
        self._metadata: dict[Any, Any] | None = None
        self._debug_id = 0
        self._next_edges: edge_list = []
        if next_edges:
            self.set_next_edges(next_edges)
        if tls_anomaly.enabled:
            from engine.torch.csrc.autograd.anomaly_mode import AnomalyMetadata

            self._metadata = {}
            AnomalyMetadata.store_stack(self)
            current = counter.current_node
            if current is not None:
                AnomalyMetadata.assign_parent(self, current)

    # -- graph

    def num_inputs(self) -> int:
        return len(self._input_metadata_)

    def num_outputs(self) -> int:
        return len(self._next_edges)

    def next_edge(self, index: int) -> Edge:
        return self._next_edges[index]

    def next_edges(self) -> edge_list:
        return self._next_edges

    def set_next_edges(self, edges: edge_list) -> None:
        self._next_edges = edges
        self.update_topological_nr(edges)

    def update_topological_nr(self, edges: Any) -> None:
        """Length of the longest path to a leaf: nodes with a smaller number cannot lead to this one."""
        longest = self._topological_nr
        for function, _ in edges:
            if function is not None and function._topological_nr >= longest:
                longest = function._topological_nr + 1
        self._topological_nr = longest

    def topological_nr(self) -> int:
        return self._topological_nr

    def add_input_metadata(self, t: Any) -> int:
        """Registers a forward output; its number is that of the gradient this node will be given for it."""
        metadata = self._input_metadata_
        metadata.append(UNDEFINED_INPUT if t is None else input_metadata_of(t))
        return len(metadata) - 1

    def input_metadata(self, index: int) -> InputMetadata:
        return self._input_metadata_[index]

    def should_compute_output(self, *indices: int) -> bool:
        """Whether any of these outputs leads anywhere."""
        edges = self._next_edges
        for index in indices:
            TORCH_CHECK(index < len(edges), "Index out of range")
            if edges[index][0] is not None:
                return True
        return False

    # -- running

    def apply(self, grads: variable_list) -> variable_list:
        raise NotImplementedError(type(self).__name__)

    def call_operator(self, grads: variable_list) -> variable_list:
        """``Node::operator()``: apply, as frames of the trace."""
        door = doors.listener
        if door is None:
            return self.apply(grads)
        site = self._apply_site
        assert site is not None
        door.enter(_OPERATOR_SITE, (self, grads))
        try:
            door.enter(site, (grads,))
            try:
                result = self.apply(grads)
            except BaseException as error:
                door.fail(site, error)
                raise
            door.leave(site, result)
        except BaseException as error:
            door.fail(_OPERATOR_SITE, error)
            raise
        door.leave(_OPERATOR_SITE, result)
        return result

    def release_variables(self) -> None:
        """Drop what was saved for backward."""

    def will_release_variables(self) -> None:
        """Told before apply when the saved variables will be released after it."""

    # -- hooks

    def hooks(self) -> NodeHooks:
        if self._hooks is None:
            self._hooks = NodeHooks()
        return self._hooks

    def tensor_pre_hooks(self) -> list[Callable[[variable_list], variable_list]]:
        hooks = self._hooks
        return hooks.tensor_pre_hooks if hooks is not None else []

    def add_tensor_pre_hook(self, hook: Callable[[variable_list], variable_list]) -> None:
        self.hooks().tensor_pre_hooks.append(hook)

    def add_pre_hook(self, hook: Callable[[variable_list], variable_list]) -> None:
        self.hooks().pre_hooks.append(hook)

    def add_post_hook(self, hook: Callable[[variable_list, variable_list], variable_list]) -> None:
        self.hooks().post_hooks.append(hook)

    def add_retains_grad_hook(self, hook: Callable[[variable_list], variable_list], output_nr: int) -> None:
        self.hooks().retains_grad_hooks[output_nr] = hook

    def pop_retains_grad_hook(self, output_nr: int) -> Callable[[variable_list], variable_list]:
        return self.hooks().retains_grad_hooks.pop(output_nr)

    # -- what Python sees

    def name(self) -> str:
        return self.display_name or type(self).__name__

    def forward_op_name(self) -> str:
        """How errors name the forward function: ``Add`` for AddBackward0, ``Squeeze1`` for SqueezeBackward1."""
        head, found, tail = self.name().rpartition("Backward")
        if not found or not (tail == "" or tail.isdigit()):
            return self.name()
        return head if tail in ("", "0") else head + tail

    @property
    def next_functions(self) -> tuple[tuple[Node | None, int], ...]:
        return tuple((function, nr) for function, nr in self._next_edges)

    @property
    def metadata(self) -> dict[Any, Any]:
        if self._metadata is None:
            self._metadata = {}
        return self._metadata

    @property
    def requires_grad(self) -> bool:
        return True

    @property
    def _input_metadata(self) -> tuple[InputMetadata, ...]:
        return tuple(self._input_metadata_)

    def _sequence_nr(self) -> int:
        return self._sequence_nr_

    def _set_sequence_nr(self, value: int) -> None:
        self._sequence_nr_ = value

    def register_hook(self, hook: Callable[..., Any]) -> Any:
        """``hook(grad_inputs, grad_outputs) -> grad_inputs or None`` runs after the node."""
        from engine.torch.csrc.autograd.python_hook import PyFunctionPostHook, RemovableHandle

        for existing in self.hooks().post_hooks:
            if isinstance(existing, PyFunctionPostHook):
                return RemovableHandle.adding(existing.dict, hook)
        table: OrderedDict[int, Any] = OrderedDict()
        self.add_post_hook(PyFunctionPostHook(table))
        return RemovableHandle.adding(table, hook)

    def register_prehook(self, hook: Callable[..., Any]) -> Any:
        """``hook(grad_outputs) -> grad_outputs or None`` runs before the node."""
        from engine.torch.csrc.autograd.python_hook import PyFunctionPreHook, RemovableHandle

        for existing in self.hooks().pre_hooks:
            if isinstance(existing, PyFunctionPreHook):
                return RemovableHandle.adding(existing.dict, hook)
        table: OrderedDict[int, Any] = OrderedDict()
        self.add_pre_hook(PyFunctionPreHook(table))
        return RemovableHandle.adding(table, hook)

    def _register_hook_dict(self, hook: Any) -> None:
        """Python's ``Tensor.register_hook`` on a non-leaf: ``hook`` is its tensor's dictionary of hooks."""
        from engine.torch.csrc.autograd.python_hook import PyFunctionTensorPreHook

        self.add_tensor_pre_hook(PyFunctionTensorPreHook(hook.table, hook.output_nr))

    def __call__(self, *args: Any) -> Any:
        from engine.torch.csrc.autograd.python_cpp_function import THPCppFunction_call

        return THPCppFunction_call(self, args)


# where Python finds it
Node.__module__ = "torch.autograd.graph"

_OPERATOR_SITE = doors.site_of(Node.call_operator, "torch::autograd::Node::operator()", "engine", ("self", "inputs"))


class _Anomaly:
    """The process-wide switch of anomaly mode; read by every new node."""

    __slots__ = ("check_nan", "enabled")

    def __init__(self) -> None:
        self.enabled = False
        self.check_nan = True


tls_anomaly = _Anomaly()


def collect_next_edges(*variables: Any) -> edge_list:
    """Where the gradients of these inputs go; empty when grad mode is off."""
    if not tls.grad_mode:
        return []
    from engine.torch.csrc.autograd.variable import gradient_edge

    edges: edge_list = []
    for variable in variables:
        if isinstance(variable, (list, tuple)):
            edges.extend(NO_EDGE if t is None else gradient_edge(t) for t in variable)
        else:
            edges.append(NO_EDGE if variable is None else gradient_edge(variable))
    return edges
