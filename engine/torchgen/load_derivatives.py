"""tools/autograd/load_derivatives.py: reads the derivative formulas of a row.

A formula is PyTorch's own, written so that Python can parse it (``a if c else b`` for ``c ? a : b``). Inputs it uses
are saved by the forward call: whole, or only what the formula asks of them (``self.sym_sizes()`` saves
``self_sym_sizes``). Calls of methods and operators on tensors become calls through the dispatcher.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Mapping
from dataclasses import dataclass

from engine.aten.core.function_schema import Argument, FunctionSchema
from engine.torchgen.model import NativeFunction

__all__ = ["Derivative", "DifferentiabilityInfo", "SavedAttribute", "differentiability_info", "op_name"]

# what may be asked of an input at the time of the call: method or function name -> suffix
_METHODS = {
    "sym_sizes": "_sym_sizes",
    "options": "_options",
    "numel": "_numel",
    "sym_numel": "_sym_numel",
    "scalar_type": "_scalar_type",
    "dim": "_dim",
    "sym_strides": "_sym_strides",
    "layout": "_layout",
    "is_conj": "_conjugate",
    "sym_size": "_sym_argsize",
}
_FUNCTIONS = {
    "zeros_like": "_info",
    "to_args_sizes": "_args_sizes",
    "to_args_sizes_symint": "_args_sizes_symint",
    "to_args_scalartypes": "_args_scalartypes",
    "TensorGeometry": "_geometry",
}


@dataclass(frozen=True, slots=True)
class SavedAttribute:
    """What a node keeps. ``source`` is the argument or result it comes from, ``expr`` how: Python over that name.

    kind: tensor, tensors, or value.
    """

    name: str
    source: str
    expr: str
    kind: str
    is_output: bool

    @property
    def slot(self) -> str:
        """The member of the C++ node: tensors have a trailing underscore."""
        return self.name if self.kind == "value" else self.name + "_"


@dataclass(frozen=True, slots=True)
class Derivative:
    """The formula for the gradients of ``var_names``."""

    var_names: tuple[str, ...]
    source: str
    formula: str
    saved: tuple[SavedAttribute, ...]


@dataclass(frozen=True, slots=True)
class DifferentiabilityInfo:
    """The derivatives of an operator. ``args_with_derivatives`` in the order of the schema, as the node's edges are."""

    op: str
    name: str
    derivatives: tuple[Derivative, ...]
    args_with_derivatives: tuple[str, ...]
    non_differentiable: frozenset[str]
    all_saved_inputs: tuple[SavedAttribute, ...]
    all_saved_outputs: tuple[SavedAttribute, ...]

    @property
    def all_saved(self) -> tuple[SavedAttribute, ...]:
        both = (*self.all_saved_inputs, *self.all_saved_outputs)
        return tuple(sorted(both, key=lambda s: s.name))


def op_name(row: NativeFunction) -> str:
    """The node's class: ``mul.Tensor`` -> MulBackward0; the row says where PyTorch counted further."""
    if row.backward_name is not None:
        return row.backward_name
    base = row.schema.name.base.rstrip("_") if row.schema.kind() == "inplace" else row.schema.name.base
    camel = "".join(part.title() for part in base.split("_"))
    return (camel + "Backward").replace("ForwardBackward", "Backward") + "0"


def _kind(argument: Argument) -> str:
    text = re.sub(r"\([^)]*\)", "", str(argument.type))
    if not text.startswith("Tensor"):
        return "value"
    return "tensors" if "[" in text else "tensor"


