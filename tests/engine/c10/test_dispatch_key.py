"""engine/c10/dispatch_key.py: names, blocks of per-backend keys, parsing."""

from __future__ import annotations

import copy
import pickle

import pytest

from engine.c10 import dispatch_key as m
from engine.c10.dispatch_key import BackendComponent, DispatchKey
from engine.c10.exception import Error

RUNTIME_BACKEND_KEYS = [
    m.toRuntimePerBackendFunctionalityKey(functionality, backend)
    for functionality in DispatchKey
    if m.isPerBackendFunctionalityKey(functionality)
    for backend in BackendComponent
    if backend
]


def test_counts() -> None:
    assert m.num_backends == 16
    assert m.num_functionality_keys == 47
    assert m.numPerBackendFunctionalityKeys() == 6
    assert m.num_runtime_entries == 137
    assert m.full_backend_mask == 0xFFFF
    assert len(RUNTIME_BACKEND_KEYS) == len(set(RUNTIME_BACKEND_KEYS)) == 6 * 16


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("Undefined", 0),
        ("Dense", 1),
        ("BackendSelect", 11),
        ("Python", 13),
        ("ADInplaceOrView", 19),
        ("AutogradOther", 20),
        ("AutocastCPU", 24),
        ("TESTING_ONLY_GenericMode", 44),
        ("PythonDispatcher", 46),
        ("CPU", 49),
        ("Meta", 64),
        ("SparseCPU", 83),
        ("AutogradCPU", 134),
        ("Autograd", 150),
        ("CompositeExplicitAutogradNonFunctional", 155),
    ],
)
def test_values(name: str, value: int) -> None:
    key = DispatchKey[name]
    assert key == value
    assert m.dispatch_key(value) is key
    assert str(key) == f"{key}" == m.toString(key) == name


@pytest.mark.parametrize("key", RUNTIME_BACKEND_KEYS, ids=str)
def test_runtime_keys_split_and_join(key: DispatchKey) -> None:
    functionality, backend = m.toFunctionalityKey(key), m.toBackendComponent(key)
    assert m.isPerBackendFunctionalityKey(functionality)
    assert m.toRuntimePerBackendFunctionalityKey(functionality, backend) is key
    assert m.toString(key).endswith(backend.name.removesuffix("Bit"))


def test_keys_that_are_not_per_backend() -> None:
    for name in ("FPGA", "BackendSelect", "AutogradOther", "Tracer", "Autograd"):
        key = DispatchKey[name]
        assert m.toBackendComponent(key) == BackendComponent.InvalidBit
        assert m.toRuntimePerBackendFunctionalityKey(key, BackendComponent.CPUBit) == DispatchKey.Undefined
    assert m.toFunctionalityKey(DispatchKey.Tracer) == DispatchKey.Tracer
    assert m.toFunctionalityKey(DispatchKey.Autograd) == DispatchKey.Undefined


def test_names_of_placeholders() -> None:
    assert m.toString(DispatchKey.StartOfDenseBackends) == "Undefined"
    assert m.toString(DispatchKey.StartOfAutogradFunctionalityBackends) == "AutogradUndefined"
    assert m.toString(DispatchKey.EndOfDenseBackends) == "Meta"
    assert m.toString(DispatchKey.EndOfFunctionalityKeys) == "UnknownUnknown"
    assert (
        m.toString(BackendComponent.CPUBit) == str(BackendComponent.CPUBit) == f"{BackendComponent.CPUBit}" == "CPUBit"
    )


def test_device_types() -> None:
    assert m.toBackendComponent("cpu") == BackendComponent.CPUBit
    assert m.toBackendComponent("meta") == BackendComponent.MetaBit
    assert m.toBackendComponent("privateuseone") == BackendComponent.PrivateUse1Bit
    assert m.toBackendComponent("fpga") == BackendComponent.InvalidBit


def test_aliases() -> None:
    aliases = [k for k in DispatchKey if m.isAliasDispatchKey(k)]
    assert len(aliases) == 6
    assert m.kAutograd in aliases


def test_parse() -> None:
    assert m.parseDispatchKey("AutogradCPU") is DispatchKey.AutogradCPU
    assert m.parseDispatchKey("AutogradFunctionality") is DispatchKey.AutogradFunctionality


@pytest.mark.parametrize("name", ["Foo", "", "c10::CPU", "cpu", "AutogradHIP", "EndOfFunctionalityKeys", "CatchAll"])
def test_parse_refuses(name: str) -> None:
    with pytest.raises(Error, match=f"^could not parse dispatch key: {name}$"):
        m.parseDispatchKey(name)


def test_keys_survive_pickle_and_copy() -> None:
    assert pickle.loads(pickle.dumps(DispatchKey.CPU)) is DispatchKey.CPU
    assert copy.deepcopy(DispatchKey.CPU) is DispatchKey.CPU


def test_public_surface() -> None:
    assert sorted(m.__all__) == sorted({*m.__all__})
    assert all(hasattr(m, name) for name in m.__all__)
