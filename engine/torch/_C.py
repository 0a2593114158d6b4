"""torch/csrc/Module.cpp, torch/csrc/utils/python_dispatch.cpp: ``torch._C``, what Python reaches of the core.

Differs: only what looks at or steers dispatch, and the names Python code needs.
"""

from __future__ import annotations

from typing import Any

from engine.aten.core.dispatcher import singleton
from engine.aten.core.generator import Generator
from engine.aten.core.tensor import Tensor
from engine.c10 import local_dispatch_key_set as _local
from engine.c10.device import Device
from engine.c10.dispatch_key import DispatchKey, parseDispatchKey
from engine.c10.dispatch_key_set import DispatchKeySet
from engine.c10.exception import Error, LinAlgError, translate
from engine.c10.grad_mode import GradMode
from engine.c10.inference_mode import InferenceMode as _InferenceMode
from engine.c10.local_dispatch_key_set import AutoDispatchBelowADInplaceOrView as _AutoDispatchBelowADInplaceOrView
from engine.c10.local_dispatch_key_set import AutoDispatchBelowAutograd as _AutoDispatchBelowAutograd
from engine.c10.local_dispatch_key_set import ExcludeDispatchKeyGuard as _ExcludeDispatchKeyGuard
from engine.c10.local_dispatch_key_set import ForceDispatchKeyGuard as _ForceDispatchKeyGuard
from engine.c10.local_dispatch_key_set import IncludeDispatchKeyGuard as _IncludeDispatchKeyGuard
from engine.torch.csrc.size import Size
from engine.torch.csrc.utils.python_torch_function import (
    DisableTorchFunction,
    DisableTorchFunctionSubclass,
    current_modes,
)
from engine.torch.csrc.utils.python_torch_function import (
    disabled_torch_function_impl as _disabled_torch_function_impl,
)
from engine.torchgen.register import register_all

__all__ = [
    "DisableTorchFunction",
    "DisableTorchFunctionSubclass",
    "DispatchKey",
    "DispatchKeySet",
    "Generator",
    "Size",
    "TensorBase",
    "_AutoDispatchBelowADInplaceOrView",
    "_AutoDispatchBelowAutograd",
    "_ExcludeDispatchKeyGuard",
    "_ForceDispatchKeyGuard",
    "_IncludeDispatchKeyGuard",
    "_InferenceMode",
    "_LinAlgError",
    "_disabled_torch_function_impl",
    "_dispatch_dump",
    "_dispatch_dump_table",
    "_dispatch_keys",
    "_dispatch_tls_local_exclude_set",
    "_dispatch_tls_local_include_set",
    "device",
]

TensorBase = Tensor
device = Device
_LinAlgError = LinAlgError.python_type


def _dispatch_keys(tensor: Tensor) -> DispatchKeySet:
    return DispatchKeySet.from_raw_repr(tensor._ks)


def _dispatch_tls_local_include_set() -> DispatchKeySet:
    return _local.tls_local_dispatch_key_set().included_


def _dispatch_tls_local_exclude_set() -> DispatchKeySet:
    return _local.tls_local_dispatch_key_set().excluded_


def _key(key: Any) -> DispatchKey:
    try:
        return parseDispatchKey(key) if isinstance(key, str) else key
    except Error as error:
        raise translate(error) from None


def _dispatch_tls_is_dispatch_key_excluded(key: Any) -> bool:
    return _local.tls_is_dispatch_key_excluded(_key(key))


def _dispatch_tls_is_dispatch_key_included(key: Any) -> bool:
    return _local.tls_is_dispatch_key_included(_key(key))


def _dispatch_tls_set_dispatch_key_excluded(key: Any, desired: bool) -> None:
    _local.tls_set_dispatch_key_excluded(_key(key), desired)


def _dispatch_tls_set_dispatch_key_included(key: Any, desired: bool) -> None:
    _local.tls_set_dispatch_key_included(_key(key), desired)


def _parse_dispatch_key(key: str) -> DispatchKey:
    return _key(key)


def _dispatch_dump_table(name: str) -> str:
    """The computed table of an operator, as text."""
    register_all()
    return singleton.find_schema_or_throw(name).entry.dump_computed_table()


def _dispatch_dump(name: str) -> str:
    """What is registered for an operator, as text."""
    register_all()
    return singleton.find_schema_or_throw(name).entry.dump_state()


def _set_grad_enabled(enabled: bool) -> None:
    GradMode.set_enabled(enabled)


def _len_torch_function_stack() -> int:
    return len(current_modes())
