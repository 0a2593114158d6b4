"""torch/csrc/jit/frontend/function_schema_parser.cpp, schema_type_parser.cpp: reads operator schemas.

An error has c10's text: what was expected, what was found, and the schema with a mark under the place.

Differs: types of the article's release (Dimname) are known; complex defaults are read in the form they are printed in.
"""

from __future__ import annotations

import difflib
from collections.abc import Callable
from typing import Any, NoReturn

from engine.aten.core.function_schema import (
    AliasInfo,
    Argument,
    BaseType,
    DictType,
    FunctionSchema,
    GenericType,
    ListType,
    OperatorName,
    OptionalType,
    TupleType,
    Type,
)
from engine.aten.core.function_schema_lexer import Token, fail_at, parseStringLiteral, tokenize
from engine.c10.exception import Error
from engine.c10.layout import all_layouts, strided
from engine.c10.memory_format import all_memory_formats, contiguous_format
from engine.c10.scalar_type import ComplexFloat, Float, Long, all_scalar_types

__all__ = ["SchemaParser"]

_TYPE_NAMES = (
    "Tensor Generator ScalarType Layout MemoryFormat Storage QScheme Quantizer ConstQuantizerPtr Device Stream Scalar "
    "str float int bool complex NoneType Capsule Any AnyClassType AnyEnumType SymInt SymBool Dimname"
)
_TYPES = frozenset(_TYPE_NAMES.split())
_GENERIC = ("Future", "Await", "RRef", "Union")
_UNKNOWN_TYPE = (
    "unknown type specifier. Common valid schema types include Tensor, SymInt, int, float, bool, Scalar; for a full "
    "list, please see https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/README.md#func "
)
# Defaults that are written as a word, whatever the argument's type is.
_WORDS: dict[str, Any] = {t.torch_name: t for t in all_scalar_types()} | {
    "float": Float,
    "complex": ComplexFloat,
    "long": Long,
    "strided": strided,
    "Mean": 1,
    "contiguous_format": contiguous_format,
}
_BY_VALUE: dict[str, dict[int, Any]] = {
    "ScalarType": {t.value: t for t in all_scalar_types()},
    "Layout": {t.value: t for t in all_layouts()},
    "MemoryFormat": {t.value: t for t in all_memory_formats()},
}


