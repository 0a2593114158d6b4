"""engine/aten/native/math_bits_fallback.py: lazy conj and neg are made real for operators that do not know of them."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from engine.aten.core.backend_fallbacks import install
from engine.aten.core.dispatcher import Dispatcher, OperatorHandle
from engine.aten.core.function_schema import parse_schema
from engine.aten.core.kernel_function import KernelFunction
from engine.aten.core.tensor import empty_tensor
from engine.aten.native import math_bits_fallback as m
from engine.c10.device import Device
from engine.c10.dispatch_key import DispatchKey
from engine.c10.dispatch_key_set import DispatchKeySet
from engine.c10.exception import Error
from engine.c10.local_dispatch_key_set import AutoDispatchBelowADInplaceOrView
from engine.c10.scalar_type import ComplexFloat

CONJUGATE = DispatchKeySet(DispatchKey.Conjugate).raw_repr()


def tensor(*values: complex, conjugate: bool = False) -> Any:
    keys = DispatchKeySet(DispatchKey.CPU).raw_repr()
    t = empty_tensor((len(values),), (1,), ComplexFloat, Device("cpu"), keys)
    t.array[...] = values
    if conjugate:
        t._ks |= CONJUGATE
    return t


def values(t: Any) -> list[complex]:
    array = np.conj(t.array) if t._ks & CONJUGATE else t.array
    return [complex(x) for x in array]


@pytest.fixture
def calls(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """What the fallback itself calls, with stand-ins for the operators."""
    made: list[str] = []

    def clone(t: Any, memory_format: Any) -> Any:
        made.append("clone")
        return tensor(*values(t))

    def copy_(t: Any, source: Any, non_blocking: bool) -> Any:
        made.append("copy_")
        t.array[...] = np.conj(source.array) if t._ks & CONJUGATE else source.array
        return t

    operators = {"clone": SimpleNamespace(call=clone), "copy_": SimpleNamespace(call=copy_)}
    monkeypatch.setattr(m, "at", SimpleNamespace(**operators))
    return made


def define(schema: str, fn: Any) -> OperatorHandle:
    dispatcher = Dispatcher()
    install(dispatcher)
    op, _ = dispatcher.register_def(parse_schema(schema), "")
    dispatcher.register_impl(op.name, DispatchKey.CPU, KernelFunction(fn, "kernel"), "")
    return op


def run(op: OperatorHandle, *args: Any) -> Any:
    with AutoDispatchBelowADInplaceOrView():
        return op.call(*args)


def add(x: Any, y: Any) -> Any:
    assert not (x._ks | y._ks) & CONJUGATE
    return tensor(*(x.array + y.array))


def add_(x: Any, y: Any) -> Any:
    assert not (x._ks | y._ks) & CONJUGATE
    x.array[...] += y.array
    return x


def test_arguments_that_carry_the_bit_are_cloned(calls: list[str]) -> None:
    op = define("my::add(Tensor x, Tensor y) -> Tensor", add)
    assert values(run(op, tensor(1j, conjugate=True), tensor(1))) == [1 - 1j]
    assert calls == ["clone"]


def test_without_the_bit_the_fallback_is_not_reached(calls: list[str]) -> None:
    assert values(run(define("my::add(Tensor x, Tensor y) -> Tensor", add), tensor(1j), tensor(1))) == [1 + 1j]
    assert calls == []


def test_lists(calls: list[str]) -> None:
    op = define("my::cat(Tensor[] xs, int dim=0) -> Tensor", lambda xs, dim: tensor(*(v for x in xs for v in x.array)))
    assert values(run(op, [tensor(1j, conjugate=True), tensor(2j)], 0)) == [-1j, 2j]
    assert calls == ["clone"]


def test_in_place_writes_back(calls: list[str]) -> None:
    op = define("my::add_(Tensor(a!) x, Tensor y) -> Tensor(a!)", add_)
    x = tensor(1j, conjugate=True)
    assert run(op, x, tensor(1 + 1j)) is x
    assert values(x) == [1]
    assert calls == ["clone", "copy_"]


def test_out_writes_back_though_it_is_an_input_too(calls: list[str]) -> None:
    def add_out(x: Any, y: Any, out: Any) -> Any:
        out.array[...] = x.array + y.array
        return out

    op = define("my::add.out(Tensor x, Tensor y, *, Tensor(a!) out) -> Tensor(a!)", add_out)
    x = tensor(1j, conjugate=True)
    assert run(op, tensor(1), x, x) is x
    assert values(x) == [1 - 1j]
    assert calls == ["clone", "clone", "copy_"]


def test_views_are_passed_on(calls: list[str]) -> None:
    op = define("my::view(Tensor(a) x) -> Tensor(a)", lambda x: x)
    x = tensor(1j, conjugate=True)
    assert run(op, x) is x
    assert calls == []


@pytest.mark.parametrize(
    ("schema", "message"),
    [
        ("my::f(Tensor(a) x, Tensor(b!) y) -> Tensor", r"^Unsupported operator for conjugate fallback: my::fconjugate"),
        (
            "my::f(Tensor(a!) x, Tensor(b!) y) -> Tensor",
            r"^conjugate fallback does not support operators with more than",
        ),
    ],
)
def test_refused(calls: list[str], schema: str, message: str) -> None:
    op = define(schema, lambda x, y: x)
    with pytest.raises(Error, match=message):
        run(op, tensor(1j, conjugate=True), tensor(1j, conjugate=True))


def test_lists_that_are_written_are_refused(calls: list[str]) -> None:
    op = define("my::f(Tensor(a!)[] xs) -> ()", lambda xs: None)
    with pytest.raises(Error, match=r"^ fallback doesn't currently support mutable TensorLists with conjugate inputs"):
        run(op, [tensor(1j, conjugate=True)])


def test_fallthroughs() -> None:
    dispatcher = Dispatcher()
    m.install_fallthroughs(dispatcher)
    for key, (debug, names) in m.FALLTHROUGHS.items():
        assert len(set(names)) == len(names)
        row = dispatcher.entry(f"aten::{names[0]}").registered(key)
        assert row is not None
        assert row.kernel.is_fallthrough
        assert row.debug == debug
