"""Operators called without autograd, in the engine and in the installed PyTorch.

Compared: element type, sizes, strides, offset, values to the last bit, what was written to the arguments, and the type
and text of errors.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from engine.aten.core.tensor import Tensor
from engine.aten.native import parallel
from engine.c10.scalar_type import scalar_type_by_name
from tests.conformance.kernel_cases import CASES, Case, Dev, T, geometry
from tests.conformance.kernel_runs import arguments, data, run_engine

torch = pytest.importorskip("torch")

# sums go by vector registers and by threads; the engine models the AVX2 kernels
LAST_BIT = torch.backends.cpu.get_cpu_capability() == "AVX2"


@pytest.fixture(autouse=True)
def as_many_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(parallel, "_num_threads", torch.get_num_threads())


def torch_tensor(t: T, position: int) -> Any:
    strides, offset, _ = geometry(t)
    values = data(t, position)
    flat = torch.frombuffer(bytearray(values.tobytes() or b"\0" * 16), dtype=torch.uint8)
    flat = flat[: values.nbytes].clone().view(getattr(torch, t.dtype)).to(t.device)
    return flat.as_strided(t.shape, strides, offset)


def run_torch(case: Case) -> Any:
    args, tensors = arguments(
        case, torch_tensor, lambda n: getattr(torch, n), lambda n: getattr(torch, n), torch.device
    )
    base, _, overload = case.op.partition(".")
    op = getattr(getattr(torch.ops.aten, base), overload or "default")
    positional, keywords = [], {}
    for argument, value in zip(op._schema.arguments, args, strict=True):
        if argument.kwarg_only:
            keywords[argument.name] = value
        else:
            positional.append(value)
    with torch._C._AutoDispatchBelowADInplaceOrView():
        try:
            result = op(*positional, **keywords)
        except (RuntimeError, IndexError, ValueError, TypeError, NotImplementedError) as error:
            return ("raises", type(error).__name__, str(error)), tensors
    return result, tensors


def seen_engine(t: Any, values: bool) -> Any:
    if isinstance(t, list | tuple) and not raises(t):
        return [seen_engine(x, values) for x in t]
    if not isinstance(t, Tensor):
        return t
    array = t.array.copy() if values and t._device.type == "cpu" else None
    return (t._dtype.torch_name, t._sizes, t._strides, t._offset, t._device.type, array)


def seen_torch(t: Any, values: bool) -> Any:
    if isinstance(t, list | tuple) and not raises(t):
        return [seen_torch(x, values) for x in t]
    if not isinstance(t, torch.Tensor):
        return t
    array = None
    if values and t.device.type == "cpu":
        name = str(t.dtype).removeprefix("torch.")
        dtype = scalar_type_by_name(name).np
        assert dtype is not None
        array = np.empty(t.shape, dtype)
        if t.numel():
            plain = t.clone(memory_format=torch.contiguous_format).view(-1)
            array = np.frombuffer(bytes(plain.view(torch.uint8).numpy()), dtype).reshape(t.shape)
    return (str(t.dtype).removeprefix("torch."), tuple(t.shape), t.stride(), t.storage_offset(), t.device.type, array)


def assert_same(ours: Any, theirs: Any, exact: bool) -> None:
    if isinstance(theirs, list):
        assert isinstance(ours, list) and len(ours) == len(theirs), f"{ours} instead of {theirs}"
        for a, b in zip(ours, theirs, strict=True):
            assert_same(a, b, exact)
        return
    if not isinstance(theirs, tuple) or raises(theirs):
        both_nan = isinstance(theirs, float) and math.isnan(theirs) and isinstance(ours, float) and math.isnan(ours)
        same = type(ours) is type(theirs) and (ours == theirs or both_nan)
        assert same, f"{ours!r} instead of {theirs!r}"
        return
    assert ours[:-1] == theirs[:-1], f"{ours[:-1]} instead of {theirs[:-1]}"
    a, b = ours[-1], theirs[-1]
    if b is None:
        assert a is None
        return
    if a.dtype.itemsize < 4 and a.dtype.kind in "fV":
        a, b = a.astype(np.float32), b.astype(np.float32)
    if exact and (LAST_BIT or a.dtype.kind not in "fc"):
        np.testing.assert_array_equal(a, b)
    else:
        np.testing.assert_allclose(a, b, rtol=1e-5, atol=1e-6)


def raises(outcome: Any) -> bool:
    return isinstance(outcome, tuple) and len(outcome) == 3 and outcome[0] == "raises"


def on_meta(case: Case) -> bool:
    return any((isinstance(a, T) and a.device == "meta") or isinstance(a, Dev) for a in case.args)


def check(case: Case) -> None:
    ours, our_tensors = run_engine(case)
    theirs, their_tensors = run_torch(case)
    if on_meta(case) and raises(theirs) and raises(ours):
        return  # the texts are those of Python functions
    assert_same(seen_engine(ours, case.values), seen_torch(theirs, case.values), case.exact)
    if not raises(theirs):
        assert_same(seen_engine(our_tensors, case.values), seen_torch(their_tensors, case.values), case.exact)
        # a result that is one of the arguments is so on both sides
        assert [ours is t for t in our_tensors] == [theirs is t for t in their_tensors], "another argument is returned"


@pytest.mark.parametrize("family", CASES)
def test_family(family: str) -> None:
    failures = []
    for case in CASES[family]:
        try:
            check(case)
        except AssertionError as error:
            failures.append(f"{case}: {error}")
    assert not failures, f"{len(failures)} of {len(CASES[family])} cases differ:\n" + "\n".join(failures[:20])
