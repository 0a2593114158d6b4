"""aten/src/ATen/core/function_schema.h, alias_info.h, operator_name.h: what an operator takes and returns.

``str(schema)`` is PyTorch's own text, and ``parse_schema(str(schema)) == schema``.

Differs: ScalarType, Layout and MemoryFormat keep their own types (ints in C++), and their defaults are the engine's
objects; lists in defaults are tuples; alias sets keep the order in which they were written.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from engine.c10.layout import Layout
from engine.c10.memory_format import MemoryFormat
from engine.c10.scalar_type import ScalarType

__all__ = [
    "AliasInfo",
    "Argument",
    "BaseType",
    "DictType",
    "FunctionSchema",
    "GenericType",
    "ListType",
    "OperatorName",
    "OptionalType",
    "TupleType",
    "Type",
    "parse_name",
    "parse_schema",
]


# ---- types


@dataclass(frozen=True, slots=True)
class BaseType:
    """A type without parts: Tensor, int, Scalar, a type variable such as ``t``, or a ``__torch__.…`` class."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class ListType:
    """``elem[]``; the size of ``int[2]`` belongs to the argument, as in c10."""

    elem: Type

    def __str__(self) -> str:
        return f"{self.elem}[]"


@dataclass(frozen=True, slots=True)
class OptionalType:
    """``elem?``."""

    elem: Type

    def __str__(self) -> str:
        return f"{self.elem}?"


@dataclass(frozen=True, slots=True)
class TupleType:
    """``(int, str)``."""

    elements: tuple[Type, ...]

    def __str__(self) -> str:
        return f"({', '.join(map(str, self.elements))})"


@dataclass(frozen=True, slots=True)
class DictType:
    """``Dict(str, t)``."""

    key: Type
    value: Type

    def __str__(self) -> str:
        return f"Dict({self.key}, {self.value})"


@dataclass(frozen=True, slots=True)
class GenericType:
    """``Future(t)``, ``RRef(t)``, ``Await(t)``, ``Union(int, str)``."""

    name: str
    elements: tuple[Type, ...]

    def __str__(self) -> str:
        return f"{self.name}({', '.join(map(str, self.elements))})"


Type = BaseType | ListType | OptionalType | TupleType | DictType | GenericType


# ---- aliases


@dataclass(frozen=True, slots=True)
class AliasInfo:
    """``(a!)``: the sets a value belongs to, whether it is written, and those of a list's elements.

    ``after_sets`` differs from ``before_sets`` only in ``(a -> *)``, where ``*`` is the wildcard.
    """

    before_sets: tuple[str, ...] = ()
    is_write: bool = False
    after_sets: tuple[str, ...] = ()
    contained_types: tuple[AliasInfo, ...] = ()

    @property
    def set(self) -> str | None:
        """The first set named, that of the elements if the list itself has none: ``a`` for ``Tensor(a!)[]``."""
        if self.before_sets:
            return self.before_sets[0]
        return self.contained_types[0].set if self.contained_types else None

    def __str__(self) -> str:
        """The annotation itself, without that of the elements."""
        if not self.before_sets:
            return ""
        after = "" if self.after_sets == self.before_sets else f" -> {'|'.join(self.after_sets)}"
        return f"({'|'.join(self.before_sets)}{'!' if self.is_write else ''}{after})"


def _annotated(type_: Type, alias: AliasInfo | None, n: int | None) -> str:
    """The type with its alias annotations and the size of a sized list."""
    if isinstance(type_, OptionalType):
        return _annotated(type_.elem, alias, n) + "?"
    own = "" if alias is None else str(alias)
    if isinstance(type_, ListType):
        inner = alias.contained_types[0] if alias is not None and alias.contained_types else None
        return f"{_annotated(type_.elem, inner, None)}[{'' if n is None else n}]{own}"
    return f"{type_}{own}"


# ---- arguments


def _quoted(s: str) -> str:
    """torch/csrc/jit/frontend: printQuotedString; bytes that are not printable ASCII in octal."""
    special = {7: "a", 8: "b", 9: "t", 10: "n", 11: "v", 12: "f", 13: "r", 34: '"', 39: "'", 92: "\\"}
    parts = []
    for byte in s.encode(errors="surrogateescape"):
        if byte in special:
            parts.append("\\" + special[byte])
        else:
            parts.append(chr(byte) if 32 <= byte < 127 else f"\\{byte:03o}")
    return f'"{"".join(parts)}"'


def _float(x: float) -> str:
    """As IValue prints a double: whole numbers of 64 bits with a bare point, others with 17 digits."""
    if x.is_integer() and abs(x) < 2**63:
        return "-0." if x == 0 and math.copysign(1, x) < 0 else f"{int(x)}."
    return f"{x:.17g}"


def _value(x: Any) -> str:
    """A default as IValue's operator<< prints it."""
    if isinstance(x, (ScalarType, Layout, MemoryFormat)):
        return str(x.value)
    if isinstance(x, float):
        return _float(x)
    if isinstance(x, complex):
        return f"{_float(x.real)}{'-' if x.imag < 0 else '+'}{_float(abs(x.imag))}j"
    if isinstance(x, str):
        return _quoted(x)
    if isinstance(x, tuple):
        return f"[{', '.join(map(_value, x))}]"
    return str(x)


