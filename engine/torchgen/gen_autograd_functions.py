"""tools/autograd/gen_autograd_functions.py: makes the Node classes of generated/Functions.h from derivative formulas.

A class is made when its operator first needs a gradient. What is generated is Python text with the names of
Functions.cpp; tracebacks show it. ``source_of(row)`` gives it to a reader.
"""

from __future__ import annotations

import ast
import builtins
import keyword
import linecache
from collections.abc import Callable
from typing import Any

from engine import doors
from engine.c10.exception import TORCH_CHECK
from engine.torch.csrc.autograd import functions_manual
from engine.torch.csrc.autograd.copy_slices import TensorGeometry
from engine.torch.csrc.autograd.function import Node
from engine.torch.csrc.autograd.functions_manual import TypeAndSize
from engine.torch.csrc.autograd.graph_task import task_needs
from engine.torch.csrc.autograd.saved_variable import ERR_BACKWARD_TWICE, UNDEFINED, SavedVariable
from engine.torchgen.load_derivatives import Derivative, DifferentiabilityInfo, SavedAttribute
from engine.torchgen.model import NativeFunction
from engine.torchgen.tensor_methods import ACCESSORS, OPERATORS, AtFunction, TensorMethod

__all__ = [
    "GeneratedNode",
    "as_strided_node",
    "compile_text",
    "make_node_class",
    "python_name",
    "save_text",
]

_INDENT = "    "

# what Python sees as _saved_NAME: PyTorch has no getter for dtypes, layouts, options, geometries, …
_HIDDEN_SUFFIXES = (
    *("_scalar_type", "_layout", "_options", "_geometry", "_info"),
    *("_args_scalartypes", "_args_sizes", "_args_sizes_symint"),
)
_VISIBLE_TYPES = ("int", "SymInt", "float", "bool", "Scalar", "str")


class GeneratedNode(Node):
    """Base of the generated classes; ``info`` is what they were made from."""

    __slots__ = ()

    info: DifferentiabilityInfo


GeneratedNode.__module__ = "builtins"


# -- what generated text calls


def unpack_list(saved: list[SavedVariable] | None, node: Node | None = None) -> list[Any]:
    TORCH_CHECK(saved is not None, ERR_BACKWARD_TWICE)
    assert saved is not None
    return [s.unpack(node) for s in saved]


def save_list(tensors: Any, is_output: bool = False) -> list[SavedVariable]:
    return [SavedVariable(t, is_output) for t in tensors]


def announced(site: doors.Site, fn: Callable[..., Any], *args: Any) -> Any:
    door = doors.listener
    if door is None:
        return fn(*args)
    door.enter(site, args)
    try:
        result = fn(*args)
    except BaseException as error:
        door.fail(site, error)
        raise
    door.leave(site, result)
    return result


_RUNTIME: dict[str, Any] = {
    "SavedVariable": SavedVariable,
    "TensorGeometry": TensorGeometry,
    "UNDEFINED": UNDEFINED,
    "announced": announced,
    "doors": doors,
    "save_list": save_list,
    "task_needs": task_needs,
    "to_args_scalartypes": lambda tensors: [t._dtype for t in tensors],
    "to_args_sizes": lambda tensors: [t._sizes for t in tensors],
    "to_args_sizes_symint": lambda tensors: [t._sizes for t in tensors],
    "unpack_list": unpack_list,
    "TypeAndSize": TypeAndSize,
    "zeros_of": TypeAndSize.zeros,
}


def _resolve(name: str) -> Any:
    """A name that a formula uses: a helper of FunctionsManual, or an operator."""
    prefix, _, rest = name.partition("__")
    if prefix == "method" and rest:
        return ACCESSORS.get(rest) or TensorMethod(rest)
    if prefix == "op" and rest in OPERATORS:
        return OPERATORS[rest]
    if prefix == "at" and rest:
        return getattr(functions_manual, rest, None) if rest == "sum_to" else AtFunction(rest)
    helper = getattr(functions_manual, name, None)
    if helper is not None and (hasattr(helper, "__site__") or name in functions_manual.__all__):
        return helper
    return AtFunction(name)


