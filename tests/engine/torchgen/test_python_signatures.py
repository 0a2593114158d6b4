"""From schemas to the signatures of Python's argument parser."""

from __future__ import annotations

import pytest

from engine.torchgen.model import NativeFunction
from engine.torchgen.python_signatures import signatures

FACTORY = "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None"
OPTIONS = FACTORY.replace("pin_memory=None", "pin_memory=False") + ", bool? requires_grad=False"
RAND = (
    f"rand.names(SymInt[] size, *, Dimname[]? names, {FACTORY}) -> Tensor",
    f"rand.generator_with_names(SymInt[] size, *, Generator? generator, Dimname[]? names, {FACTORY}) -> Tensor",
    f"rand(SymInt[] size, *, {FACTORY}) -> Tensor",
    f"rand.generator(SymInt[] size, *, Generator? generator, {FACTORY}) -> Tensor",
    "rand.out(SymInt[] size, *, Tensor(a!) out) -> Tensor(a!)",
    "rand.generator_out(SymInt[] size, *, Generator? generator, Tensor(a!) out) -> Tensor(a!)",
)


def texts(*funcs: str, method: bool = False) -> list[str]:
    return [group.signature.signature_str() for group in signatures(map(row, funcs), method)]


def row(func: str) -> NativeFunction:
    return NativeFunction(func=func)


def test_the_articles_four_signatures_of_rand() -> None:
    assert texts(*RAND) == [
        f"rand(SymIntArrayRef size, *, Generator? generator, DimnameList? names, {OPTIONS})",
        f"rand(SymIntArrayRef size, *, Generator? generator, Tensor out=None, {OPTIONS})",
        f"rand(SymIntArrayRef size, *, Tensor out=None, {OPTIONS})",
        f"rand(SymIntArrayRef size, *, DimnameList? names, {OPTIONS})",
    ]


def test_an_out_variant_shares_the_signature_of_its_base() -> None:
    group = signatures(map(row, RAND[2::2]), method=False)[0]
    assert group.base.schema.name.overload_name == ""
    assert group.outplace is not None
    assert group.outplace.schema.name.overload_name == "out"
    assert group.signature.output_idx() == 1


def test_tensor_before_scalar() -> None:
    scalar = "fill_.Scalar(Tensor(a!) self, Scalar value) -> Tensor(a!)"
    tensor = "fill_.Tensor(Tensor(a!) self, Tensor value) -> Tensor(a!)"
    assert texts(scalar, tensor) == ["fill_(Tensor input, Tensor value)", "fill_(Tensor input, Scalar value)"]


def test_self_is_no_argument_of_a_method() -> None:
    func = "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"
    assert texts(func, method=True) == [
        "add(Scalar alpha, Tensor other)|deprecated",
        "add(Tensor other, *, Scalar alpha=1)",
    ]
    assert texts(func) == [
        "add(Tensor input, Scalar alpha, Tensor other)|deprecated",
        "add(Tensor input, Tensor other, *, Scalar alpha=1)",
    ]


@pytest.mark.parametrize(
    ("schema", "text"),
    [
        ("int[1]? dim, bool keepdim=False", "IntArrayRef[1]? dim, bool keepdim=False"),
        ("float p=1, float eps=1e-5", "double p=1, double eps=1e-05"),
        ("str mode='a', int[2] k=[1,2]", 'c10::string_view mode="a", IntArrayRef[2] k={1,2}'),
        ("int[2] k=0, int[] l=[]", "IntArrayRef[2] k=0, IntArrayRef l=None"),
        ("Tensor?[] i, Scalar[] s", "c10::List<::std::optional<Tensor>> i, ScalarList s"),
        ("*, ScalarType dtype=long", "*, ScalarType dtype=torch.int64"),
        ("int reduction=Mean", "int64_t reduction=at::Reduction::Mean"),
    ],
)
def test_types_and_defaults(schema: str, text: str) -> None:
    assert texts(f"f(Tensor self, {schema}) -> Tensor") == [f"f(Tensor input, {text})"]


def test_several_out_arguments_become_one() -> None:
    base = "max.dim(Tensor self, int dim) -> (Tensor, Tensor)"
    out = "max.dim_max(Tensor self, int dim, *, Tensor(a!) max, Tensor(b!) max_values) -> (Tensor(a!), Tensor(b!))"
    assert texts(base, out) == ["max(Tensor input, int64_t dim, *, TensorList[2] out=None)"]


def test_out_variants_of_factories_with_tensor_arguments_take_options() -> None:
    base = f"linspace.Tensor_Tensor(Tensor start, Tensor end, int steps, *, {FACTORY}) -> Tensor"
    out = "linspace.Tensor_Tensor_out(Tensor start, Tensor end, int steps, *, Tensor(a!) out) -> Tensor(a!)"
    assert texts(base, out) == [f"linspace(Tensor start, Tensor end, int64_t steps, *, Tensor out=None, {OPTIONS})"]


def test_an_out_variant_needs_a_base() -> None:
    with pytest.raises(ValueError, match="out variants without a base"):
        texts("neg.out(Tensor self, *, Tensor(a!) out) -> Tensor(a!)")
