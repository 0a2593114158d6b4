"""engine/aten/core/function_schema.py and its parser: round trips, defaults, errors with their place."""

from __future__ import annotations

import contextlib
import keyword
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.aten.core import function_schema as m
from engine.aten.core.function_schema import (
    AliasInfo,
    Argument,
    BaseType,
    DictType,
    FunctionSchema,
    ListType,
    OperatorName,
    OptionalType,
    TupleType,
    parse_name,
    parse_schema,
)
from engine.c10.exception import Error
from engine.c10.layout import strided
from engine.c10.memory_format import channels_last, contiguous_format
from engine.c10.scalar_type import Double, Float, Long

SCHEMAS = [
    "aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor",
    "aten::add_.Tensor(Tensor(a!) self, Tensor other, *, Scalar alpha=1) -> Tensor(a!)",
    "aten::add.out(Tensor self, Tensor other, *, Scalar alpha=1, Tensor(a!) out) -> Tensor(a!)",
    "aten::empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, "
    "bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
    "aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)",
    "aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
    "aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
    "aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, "
    "bool ceil_mode=False) -> Tensor",
    "aten::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, "
    "float eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor",
    "aten::norm.names_ScalarOpt_dim(Tensor self, Scalar? p, Dimname[1] dim, bool keepdim=False) -> Tensor",
    "aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]",
    "aten::_foreach_add_.Scalar(Tensor(a!)[] self, Scalar scalar) -> ()",
    "aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
    "aten::convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, SymInt[] s, "
    "bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    "aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor",
    'aten::strip(str self, str chars=" \\n\\t\\f\\v") -> str',
    "aten::format(str self, ...) -> str",
    "prim::TupleUnpack(Any tup) -> ...",
    "aten::items.str(Dict(str, t) self) -> ((str, t)[])",
    "aten::popitem.str(Dict(str, t)(a!) self) -> ((str, t))",
    "aten::append.t(t[](a!) self, t(c -> *) el) -> t[](a!)",
    "aten::wait(Future(t) self) -> t",
    "aten::list.t(t[] l) -> t[]",
    "aten::sub(complex a=0.+1.j, complex b=-2.-0.5j) -> complex",
    "aten::set_.source_Storage(Tensor(a!) self, Storage source) -> Tensor(a!)",
    "aten::record_stream(Tensor(a!) self, Stream s) -> ()",
    "quantized::conv(Tensor qx, __torch__.torch.classes.quantized.Conv2dPackedParamsBase p) -> Tensor Y",
    "my::f(int[] x=[], int[] y=[0, 1], float[2] z=[0.5, 1.], SymInt[1] d=[0], bool[2] b=[True, False]) -> NoneType",
    "f() -> ()",
]


@pytest.mark.parametrize("text", SCHEMAS)
def test_round_trip(text: str) -> None:
    schema = parse_schema(text)
    assert str(schema) == text
    assert parse_schema(str(schema)) == schema
    assert hash(parse_schema(text)) == hash(schema)


def test_parts() -> None:
    schema = parse_schema(
        "aten::add.out(Tensor self, Tensor? other, *, Scalar alpha=1, Tensor(a!) out) -> (Tensor(a!) result)"
    )
    assert schema.name == OperatorName("aten::add", "out")
    assert [a.name for a in schema.all_arguments] == ["self", "other", "alpha", "out"]
    assert [a.name for a in schema.arguments] == ["self", "other"]
    assert [a.name for a in schema.kwarg_only] == ["alpha"]
    assert [a.name for a in schema.out] == ["out"]
    assert schema.returns == (Argument("result", BaseType("Tensor"), alias_info=schema.out[0].alias_info),)
    assert schema.all_arguments[1].type == OptionalType(BaseType("Tensor"))
    assert schema.argumentIndexWithName("alpha") == 2
    assert schema.argumentIndexWithName("beta") is None
    assert schema.is_mutable()
    assert schema.hasAnyAliasInfo()
    assert str(schema.cloneWithName("my::add")).startswith("my::add(Tensor self,")