def compile_text(text: str, title: str, extra: dict[str, Any] | None = None) -> dict[str, Any]:
    """Execute generated functions; the names they use and do not define are looked up as formulas do."""
    filename = f"<{title}>"
    tree = ast.parse(text, filename)
    loaded = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)}
    local = {n.id for n in ast.walk(tree) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)}
    local |= {a.arg for n in ast.walk(tree) if isinstance(n, ast.FunctionDef) for a in n.args.args}
    local |= {n.name for n in ast.walk(tree) if isinstance(n, ast.FunctionDef)}
    namespace: dict[str, Any] = {"__name__": "torch.autograd.generated", **(extra or {})}
    for name in sorted(loaded - local - namespace.keys()):
        if name in _RUNTIME:
            namespace[name] = _RUNTIME[name]
        elif not hasattr(builtins, name):
            namespace[name] = _resolve(name)
    linecache.cache[filename] = (len(text), None, text.splitlines(keepends=True), filename)
    exec(compile(tree, filename, "exec"), namespace)
    return namespace


# -- text


def python_name(name: str) -> str:
    """An argument's name where Python has a word of its own: ``from`` of uniform_."""
    return name + "_" if keyword.iskeyword(name) else name


def _saving(saved: SavedAttribute, guard: int | None, inplace: bool) -> str:
    """The statement that saves one attribute before (inputs) or after (outputs) the call."""
    if saved.kind == "value":
        value = saved.expr
        if saved.is_output or saved.expr != saved.source:
            value = _accessed(saved)
        return f"grad_fn.{saved.slot} = {value}"
    if saved.kind == "tensors":
        return f"grad_fn.{saved.slot} = save_list({saved.source}, {saved.is_output})"
    source = saved.source
    if inplace and source == "self":
        # what it was before the call
        source = "at__clone(self)"
    if saved.is_output:
        value = f"SavedVariable({source}, True, {source}._autograd_meta.is_view_)" if inplace else ""
        return f"grad_fn.{saved.slot} = {value or f'SavedVariable({source}, True)'}"
    if guard is None:
        return f"grad_fn.{saved.slot} = SavedVariable({source})"
    return f"grad_fn.{saved.slot} = SavedVariable({source}) if edges[{guard}][0] is not None else UNDEFINED"


def _accessed(saved: SavedAttribute) -> str:
    """``self.sym_sizes()`` as generated text says it: without dispatch, straight from the tensor."""
    call = ast.parse(saved.expr, mode="eval").body
    if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute):
        direct = {
            "sym_sizes": "_sizes",
            "sym_strides": "_strides",
            "scalar_type": "_dtype",
            "layout": "_layout",
        }.get(call.func.attr)
        if direct is not None:
            return f"{saved.source}.{direct}"
        arguments = ", ".join([saved.source, *map(ast.unparse, call.args)])
        return f"method__{call.func.attr}({arguments})"
    if saved.name.endswith("_info"):
        return f"TypeAndSize({saved.source})"
    return saved.expr


def _guard(info: DifferentiabilityInfo, saved: SavedAttribute, has_list: bool) -> int | None:
    """The edge that must lead somewhere for a tensor to be worth saving, as torchgen decides it."""
    used_in = [d for d in info.derivatives if saved in d.saved]
    if (
        has_list
        or saved.kind != "tensor"
        or "backward" in info.name
        or len(info.args_with_derivatives) <= 1
        or len(used_in) != 1
        or len(used_in[0].var_names) != 1
    ):
        return None
    return info.args_with_derivatives.index(used_in[0].var_names[0])


def save_text(row: NativeFunction, info: DifferentiabilityInfo, list_args: frozenset[str]) -> str:
    """``save_inputs(grad_fn, <arguments>)`` and ``save_outputs(grad_fn, <results>)`` of an operator."""
    from engine.torchgen.load_derivatives import output_names

    inplace = row.schema.kind() == "inplace"
    names = [python_name(a.name) for a in row.schema.all_arguments]
    lines = [f"def save_inputs(grad_fn, {', '.join(names)}):"]
    body = [_saving(s, _guard(info, s, bool(list_args)), inplace) for s in info.all_saved_inputs]
    if any("edges[" in line for line in body):
        body.insert(0, "edges = grad_fn._next_edges")
    body += [f"grad_fn.{name}_size_ = len({name})" for name in info.args_with_derivatives if name in list_args]
    lines += [_INDENT + line for line in body or ["pass"]]
    results = list(output_names(row.schema))
    if inplace:
        results = ["result"]
    saved = [_saving(s, None, inplace) for s in info.all_saved_outputs]
    lines += ["", "", f"def save_outputs(grad_fn, {', '.join(results)}):"]
    lines += [_INDENT + line for line in saved or ["pass"]]
    return "\n".join(lines) + "\n"


