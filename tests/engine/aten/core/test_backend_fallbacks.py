"""engine/aten/core/backend_fallbacks.py: what happens where an operator has no kernel for a key."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from engine.aten.core.backend_fallbacks import BACKEND_FALLBACKS, BackendFallback, install, kernel_for
from engine.aten.core.dispatcher import Dispatcher, OperatorHandle
from engine.aten.core.function_schema import parse_schema
from engine.aten.core.kernel_function import KernelFunction
from engine.aten.core.tensor import empty_tensor
from engine.c10.device import Device
from engine.c10.dispatch_key import DispatchKey
from engine.c10.dispatch_key_set import DispatchKeySet
from engine.c10.exception import Error, NotImplementedError
from engine.c10.grad_mode import NoGradGuard
from engine.c10.local_dispatch_key_set import IncludeDispatchKeyGuard
from engine.c10.scalar_type import Float, Long, ScalarType
from engine.torch.csrc.autograd import autograd_not_implemented_fallback as autograd
from engine.torch.csrc.autograd.variable import grad_fn, requires_grad, set_requires_grad


@pytest.fixture
def dispatcher() -> Dispatcher:
    dispatcher = Dispatcher()
    install(dispatcher)
    return dispatcher


def define(dispatcher: Dispatcher, schema: str, **kernels: Any) -> OperatorHandle:
    op, _ = dispatcher.register_def(parse_schema(schema), "registered at here:1")
    for key, fn in kernels.items():
        dispatcher.register_impl(op.name, DispatchKey[key], KernelFunction(fn, fn.__name__), "registered at here:2")
    return op


def tensor(device: str = "cpu", dtype: ScalarType = Float, wants_grad: bool = False) -> Any:
    key = DispatchKey.CPU if device == "cpu" else DispatchKey.Meta
    t = empty_tensor((2,), (1,), dtype, Device(device), DispatchKeySet(key).raw_repr())
    if wants_grad:
        set_requires_grad(t, True)
    return t


MODELLED = ("Autograd", "Meta", "Conjugate", "Negative")


def test_rows() -> None:
    assert len({row.key for row in BACKEND_FALLBACKS}) == len(BACKEND_FALLBACKS)
    for row in BACKEND_FALLBACKS:
        assert row.key in DispatchKey.__members__
        assert (row.kind == "fallthrough") == (not row.function) == kernel_for(row).is_fallthrough
        assert row.debug.startswith(("registered at aten/src/ATen/", "registered at torch/csrc/"))


def test_all_are_installed(dispatcher: Dispatcher) -> None:
    for row in BACKEND_FALLBACKS:
        installed = dispatcher.fallback(DispatchKey[row.key])
        assert installed is not None
        assert installed.debug == row.debug


def test_meta(dispatcher: Dispatcher) -> None:
    op = define(dispatcher, "my::f(Tensor x) -> Tensor")
    with pytest.raises(
        NotImplementedError, match=r"^my::f: attempted to run this operator with Meta tensors, but there"
    ):
        op.call(tensor("meta"))


@pytest.mark.parametrize(
    "row",
    [row for row in BACKEND_FALLBACKS if row.kind == "kernel" and not row.key.startswith(MODELLED)],
    ids=lambda row: row.key,
)
def test_not_modelled(dispatcher: Dispatcher, row: BackendFallback) -> None:
    op = define(dispatcher, "my::f(Tensor x) -> Tensor", CPU=lambda x: x)
    with IncludeDispatchKeyGuard(DispatchKey[row.key]), pytest.raises(Error) as caught:
        op.call(tensor())
    assert caught.value.msg == (
        f"my::f: the key {row.key} won, and its backend fallback {row.function} (registered at {row.source}) is not "
        "modelled by the engine; use --on torch"
    )


# ---- autograd


@pytest.fixture
def mode() -> Iterator[None]:
    yield
    autograd.setAutogradFallbackMode("warn")


def test_without_gradients_it_only_redispatches(dispatcher: Dispatcher) -> None:
    result = tensor()
    op = define(dispatcher, "my::f(Tensor x) -> Tensor", CPU=lambda x: result)
    assert op.call(tensor()) is result
    assert not requires_grad(result)
    with NoGradGuard():
        op.call(tensor(wants_grad=True))
    assert not requires_grad(result)


def test_results_get_a_node_that_warns(dispatcher: Dispatcher) -> None:
    results = (tensor(), tensor(dtype=Long), [tensor()])
    op = define(
        dispatcher, "my::f(Tensor x, Tensor[] ys, Tensor? z) -> (Tensor, Tensor, Tensor[])", CPU=lambda *_: results
    )
    leaf = tensor(wants_grad=True)
    first, second, (third,) = op.call(tensor(), [leaf, tensor()], None)
    node = grad_fn(first)
    assert isinstance(node, autograd.WarnNotImplemented)
    assert node.name() == "torch::autograd::WarnNotImplemented"
    assert [type(fn).__name__ for fn, _ in node.next_functions] == ["NoneType", "AccumulateGrad", "NoneType"]
    assert not requires_grad(second), "integers have no gradient"
    assert grad_fn(third) is node
    with pytest.warns(UserWarning, match=r"^my::f: an autograd kernel was not registered to the Autograd key\(s\)"):
        assert node.apply([tensor(), None]) == [None, None, None]


def test_an_argument_written_in_place_keeps_its_history(dispatcher: Dispatcher) -> None:
    op = define(dispatcher, "my::f_(Tensor(a!) x, Tensor y) -> Tensor(a!)", CPU=lambda x, y: x)
    x = tensor()
    assert op.call(x, tensor(wants_grad=True)) is x
    assert grad_fn(x) is None


def test_a_result_that_requires_grad_warns_in_its_hook(dispatcher: Dispatcher) -> None:
    result = tensor(wants_grad=True)
    op = define(dispatcher, "my::f(Tensor x) -> Tensor", CPU=lambda x: result)
    op.call(tensor(wants_grad=True))
    assert grad_fn(result) is None
    (hook,) = result._autograd_meta.hooks_
    with pytest.warns(UserWarning, match=r"^my::f: an autograd kernel was not registered"):
        hook([tensor()])


def test_mode_nothing(dispatcher: Dispatcher, mode: None) -> None:
    autograd.setAutogradFallbackMode("nothing")
    assert autograd.getAutogradFallbackMode() == "nothing"
    op = define(dispatcher, "my::f(Tensor x) -> Tensor", CPU=lambda x: tensor())
    assert not requires_grad(op.call(tensor(wants_grad=True)))
    with pytest.raises(Error, match=r"^Expected mode to be one of warn, nothing; got: error$"):
        autograd.setAutogradFallbackMode("error")