def test_alias_annotations() -> None:
    schema = parse_schema("f(Tensor(a!) x, Tensor(b!)[] ys, Tensor(c|d) z, Tensor(e -> *) w, t[](f) l) -> ()")
    x, ys, z, w, rest = schema.all_arguments
    assert x.alias_info == AliasInfo(("a",), True, ("a",))
    assert ys.is_write, "a list of written tensors is written"
    assert ys.alias_info is not None
    assert ys.alias_info.before_sets == ()
    assert ys.alias_info.set == "b"
    assert z.alias_info is not None
    assert z.alias_info.before_sets == ("c", "d")
    assert w.alias_info is not None
    assert (w.alias_info.before_sets, w.alias_info.after_sets) == (("e",), ("*",))
    assert str(rest) == "t[](f) l"
    assert AliasInfo().set is None


def test_types() -> None:
    schema = parse_schema("f(Tensor?[]? a, (int, str)[] b, Dict(str, Tensor[]) c, int[2] d) -> ()")
    a, b, c, d = (argument.type for argument in schema.all_arguments)
    assert a == OptionalType(ListType(OptionalType(BaseType("Tensor"))))
    assert b == ListType(TupleType((BaseType("int"), BaseType("str"))))
    assert c == DictType(BaseType("str"), ListType(BaseType("Tensor")))
    assert (str(d), schema.all_arguments[3].N) == ("int[]", 2)


@pytest.mark.parametrize(
    ("argument", "value", "printed"),
    [
        ("Tensor? x=None", None, "None"),
        ("bool x=True", True, "True"),
        ("int x=-3", -3, "-3"),
        ("float x=1e-05", 1e-05, "1.0000000000000001e-05"),
        ("float x=3", 3.0, "3."),
        ("float? x=3", 3, "3"),
        ("Scalar x=0.5", 0.5, "0.5"),
        ("float x=1e17", 1e17, "100000000000000000."),
        ("float x=1e20", 1e20, "1e+20"),
        ("float x=-0.0", -0.0, "-0."),
        ("complex x=1j", 1j, "0.+1.j"),
        ("int[] x=[]", (), "[]"),
        ("int[] x=[0,1]", (0, 1), "[0, 1]"),
        ("int[] x=[2,2]", (2, 2), "[2, 2]"),
        ("int[2] x=1", (1, 1), "1"),
        ("int[2] x=[1,1]", (1, 1), "1"),
        ("int[1] x=1", (1,), "[1]"),
        ("SymInt[2] x=1", (1, 1), "[1, 1]"),
        ("float[2] x=[1, 0.5]", (1.0, 0.5), "[1., 0.5]"),
        ("int x=Mean", 1, "1"),
        ("str x='a b'", "a b", '"a b"'),
        ('str x="\\"\\\'\\\\\\n\\303\\251"', "\"'\\\né", '"\\"\\\'\\\\\\n\\303\\251"'),
        ("Device x='cpu'", "cpu", '"cpu"'),
        ("MemoryFormat x=contiguous_format", contiguous_format, "0"),
        ("MemoryFormat? x=2", channels_last, "2"),
        ("Layout x=strided", strided, "0"),
        ("ScalarType? x=long", Long, "4"),
        ("ScalarType x=float", Float, "6"),
        ("ScalarType x=7", Double, "7"),
        ("int x=float", 6, "6"),
    ],
)
def test_defaults(argument: str, value: Any, printed: str) -> None:
    (parsed,) = parse_schema(f"f({argument}) -> ()").all_arguments
    assert parsed.has_default
    assert parsed.default == value
    assert type(parsed.default) is type(value)
    assert str(parsed).partition("=")[2] == printed
    assert parse_schema(f"f({parsed}) -> ()").all_arguments == (parsed,)


def test_no_default_is_not_none() -> None:
    (x,) = parse_schema("f(Tensor? x) -> ()").all_arguments
    assert not x.has_default
    assert x != parse_schema("f(Tensor? x=None) -> ()").all_arguments[0]


