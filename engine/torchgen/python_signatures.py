"""torchgen/api/python.py: from the rows of one operator to the signatures its Python binding accepts.

Overloads that differ only in their out arguments share a signature; signatures are ordered so that Tensor is tried
before Scalar. Differs: signatures are strings for the argument parser only, never type hints.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from engine.aten.core.function_schema import Argument
from engine.torchgen.deprecated import DEPRECATED
from engine.torchgen.model import NativeFunction
from engine.torchgen.naming import options_position

__all__ = ["PythonArgument", "PythonSignature", "PythonSignatureGroup", "signature", "signatures"]

_BASE_TYPES = {"int": "int64_t", "float": "double", "str": "c10::string_view"}
_LIST_TYPES = {
    "int": "IntArrayRef",
    "SymInt": "SymIntArrayRef",
    "Tensor": "TensorList",
    "Scalar": "ScalarList",
    "Dimname": "DimnameList",
}


@dataclass(frozen=True, slots=True)
class PythonArgument:
    """An argument as Python sees it: ``type`` is the schema's, without alias marks; ``default`` as in the signature."""

    name: str
    type: str
    default: str | None = None

    def argument_str(self, method: bool) -> str:
        kind = argument_type_str(self.type)
        name = "input" if self.name == "self" and kind in ("Tensor", "Number") and not method else self.name
        return f"{kind} {name}" if self.default is None else f"{kind} {name}={self.default}"


# what a factory takes beside the arguments of its schema
_TENSOR_OPTIONS = (
    PythonArgument("dtype", "ScalarType?", "None"),
    PythonArgument("layout", "Layout?", "None"),
    PythonArgument("device", "Device?", "None"),
    PythonArgument("pin_memory", "bool?", "False"),
    PythonArgument("requires_grad", "bool?", "False"),
)


def argument_type_str(kind: str) -> str:
    """The argument parser's name of a schema type: ``SymInt[1]?`` is ``SymIntArrayRef[1]?``."""
    if kind.endswith("?"):
        return argument_type_str(kind[:-1]) + "?"
    if kind.endswith("]"):
        element, _, size = kind[:-1].rpartition("[")
        if element == "Tensor?":
            return "c10::List<::std::optional<Tensor>>"
        name = _LIST_TYPES.get(element)
        if name is None:
            return f"ArrayRef<{argument_type_str(element)}>"
        return f"{name}[{size}]" if size else name
    return _BASE_TYPES.get(kind, kind)


def _type(argument: Argument) -> str:
    """The schema type with the size of a sized list: ``int[1]?``."""
    text = str(argument.type)
    return text if argument.N is None else text.replace("[]", f"[{argument.N}]", 1)


# how C++ spells the defaults that are neither numbers nor None; Python's parser shows them as they are
_CPP_DEFAULTS = {
    "[]": "None",
    "long": "torch.int64",
    "Mean": "at::Reduction::Mean",
    "contiguous_format": "c10::MemoryFormat::Contiguous",
}


def _defaults(func: str) -> dict[str, str]:
    """Default by argument name, as it is written in the row: ``1`` for ``float p=1``."""
    found = {}
    for part in re.split(r", (?![^\[]*\])", func.partition("(")[2].rpartition(" -> ")[0].removesuffix(")")):
        name, equals, text = part.rpartition(" ")[2].partition("=")
        if equals:
            found[name] = text
    return found


def _default(text: str) -> str:
    """torchgen's pythonify_default: numbers normalised, lists in braces, strings in double quotes."""
    if text in _CPP_DEFAULTS:
        return _CPP_DEFAULTS[text]
    if text.startswith("["):
        return "{" + ",".join(item.strip() for item in text[1:-1].split(",")) + "}"
    if text.startswith(("'", '"')):
        return f'"{text[1:-1]}"'
    for number in (int, float):
        try:
            return str(number(text))
        except ValueError:
            continue
    return text


def _is_tensor_like(kind: str) -> bool:
    return kind.startswith("Tensor")


@dataclass(frozen=True, slots=True)
class PythonSignature:
    """The arguments of one signature, in the groups in which Python orders them.

    ``call`` of a deprecated signature names the arguments of the schema in its order, and constants for the others.
    """

    name: str
    input_args: tuple[PythonArgument, ...]
    input_kwargs: tuple[PythonArgument, ...]
    output_args: PythonArgument | None
    tensor_options_args: tuple[PythonArgument, ...]
    method: bool
    outputs: tuple[str, ...] = ()
    call: tuple[str, ...] | None = None

    @property
    def deprecated(self) -> bool:
        return self.call is not None

    def arguments(self, skip_outputs: bool = False) -> tuple[PythonArgument, ...]:
        outputs = () if skip_outputs or self.output_args is None else (self.output_args,)
        return (*self.input_args, *self.input_kwargs, *outputs, *self.tensor_options_args)

    def output_idx(self) -> int:
        return len(self.input_args) + len(self.input_kwargs)

    def signature_str(self, skip_outputs: bool = False) -> str:
        formals = [argument.argument_str(self.method) for argument in self.arguments(skip_outputs)]
        if len(formals) > len(self.input_args):
            formals.insert(len(self.input_args), "*")
        return f"{self.name}({', '.join(formals)}){'|deprecated' if self.deprecated else ''}"


@dataclass(frozen=True, slots=True)
class PythonSignatureGroup:
    """A signature and the operators behind it: ``outplace`` is called when ``out`` is given, ``base`` otherwise."""

    signature: PythonSignature
    base: NativeFunction
    outplace: NativeFunction | None


