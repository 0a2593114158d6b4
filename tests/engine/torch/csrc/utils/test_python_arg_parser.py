"""Binding the arguments of Python calls."""

from __future__ import annotations

import numpy as np
import pytest

from engine import torch
from engine.c10 import exception
from engine.torch.csrc.utils.function_signature import FunctionSignature
from engine.torch.csrc.utils.invalid_arguments import unordered
from engine.torch.csrc.utils.python_arg_parser import PythonArgParser

OPTIONS = "Tensor out=None, ScalarType? dtype=None, bool? requires_grad=False"
RAND = (
    f"rand(SymIntArrayRef size, *, Generator? generator, {OPTIONS})",
    f"rand(SymIntArrayRef size, *, {OPTIONS})",
)
ADD = (
    "add(Tensor input, Scalar alpha, Tensor other, *, Tensor out=None)|deprecated",
    "add(Tensor input, Tensor other, *, Scalar alpha=1, Tensor out=None)",
)


def error(parser: PythonArgParser, *args: object, **kwargs: object) -> str:
    with pytest.raises(exception.TypeError) as caught:
        parser.parse(None, args, kwargs)
    return caught.value.msg


def test_signature_prints_its_defaults() -> None:
    signature = FunctionSignature("sum(Tensor input, IntArrayRef[1]? dim, bool keepdim=False, *, Tensor out=None)", 0)
    assert str(signature) == "(Tensor input, tuple of ints dim, bool keepdim = False, *, Tensor out = None)"
    assert (signature.min_args, signature.max_pos_args, signature.max_args) == (2, 3, 4)


@pytest.mark.parametrize(
    ("fmt", "text"),
    [
        ("f", "missing opening parenthesis"),
        ("f(", "missing closing parenthesis"),
        ("f(Tensor)", "missing type"),
        ("f(Foo x)", "invalid type string: Foo"),
        ("f(Tensor x, , Tensor y)", "malformed signature"),
    ],
)
def test_malformed_signatures(fmt: str, text: str) -> None:
    with pytest.raises(exception.Error, match=text):
        FunctionSignature(fmt, 0)


def test_the_first_fitting_signature_wins() -> None:
    parser = PythonArgParser(RAND)
    assert parser.parse(None, ((2, 3),), {}).idx == 1
    assert parser.parse(None, ((2, 3),), {"generator": None}).idx == 0


def test_a_call_of_a_known_shape_is_bound_alike() -> None:
    parser = PythonArgParser(RAND)
    for size in ((2, 3), (4, 5)):
        r = parser.parse(None, size, {"requires_grad": True})
        assert (r.idx, r.symintlist(0), r.toBool(3)) == (1, size, True)
    for size in ([1, 2], [3]):
        assert parser.parse(None, (size,), {}).symintlist(0) == tuple(size)
    assert "must be tuple of ints, but found element of type str" in error(parser, ["x"])


def test_an_empty_sequence_says_nothing_about_its_elements() -> None:
    parser = PythonArgParser(("cat(TensorList tensors, int64_t dim=0)",))
    parser.parse(None, ((),), {})
    assert error(parser, (1, 2)) == "expected Tensor as element 0 in argument 0, but got int"


def test_numpy_names() -> None:
    parser = PythonArgParser(("sum(Tensor input, IntArrayRef[1]? dim, bool keepdim=False)",))
    x = torch.ones(2)
    r = parser.parse(None, (), {"a": x, "axis": 0, "keepdims": True})
    assert r.tensor(0) is x
    assert (r.intlist(1), r.toBool(2)) == ((0,), True)


def test_whether_a_tensor_is_a_number_depends_on_it() -> None:
    parser = PythonArgParser(("full(SymIntArrayRef size, Scalar fill_value)",))
    assert parser.parse(None, ((2,), torch.tensor(3)), {}).scalar(1) == 3
    text = "full(): argument 'fill_value' (position 2) must be Number, not Tensor"
    assert error(parser, (2,), torch.ones(2)) == text
    assert error(parser, (2,), torch.tensor(3.0, requires_grad=True)) == text


def test_numbers_for_tensors() -> None:
    r = PythonArgParser(ADD).parse(None, (torch.ones(2), 2.5), {})
    wrapped = r.tensor(1)
    assert wrapped._wrapped
    assert wrapped.item() == 2.5
    assert (
        error(PythonArgParser(("neg(Tensor input)",)), 1)
        == "neg(): argument 'input' (position 1) must be Tensor, not int"
    )


def test_deprecated_signatures_warn_and_are_not_suggested() -> None:
    parser = PythonArgParser(ADD)
    exception.set_warnAlways(True)
    try:
        with pytest.warns(UserWarning, match="This overload of add is deprecated") as caught:
            r = parser.parse(None, (torch.ones(2), 2, torch.ones(2)), {})
    finally:
        exception.set_warnAlways(False)
    assert r.idx == 0
    assert "add(Tensor input, Tensor other, *, Number alpha = 1, Tensor out = None)" in str(caught[0].message)
    assert parser.get_signatures() == ["(Tensor input, Tensor other, *, Number alpha = 1, Tensor out = None)"]