def _edge_range(info: DifferentiabilityInfo, name: str, list_args: frozenset[str]) -> tuple[str, str]:
    """First and last-but-one edge of an argument, as expressions over ``sizes``."""
    start: list[str] = []
    plain = 0
    for argument in info.args_with_derivatives:
        if argument == name:
            break
        if argument in list_args:
            start.append(f"{argument}_size")
        else:
            plain += 1
    first = " + ".join([str(plain), *start] if plain or not start else start)
    if name in list_args:
        return first, f"{first} + {name}_size"
    return first, ""


def _functional_text(
    info: DifferentiabilityInfo, grads: dict[str, int], list_args: frozenset[str], several: bool
) -> str:
    sizes = [f"{name}_size" for name in info.args_with_derivatives if name in list_args]
    params = ["grads", "needs_input_grad", *(s.name for s in info.all_saved), *sizes]
    lines = [f"def apply_functional({', '.join(params)}):"]
    total = " + ".join([str(sum(name not in list_args for name in info.args_with_derivatives)), *sizes])
    body = [f"grad_inputs = [None] * ({total})"]
    formulas = "\n".join(d.formula for d in info.derivatives)
    used = {n.id for n in ast.walk(ast.parse(formulas)) if isinstance(n, ast.Name)}
    body += [f"{name} = grads[{index}]" for name, index in grads.items() if name in used or name == "grad"]
    if several:
        body.append("any_grad_defined = any(g is not None for g in grads)")
    else:
        body.append("any_grad_defined = grad is not None")
    for derivative in info.derivatives:
        body += _derivative_text(info, derivative, list_args)
    body.append("return grad_inputs")
    return "\n".join([*lines, *(_INDENT + line for line in body)]) + "\n"


def _derivative_text(info: DifferentiabilityInfo, derivative: Derivative, list_args: frozenset[str]) -> list[str]:
    if len(derivative.var_names) == 1:
        (name,) = derivative.var_names
        first, last = _edge_range(info, name, list_args)
        if last:
            return [
                f"if any_grad_defined and any(needs_input_grad[{first}:{last}]):",
                _INDENT + f"grad_inputs[{first}:{last}] = {derivative.formula}",
            ]
        return [
            f"if any_grad_defined and needs_input_grad[{first}]:",
            _INDENT + f"grad_inputs[{first}] = {derivative.formula}",
        ]
    ranges = [_edge_range(info, name, list_args)[0] for name in derivative.var_names]
    mask = ", ".join(f"needs_input_grad[{first}]" for first in ranges)
    lines = [
        f"grad_input_mask = [{mask}]",
        "if any_grad_defined and any(grad_input_mask):",
        _INDENT + f"grad_result = {derivative.formula}",
    ]
    for index, first in enumerate(ranges):
        lines += [
            _INDENT + f"if needs_input_grad[{first}]:",
            _INDENT * 2 + f"grad_inputs[{first}] = grad_result[{index}]",
        ]
    return lines


def _apply_text(info: DifferentiabilityInfo, list_args: frozenset[str]) -> str:
    values = []
    for saved in info.all_saved:
        owner = "self" if saved.is_output else "None"
        if saved.kind == "tensor":
            values.append(f"self.{saved.slot}.unpack({owner})")
        elif saved.kind == "tensors":
            values.append(f"unpack_list(self.{saved.slot}, {owner})")
        else:
            values.append(f"self.{saved.slot}")
    values += [f"self.{name}_size_" for name in info.args_with_derivatives if name in list_args]
    arguments = ", ".join(["grads", "task_needs(self)", *values])
    return (
        "def apply(self, grads):\n"
        f"    if doors.listener is None:\n"
        f"        return apply_functional({arguments})\n"
        f"    return announced(apply_functional_site, apply_functional, {arguments})\n"
    )


def _release_text(info: DifferentiabilityInfo) -> str:
    body = []
    for saved in info.all_saved:
        if saved.kind == "tensor":
            body.append(f"self.{saved.slot}.reset_data()")
        elif saved.kind == "tensors":
            body.append(f"self.{saved.slot} = None")
    lines = ["def release_variables(self):", *(_INDENT + line for line in body or ["pass"])]
    return "\n".join(lines) + "\n"


# -- classes


