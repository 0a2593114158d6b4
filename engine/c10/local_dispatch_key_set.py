"""c10/core/impl/LocalDispatchKeySet.h, aten/src/ATen/core/LegacyTypeDispatch.h: the thread's part of a dispatch.

``tls.included`` and ``tls.excluded`` are raw key sets: what is added to the keys of a call's tensors, and what is then
taken away. The flags of c10's AutogradState live on the same object. Hot code reads and restores them in place
(``saved = tls.excluded; … tls.excluded = saved`` in a try/finally); the guards are the same thing for everybody else.

Differs: a guard ends with its ``with`` block, or by ``release()``, since Python has no end of scope.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from engine.c10.dispatch_key import DispatchKey, full_backend_mask
from engine.c10.dispatch_key_set import (
    DispatchKeySet,
    autograd_dispatch_keyset,
    autograd_dispatch_keyset_with_ADInplaceOrView,
    default_excluded_set,
    default_included_set,
    key_bits,
)

__all__ = [
    "AutoDispatchBelowADInplaceOrView",
    "AutoDispatchBelowAutograd",
    "AutoDispatchSkipFunctionalize",
    "AutoNonVariableTypeMode",
    "ExcludeDispatchKeyGuard",
    "ForceDispatchKeyGuard",
    "Guard",
    "IncludeDispatchKeyGuard",
    "LocalDispatchKeySet",
    "tls",
    "tls_is_dispatch_key_excluded",
    "tls_is_dispatch_key_included",
    "tls_is_dispatch_keyset_excluded",
    "tls_is_dispatch_keyset_included",
    "tls_local_dispatch_key_set",
    "tls_set_dispatch_key_excluded",
    "tls_set_dispatch_key_included",
]


class _ThreadLocal(threading.local):
    """What each thread starts with."""

    def __init__(self) -> None:
        self.included: int = default_included_set
        self.excluded: int = default_excluded_set
        # c10::AutogradState
        self.grad_mode: bool = True
        self.inference_mode: bool = False
        self.fw_grad_mode: bool = True
        self.multithreading_enabled: bool = True
        self.view_replay_enabled: bool = False
        self.grad_layout_enforcement_enabled: bool = True


tls = _ThreadLocal()


@dataclass(frozen=True, slots=True)
class LocalDispatchKeySet:
    """The thread's include and exclude set, as sets."""

    included_: DispatchKeySet
    excluded_: DispatchKeySet


def tls_local_dispatch_key_set() -> LocalDispatchKeySet:
    return LocalDispatchKeySet(DispatchKeySet.RAW(tls.included), DispatchKeySet.RAW(tls.excluded))


def _force_tls_local_dispatch_key_set(key_set: LocalDispatchKeySet) -> None:
    tls.included = key_set.included_.raw_repr()
    tls.excluded = key_set.excluded_.raw_repr()


def _raw(keys: DispatchKeySet | DispatchKey | int) -> int:
    if isinstance(keys, DispatchKeySet):
        return keys.raw_repr()
    if isinstance(keys, DispatchKey):
        return key_bits(keys)
    return keys


class Guard:
    """Changes thread-local state where it is made; puts the old state back once, at ``release()`` or ``with``'s end.

    Usable as ``with G():`` and as a plain object (``g = G()`` … ``g.release()``); entering it again acts again.
    """

    __slots__ = ("_active",)

    def _acquire(self) -> None:
        raise NotImplementedError

    def _restore(self) -> None:
        raise NotImplementedError

    def __init__(self) -> None:
        self._active = True
        self._acquire()

    def release(self) -> None:
        if self._active:
            self._active = False
            self._restore()

    def __enter__(self) -> Self:
        if not self._active:
            self._active = True
            self._acquire()
        return self

    def __exit__(
        self, exc_type: type[BaseException] | None, exc: BaseException | None, tb: TracebackType | None
    ) -> None:
        self.release()


class IncludeDispatchKeyGuard(Guard):
    """Adds keys (a set, a key or raw bits) to the include set."""

    __slots__ = ("_keys", "_saved")

    def __init__(self, include: DispatchKeySet | DispatchKey | int) -> None:
        self._keys = _raw(include)
        super().__init__()

    def _acquire(self) -> None:
        self._saved = tls.included
        tls.included = self._saved | self._keys

    def _restore(self) -> None:
        tls.included = self._saved