def test_texts_of_a_single_signature() -> None:
    parser = PythonArgParser(("transpose(Tensor input, int64_t dim0, int64_t dim1)",))
    x = torch.ones(2)
    assert error(parser) == 'transpose() missing 3 required positional argument: "input", "dim0", "dim1"'
    assert error(parser, x, 0) == 'transpose() missing 1 required positional arguments: "dim1"'
    assert error(parser, x, 0, 1, 2) == "transpose() takes 3 positional arguments but 4 were given"
    assert error(parser, x, 0, 1, foo=2) == "transpose() got an unexpected keyword argument 'foo'"
    assert error(parser, x, 0, 1, dim0=2) == "transpose() got multiple values for argument 'dim0'"
    assert error(parser, x, 0, dim1="x") == "transpose(): argument 'dim1' must be int, not str"


def test_text_of_several_signatures() -> None:
    assert error(PythonArgParser(("view(ScalarType dtype)", "view(SymIntArrayRef size)")), "x") == (
        "view() received an invalid combination of arguments - got (str), but expected one of:\n"
        " * (torch.dtype dtype)\n"
        "      didn't match because some of the arguments have invalid types: (!str!)\n"
        " * (tuple of ints size)\n"
        "      didn't match because some of the arguments have invalid types: (!str!)\n"
    )


def test_keywords_come_in_the_order_of_an_unordered_map() -> None:
    assert unordered(["a", "b"]) == ["b", "a"]
    assert "".join(unordered("abcdefghijkl")) == "ljgfieckhbda"
    assert "".join(unordered("abcdefghijklmnopq")) == "qoabphndkcifgejlm"


@pytest.mark.parametrize(
    ("value", "text"),
    [(2**63, "Overflow when unpacking long long"), (-(2**63) - 1, "Overflow when unpacking long long")],
)
def test_integers_must_fit(value: int, text: str) -> None:
    parser = PythonArgParser(("f(int64_t n)",))
    with pytest.raises(exception.ValueError, match=text):
        parser.parse(None, (value,), {}).toInt64(0)


def test_scalars_may_be_unsigned() -> None:
    parser = PythonArgParser(("f(Scalar n)",))
    assert parser.parse(None, (2**64 - 1,), {}).scalar(0) == 2**64 - 1
    with pytest.raises(OverflowError, match="int too big to convert"):
        parser.parse(None, (2**64,), {}).scalar(0)
    with pytest.raises(OverflowError, match="can't convert negative int to unsigned"):
        parser.parse(None, (-(2**64),), {}).scalar(0)


def test_numpy_numbers() -> None:
    parser = PythonArgParser(("f(Scalar x, int64_t n, SymIntArrayRef size)",))
    r = parser.parse(None, (np.float32(1.5), np.int8(2), (np.int64(3), 4)), {})
    assert (r.scalar(0), r.toInt64(1), r.symintlist(2)) == (1.5, 2, (3, 4))
    assert type(r.toInt64(1)) is int


def test_dtypes_and_devices() -> None:
    parser = PythonArgParser(("f(ScalarType dtype, Device? device=None)",))
    assert [parser.parse(None, (t,), {}).scalartype(0) for t in (float, int, bool, complex, torch.int8)] == [
        torch.float64,
        torch.int64,
        torch.bool,
        torch.complex128,
        torch.int8,
    ]
    assert parser.parse(None, (float, "meta"), {}).device(1) == torch.device("meta")
    assert parser.parse(None, (float,), {}).device(1) == torch.device("cpu")
    with pytest.raises(exception.Error, match="Cannot access accelerator device when none is available"):
        parser.parse(None, (float, 0), {}).device(1)


def test_defaults() -> None:
    parser = PythonArgParser(
        (
            "f(*, int64_t n=-1, Scalar s=2.5, IntArrayRef[2] k=1, IntArrayRef l={1,2}, "
            'c10::string_view mode="x", bool b=True)',
        )
    )
    r = parser.parse(None, (), {})
    assert [r.toInt64(0), r.scalar(1), r.intlist(2), r.intlist(3), r.stringView(4), r.toBool(5)] == [
        -1, 2.5, (1, 1), (1, 2), "x", True,
    ]  # fmt: skip


def test_names_of_dimensions() -> None:
    parser = PythonArgParser(("f(DimnameList? names)",))
    assert parser.parse(None, (["a", None],), {}).toDimnameListOptional(0) == ("a", None)
    assert parser.parse(None, (None,), {}).toDimnameListOptional(0) is None
    with pytest.raises(exception.Error, match="a valid identifier contains only digits"):
        parser.parse(None, (["1a"],), {}).toDimnameListOptional(0)