def grad_names(row: NativeFunction) -> dict[str, int]:
    """What formulas call the incoming gradients: ``grad`` the first, ``grad_NAME`` that of a named result."""
    from engine.torchgen.load_derivatives import output_names

    names = {"grad": 0}
    index = 0
    flags = row.output_differentiability or (True,) * len(row.schema.returns)
    for name, flag in zip(output_names(row.schema), flags, strict=False):
        if flag:
            names[f"grad_{name}"] = index
            index += 1
    return names


def list_arguments(row: NativeFunction) -> frozenset[str]:
    arguments = row.schema.all_arguments
    return frozenset(a.name for a in arguments if str(a.type).startswith("Tensor") and "[" in str(a.type))


def node_text(row: NativeFunction, info: DifferentiabilityInfo) -> str:
    lists = list_arguments(row)
    returns = row.schema.returns
    several = len(returns) > 1 or "[" in str(returns[0].type)
    parts = [_functional_text(info, grad_names(row), lists, several), _apply_text(info, lists), _release_text(info)]
    return "\n\n".join(parts)


def make_node_class(row: NativeFunction, info: DifferentiabilityInfo) -> type[GeneratedNode]:
    """The node class of ``row``, the functional form of its operator."""
    name = info.op
    cpp_name = f"torch::autograd::generated::{name}"
    text = node_text(row, info)
    extra: dict[str, Any] = {"apply_functional_site": None}
    namespace = compile_text(text, f"torch/csrc/autograd/generated/Functions.cpp {name}", extra)
    functional = namespace["apply_functional"]
    namespace["apply_functional_site"] = doors.site_of(functional, f"{cpp_name}_apply_functional", "node")
    doors.rename(functional, f"{cpp_name}_apply_functional")
    lists = list_arguments(row)
    members: dict[str, Any] = {
        "__slots__": (
            *(s.slot for s in info.all_saved),
            *(f"{n}_size_" for n in info.args_with_derivatives if n in lists),
        ),
        "__module__": "builtins",
        "apply": doors.rename(namespace["apply"], f"{cpp_name}::apply"),
        "release_variables": doors.rename(namespace["release_variables"], f"{cpp_name}::release_variables"),
        "cpp_name": cpp_name,
        "info": info,
    }
    types = {a.name: str(a.type) for a in row.schema.all_arguments}
    for saved in info.all_saved:
        members |= _getters(saved, types.get(saved.source, ""))
    return type(name, (GeneratedNode,), members)


def _getters(saved: SavedAttribute, schema_type: str) -> dict[str, Any]:
    """``_saved_NAME`` and ``_raw_saved_NAME``."""
    slot, is_output = saved.slot, saved.is_output
    if saved.kind == "tensor":

        def tensor(self: Any) -> Any:
            return _translated(lambda: getattr(self, slot).unpack(self if is_output else None))

        return {
            f"_saved_{saved.name}": property(tensor),
            f"_raw_saved_{saved.name}": property(lambda self: getattr(self, slot)),
        }
    if saved.kind == "tensors":

        def tensors(self: Any) -> Any:
            return _translated(lambda: tuple(unpack_list(getattr(self, slot), self if is_output else None)))

        return {
            f"_saved_{saved.name}": property(tensors),
            f"_raw_saved_{saved.name}": property(lambda self: tuple(getattr(self, slot) or ())),
        }
    if saved.expr != saved.source:
        if saved.name.endswith(_HIDDEN_SUFFIXES):
            return {}
    elif schema_type.rstrip("?").partition("[")[0] not in _VISIBLE_TYPES:
        return {}

    def value(self: Any) -> Any:
        found = getattr(self, slot)
        return tuple(found) if isinstance(found, list) else found

    return {f"_saved_{saved.name}": property(value)}


def _translated(read: Callable[[], Any]) -> Any:
    from engine.c10.exception import Error, translate

    try:
        return read()
    except Error as error:
        raise translate(error) from None


def as_strided_node(base: Any, sizes: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Node:
    """AsStridedBackward0 of a view of ``base``, not yet connected."""
    from engine.torchgen.gen_variable_type import node_class_of
    from engine.torchgen.register import register_all, registered_rows

    register_all()
    node: Any = node_class_of(registered_rows["as_strided"])()
    node.self_geometry = TensorGeometry(base)
    node.size = sizes
    node.stride = strides
    node.storage_offset = offset
    return node  # type: ignore[no-any-return]