class ExcludeDispatchKeyGuard(Guard):
    """Adds keys (a set, a key or raw bits) to the exclude set."""

    __slots__ = ("_keys", "_saved")

    def __init__(self, exclude: DispatchKeySet | DispatchKey | int) -> None:
        self._keys = _raw(exclude)
        super().__init__()

    def _acquire(self) -> None:
        self._saved = tls.excluded
        tls.excluded = self._saved | self._keys

    def _restore(self) -> None:
        tls.excluded = self._saved


class ForceDispatchKeyGuard(Guard):
    """Replaces the include and the exclude set; without arguments it only saves them."""

    __slots__ = ("_exclude", "_include", "_saved_keyset")

    def __init__(
        self,
        include: LocalDispatchKeySet | DispatchKeySet | None = None,
        exclude: DispatchKeySet | None = None,
    ) -> None:
        if isinstance(include, LocalDispatchKeySet):
            self._include: DispatchKeySet | None = include.included_
            self._exclude: DispatchKeySet | None = include.excluded_
        else:
            self._include = include
            self._exclude = exclude
        super().__init__()

    def _acquire(self) -> None:
        self._saved_keyset = tls_local_dispatch_key_set()
        if self._include is not None:
            tls.included = self._include.raw_repr()
        if self._exclude is not None:
            tls.excluded = self._exclude.raw_repr()

    def _restore(self) -> None:
        _force_tls_local_dispatch_key_set(self._saved_keyset)


class AutoDispatchBelowAutograd(ExcludeDispatchKeyGuard):
    """Calls inside do not reach the autograd kernels."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(autograd_dispatch_keyset)


class AutoDispatchBelowADInplaceOrView(ExcludeDispatchKeyGuard):
    """Calls inside reach neither the autograd kernels nor those of ADInplaceOrView: the guard of VariableType."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(autograd_dispatch_keyset_with_ADInplaceOrView)


class AutoDispatchSkipFunctionalize(ExcludeDispatchKeyGuard):
    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(DispatchKey.Functionalize)


class AutoNonVariableTypeMode(ExcludeDispatchKeyGuard):
    """The deprecated name of ``AutoDispatchBelowAutograd``, with its warning."""

    __slots__ = ()

    def __init__(self, enabled: bool = True) -> None:
        from engine.c10.exception import TORCH_CHECK, TORCH_WARN_ONCE

        TORCH_WARN_ONCE(
            "AutoNonVariableTypeMode is deprecated and will be removed in 1.10 release. "
            "For kernel implementations please use AutoDispatchBelowADInplaceOrView instead, "
            "If you are looking for a user facing API to enable running your inference-only "
            "workload, please use c10::InferenceMode. Using AutoDispatchBelowADInplaceOrView in user code "
            "is under risk of producing silent wrong result in some edge cases. "
            "See Note [AutoDispatchBelowAutograd] for more details."
        )
        TORCH_CHECK(enabled, "AutoNonVariableTypeMode: expected enabled=True")
        super().__init__(autograd_dispatch_keyset)


def tls_is_dispatch_key_excluded(x: DispatchKey) -> bool:
    return tls_is_dispatch_keyset_excluded(DispatchKeySet(x))


def tls_is_dispatch_key_included(x: DispatchKey) -> bool:
    return tls_is_dispatch_keyset_included(DispatchKeySet(x))


def tls_is_dispatch_keyset_excluded(ks: DispatchKeySet) -> bool:
    return DispatchKeySet.RAW(tls.excluded).isSupersetOf(ks)


def tls_is_dispatch_keyset_included(ks: DispatchKeySet) -> bool:
    return DispatchKeySet.RAW(tls.included).isSupersetOf(ks)


def _with(raw: int, x: DispatchKey, desired_state: bool) -> int:
    """``raw`` with or without ``x``; as in c10 taking a key away leaves its backend bit."""
    bits = key_bits(x)
    return raw | bits if desired_state else raw & ~(bits & ~full_backend_mask)


def tls_set_dispatch_key_excluded(x: DispatchKey, desired_state: bool) -> None:
    if desired_state != tls_is_dispatch_key_excluded(x):
        tls.excluded = _with(tls.excluded, x, desired_state)


def tls_set_dispatch_key_included(x: DispatchKey, desired_state: bool) -> None:
    if desired_state != tls_is_dispatch_key_included(x):
        tls.included = _with(tls.included, x, desired_state)