class SchemaParser:
    """A recursive descent over the tokens of one schema."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.tokens = tokenize(source)
        self.at = 0
        self.cur = self.tokens[0]

    # tokens

    def next(self) -> Token:
        token = self.cur
        if token.kind != "eof":
            self.at += 1
            self.cur = self.tokens[self.at]
        return token

    def nextIf(self, kind: str) -> bool:
        if self.cur.kind != kind:
            return False
        self.next()
        return True

    def expect(self, kind: str) -> str:
        if self.cur.kind != kind:
            self.fail(f"expected {kind} but found '{self.cur.kind}' here:")
        return self.next().text

    def fail(self, message: str, token: Token | None = None, hint: str = "") -> NoReturn:
        token = token or self.cur
        fail_at(message, self.source, token.start, len(token.text), hint)

    def parse_list(self, begin: str, end: str, item: Callable[[], None]) -> None:
        self.expect(begin)
        if self.nextIf(end):
            return
        item()
        while self.nextIf(","):
            item()
        self.expect(end)

    # the whole

    def parse_schema(self) -> FunctionSchema:
        name = self.operator_name()
        if self.cur.kind == "eof":
            raise Error("Tried to parse a function schema but only the operator name was given")
        if self.cur.kind != "(":
            self.expect("eof")
        arguments, is_vararg = self.parameters()
        self.expect("arrow")
        returns, is_varret = self.results()
        self.expect("eof")
        schema = FunctionSchema(name, arguments, returns, is_vararg, is_varret)
        self.check(schema)
        return schema

    def parse_name(self) -> OperatorName:
        name = self.operator_name()
        if self.cur.kind == "(":
            raise Error("Tried to parse an operator name but function schema was given")
        self.expect("eof")
        return name

    def operator_name(self) -> OperatorName:
        name = self.expect("ident")
        if self.nextIf(":"):
            self.expect(":")
            name += "::" + self.expect("ident")
        overload_name = ""
        if self.nextIf("."):
            overload_name = self.expect("ident")
            if overload_name == "default":
                raise Error("default is not a legal overload name for aten operators")
        return OperatorName(name, overload_name)

    def parameters(self) -> tuple[tuple[Argument, ...], bool]:
        arguments: list[Argument] = []
        kwarg_only = is_vararg = False

        def item() -> None:
            nonlocal kwarg_only, is_vararg
            if is_vararg:
                self.fail("\n... must be the last element of the argument list:", self.tokens[self.at - 2])
            if self.nextIf("*"):
                kwarg_only = True
            elif self.nextIf("dots"):
                is_vararg = True
            else:
                arguments.append(self.argument(is_return=False, kwarg_only=kwarg_only))

        self.parse_list("(", ")", item)
        return tuple(arguments), is_vararg

    def results(self) -> tuple[tuple[Argument, ...], bool]:
        returns: list[Argument] = []
        is_varret = False

        def item() -> None:
            nonlocal is_varret
            if is_varret:
                self.fail("\n... must be the last element of the return list:", self.tokens[self.at - 2])
            if self.nextIf("dots"):
                is_varret = True
            else:
                returns.append(self.argument(is_return=True, kwarg_only=False))

        if self.cur.kind == "(":
            self.parse_list("(", ")", item)
        else:
            item()
        return tuple(returns), is_varret

    def check(self, schema: FunctionSchema) -> None:
        """FunctionSchema::checkSchema; lists may lack a default after one, as old serialized schemas do."""
        seen_default = False
        for argument in schema.arguments:
            if argument.has_default:
                seen_default = True
            elif seen_default and not isinstance(argument.type, ListType):
                raise Error(
                    f"Non-default positional argument follows default argument. Parameter {argument.name} in {schema}"
                )

    # one argument

    def argument(self, is_return: bool, kwarg_only: bool) -> Argument:
        type_, alias = self.type()
        size = None
        if self.nextIf("["):  # a size can only stand here, not inside a type
            size = self.size()
            self.expect("]")
            type_ = ListType(type_)
            alias = self.list_alias(alias)
            if self.nextIf("?"):
                type_ = OptionalType(type_)
        if is_return:
            name = self.next().text if self.cur.kind == "ident" else ""
            return Argument(name, type_, size, alias_info=alias)
        name = self.expect("ident")
        if not self.nextIf("="):
            return Argument(name, type_, size, kwarg_only=kwarg_only, alias_info=alias)
        default = self.default(type_, size)
        return Argument(name, type_, size, default, True, kwarg_only, alias)

    def size(self) -> int:
        token = self.cur
        text = self.expect("number")
        if not text.isdigit():
            self.fail("\nthe size of a list must be a whole number:", token)
        return int(text)

    def type(self) -> tuple[Type, AliasInfo | None]:
        alias: AliasInfo | None = None
        type_: Type
        if self.cur.kind == "(":
            type_ = TupleType(self.types())
        elif self.cur.text in _GENERIC:
            type_ = GenericType(self.next().text, self.types())
        elif self.cur.text == "Dict":
            self.next()
            self.expect("(")
            key, _ = self.type()
            self.expect(",")
            value, _ = self.type()
            self.expect(")")
            type_ = DictType(key, value)
            alias = self.alias()
        else:
            type_ = self.base_type()
            alias = self.alias()
        while True:
            if self.cur.kind == "[" and self.tokens[self.at + 1].kind == "]":
                self.next()
                self.next()
                type_ = ListType(type_)
                alias = self.list_alias(alias)
            elif self.nextIf("?"):
                type_ = type_ if isinstance(type_, OptionalType) else OptionalType(type_)
            else:
                return type_, alias

    def types(self) -> tuple[Type, ...]:
        elements: list[Type] = []
        self.parse_list("(", ")", lambda: elements.append(self.type()[0]))
        return tuple(elements)

    def base_type(self) -> Type:
        token = self.cur
        if self.nextIf("None"):
            return BaseType("NoneType")
        name = self.expect("ident")
        if name == "__torch__":
            while self.nextIf("."):
                name += "." + self.expect("ident")
            return BaseType(name)
        if name == "DeviceIndex":
            return BaseType("int")
        if name in _TYPES or name[0].islower():  # an unknown name in lower case is a type variable
            return BaseType(name)
        close = difflib.get_close_matches(name, sorted(_TYPES), 1)
        self.fail(f"\n{_UNKNOWN_TYPE}:", token, f"did you mean {close[0]}?\n" if close else "")

    def alias(self) -> AliasInfo | None:
        """parseAliasAnnotation: ``(a!)``, ``(a|b)``, ``(a -> *)``."""
        if not self.nextIf("("):
            return None
        before = [self.alias_set()]
        while self.nextIf("|"):
            before.append(self.alias_set())
        is_write = self.nextIf("!")
        after = before
        if self.nextIf("arrow"):
            after = [self.alias_set()]
            while self.nextIf("|"):
                after.append(self.alias_set())
        self.expect(")")
        return AliasInfo(tuple(before), is_write, tuple(after))

    def alias_set(self) -> str:
        return "*" if self.nextIf("*") else self.expect("ident")

    def list_alias(self, inner: AliasInfo | None) -> AliasInfo | None:
        """The annotation after the brackets, around that of the elements; a list of written elements is written."""
        own = self.alias()
        if inner is None:
            return own
        own = own or AliasInfo(is_write=inner.is_write)
        return AliasInfo(own.before_sets, own.is_write, own.after_sets, (inner,))

    # defaults

    def default(self, type_: Type, size: int | None) -> Any:
        if isinstance(type_, ListType):
            return self.list_default(type_.elem, size)
        if isinstance(type_, OptionalType):
            if self.nextIf("None"):
                return None
            if isinstance(type_.elem, ListType) and size is not None:
                return self.list_default(type_.elem.elem, size)
            return self.constant(type_.elem, optional=True)
        if str(type_) in ("Tensor", "Generator", "QScheme"):
            self.expect("None")
            return None
        if str(type_) == "Device":
            return self.string()
        if isinstance(type_, BaseType) and type_.name in _TYPES:
            return self.constant(type_)
        self.fail("\nunexpected type, file a bug report:")

    def list_default(self, elem: Type, size: int | None) -> tuple[Any, ...]:
        if size is not None and self.cur.kind != "[":
            return (self.constant(elem),) * size
        start = self.cur
        values: list[Any] = []
        self.parse_list("[", "]", lambda: values.append(self.constant(elem)))
        if str(elem) not in ("int", "SymInt", "float", "complex", "bool"):
            self.fail("\nlists are only supported for float, int and complex types:", start)
        return tuple(values)

    def constant(self, type_: Type, optional: bool = False) -> Any:
        """parseSingleConstant, and the engine's object where the type is an enumeration.

        As in c10 a number without a point stays an int where the type is ``float?``.
        """
        kind = str(type_)
        value = self.single_constant("" if optional and kind in ("float", "complex") else kind)
        return _BY_VALUE.get(str(type_), {}).get(value, value) if type(value) is int else value

    def single_constant(self, kind: str) -> Any:
        token = self.cur
        if token.kind in ("True", "False", "None"):
            self.next()
            return {"True": True, "False": False, "None": None}[token.kind]
        if token.kind == "string_literal":
            return self.string()
        if token.kind == "ident":
            if token.text not in _WORDS:
                self.fail("\ninvalid numeric default value:")
            self.next()
            word = _WORDS[token.text]
            return getattr(word, "value", word) if kind not in _BY_VALUE else word
        return self.number(kind)

    def string(self) -> str:
        token = self.cur
        self.expect("string_literal")
        value = parseStringLiteral(token.text)
        if value is None:
            self.fail("\nunsupported escape in a string:", token)
        return value

    def number(self, kind: str) -> int | float | complex:
        negative = self.nextIf("-")
        token = self.cur
        text = ("-" if negative else "") + self.expect("number")
        if text.endswith("j"):
            return complex(0.0, float(text[:-1]))
        if self.cur.kind in ("+", "-") and self.tokens[self.at + 1].text.endswith("j"):  # as complex is printed
            sign = self.next().text
            return complex(float(text), float(sign + self.expect("number")[:-1]))
        if kind == "complex":
            return complex(float(text))
        if kind == "float" or not text.lstrip("-").isdigit():
            return float(text)
        value = int(text)
        if not -(2**63) <= value < 2**63:
            self.fail("\nnumber does not fit into 64 bits:", token)
        return value