@dataclass(frozen=True, slots=True)
class Argument:
    """An argument or a return value.

    N: the size of a sized list (``int[2]``); a single default stands for N equal ones.
    default: meaningful where ``has_default``; None is a default like any other.
    """

    name: str
    type: Type
    N: int | None = None
    default: Any = None
    has_default: bool = False
    kwarg_only: bool = False
    alias_info: AliasInfo | None = None

    @property
    def is_write(self) -> bool:
        return self.alias_info is not None and self.alias_info.is_write

    @property
    def is_out(self) -> bool:
        return self.kwarg_only and self.is_write

    def __str__(self) -> str:
        text = _annotated(self.type, self.alias_info, self.N)
        if self.name:
            text += " " + self.name
        return f"{text}={self._default()}" if self.has_default else text

    def _default(self) -> str:
        value = self.default
        # Only lists of plain ints are folded, and only where the size says how to unfold them.
        if str(self.type) == "int[]" and isinstance(value, tuple) and self.N == len(value) > 1 and len(set(value)) == 1:
            return _value(value[0])
        return _value(value)


# ---- names and schemas


@dataclass(frozen=True, slots=True)
class OperatorName:
    """``aten::add.Tensor``: ``name`` with its namespace, and the overload's name or ""."""

    name: str
    overload_name: str = ""

    @property
    def namespace(self) -> str | None:
        return self.name.partition("::")[0] if "::" in self.name else None

    @property
    def base(self) -> str:
        """The name without its namespace: ``add``."""
        return self.name.rpartition("::")[2]

    def unambiguous_name(self) -> str:
        """The name of the struct in at::_ops: ``add_.Tensor`` -> ``add__Tensor``."""
        return f"{self.base}_{self.overload_name}" if self.overload_name else self.base

    def __str__(self) -> str:
        return f"{self.name}.{self.overload_name}" if self.overload_name else self.name


_AUGMENTED = frozenset(
    f"__i{op}__" for op in ("add", "sub", "mul", "div", "mod", "pow", "lshift", "rshift", "and", "xor", "or")
)


@dataclass(frozen=True, slots=True)
class FunctionSchema:
    """An operator's signature. ``all_arguments`` is the order in which kernels take them."""

    name: OperatorName
    all_arguments: tuple[Argument, ...]
    returns: tuple[Argument, ...]
    is_vararg: bool = False
    is_varret: bool = False

    @property
    def arguments(self) -> tuple[Argument, ...]:
        """Those that may be given by position."""
        return tuple(a for a in self.all_arguments if not a.kwarg_only)

    @property
    def kwarg_only(self) -> tuple[Argument, ...]:
        """Those after the ``*``, without the out arguments."""
        return tuple(a for a in self.all_arguments if a.kwarg_only and not a.is_out)

    @property
    def out(self) -> tuple[Argument, ...]:
        """Those after the ``*`` that are written: where the result goes."""
        return tuple(a for a in self.all_arguments if a.is_out)

    def argumentIndexWithName(self, name: str) -> int | None:
        for index, argument in enumerate(self.all_arguments):
            if argument.name == name:
                return index
        return None

    def is_mutable(self) -> bool:
        """Whether any argument is written."""
        return any(a.is_write for a in self.all_arguments)

    def hasAnyAliasInfo(self) -> bool:
        return any(a.alias_info is not None for a in (*self.all_arguments, *self.returns))

    def kind(self) -> str:
        """torchgen's SchemaKind: functional, inplace (by its name), out, scratch, or mutable."""
        base = self.name.base
        if any(a.name.startswith("_scratch_") for a in self.out):
            return "scratch"
        dunder = base.startswith("__") and base.endswith("__")
        if base in _AUGMENTED or (base.endswith("_") and not dunder):
            return "inplace"
        if self.out:
            return "out"
        return "mutable" if any(a.is_write for a in self.arguments if a.name != "self") else "functional"

    def cloneWithName(self, name: str, overload_name: str = "") -> FunctionSchema:
        return replace(self, name=OperatorName(name, overload_name))

    def _parameters(self) -> Iterator[str]:
        star = False
        for argument in self.all_arguments:
            if argument.kwarg_only and not star:
                star = True
                yield "*"
            yield str(argument)
        if self.is_vararg:
            yield "..."

    def __str__(self) -> str:
        returns = [str(r) for r in self.returns] + ["..."] * self.is_varret
        result = ", ".join(returns)
        # A lone tuple, or list of tuples, would be read as several return values.
        if len(returns) != 1 or result.startswith("("):
            result = f"({result})"
        return f"{self.name}({', '.join(self._parameters())}) -> {result}"


# ---- reading


def parse_schema(text: str) -> FunctionSchema:
    """The schema written in ``text``; an error shows where it stops making sense."""
    from engine.aten.core.function_schema_parser import SchemaParser

    return SchemaParser(text).parse_schema()


def parse_name(text: str) -> OperatorName:
    """``ns::name.overload``."""
    from engine.aten.core.function_schema_parser import SchemaParser

    return SchemaParser(text).parse_name()
