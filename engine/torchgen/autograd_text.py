"""tools/autograd/gen_autograd_functions.py, gen_variable_type.py: the text that is generated from derivative formulas.

For each operator: what saves its inputs and outputs, and the functions of its node class. Names are those of
Functions.cpp, so that a traceback through them reads like PyTorch.
"""

from __future__ import annotations

import ast
import keyword

from engine.torchgen.load_derivatives import Derivative, DifferentiabilityInfo, SavedAttribute, output_names
from engine.torchgen.model import NativeFunction

__all__ = ["list_arguments", "node_text", "save_text"]

_INDENT = "    "


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
    """The first edge of an argument, and for a list the one after its last, as expressions."""
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
        "    if doors.listener is None:\n"
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


def grad_names(row: NativeFunction) -> dict[str, int]:
    """What formulas call the incoming gradients: ``grad`` the first, ``grad_NAME`` that of a named result."""
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
