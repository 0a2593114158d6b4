"""Operator schemas: the engine's parser and printer against the installed PyTorch's, over everything it registers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from engine.aten.core.function_schema import FunctionSchema, parse_name, parse_schema
from engine.c10.exception import Error

torch = pytest.importorskip("torch", reason="conformance needs the installed PyTorch")


def jit_schemas() -> list[Any]:
    """Without those of PyObject, a type that PyTorch prints and does not read."""
    return [schema for schema in torch._C._jit_get_all_schemas() if "PyObject" not in str(schema)]


@pytest.fixture(scope="module")
def registered() -> list[str]:
    """The text of every schema that PyTorch knows."""
    found = {str(schema) for schema in jit_schemas()}
    for name in torch._C._dispatch_get_all_op_names():
        base, _, overload = name.partition(".")
        found.add(str(torch._C._get_schema(base, overload)))
    return sorted(text for text in found if "PyObject" not in text)


def test_every_registered_schema_round_trips(registered: list[str]) -> None:
    different = [text for text in registered if str(parse_schema(text)) != text]
    assert different == []
    assert sum(text.startswith("aten::") for text in registered) > 3000
    assert len(registered) > 4000


def test_parsed_schemas_are_equal_when_their_texts_are(registered: list[str]) -> None:
    assert len({parse_schema(text) for text in registered}) == len(registered)
    for text in registered[::7]:
        assert parse_schema(str(parse_schema(text))) == parse_schema(text)


def test_arguments_are_those_that_pytorch_sees() -> None:
    for schema in jit_schemas():
        ours = parse_schema(str(schema))
        assert [a.name for a in ours.all_arguments] == [a.name for a in schema.arguments]
        assert [a.kwarg_only for a in ours.all_arguments] == [a.kwarg_only for a in schema.arguments]
        assert [a.has_default for a in ours.all_arguments] == [a.has_default_value() for a in schema.arguments]
        assert [a.is_write for a in ours.all_arguments] == [
            a.alias_info is not None and a.alias_info.is_write for a in schema.arguments
        ]
        assert [a.N for a in ours.all_arguments] == [a.N for a in schema.arguments]
        assert ours.is_mutable() == schema.is_mutable
        assert (ours.name.name, ours.name.overload_name) == (schema.name, schema.overload_name)


def test_names(registered: list[str]) -> None:
    for text in registered:
        name = text.partition("(")[0]
        assert str(parse_name(name)) == name == str(parse_schema(text).name)


@pytest.fixture(scope="module")
def native_functions() -> list[str]:
    """The schemas as native_functions.yaml writes them."""
    torchgen = pytest.importorskip("torchgen")
    yaml = Path(torchgen.__file__).parent / "packaged/ATen/native/native_functions.yaml"
    return [line[8:].strip() for line in yaml.read_text().splitlines() if line.startswith("- func: ")]


def test_native_functions_are_printed_as_pytorch_prints_them(native_functions: list[str]) -> None:
    assert len(native_functions) > 2000
    different = [
        text
        for text in native_functions
        if str(parse_schema(f"aten::{text}")) != str(torch._C.parse_schema(f"aten::{text}"))
    ]
    assert different == []


def test_kinds_and_struct_names_are_those_of_torchgen(native_functions: list[str]) -> None:
    model = pytest.importorskip("torchgen.model")

    def facts(ours: FunctionSchema) -> tuple[str, str]:
        return ours.kind(), ours.name.unambiguous_name()

    for text in native_functions:
        reference = model.FunctionSchema.parse(text)
        expected = reference.kind().name, reference.name.unambiguous_name()
        assert facts(parse_schema(f"aten::{text}")) == expected, text


REFUSED = [
    "f(Tensor self",
    "f(Tensor self) ->",
    "f(Tensor self, ) -> Tensor",
    "f(Foo x) -> Tensor",
    "f(Tensor) -> Tensor",
    "f(Tensor x=3) -> Tensor",
    "f(int x=foo) -> Tensor",
    "f int x) -> ()",
    "f(int x) -> () extra",
    "f.(int x) -> ()",
    "f(int[]? x=[1,2]) -> Tensor",
    "a::b::c(int x) -> ()",
    "f(int x=1 2) -> ()",
    "f(int x) -> (int, str)[]",
    "f(Device d=cpu) -> ()",
    "f(str[] s=['a']) -> ()",
    "f(number x=1) -> ()",
    "f(int[2][3] x) -> ()",
    "f(MemoryFormat m=preserve_format) -> ()",
    "f(Layout l=sparse_coo) -> ()",
    "f.default(int x) -> ()",
    "f(int x, ..., int y) -> ()",
    "f",
    "f(int x) -> (..., int y)",
    "f(int x=-) -> ()",
    "f(Tensor(a x) -> ()",
    "f(Tensor(a!|b) x) -> ()",
    "f(Tensor? x=[]) -> ()",
    "f(Tensor[] x=None) -> ()",
    "f(int x) -> int y = 3",
    "f(int x=1_0) -> ()",
    "1f() -> ()",
    "f(int for) -> ()",
    "f(int None) -> ()",
    "f(Tensor() x) -> ()",
    "f(int x)",
    "f(str x='a) -> ()",
    "f(int x - y) -> ()",
    "f(float x=inf) -> ()",
    "f(Tensor(0) x) -> ()",
    "f(Dict(int) x) -> ()",
    "f(Future x) -> ()",
    "f(int[n] x) -> ()",
    "f(int x) -> (,)",
    "f(int x, , int y) -> ()",
    "f(,) -> ()",
    "f(int @x) -> ()",
    "aten:f() -> ()",
    "aten::() -> ()",
]


@pytest.mark.parametrize("text", REFUSED)
def test_what_pytorch_refuses_is_refused_in_its_words(text: str) -> None:
    with pytest.raises(RuntimeError) as reference:
        torch._C.parse_schema(text)
    with pytest.raises(Error) as ours:
        parse_schema(text)
    assert first_line(ours.value.msg) == first_line(str(reference.value))


def first_line(message: str) -> str:
    return message.strip("\n").partition("\n")[0]


ACCEPTED = [
    "f(int[2] x=1) -> Tensor",
    "f(str x='a b') -> Tensor",
    "f(Tensor(a!) x, *, Tensor(b!)[] y) -> (Tensor(a!), Tensor(b!)[])",
    "f(int x, *, int x) -> ()",
    "f(Dict(int, str) x) -> (Dict(int,Tensor))",
    "f(Tensor x=None)->Tensor",
    "f(int x=-3, float y=-1.5,  complex z=1j) -> ()",
    "f(SymInt[2]? x=None, int[3] s=1)->Tensor",
    "f(Union(int, str) x)->()",
    "f(Tensor(*) x)->()",
    "f(Tensor(a! -> *) x)->()",
    "f(float x=3) -> ()",
    "f(int v, *) -> ()",
    "f((Tensor, Tensor) x)->()",
    "f(MemoryFormat m=contiguous_format, ScalarType d=float, Layout l=strided, int r=Mean) -> ()",
    "f(ScalarType? t=long, ScalarType u=bool, ScalarType v=complex64, ScalarType w=float32) -> ()",
    "f(SymInt[2] z=1, bool[2] b=True, float[2] f=0.5) -> ()",
    "f(int x=True, bool y=1, float z=True, str s=None) -> ()",
    "f(str? s=None, str? t='a\\n\\t') -> ()",
    "f(int? x=2, float? y=2, Scalar? z=2)->()",
    "f(int x) -> Tensor(a!)?",
    "aten::f(int x) -> int[2]",
    "f(float x=1e10, float z=1e300, float w=123456789.5, float v=.5, float u=5.e-3)->()",
    "f(int?? x) -> ()",
    "f(int[] [] x) -> ()",
    "f(int\n x) -> ()",
    "f(DeviceIndex x, None y) -> NoneType",
]


@pytest.mark.parametrize("text", ACCEPTED)
def test_what_pytorch_reads_is_printed_alike(text: str) -> None:
    assert str(parse_schema(text)) == str(torch._C.parse_schema(text))