class _Rewriter(ast.NodeTransformer):
    """Turns a formula into plain calls, and notes what has to be saved."""

    def __init__(self, names: Mapping[str, str]) -> None:
        self.names = names
        self.saved: dict[str, tuple[str, str, str]] = {}

    def _save(self, name: str, source: str, expr: str, kind: str) -> ast.expr:
        self.saved.setdefault(name, (source, expr, kind))
        return ast.Name(name, ast.Load())

    def visit_Call(self, node: ast.Call) -> ast.expr:
        func = node.func
        if isinstance(func, ast.Attribute):
            owner = func.value
            if isinstance(owner, ast.Name):
                if owner.id == "at":
                    node.func = ast.Name(f"at__{func.attr}", ast.Load())
                    return self.generic_visit(node)  # type: ignore[return-value]
                if owner.id in self.names and self.names[owner.id] == "tensor" and func.attr in _METHODS:
                    name = owner.id + _METHODS[func.attr]
                    if func.attr == "sym_size":
                        name += "_" + ast.unparse(node.args[0]).replace("-", "minus_")
                    return self._save(name, owner.id, ast.unparse(node), "value")
            target = ast.Name(f"method__{func.attr}", ast.Load())
            return self.generic_visit(  # type: ignore[return-value]
                ast.Call(target, [owner, *node.args], node.keywords)
            )
        if isinstance(func, ast.Name) and len(node.args) == 1 and isinstance(node.args[0], ast.Name):
            source = node.args[0].id
            if func.id in _FUNCTIONS and source in self.names:
                saved = self._save(source + _FUNCTIONS[func.id], source, ast.unparse(node), "value")
                if func.id == "zeros_like":
                    return ast.Call(ast.Name("zeros_of", ast.Load()), [saved], [])
                return saved
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Name(self, node: ast.Name) -> ast.expr:
        if node.id in self.names:
            return self._save(node.id, node.id, node.id, self.names[node.id])
        return node

    def _operator(self, node: ast.AST, name: str, *operands: ast.expr) -> ast.expr:
        visited = [self.visit(operand) for operand in operands]
        return ast.Call(ast.Name(f"op__{name}", ast.Load()), visited, [])

    def visit_BinOp(self, node: ast.BinOp) -> ast.expr:
        if isinstance(node.op, (ast.Add, ast.Sub, ast.Mult, ast.Div)):
            return self._operator(node, type(node.op).__name__, node.right, node.left)
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        if isinstance(node.op, ast.USub) and not isinstance(node.operand, ast.Constant):
            return self._operator(node, "USub", node.operand)
        return self.generic_visit(node)  # type: ignore[return-value]

    def visit_Compare(self, node: ast.Compare) -> ast.expr:
        comparison = node.ops[0]
        if len(node.ops) == 1 and isinstance(comparison, (ast.Gt, ast.Lt, ast.GtE, ast.LtE, ast.Eq, ast.NotEq)):
            return self._operator(node, type(comparison).__name__, node.comparators[0], node.left)
        return self.generic_visit(node)  # type: ignore[return-value]


def output_names(schema: FunctionSchema) -> tuple[str, ...]:
    """torchgen.api.cpp.return_names: in formulas a single nameless result is ``result``."""
    returns = schema.returns
    if len(returns) == 1:
        return (returns[0].name or "result",)
    return tuple(r.name or f"result{i}" for i, r in enumerate(returns))


def differentiability_info(row: NativeFunction, formulas: Mapping[str, str]) -> DifferentiabilityInfo:
    """Parse ``formulas``, which are those of ``row`` or of the functional form that ``row`` shares."""
    schema = row.schema
    arguments = {a.name: a for a in schema.all_arguments if not a.is_out}
    kinds = {name: _kind(argument) for name, argument in arguments.items()}
    outputs = output_names(schema)
    for name, returned in zip(outputs, schema.returns, strict=True):
        kinds.setdefault(name, _kind(returned))
    kinds.setdefault("result", "tensor")

    derivatives = []
    non_differentiable = set()
    with_derivatives = set()
    inputs: dict[str, SavedAttribute] = {}
    results: dict[str, SavedAttribute] = {}
    for names in sorted(formulas):
        source = formulas[names]
        var_names = tuple(name.strip() for name in names.split(","))
        if source == "non_differentiable":
            non_differentiable.update(var_names)
            continue
        for name in var_names:
            if name not in arguments:
                raise ValueError(f"{schema.name}: derivative for {name!r}, which is not an argument of {schema}")
        try:
            tree = ast.parse(source.strip(), mode="eval")
        except SyntaxError as error:
            raise ValueError(f"{schema.name}: the derivative of {names} is not an expression: {source!r}") from error
        rewriter = _Rewriter(kinds)
        body = ast.fix_missing_locations(rewriter.visit(tree.body))
        saved = []
        for name, (origin, expr, kind) in rewriter.saved.items():
            is_output = origin not in arguments
            attribute = SavedAttribute(name, origin, expr, kind, is_output)
            (results if is_output else inputs).setdefault(name, attribute)
            saved.append(attribute)
        with_derivatives.update(var_names)
        derivatives.append(Derivative(var_names, source, ast.unparse(body), tuple(saved)))
    return DifferentiabilityInfo(
        op_name(row),
        schema.name.base,
        tuple(derivatives),
        tuple(name for name in arguments if name in with_derivatives),
        frozenset(non_differentiable),
        tuple(sorted(inputs.values(), key=lambda s: s.name)),
        tuple(sorted(results.values(), key=lambda s: s.name)),
    )
