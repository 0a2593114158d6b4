"""tools/autograd/gen_variable_type.py: the autograd kernels ``VariableType::X``, all from one template.

A kernel asks whether a gradient is needed, makes and connects the node, saves what backward will use, and redispatches
below autograd under a guard. In-place and out= forms take the derivatives of the functional form with the same
arguments.
"""

from __future__ import annotations

import ast
import keyword
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

from engine import doors
from engine.aten.core.dispatcher import OperatorHandle
from engine.aten.core.function_schema import FunctionSchema
from engine.c10.dispatch_key_set import (
    after_autograd_keyset,
    autograd_dispatch_keyset,
    autograd_dispatch_keyset_with_ADInplaceOrView,
)
from engine.c10.exception import TORCH_CHECK
from engine.c10.local_dispatch_key_set import tls
from engine.torch.csrc.autograd import variable as impl
from engine.torch.csrc.autograd.autograd_meta import is_differentiable_type
from engine.torch.csrc.autograd.edge import NO_EDGE
from engine.torch.csrc.autograd.function import Node
from engine.torch.csrc.autograd.not_implemented_kernel import autogradNotImplementedFallbackImpl
from engine.torch.csrc.autograd.variable_type_utils import (
    check_inplace,
    compute_requires_grad,
    rebase_history,
    set_history,
    throw_error_out_requires_grad,
)
from engine.torchgen.autograd_text import list_arguments, save_text
from engine.torchgen.gen_inplace_or_view_type import is_view_row, type_wrapper_name, uses_derived
from engine.torchgen.load_derivatives import DifferentiabilityInfo, differentiability_info
from engine.torchgen.model import NativeFunction

__all__ = ["functional_row", "make_variable_type_kernel", "needs_variable_type", "node_class_of"]

GUARD = "at::AutoDispatchBelowADInplaceOrView"
GUARD_ABOVE_ADINPLACE = "at::AutoDispatchBelowAutograd"


def needs_variable_type(row: NativeFunction) -> bool:
    return uses_derived(row)


# -- derivatives of a row


def _signature(schema: FunctionSchema) -> tuple[Any, ...]:
    """FunctionSchema.signature of torchgen: what the functional, in-place and out= forms have in common."""
    base = schema.name.base
    if schema.kind() == "inplace":
        base = base[:-1]
    return (base, *((a.name, str(a.type)) for a in schema.all_arguments if not a.is_out))


@cache
def _functional_rows() -> Mapping[tuple[Any, ...], NativeFunction]:
    from engine.torchgen.register import rows

    return {
        _signature(row.schema): row
        for row in rows()
        if row.derivatives is not None and row.schema.kind() == "functional"
    }


def functional_row(row: NativeFunction) -> NativeFunction | None:
    """The row whose derivatives ``row`` uses: the functional form of an in-place or out= operator, or itself."""
    if row.schema.kind() != "functional":
        shared = _functional_rows().get(_signature(row.schema))
        if shared is not None and row.backward_name is None and row.derivatives in (None, shared.derivatives):
            return shared
    return row if row.derivatives is not None else None


_infos: dict[int, DifferentiabilityInfo] = {}
_classes: dict[int, type[Node]] = {}


def _info(row: NativeFunction) -> DifferentiabilityInfo:
    found = _infos.get(id(row))
    if found is None:
        assert row.derivatives is not None
        found = _infos[id(row)] = differentiability_info(row, row.derivatives)
    return found


def _node_class(row: NativeFunction) -> type[Node]:
    from engine.torchgen.gen_autograd_functions import make_node_class

    found = _classes.get(id(row))
    if found is None:
        found = _classes[id(row)] = make_node_class(row, _info(row))
    return found


def node_class_of(row: NativeFunction) -> type[Node]:
    """The node that ``row`` makes; an in-place form makes that of its functional form."""
    source = functional_row(row)
    assert source is not None and source.derivatives, f"{row.schema.name} has no derivatives"
    return _node_class(source)


# -- kernels