@pytest.mark.parametrize(
    ("name", "expected", "struct", "base", "namespace"),
    [
        ("aten::add_.Tensor", OperatorName("aten::add_", "Tensor"), "add__Tensor", "add_", "aten"),
        ("empty.memory_format", OperatorName("empty", "memory_format"), "empty_memory_format", "empty", None),
        ("my_ns::f", OperatorName("my_ns::f"), "f", "f", "my_ns"),
    ],
)
def test_names(name: str, expected: OperatorName, struct: str, base: str, namespace: str | None) -> None:
    parsed = parse_name(name)
    assert parsed == expected
    assert str(parsed) == name
    assert parsed.unambiguous_name() == struct
    assert (parsed.base, parsed.namespace) == (base, namespace)


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("add.Tensor(Tensor self) -> Tensor", "functional"),
        ("aten::add_.Tensor(Tensor(a!) self) -> Tensor(a!)", "inplace"),
        ("__iadd__(Tensor(a!) self) -> Tensor(a!)", "inplace"),
        ("__and__(Tensor self) -> Tensor", "functional"),
        ("add.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)", "out"),
        ("f(Tensor self, Tensor(a!) b) -> Tensor", "mutable"),
        ("f.out(Tensor self, *, Tensor(a!) _scratch_x) -> Tensor(a!)", "scratch"),
    ],
)
def test_kind(text: str, kind: str) -> None:
    assert parse_schema(text).kind() == kind


@pytest.mark.parametrize(
    ("text", "message", "mark"),
    [
        ("f(Tensor self", "expected ) but found 'eof' here:", 13),
        ("f(Tensor self) ->", "expected ident but found 'eof' here:", 17),
        ("f(Tensor) -> Tensor", "expected ident but found ')' here:", 8),
        ("f(int x, ) -> ()", "expected ident but found ')' here:", 9),
        ("f(Tensor x=3) -> Tensor", "expected None but found 'number' here:", 11),
        ("f(int x) -> () extra", "expected eof but found 'ident' here:", 15),
        ("f int x) -> ()", "expected eof but found 'ident' here:", 2),
        ("a::b::c() -> ()", "expected eof but found ':' here:", 4),
        ("f(int for) -> ()", "expected ident but found 'for' here:", 6),
        ("f(int x=foo) -> ()", "\ninvalid numeric default value:", 8),
        ("f(Tensor(a!|b) x) -> ()", "expected ) but found '|' here:", 11),
        ("f(int[n] x) -> ()", "expected number but found 'ident' here:", 6),
        ("f(int[1.5] x) -> ()", "\nthe size of a list must be a whole number:", 6),
        ("f(str x='a) -> ()", "expected a valid token but found ''' here:", 8),
        (r"f(str x='\x41') -> ()", "\nunsupported escape in a string:", 8),
        ("f(int x=9223372036854775808) -> ()", "\nnumber does not fit into 64 bits:", 8),
        ("f(str[] x=['a']) -> ()", "\nlists are only supported for float, int and complex types:", 10),
        ("f(t x=1) -> ()", "\nunexpected type, file a bug report:", 6),
        ("f(int x, ..., int y) -> ()", "\n... must be the last element of the argument list:", 9),
        ("f(int x) -> (..., int y)", "\n... must be the last element of the return list:", 13),
        ("f(int $x) -> ()", "expected a valid token but found '$' here:", 6),
        ("f(complex x=1j+2j) -> ()", "expected ) but found '+' here:", 14),
    ],
)
def test_errors_show_the_place(text: str, message: str, mark: int) -> None:
    with pytest.raises(Error) as caught:
        parse_schema(text)
    assert caught.value.msg.startswith(f"{message}\n{text}\n{' ' * mark}~")
    assert caught.value.msg.endswith("~ <--- HERE\n")


def test_unknown_type_suggests_one() -> None:
    with pytest.raises(Error, match="unknown type specifier") as caught:
        parse_schema("f(int x, Tensro y) -> ()")
    assert caught.value.msg.endswith("f(int x, Tensro y) -> ()\n         ~~~~~~ <--- HERE\ndid you mean Tensor?\n")


def test_place_in_a_text_of_several_lines() -> None:
    with pytest.raises(Error) as caught:
        parse_schema("f(\n  int x,\n  int) -> ()")
    assert caught.value.msg == "expected ident but found ')' here:\nf(\n  int x,\n  int) -> ()\n     ~ <--- HERE\n"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("f(int x=1, int y) -> ()", "Non-default positional argument follows default argument. Parameter y in f("),
        ("f", "Tried to parse a function schema but only the operator name was given"),
        ("f.default() -> ()", "default is not a legal overload name for aten operators"),
    ],
)
def test_other_errors(text: str, message: str) -> None:
    with pytest.raises(Error, match=f"^{re.escape(message)}"):
        parse_schema(text)


