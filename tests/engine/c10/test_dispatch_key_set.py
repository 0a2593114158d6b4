"""engine/c10/dispatch_key_set.py: bits, order, printing; properties over random sets."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.c10 import dispatch_key_set as m
from engine.c10.dispatch_key import BackendComponent, DispatchKey, full_backend_mask, num_runtime_entries
from engine.c10.dispatch_key_set import DispatchKeySet

K = DispatchKey
RUNTIME = list(DispatchKeySet.FULL())
keys = st.sampled_from(RUNTIME)
sets = st.lists(keys, max_size=6).map(DispatchKeySet)


def test_bits() -> None:
    assert DispatchKeySet(K.CPU).raw_repr() == 1 << 16 | 1
    assert DispatchKeySet(K.Dense).raw_repr() == 1 << 16
    assert DispatchKeySet(BackendComponent.CUDABit).raw_repr() == 2
    assert DispatchKeySet(K.Undefined).empty()
    assert DispatchKeySet(K.Autograd).empty(), "aliases have no bits"
    assert DispatchKeySet.FULL().raw_repr() == (1 << 62) - 1
    assert m.key_bits(K.AutogradMeta) == DispatchKeySet(K.AutogradMeta).raw_repr()


def test_constructors_agree() -> None:
    expected = DispatchKeySet(K.CPU) | DispatchKeySet(K.AutogradCPU)
    assert DispatchKeySet(K.CPU, K.AutogradCPU) == expected
    assert DispatchKeySet([K.CPU, K.AutogradCPU]) == expected
    assert DispatchKeySet(iter([K.AutogradCPU]), DispatchKeySet(K.CPU)) == expected
    assert DispatchKeySet.RAW(expected.raw_repr()) == DispatchKeySet.from_raw_repr(expected.raw_repr()) == expected
    with pytest.raises(TypeError, match=r"DispatchKeySet\.RAW\(65537\)"):
        DispatchKeySet(65537)  # type: ignore[arg-type]


def test_printing() -> None:
    ks = DispatchKeySet(K.AutogradCPU, K.CPU, K.ADInplaceOrView)
    assert str(ks) == repr(ks) == "DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU)"
    assert str(DispatchKeySet()) == "DispatchKeySet()"
    assert str(DispatchKeySet(K.Dense)) == "DispatchKeySet()", "a functionality without a backend is no runtime key"
    both = DispatchKeySet(K.CPU, K.AutogradCUDA)
    assert str(both) == "DispatchKeySet(CPU, CUDA, AutogradCPU, AutogradCUDA)", "backend bits belong to all"


def test_taking_away_leaves_backend_bits() -> None:
    ks = DispatchKeySet(K.CPU, K.AutogradCPU)
    assert ks - DispatchKeySet(K.AutogradCPU) == DispatchKeySet(K.CPU)
    assert ks.remove(K.AutogradCPU) == DispatchKeySet(K.CPU)
    assert (ks - ks).raw_repr() == DispatchKeySet(BackendComponent.CPUBit).raw_repr()
    assert (ks - ks).remove_backend(BackendComponent.CPUBit).empty()


def test_priority() -> None:
    ks = DispatchKeySet(K.CPU, K.CUDA, K.AutogradCPU, K.BackendSelect)
    assert ks.highestFunctionalityKey() == K.AutogradFunctionality
    assert ks.highestBackendKey() == BackendComponent.CUDABit
    assert ks.highestPriorityTypeId() == K.AutogradCUDA
    assert DispatchKeySet().highestPriorityTypeId() == K.Undefined
    assert DispatchKeySet(BackendComponent.CPUBit).highestPriorityTypeId() == K.Undefined
    assert m.highestPriorityBackendTypeId(ks) == K.CUDA
    assert m.legacyExtractDispatchKey(ks - DispatchKeySet(K.BackendSelect)) == K.CUDA


def test_table_slots_are_a_bijection() -> None:
    slots = {m.getDispatchTableIndexForDispatchKey(k) for k in [K.Undefined, *RUNTIME]}
    assert slots == set(range(num_runtime_entries))
    assert m.runtime_table_index(DispatchKeySet(K.CPU, K.CUDA).raw_repr()) == m.getDispatchTableIndexForDispatchKey(
        K.CUDA
    )
    assert DispatchKeySet(K.CUDA).getBackendIndex() == 1


def test_full_after() -> None:
    below = DispatchKeySet.FULL_AFTER(K.ADInplaceOrView)
    assert not below.has(K.ADInplaceOrView)
    assert not below.has(K.AutogradCPU)
    assert below.has(K.CPU)
    assert below.has(K.BackendSelect)
    assert below.has(K.PythonDispatcher)
    assert m.after_ADInplaceOrView_keyset == below.raw_repr()
    assert not DispatchKeySet.RAW(m.after_func_keyset).has(K.ADInplaceOrView)


def test_aliases_and_backends() -> None:
    implicit = m.getRuntimeDispatchKeySet(K.CompositeImplicitAutograd)
    assert implicit.has(K.AutogradCPU)
    assert implicit.has(K.NestedTensorCPU)
    assert not implicit.has(K.BackendSelect)
    functional = m.getRuntimeDispatchKeySet(K.CompositeExplicitAutogradNonFunctional)
    assert not functional.has(K.SparseCPU)
    assert not functional.has(K.XLA)
    assert m.getRuntimeDispatchKeySet(K.Tracer) == DispatchKeySet(K.Tracer)
    assert m.isIncludedInAlias(K.AutogradCUDA, K.Autograd)
    assert not m.isIncludedInAlias(K.Undefined, K.CompositeImplicitAutograd)
    assert m.runtimeDispatchKeySetHas(K.CPU, K.CPU)
    assert not m.runtimeDispatchKeySetHas(K.CPU, K.CUDA)
    assert m.isBackendDispatchKey(K.CPU)
    assert m.isBackendDispatchKey(K.SparseCPU)
    for key in (K.Undefined, K.Autograd, K.NestedTensor, K.AutogradCPU, K.BackendSelect):
        assert not m.isBackendDispatchKey(key)


@pytest.mark.parametrize(
    ("backend", "autograd", "autocast"),
    [
        (BackendComponent.CPUBit, K.AutogradCPU, "AutocastCPU"),
        (BackendComponent.IPUBit, K.AutogradIPU, "AutocastIPU"),
        (BackendComponent.PrivateUse1Bit, K.AutogradPrivateUse1, "AutocastPrivateUse1"),
        (BackendComponent.MetaBit, K.AutogradMeta, ""),
        (BackendComponent.HIPBit, K.AutogradOther, ""),
        (BackendComponent.VEBit, K.AutogradOther, ""),
        (BackendComponent.InvalidBit, K.AutogradOther, ""),
    ],
    ids=lambda x: str(x) or "none",
)
def test_related_keys(backend: BackendComponent, autograd: DispatchKey, autocast: str) -> None:
    assert m.getAutogradKeyFromBackend(backend) == autograd
    related = m.getAutogradRelatedKeySetFromBackend(backend)
    assert related == DispatchKeySet(autograd, K.ADInplaceOrView)
    expected = DispatchKeySet(K[autocast]) if autocast else DispatchKeySet()
    assert m.getAutocastRelatedKeySetFromBackend(backend) == expected


def test_backends_of_autograd_keys() -> None:
    assert m.getBackendKeySetFromAutograd(K.AutogradCPU) == DispatchKeySet(K.CPU)
    assert m.getBackendKeySetFromAutograd(K.AutogradOther).has(K.SparseCPU)
    assert m.getBackendKeySetFromAutograd(K.AutogradNestedTensor).has(K.NestedTensorCPU)
    assert m.getBackendKeySetFromAutograd(K.CPU).empty()


def test_immutable() -> None:
    ks = DispatchKeySet(K.CPU)
    with pytest.raises(AttributeError, match="immutable"):
        ks._repr = 0
    with pytest.raises(AttributeError, match="immutable"):
        del ks._repr
    assert pickle.loads(pickle.dumps(ks)) == copy.deepcopy(ks) == ks


def test_public_surface() -> None:
    assert len(m.__all__) == len({*m.__all__})
    for name in m.__all__:
        value = getattr(m, name)
        assert not name.islower() or isinstance(value, int) or callable(value)


@given(st.lists(keys, max_size=8))
def test_order_of_keys_does_not_matter(chosen: list[DispatchKey]) -> None:
    ks = DispatchKeySet(chosen)
    assert ks == DispatchKeySet(reversed(chosen))
    assert all(ks.has(k) and k in ks for k in chosen)
    assert hash(ks) == hash(DispatchKeySet(*chosen))


@given(sets, sets)
def test_set_algebra(a: DispatchKeySet, b: DispatchKeySet) -> None:
    assert (a | b).isSupersetOf(a)
    assert (a | b).has_all(b)
    assert a.isSupersetOf(a & b)
    assert (a ^ b) ^ b == a
    assert (a - b).raw_repr() & full_backend_mask == a.raw_repr() & full_backend_mask
    assert not DispatchKeySet.RAW((a - b).raw_repr() & ~full_backend_mask).has_any(b)
    assert a.has_any(b) == (not (a & b).empty())
    assert bool(a) == (not a.empty())
    assert (a == b) == (list(a) == list(b))


@given(sets)
def test_iteration(ks: DispatchKeySet) -> None:
    found = list(ks)
    assert len(found) == len(set(found))
    assert DispatchKeySet(found) == ks
    if found:
        assert found[-1] == ks.highestPriorityTypeId()
        assert ks.getDispatchTableIndexForDispatchKeySet() == m.getDispatchTableIndexForDispatchKey(found[-1])