def make_variable_type_kernel(row: NativeFunction, op: OperatorHandle) -> Callable[..., Any]:
    source = functional_row(row)
    if source is None and _has_differentiable_output(row):
        return autogradNotImplementedFallbackImpl
    kernel: Callable[..., Any]
    below_all = not (is_view_row(row) or row.schema.is_mutable())
    if source is None or not source.derivatives:
        kernel = _undifferentiable(op, below_all)
    elif row.schema.kind() == "out":
        kernel = _out_kernel(row, source, op)
    else:
        kernel = _kernel(row, source, op, below_all)
    name = f"torch::autograd::VariableType::{type_wrapper_name(row)}"
    params = ("ks", *(a.name for a in row.schema.all_arguments))
    site = doors.site_of(kernel, name, "autograd", params, GUARD if below_all else GUARD_ABOVE_ADINPLACE)
    doors.rename(kernel, name)
    kernel.__site__ = site  # type: ignore[attr-defined]
    return kernel


def _has_differentiable_output(row: NativeFunction) -> bool:
    flags = row.output_differentiability
    return any(
        str(r.type).startswith("Tensor") and (flags is None or bool(flags[i])) for i, r in enumerate(row.schema.returns)
    )


def _undifferentiable(op: OperatorHandle, below_all: bool) -> Callable[..., Any]:
    redispatch = op.redispatch
    guard = autograd_dispatch_keyset_with_ADInplaceOrView if below_all else autograd_dispatch_keyset

    def kernel(ks: int, *args: Any) -> Any:
        excluded = tls.excluded
        tls.excluded = excluded | guard
        try:
            return redispatch(ks & after_autograd_keyset, *args)
        finally:
            tls.excluded = excluded

    return kernel


def _out_kernel(row: NativeFunction, source: NativeFunction, op: OperatorHandle) -> Callable[..., Any]:
    redispatch = op.redispatch
    arguments = row.schema.all_arguments
    names = frozenset(n.strip() for key in source.derivatives or () for n in key.split(","))
    checked = tuple(i for i, a in enumerate(arguments) if a.is_out or a.name in names)
    base_name = row.schema.name.base

    def kernel(ks: int, *args: Any) -> Any:
        if compute_requires_grad(*(args[i] for i in checked if _is_tensors(args[i]))):
            throw_error_out_requires_grad(base_name)
        excluded = tls.excluded
        tls.excluded = excluded | autograd_dispatch_keyset
        try:
            return redispatch(ks & after_autograd_keyset, *args)
        finally:
            tls.excluded = excluded

    return kernel


def _is_tensors(value: Any) -> bool:
    return value is not None and not isinstance(value, (bool, int, float, complex, str))


class _Plan:
    """What a kernel needs to know once a gradient is wanted; made at the first such call."""

    __slots__ = ("check", "node", "save_inputs", "save_outputs")

    def __init__(self, row: NativeFunction, source: NativeFunction) -> None:
        from engine.torchgen.gen_autograd_functions import compile_text

        info = _info(source)
        self.node = _node_class(source)
        text = save_text(row, info, list_arguments(row))
        title = f"torch/csrc/autograd/generated/VariableType.cpp {row.schema.name}"
        namespace = compile_text(text, title)
        self.save_inputs = namespace["save_inputs"] if info.all_saved_inputs or "_size_" in text else None
        self.save_outputs = namespace["save_outputs"] if info.all_saved_outputs else None
        # arguments that may not require grad: check_no_requires_grad
        arguments = row.schema.all_arguments
        self.check = tuple(
            (i, a.name)
            for i, a in enumerate(arguments)
            if str(a.type).startswith("Tensor")
            and a.name not in info.args_with_derivatives
            and a.name not in info.non_differentiable
            and a.name != "output"
            and not a.is_out
        )


def _check_no_requires_grad(t: Any, name: str, fn_name: str) -> None:
    for item in t if isinstance(t, (list, tuple)) else (t,):
        TORCH_CHECK(
            item is None or not impl.requires_grad(item),
            f"The function '{fn_name}' is not differentiable with respect to argument '{name}'. This input cannot have "
            "requires_grad True.",
        )


