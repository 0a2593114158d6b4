"""tools/autograd/gen_autograd_functions.py: makes the Node classes of generated/Functions.h from derivative formulas.

A class is made when its operator first needs a gradient. Its functions are compiled from the text that
engine/torchgen/autograd_text.py writes; linecache has it, so that tracebacks show it.
"""

from __future__ import annotations

import ast
import builtins
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
from engine.torchgen.autograd_text import list_arguments, node_text
from engine.torchgen.load_derivatives import DifferentiabilityInfo, SavedAttribute
from engine.torchgen.model import NativeFunction
from engine.torchgen.tensor_methods import ACCESSORS, OPERATORS, AtFunction, TensorMethod

__all__ = [
    "GeneratedNode",
    "as_strided_node",
    "compile_text",
    "make_node_class",
]

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
        return getattr(functions_manual, rest) if rest in functions_manual.__all__ else AtFunction(rest)
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


# -- classes


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
