"""Makes a generated call in the engine, below autograd; needs no PyTorch."""

from __future__ import annotations

import warnings
import zlib
from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np

from engine import doors
from engine.aten import at
from engine.aten.core.dispatcher import Decision
from engine.aten.core.tensor import Tensor, make_tensor
from engine.c10 import exception
from engine.c10.device import Device
from engine.c10.dispatch_key import DispatchKey
from engine.c10.dispatch_key_set import key_bits
from engine.c10.local_dispatch_key_set import AutoDispatchBelowADInplaceOrView
from engine.c10.memory_format import memory_format_by_name
from engine.c10.scalar_type import scalar_type_by_name
from engine.c10.storage import StorageImpl
from tests.conformance.kernel_cases import Case, D, Dev, M, T, geometry

__all__ = ["arguments", "data", "nested_calls", "run_engine"]


def data(t: T, position: int) -> np.ndarray:
    """The elements of a tensor's storage; the same for both sides."""
    *_, n = geometry(t)
    rng = np.random.default_rng(zlib.crc32(f"{t} {position}".encode()))
    if t.dtype == "bool":
        return rng.integers(0, 2, n).astype(bool)
    dtype = scalar_type_by_name(t.dtype).np
    assert dtype is not None
    if dtype.kind in "ui":
        return rng.integers(0 if dtype.kind == "u" else -9, 10, n).astype(dtype)
    if dtype.kind == "c":
        return (rng.standard_normal(n) + 1j * rng.standard_normal(n)).astype(dtype)
    return (3 * rng.standard_normal(n)).astype(np.float32 if dtype == ml_dtypes.bfloat16 else dtype).astype(dtype)


def engine_tensor(t: T, position: int) -> Tensor:
    strides, offset, _ = geometry(t)
    dtype = scalar_type_by_name(t.dtype)
    values = data(t, position)
    buffer = None
    device = Device(t.device)
    if t.device == "cpu":
        buffer = np.frombuffer(bytearray(values.tobytes()), np.uint8)
    storage = StorageImpl(values.nbytes, device, buffer)
    key = DispatchKey.CPU if t.device == "cpu" else DispatchKey.Meta
    return make_tensor(storage, t.shape, strides, offset, dtype, device, key_bits(key))


def arguments(
    case: Case, make: Callable[[T, int], Any], dtype: Any, memory_format: Any, device: Any
) -> tuple[list[Any], list[Any]]:
    tensors: list[Any] = []
    args: list[Any] = []
    for arg in case.args:
        if isinstance(arg, T):
            if arg.same is not None:
                args.append(tensors[arg.same])
                continue
            tensors.append(make(arg, len(tensors)))
            args.append(tensors[-1])
        elif isinstance(arg, D):
            args.append(dtype(arg.name))
        elif isinstance(arg, M):
            args.append(memory_format(arg.name))
        elif isinstance(arg, Dev):
            args.append(device(arg.name))
        else:
            args.append(arg)
    return args, tensors


def run_engine(case: Case) -> Any:
    args, tensors = arguments(case, engine_tensor, scalar_type_by_name, memory_format_by_name, Device)
    handle = getattr(at, case.op.replace(".", "_"))
    with warnings.catch_warnings(), AutoDispatchBelowADInplaceOrView():
        warnings.simplefilter("ignore")
        try:
            result = handle.call(*args)
        except exception.Error as error:
            translated = exception.translate(error)
            return ("raises", type(translated).__name__, str(translated)), tensors
    return result, tensors


class _Calls(doors.Listener):
    def __init__(self) -> None:
        self.depth = 0
        self.lines: list[str] = []

    def enter(self, site: doors.Site, args: tuple[Any, ...]) -> None:
        self.depth += site.name.endswith("::call")

    def leave(self, site: doors.Site, result: Any) -> None:
        self.depth -= site.name.endswith("::call")

    def fail(self, site: doors.Site, error: BaseException) -> None:
        self.depth -= site.name.endswith("::call")

    def hop(self, decision: Decision) -> None:
        if decision.kind == "call":
            self.lines.append(f"{' ' * (self.depth - 1)}{decision.op} {decision.key.name}")


def nested_calls(case: Case) -> list[str]:
    """The dispatcher calls that a case makes, indented by nesting, each with the key that won."""
    listener = _Calls()
    detach = doors.attach(listener)
    try:
        run_engine(case)
    finally:
        detach()
    return listener.lines