def _condition(row: NativeFunction, source: NativeFunction) -> Callable[[tuple[Any, ...]], bool] | None:
    """output_differentiability given as an expression over the arguments, as of _to_copy."""
    flags = source.output_differentiability
    if not flags or not isinstance(flags[0], str):
        return None
    names = ", ".join(f"{a.name}_" if keyword.iskeyword(a.name) else a.name for a in row.schema.all_arguments)
    tree = ast.parse(f"lambda {names}: {flags[0]}", mode="eval")
    function = eval(
        compile(tree, f"<output_differentiability of {row.schema.name}>", "eval"),
        {"isDifferentiableType": is_differentiable_type},
    )
    return lambda args: bool(function(*args))


def _kernel(row: NativeFunction, source: NativeFunction, op: OperatorHandle, below_all: bool) -> Callable[..., Any]:
    """The template."""
    redispatch = op.redispatch
    guard = autograd_dispatch_keyset_with_ADInplaceOrView if below_all else autograd_dispatch_keyset
    arguments = row.schema.all_arguments
    names = frozenset(
        n.strip()
        for key, text in (source.derivatives or {}).items()
        if text != "non_differentiable"
        for n in key.split(",")
    )
    positions = tuple(i for i, a in enumerate(arguments) if a.name in names)
    has_lists = any("[" in str(arguments[i].type) for i in positions)
    written = tuple(i for i, a in enumerate(arguments) if a.is_write)
    connect = rebase_history if written and not is_view_row(row) else set_history
    condition = _condition(row, source)
    flags = source.output_differentiability
    single = len(row.schema.returns) == 1
    cpp_name = row.schema.name.base
    requires_grad, gradient_edge = impl.requires_grad, impl.gradient_edge
    plan: _Plan | None = None

    def wanted(args: tuple[Any, ...]) -> bool:
        if has_lists:
            found = compute_requires_grad(*(args[i] for i in positions))
        else:
            found = False
            for i in positions:
                t = args[i]
                if t is not None and t._autograd_meta is not None and requires_grad(t):
                    found = True
                    break
        return found and (condition is None or condition(args))

    def make_node(args: tuple[Any, ...]) -> Any:
        nonlocal plan
        if plan is None:
            plan = _Plan(row, source)
        for index, name in plan.check:
            _check_no_requires_grad(args[index], name, cpp_name)
        edges = []
        for i in positions:
            t = args[i]
            if isinstance(t, (list, tuple)):
                edges += [NO_EDGE if item is None else gradient_edge(item) for item in t]
            else:
                edges.append(NO_EDGE if t is None or t._autograd_meta is None else gradient_edge(t))
        grad_fn = plan.node(edges)
        if plan.save_inputs is not None:
            plan.save_inputs(grad_fn, *args)
        return grad_fn

    def finish(grad_fn: Any, result: Any) -> None:
        outputs = result
        if not single and flags is not None:
            outputs = tuple(t for t, flag in zip(result, flags, strict=True) if flag)
        connect(outputs, grad_fn)
        assert plan is not None
        if plan.save_outputs is not None:
            if single:
                plan.save_outputs(grad_fn, result)
            else:
                plan.save_outputs(grad_fn, *result)
        door = doors.listener
        if door is not None:
            door.node(grad_fn, tuple(outputs) if isinstance(outputs, (list, tuple)) else (outputs,))

    def kernel(ks: int, *args: Any) -> Any:
        grad_fn = None
        if tls.grad_mode and wanted(args):
            for i in written:
                check_inplace(args[i], True)
            grad_fn = make_node(args)
        excluded = tls.excluded
        tls.excluded = excluded | guard
        try:
            result = redispatch(ks & after_autograd_keyset, *args)
        finally:
            tls.excluded = excluded
        if grad_fn is not None:
            finish(grad_fn, result)
        return result

    return kernel