def test_a_name_is_not_a_schema() -> None:
    with pytest.raises(Error, match=r"^Tried to parse an operator name but function schema was given$"):
        parse_name("f() -> ()")


def test_public_surface() -> None:
    assert all(hasattr(m, name) for name in m.__all__)


# ---- properties

names = st.from_regex(r"[a-z][a-z0-9_]{0,6}", fullmatch=True).filter(lambda name: not keyword.iskeyword(name))
bases = st.sampled_from(["Tensor", "int", "SymInt", "float", "bool", "Scalar", "str", "Device", "ScalarType", "t"])
sets = st.sampled_from(["a", "b", "c"])
aliases = st.one_of(st.none(), st.builds(lambda s, w: AliasInfo((s,), w, (s,)), sets, st.booleans()))


def _listed(inner: AliasInfo | None) -> AliasInfo | None:
    return None if inner is None else AliasInfo(is_write=inner.is_write, contained_types=(inner,))


@st.composite
def default_of(draw: st.DrawFn, kind: str) -> Any:
    finite = st.floats(allow_nan=False, allow_infinity=False)
    return draw(
        {
            "int": st.integers(-(2**63), 2**63 - 1),
            "float": finite,
            "bool": st.booleans(),
            "Scalar": st.one_of(st.integers(-(2**63), 2**63 - 1), finite),
            "str": st.text(st.characters(exclude_categories=["Cs"]), max_size=8),
        }[kind]
    )


@st.composite
def arguments(draw: st.DrawFn) -> Argument:
    kind = draw(bases)
    name, alias, shape = draw(names), draw(aliases), draw(st.sampled_from(["plain", "optional", "list", "sized"]))
    base = BaseType(kind)
    if shape == "optional":
        return Argument(name, OptionalType(base), alias_info=alias, default=None, has_default=True)
    if shape == "list":
        return Argument(name, ListType(base), alias_info=_listed(alias))
    if shape == "sized":
        size = draw(st.integers(1, 3))
        value = None
        if kind in ("int", "float", "bool"):
            value = tuple(draw(default_of(kind)) for _ in range(size))
        return Argument(name, ListType(base), size, value, value is not None, alias_info=_listed(alias))
    if kind in ("int", "float", "bool", "Scalar", "str"):
        return Argument(name, base, default=draw(default_of(kind)), has_default=True, alias_info=alias)
    return Argument(name, base, alias_info=alias)


@st.composite
def schemas(draw: st.DrawFn) -> FunctionSchema:
    positional = sorted(draw(st.lists(arguments(), max_size=4)), key=lambda a: a.has_default)
    after_star = [
        Argument(a.name, a.type, a.N, a.default, a.has_default, True, a.alias_info)
        for a in draw(st.lists(arguments(), max_size=3))
    ]
    returns = [Argument("", a.type, a.N, alias_info=a.alias_info) for a in draw(st.lists(arguments(), max_size=3))]
    name = OperatorName("::".join(draw(st.lists(names, min_size=1, max_size=2))), draw(st.one_of(st.just(""), names)))
    if name.overload_name == "default":
        name = OperatorName(name.name)
    vararg = draw(st.booleans()) and not after_star
    return FunctionSchema(name, (*positional, *after_star), tuple(returns), vararg, draw(st.booleans()))


@given(schemas())
def test_printed_schemas_read_back(schema: FunctionSchema) -> None:
    text = str(schema)
    parsed = parse_schema(text)
    assert parsed == schema
    assert str(parsed) == text


@given(st.text(max_size=40))
def test_any_text_is_read_or_refused(text: str) -> None:
    with contextlib.suppress(Error):
        parse_schema(text)


@given(st.sampled_from(SCHEMAS), st.data())
def test_damaged_schemas_are_read_or_refused(text: str, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(text) - 1))
    damaged = text[:at] + data.draw(st.sampled_from(["", "(", ")", ",", "[", "1", "?", "!", " x "])) + text[at + 1 :]
    try:
        schema = parse_schema(damaged)
    except Error:
        return
    assert parse_schema(str(schema)) == schema
