"""The computed table: precedence, reasons, fallthrough masks, removal."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.aten.core.dispatcher import Dispatcher
from engine.aten.core.kernel_function import KernelFunction
from engine.aten.core.operator_entry import OperatorEntry, runtime_keys
from engine.c10.dispatch_key import DispatchKey
from engine.c10.dispatch_key_set import DispatchKeySet
from engine.c10.exception import NotImplementedError as C10NotImplementedError

K = DispatchKey
REGISTERED = [
    K.CPU,
    K.CUDA,
    K.Meta,
    K.SparseCPU,
    K.FPGA,
    K.BackendSelect,
    K.ADInplaceOrView,
    K.AutogradCPU,
    K.AutogradOther,
    K.Autograd,
    K.CompositeImplicitAutograd,
    K.CompositeExplicitAutograd,
    K.CompositeExplicitAutogradNonFunctional,
]


def kernel(name: str) -> KernelFunction:
    return KernelFunction(lambda *args: name, name)


def table(entry: OperatorEntry) -> dict[DispatchKey, tuple[str, str]]:
    return {
        key: (cell.kernel.name, cell.reason) for key in runtime_keys if (cell := entry.cell(key)).kernel is not None
    }


def fill(keys: list[DispatchKey]) -> OperatorEntry:
    entry = Dispatcher().entry("t::f")
    for key in keys:
        entry.register_kernel(key, kernel(key.name), f"registered at {key.name}")
    return entry


@given(st.lists(st.sampled_from(REGISTERED), unique=True), st.randoms())
def test_order_of_registration_does_not_matter(keys: list[DispatchKey], random: object) -> None:
    mixed = list(keys)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    assert table(fill(keys)) == table(fill(mixed))


@given(st.lists(st.sampled_from(REGISTERED), unique=True), st.sampled_from(REGISTERED))
def test_undo_restores_the_table(keys: list[DispatchKey], extra: DispatchKey) -> None:
    entry = fill(keys)
    before = table(entry)
    undo = entry.register_kernel(extra, kernel("extra"), "")
    assert extra not in runtime_keys or entry.cell(extra).kernel.name == "extra"  # type: ignore[union-attr]
    undo()
    assert table(entry) == before
    undo()
    assert table(entry) == before


@pytest.mark.parametrize(
    ("keys", "asked", "expected"),
    [
        ([K.CPU, K.CompositeImplicitAutograd], K.CPU, ("CPU", "kernel")),
        ([K.CPU, K.CompositeImplicitAutograd], K.CUDA, ("CompositeImplicitAutograd", "math kernel")),
        ([K.CompositeImplicitAutograd], K.AutogradCPU, ("CompositeImplicitAutograd", "math kernel")),
        ([K.CPU, K.CompositeImplicitAutograd, K.Autograd], K.AutogradCPU, ("Autograd", "autograd kernel")),
        (
            [K.CompositeExplicitAutograd, K.CompositeImplicitAutograd],
            K.CPU,
            ("CompositeExplicitAutograd", "default backend kernel"),
        ),
        ([K.CompositeExplicitAutograd, K.Autograd], K.AutogradMeta, ("Autograd", "autograd kernel")),
        ([K.AutogradCPU, K.Autograd], K.AutogradCPU, ("AutogradCPU", "kernel")),
    ],
)  # fmt: skip
def test_precedence(keys: list[DispatchKey], asked: DispatchKey, expected: tuple[str, str]) -> None:
    assert table(fill(keys))[asked] == expected


def test_backend_kernel_hides_the_math_kernel_from_autograd() -> None:
    assert K.AutogradCPU not in table(fill([K.CPU, K.CompositeImplicitAutograd]))


def test_ambiguous_autogradother() -> None:
    entry = fill([K.SparseCPU, K.FPGA, K.CompositeImplicitAutograd])
    assert entry.cell(K.AutogradOther).reason == "ambiguous autogradother"


@pytest.mark.parametrize("backend_only", [True, False])
def test_fallthrough_is_masked(backend_only: bool) -> None:
    dispatcher = Dispatcher()
    entry = dispatcher.entry("t::f")
    entry.register_kernel(K.CPU, kernel("cpu"), "")
    undo: Callable[[], None]
    if backend_only:
        undo = entry.register_kernel(K.AutogradCPU, KernelFunction.make_fallthrough(), "")
    else:
        undo = dispatcher.register_fallback(K.ADInplaceOrView, KernelFunction.make_fallthrough(), "")
    key = K.AutogradCPU if backend_only else K.ADInplaceOrView
    seen = (DispatchKeySet(K.CPU) | DispatchKeySet(key)).raw_repr()
    assert entry.mask(seen) == DispatchKeySet(K.CPU).raw_repr()
    if backend_only:
        other = (DispatchKeySet(K.CUDA) | DispatchKeySet(K.AutogradCUDA)).raw_repr()
        assert entry.mask(other) == other
    undo()
    assert entry.mask(seen) == seen


def test_missing_kernel_names_what_there_is() -> None:
    entry = fill([K.CPU])
    with pytest.raises(
        C10NotImplementedError, match=r"Could not run 't::f' with arguments from the 'Meta' backend.*\[CPU\]"
    ):
        entry.lookup(DispatchKeySet(K.Meta).raw_repr())
    with pytest.raises(C10NotImplementedError, match="There were no tensor arguments to this function"):
        entry.lookup(0)


def test_dump() -> None:
    entry = fill([K.CPU, K.Autograd])
    assert "CPU: registered at CPU [kernel]\n" in entry.dump_computed_table()
    assert "Autograd[alias]: registered at Autograd\n" in entry.dump_state()