def signature(row: NativeFunction, method: bool, factory: bool = False) -> PythonSignature:
    """The signature of one operator; a method's ``self`` is not among its arguments.

    ``factory``: it takes dtype, layout, device, … although it has tensor arguments (linspace's out variants).
    """
    options = options_position(row)
    defaults = _defaults(row.func)
    positional: list[PythonArgument] = []
    keyword: list[PythonArgument] = []
    outputs: list[PythonArgument] = []
    tensor_input = False
    for i, argument in enumerate(row.schema.all_arguments):
        kind = _type(argument)
        if options is not None and options <= i < options + 4:
            continue
        if argument.is_out:
            outputs.append(PythonArgument(argument.name, kind))
            continue
        tensor_input = tensor_input or _is_tensor_like(kind)
        if method and argument.name == "self":
            continue
        known = PythonArgument(argument.name, kind, _default(defaults[argument.name]) if argument.has_default else None)
        (keyword if argument.kwarg_only else positional).append(known)
    output: PythonArgument | None = None
    if len(outputs) == 1:
        output = replace(outputs[0], default="None")
    elif outputs:
        output = PythonArgument("out", f"Tensor[{len(outputs)}]", "None")
    name = row.schema.name.base
    tensor_return = any(_is_tensor_like(str(ret.type)) for ret in row.schema.returns)
    factory = (
        factory
        or options is not None
        or (tensor_return and not tensor_input)
        or name.startswith("new_")
        or name.endswith("_like")
    )
    return PythonSignature(
        name=name,
        input_args=tuple(positional),
        input_kwargs=tuple(keyword),
        output_args=output,
        tensor_options_args=_TENSOR_OPTIONS if factory else (),
        method=method,
        outputs=tuple(argument.name for argument in outputs),
    )


def _deprecated(row: NativeFunction, method: bool) -> Iterable[PythonSignature]:
    """The old signatures that still reach ``row``, with the arguments in their former order."""
    current = signature(row, method)
    arguments = {argument.name: argument for argument in signature(row, False).arguments()}
    for old in DEPRECATED.get(row.schema.name.base, ()):
        names = [name for name in old.arguments if not (method and name == "self")]
        # of the overloads, the one with arguments of these names and types
        if any(arguments.get(n) is None or arguments[n].type != t for n, t in old.arguments.items()):
            continue
        yield replace(
            current,
            input_args=tuple(replace(arguments[name], default=None) for name in names),
            input_kwargs=(),
            call=old.call,
        )


def _is_arg_smaller(one: str, other: str) -> bool:
    """Whether a parameter of type ``one`` must be tried after one of type ``other``."""
    return (
        (one == "Scalar" and other == "Tensor")
        or (one == "Scalar?" and other == "Tensor?")
        # names of dimensions are tried last, which is why rand's plain signature comes before the named one
        or ("Dimname" in one and "Dimname" not in other)
        or (one == "int[]" and other in ("int", "int?"))
        or (one == "Tensor[]" and "[]" in other)
        or (one == "SymInt[]" and other == "int[]")
        or (one in ("SymInt", "int") and other == "Tensor")
    )


def _is_smaller(one: PythonSignature, other: PythonSignature) -> bool:
    args = [argument.type for argument in one.arguments(skip_outputs=True)]
    others = [argument.type for argument in other.arguments(skip_outputs=True)]
    if len(args) != len(others) or args == others:
        return False
    return all(a == b or _is_arg_smaller(a, b) for a, b in zip(args, others, strict=True))


def sort_overloads(groups: Sequence[PythonSignatureGroup]) -> list[PythonSignatureGroup]:
    """By text, then so that no signature comes before one it is smaller than."""
    ordered = sorted(groups, key=lambda group: group.signature.signature_str())
    larger_than: dict[int, set[int]] = defaultdict(set)
    for i, one in enumerate(ordered):
        for j, other in enumerate(ordered):
            if _is_smaller(one.signature, other.signature):
                larger_than[i].add(j)
    ids = [i for i in range(len(ordered)) if i not in larger_than]
    for i in ids:  # grows while it is walked
        for j in sorted(larger_than):
            larger_than[j].discard(i)
            if not larger_than[j]:
                del larger_than[j]
                ids.append(j)
    return [ordered[i] for i in ids]


def signatures(rows: Iterable[NativeFunction], method: bool) -> list[PythonSignatureGroup]:
    """The signatures of the operators of one name, in the order in which the parser tries them."""
    bases: dict[str, tuple[PythonSignature, NativeFunction]] = {}
    outplaces: dict[str, tuple[PythonSignature, NativeFunction]] = {}
    for row in rows:
        into = outplaces if row.schema.kind() == "out" else bases
        for one in (signature(row, method), *_deprecated(row, method)):
            into[one.signature_str(skip_outputs=True)] = one, row
    for text in [text for text in outplaces if text not in bases]:
        row = outplaces[text][1]
        as_factory = signature(row, method, factory=True)
        if as_factory.signature_str(skip_outputs=True) in bases:
            del outplaces[text]
            outplaces[as_factory.signature_str(skip_outputs=True)] = as_factory, row
    groups = []
    for text, (base, row) in bases.items():
        out = outplaces.pop(text, None)
        groups.append(PythonSignatureGroup(out[0] if out else base, row, out[1] if out else None))
    if outplaces:
        raise ValueError(f"out variants without a base that takes the same arguments: {', '.join(outplaces)}")
    return sort_overloads(groups)
