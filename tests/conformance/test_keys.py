"""Dispatch keys, key sets, guards and backend fallbacks: the engine's against the installed PyTorch's."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack
from typing import Any

import pytest

from engine.aten.core.backend_fallbacks import BACKEND_FALLBACKS
from engine.aten.native.math_bits_fallback import FALLTHROUGHS
from engine.c10 import dispatch_key_set as engine_sets
from engine.c10 import local_dispatch_key_set as local
from engine.c10.dispatch_key import DispatchKey, isAliasDispatchKey, num_backends, parseDispatchKey, toString
from engine.c10.dispatch_key_set import DispatchKeySet
from engine.c10.exception import Error
from engine.c10.grad_mode import AutoGradMode, NoGradGuard
from engine.c10.inference_mode import InferenceMode
from engine.c10.local_dispatch_key_set import tls

torch = pytest.importorskip("torch", reason="conformance needs the installed PyTorch")
C = torch._C

KEYS = list(DispatchKey)
RUNTIME = list(DispatchKeySet.FULL())
ALIASES = [k for k in KEYS if isAliasDispatchKey(k)]


def theirs(key: DispatchKey) -> Any:
    return C.DispatchKey(int(key))


def their_set(raw: int) -> Any:
    return C.DispatchKeySet.from_raw_repr(raw)


@pytest.mark.parametrize("key", KEYS, ids=lambda key: key.name)
def test_key(key: DispatchKey) -> None:
    """Number, name, bits, printing, parsing and relations of each key."""
    other = theirs(key)
    ours, reference = DispatchKeySet(key), C.DispatchKeySet(other)
    assert toString(key) == C._dispatch_key_name(other)
    assert ours.raw_repr() == reference.raw_repr()
    assert str(ours) == str(reference)
    assert toString(ours.highestPriorityTypeId()) == C._dispatch_key_name(reference.highestPriorityTypeId())
    assert isAliasDispatchKey(key) == C._dispatch_is_alias_key(other)
    backends = C._dispatch_get_backend_keyset_from_autograd(other)
    assert engine_sets.getBackendKeySetFromAutograd(key).raw_repr() == backends.raw_repr()
    for alias in ALIASES:
        assert engine_sets.isIncludedInAlias(key, alias) == C._dispatch_is_included_in_alias(other, theirs(alias))
    if ours.raw_repr() and key != DispatchKey.EndOfFunctionalityKeys:
        after = C._dispatch_keyset_full_after(other)
        assert DispatchKeySet.FULL_AFTER(key).raw_repr() == after.raw_repr()


@pytest.mark.parametrize("name", [*sorted({toString(k) for k in KEYS}), "Foo", "c10::CPU", "cpu", "CatchAll", ""])
def test_parsing(name: str) -> None:
    try:
        expected = int(C._dispatch_key_parse(name))
    except RuntimeError as error:
        with pytest.raises(Error) as caught:
            parseDispatchKey(name)
        assert caught.value.msg == str(error)
    else:
        assert parseDispatchKey(name) == expected


@pytest.mark.parametrize("name", [name for name in dir(C.DispatchKey) if name[0].isupper()])
def test_numbers_of_exported_names(name: str) -> None:
    assert DispatchKey[name] == int(getattr(C.DispatchKey, name))


def test_constants() -> None:
    assert str(DispatchKeySet.FULL()) == str(C._dispatch_keyset_full())
    assert DispatchKeySet.FULL().raw_repr() == C._dispatch_keyset_full().raw_repr()
    assert engine_sets.autogradother_backends == C._dispatch_autogradother_backends.raw_repr()
    assert num_backends == C._dispatch_num_backends()


def random_set(rng: random.Random) -> int:
    raw = DispatchKeySet(rng.sample(RUNTIME, rng.randrange(7))).raw_repr()
    if rng.random() < 0.2:
        raw |= 1 << rng.randrange(62)  # a lone backend or functionality bit
    if rng.random() < 0.1:
        raw = rng.getrandbits(62)
    return raw


@pytest.mark.parametrize("seed", range(300))
def test_random_sets(seed: int) -> None:
    rng = random.Random(seed)
    a, b = random_set(rng), random_set(rng)
    ours, reference = DispatchKeySet.RAW(a), their_set(a)
    other, other_reference = DispatchKeySet.RAW(b), their_set(b)
    assert str(ours) == str(reference) == C._dispatch_keyset_to_string(reference)
    assert toString(ours.highestPriorityTypeId()) == C._dispatch_key_name(reference.highestPriorityTypeId())
    assert (ours | other).raw_repr() == (reference | other_reference).raw_repr()
    assert (ours & other).raw_repr() == (reference & other_reference).raw_repr()
    assert (ours - other).raw_repr() == (reference - other_reference).raw_repr()
    assert (ours == other) == (reference == other_reference)
    for key in [*rng.sample(RUNTIME, 10), *ours]:
        assert ours.has(key) == reference.has(theirs(key))
        assert ours.add(key).raw_repr() == reference.add(theirs(key)).raw_repr()
        assert ours.remove(key).raw_repr() == reference.remove(theirs(key)).raw_repr()


# ---- tensors


@pytest.mark.parametrize("device", ["cpu", "meta"])
def test_keys_of_a_tensor(device: str) -> None:
    """Backend, autograd and autocast keys that a tensor of a backend carries."""
    backend = engine_sets.toBackendComponent(device)
    key = engine_sets.toRuntimePerBackendFunctionalityKey(DispatchKey.Dense, backend)
    expected = (
        DispatchKeySet(key)
        | engine_sets.getAutogradRelatedKeySetFromBackend(backend)
        | engine_sets.getAutocastRelatedKeySetFromBackend(backend)
    )
    reference = C._dispatch_keys(torch.ones(2, device=device))
    assert expected.raw_repr() == reference.raw_repr()
    assert toString(engine_sets.legacyExtractDispatchKey(expected)) == toString(key)


# ---- guards

Pair = tuple[Callable[[], AbstractContextManager[Any]], Callable[[], AbstractContextManager[Any]]]


def _keyed(ours: Any, reference: Any, *keys: str) -> Pair:
    raw = DispatchKeySet([DispatchKey[k] for k in keys]).raw_repr()
    return lambda: ours(DispatchKeySet.RAW(raw)), lambda: reference(their_set(raw))


GUARDS: dict[str, Pair] = {
    "below autograd": (local.AutoDispatchBelowAutograd, C._AutoDispatchBelowAutograd),
    "below ADInplaceOrView": (local.AutoDispatchBelowADInplaceOrView, C._AutoDispatchBelowADInplaceOrView),
    "exclude ADInplaceOrView": _keyed(local.ExcludeDispatchKeyGuard, C._ExcludeDispatchKeyGuard, "ADInplaceOrView"),
    "exclude CPU": _keyed(local.ExcludeDispatchKeyGuard, C._ExcludeDispatchKeyGuard, "CPU"),
    "exclude two": _keyed(local.ExcludeDispatchKeyGuard, C._ExcludeDispatchKeyGuard, "AutogradCPU", "Tracer"),
    "include Conjugate": (
        lambda: local.IncludeDispatchKeyGuard(DispatchKey.Conjugate),
        lambda: C._IncludeDispatchKeyGuard(C.DispatchKey.Conjugate),
    ),
    "include CPU": (
        lambda: local.IncludeDispatchKeyGuard(DispatchKey.CPU),
        lambda: C._IncludeDispatchKeyGuard(C.DispatchKey.CPU),
    ),
    "force": (
        lambda: local.ForceDispatchKeyGuard(DispatchKeySet(DispatchKey.BackendSelect), DispatchKeySet()),
        lambda: C._ForceDispatchKeyGuard(
            C.DispatchKeySet(C.DispatchKey.BackendSelect), C.DispatchKeySet.from_raw_repr(0)
        ),
    ),
    "inference": (InferenceMode, torch.inference_mode),
    "no inference": (lambda: InferenceMode(False), lambda: torch.inference_mode(False)),
    "no grad": (NoGradGuard, torch.no_grad),
    "grad": (lambda: AutoGradMode(True), torch.enable_grad),
}


def our_state() -> tuple[int, int, bool, bool]:
    return tls.included, tls.excluded, tls.grad_mode, tls.inference_mode


def their_state() -> tuple[int, int, bool, bool]:
    return (
        C._dispatch_tls_local_include_set().raw_repr(),
        C._dispatch_tls_local_exclude_set().raw_repr(),
        torch.is_grad_enabled(),
        torch.is_inference_mode_enabled(),
    )


@pytest.fixture(autouse=True)
def undisturbed() -> Iterator[None]:
    before = our_state()
    assert before == their_state()
    yield
    assert our_state() == before == their_state()


@pytest.mark.parametrize("name", GUARDS)
def test_guard(name: str) -> None:
    ours, reference = GUARDS[name]
    with ours(), reference():
        assert our_state() == their_state()
        key = DispatchKey.ADInplaceOrView
        assert local.tls_is_dispatch_key_included(key) == C._dispatch_tls_is_dispatch_key_included(theirs(key))
        assert local.tls_is_dispatch_key_excluded(key) == C._dispatch_tls_is_dispatch_key_excluded(theirs(key))


@pytest.mark.parametrize("seed", range(150))
def test_nested_guards(seed: int) -> None:
    """Guards in random order and depth, with keys set by hand in between."""
    rng = random.Random(seed)
    with ExitStack() as stack:
        stack.enter_context(local.ForceDispatchKeyGuard())
        stack.enter_context(C._ForceDispatchKeyGuard(*map(their_set, their_state()[:2])))
        for name in rng.choices(sorted(GUARDS), k=rng.randint(1, 6)):
            if rng.random() < 0.4:
                set_by_hand(rng)
            ours, reference = GUARDS[name]
            stack.enter_context(ours())
            stack.enter_context(reference())
            assert our_state() == their_state(), name


def set_by_hand(rng: random.Random) -> None:
    key, state = rng.choice(RUNTIME), rng.random() < 0.5
    if rng.random() < 0.5:
        local.tls_set_dispatch_key_included(key, state)
        C._dispatch_tls_set_dispatch_key_included(theirs(key), state)
    else:
        local.tls_set_dispatch_key_excluded(key, state)
        C._dispatch_tls_set_dispatch_key_excluded(theirs(key), state)


# ---- backend fallbacks


def test_backend_fallbacks() -> None:
    """The rows are the lines of the table of an operator that has no kernels."""
    library = torch.library.Library("dispatch_tracer_probe", "DEF")
    library.define("bare(Tensor x) -> Tensor")
    table = []
    for line in C._dispatch_dump_table("dispatch_tracer_probe::bare").splitlines():
        head, _, path = line.partition("registered at ")
        path = path[min(path.find(room) for room in ("aten/src/", "torch/csrc/") if room in path) :]
        table.append(f"{head}registered at {path}")
    rows = [
        f"{row.key}: {'fallthrough ' if row.kind == 'fallthrough' else ''}{row.debug} [backend fallback]"
        for row in BACKEND_FALLBACKS
    ]
    assert table == rows
    for key in RUNTIME:
        has = any(row.key == toString(key) for row in BACKEND_FALLBACKS)
        assert has == C._dispatch_has_backend_fallback(theirs(key)), key


@pytest.mark.parametrize("key", FALLTHROUGHS, ids=toString)
def test_operators_that_know_of_math_bits(key: DispatchKey) -> None:
    names = [
        name
        for name in C._dispatch_get_all_op_names()
        if name.startswith("aten::")
        and C._dispatch_has_kernel_for_dispatch_key(name, toString(key))
        and C._dispatch_kernel_for_dispatch_key_is_fallthrough(name, toString(key))
    ]
    debug, ours = FALLTHROUGHS[key]
    assert sorted(f"aten::{name}" for name in ours) == sorted(names)
    assert debug.removeprefix("registered at ") in C._dispatch_dump(names[0])
