"""engine/c10: local_dispatch_key_set, grad_mode, inference_mode: what guards do to a thread, and that they undo it."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.c10 import exception, grad_mode, inference_mode
from engine.c10 import local_dispatch_key_set as m
from engine.c10.dispatch_key import DispatchKey
from engine.c10.dispatch_key_set import (
    DispatchKeySet,
    autograd_dispatch_keyset,
    autograd_dispatch_keyset_with_ADInplaceOrView,
    default_excluded_set,
    default_included_set,
)
from engine.c10.grad_mode import AutoFwGradMode, AutoGradMode, AutogradState, GradMode, NoGradGuard
from engine.c10.inference_mode import InferenceMode
from engine.c10.local_dispatch_key_set import Guard, tls

K = DispatchKey


def state() -> tuple[int, int, AutogradState]:
    return tls.included, tls.excluded, AutogradState.get_tls_state()


@pytest.fixture(autouse=True)
def undisturbed() -> Iterator[None]:
    before = state()
    yield
    assert state() == before


GUARDS: dict[str, Callable[[], Guard]] = {
    "include": lambda: m.IncludeDispatchKeyGuard(K.Tracer),
    "include set": lambda: m.IncludeDispatchKeyGuard(DispatchKeySet(K.Python, K.CPU)),
    "exclude": lambda: m.ExcludeDispatchKeyGuard(K.ADInplaceOrView),
    "exclude bits": lambda: m.ExcludeDispatchKeyGuard(autograd_dispatch_keyset),
    "force": lambda: m.ForceDispatchKeyGuard(DispatchKeySet(K.CPU), DispatchKeySet()),
    "save": m.ForceDispatchKeyGuard,
    "below autograd": m.AutoDispatchBelowAutograd,
    "below ADInplaceOrView": m.AutoDispatchBelowADInplaceOrView,
    "skip functionalize": m.AutoDispatchSkipFunctionalize,
    "no grad": NoGradGuard,
    "grad": lambda: AutoGradMode(True),
    "no forward grad": lambda: AutoFwGradMode(False),
    "inference": InferenceMode,
    "no inference": lambda: InferenceMode(False),
}
names = sorted(GUARDS)


def test_a_thread_starts_with_the_defaults() -> None:
    seen: list[tuple[int, int, AutogradState]] = []
    with InferenceMode(), m.IncludeDispatchKeyGuard(K.Tracer):
        thread = threading.Thread(target=lambda: seen.append(state()))
        thread.start()
        thread.join()
    assert seen == [(default_included_set, default_excluded_set, AutogradState(True, False, True, True))]


def test_include_and_exclude() -> None:
    with m.IncludeDispatchKeyGuard(K.Tracer):
        assert m.tls_is_dispatch_key_included(K.Tracer)
        assert m.tls_is_dispatch_keyset_included(DispatchKeySet(K.Tracer, K.BackendSelect))
        assert not m.tls_is_dispatch_key_excluded(K.Tracer)
    with m.ExcludeDispatchKeyGuard(DispatchKeySet(K.Tracer)):
        assert m.tls_is_dispatch_key_excluded(K.Tracer)
        assert not m.tls_is_dispatch_keyset_excluded(DispatchKeySet(K.Tracer, K.Python))
    local = m.tls_local_dispatch_key_set()
    assert local.included_ == DispatchKeySet(K.BackendSelect, K.ADInplaceOrView)
    assert local.excluded_.raw_repr() == default_excluded_set


def test_below_autograd() -> None:
    with m.AutoDispatchBelowAutograd():
        assert tls.excluded == default_excluded_set | autograd_dispatch_keyset
    with m.AutoDispatchBelowADInplaceOrView():
        assert tls.excluded == default_excluded_set | autograd_dispatch_keyset_with_ADInplaceOrView


def test_deprecated_name_warns() -> None:
    always = exception.get_warnAlways()
    exception.set_warnAlways(True)
    with pytest.warns(UserWarning, match="AutoNonVariableTypeMode is deprecated"), m.AutoNonVariableTypeMode():
        assert tls.excluded == default_excluded_set | autograd_dispatch_keyset
    exception.set_warnAlways(always)


def test_force() -> None:
    wanted = m.LocalDispatchKeySet(DispatchKeySet(K.CPU), DispatchKeySet(K.Meta))
    with m.ForceDispatchKeyGuard(wanted):
        assert m.tls_local_dispatch_key_set() == wanted


def test_guards_put_back_the_whole_set() -> None:
    """What is set by hand inside a guard of the same set goes with it, as in c10."""
    with m.ExcludeDispatchKeyGuard(K.CPU):
        m.tls_set_dispatch_key_excluded(K.Conjugate, True)
    assert not m.tls_is_dispatch_key_excluded(K.Conjugate)


def test_set_by_hand() -> None:
    m.tls_set_dispatch_key_included(K.Tracer, True)
    m.tls_set_dispatch_key_included(K.Tracer, True)
    assert m.tls_is_dispatch_key_included(K.Tracer)
    m.tls_set_dispatch_key_included(K.Tracer, False)
    assert not m.tls_is_dispatch_key_included(K.Tracer)
    m.tls_set_dispatch_key_excluded(K.AutocastCPU, False)
    assert not m.tls_is_dispatch_key_excluded(K.AutocastCPU)
    m.tls_set_dispatch_key_excluded(K.AutocastCPU, True)


def test_grad_mode_changes_no_key_set() -> None:
    before = tls.included, tls.excluded
    with NoGradGuard():
        assert not GradMode.is_enabled()
        assert (tls.included, tls.excluded) == before
        with AutoGradMode(True):
            assert GradMode.is_enabled()
    GradMode.set_enabled(False)
    assert not tls.grad_mode
    GradMode.set_enabled(True)


def test_inference_mode() -> None:
    with InferenceMode():
        assert InferenceMode.is_enabled()
        assert AutogradState.get_tls_state() == AutogradState(False, True, False, False)
        assert not m.tls_is_dispatch_key_included(K.ADInplaceOrView)
        assert not m.tls_is_dispatch_key_excluded(K.ADInplaceOrView)
        assert m.tls_is_dispatch_keyset_excluded(DispatchKeySet.RAW(autograd_dispatch_keyset))
        with InferenceMode(False):
            assert state() == (default_included_set, default_excluded_set, AutogradState(True, False, True, True))
        assert InferenceMode.is_enabled()


@pytest.mark.parametrize("name", names)
def test_released_once(name: str) -> None:
    before = state()
    guard = GUARDS[name]()
    inside = state()
    guard.release()
    assert state() == before
    with m.IncludeDispatchKeyGuard(K.Tracer):
        between = state()
        guard.release()
        assert state() == between, "a second release does nothing"
    with guard:
        assert state() == inside, "entered again, it acts again"
    assert state() == before


@pytest.mark.parametrize("name", names)
def test_restored_after_an_error(name: str) -> None:
    before = state()
    with pytest.raises(KeyError), GUARDS[name]():
        raise KeyError
    assert state() == before


@given(st.lists(st.sampled_from(names), max_size=6))
def test_nested_guards_restore_in_turn(chosen: list[str]) -> None:
    open_guards = []
    for name in chosen:
        before = state()
        open_guards.append((GUARDS[name](), before))
    for guard, before in reversed(open_guards):
        guard.release()
        assert state() == before


@pytest.mark.parametrize(
    "module", [m, grad_mode, inference_mode], ids=lambda module: module.__name__.rpartition(".")[2]
)
def test_public_surface(module: object) -> None:
    assert all(hasattr(module, name) for name in module.__all__)  # type: ignore[attr-defined]
