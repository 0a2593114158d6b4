"""What a trace says of the engine's values: JSON that keeps nothing alive and runs no code of the program."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import numpy.typing as npt

from engine.aten.core.dispatcher import OperatorHandle
from engine.aten.core.tensor import Tensor
from engine.c10.device import Device
from engine.c10.dispatch_key_set import DispatchKeySet
from engine.c10.layout import Layout
from engine.c10.memory_format import MemoryFormat
from engine.c10.scalar_type import ScalarType
from engine.c10.tensor_options import TensorOptions
from engine.torch.csrc.autograd.function import Node

__all__ = ["Values", "key_names", "key_set_text"]

MAX_ITEMS = (16, 8, 4, 4)  # of a list, of a list in it, …
MAX_CHARS = 200

_tickets = itertools.count(1)  # what Tensor._debug_id is given; unique in the process, a trace numbers from 1 by itself

_names: dict[int, tuple[str, ...]] = {}
_texts: dict[int, dict[str, str]] = {}


def key_names(raw: int) -> tuple[str, ...]:
    """The keys of a raw key set, highest priority first."""
    names = _names.get(raw)
    if names is None:
        names = _names[raw] = tuple(key.name for key in reversed(list(DispatchKeySet.from_raw_repr(raw))))
    return names


def key_set_text(raw: int) -> dict[str, str]:
    """A key set as an argument of a function."""
    text = _texts.get(raw)
    if text is None:
        text = _texts[raw] = {"repr": str(DispatchKeySet.from_raw_repr(raw))}
    return text


class _Encoders(dict[type, Callable[[Any], Any]]):
    """Encoders by type; the one of a type seen for the first time is chosen then."""

    __slots__ = ("_choose",)

    def __init__(self, choose: Callable[[type], Callable[[Any], Any]]) -> None:
        self._choose = choose

    def __missing__(self, kind: type) -> Callable[[Any], Any]:
        encode = self[kind] = self._choose(kind)
        return encode


class Values:
    """Turns values into JSON and numbers the tensors it meets, in order of appearance."""

    __slots__ = ("_numbers", "_objects", "_storages", "by_type")

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}  # ticket -> number in this trace
        self._storages: dict[int, int] = {}  # ticket of the first tensor seen over a storage -> number
        self._objects: dict[Any, dict[str, str]] = {}  # singletons of the engine -> their text
        same = _same
        self.by_type = _Encoders(self._choose)
        """The encoder of each type; hot code calls it without going through us."""
        self.by_type |= {
            type(None): same,
            bool: same,
            int: _int,
            float: _float,
            str: _str,
            tuple: self._sequence,
            list: self._sequence,
            dict: self._dict,
            Tensor: self.tensor,
            ScalarType: self._object,
            Device: self._object,
            Layout: self._object,
            MemoryFormat: self._object,
            TensorOptions: _options,
            complex: _repr,
            slice: _repr,
            type(...): _repr,
            range: _repr,
            FunctionType: _function,
            type(len): _function,
            type: _class,
            ModuleType: _module,
        }

    def __call__(self, value: Any) -> Any:
        return self.by_type[type(value)](value)

    def number(self, tensor: Tensor) -> int:
        """The tensor's ``$`` number."""
        ticket = tensor._debug_id
        if not ticket:
            ticket = tensor._debug_id = next(_tickets)
        number = self._numbers.get(ticket)
        if number is None:
            number = self._numbers[ticket] = len(self._numbers) + 1
        return number

    def tensor(self, tensor: Tensor) -> dict[str, Any]:
        """What is to be known of a tensor; its elements are not."""
        meta = tensor._autograd_meta
        device = tensor._device
        facts: dict[str, Any] = {
            "$": self._numbers.get(tensor._debug_id) or self.number(tensor),
            "dtype": tensor._dtype.torch_name,
            "shape": [*tensor._sizes],
            "strides": [*tensor._strides],
            "device": "cpu" if device._type == "cpu" else str(device),
            "requires_grad": False,
        }
        if meta is not None:
            if meta.grad_fn_ is not None:
                facts["requires_grad"] = True
                facts["grad_fn"] = meta.grad_fn_.name()
            elif meta.requires_grad_:
                facts["requires_grad"] = True
            if meta.is_view_ and meta.backward_info_ is not None:
                facts["view_of"] = self.number(meta.backward_info_.base_)
        if tensor._offset:
            facts["offset"] = tensor._offset
        counter = tensor._version_counter
        if counter is not None and counter.version:
            facts["version"] = counter.version
        if tensor._wrapped:
            facts["wrapped_number"] = True
        if tensor._names is not None:
            facts["names"] = list(tensor._names)
        return facts

    def _sequence(self, items: Sequence[Any], level: int = 0) -> Any:
        """Nested ones are cut shorter the deeper they lie, so that no argument makes a record of unbounded size."""
        if level == len(MAX_ITEMS):
            return {"list": [], "len": len(items)}
        shown = [
            self._sequence(item, level + 1) if type(item) in (list, tuple) else self(item)
            for item in items[: MAX_ITEMS[level]]
        ]
        return shown if len(shown) == len(items) else {"list": shown, "len": len(items)}

    def _dict(self, mapping: dict[Any, Any]) -> Any:
        pairs = list(itertools.islice(mapping.items(), MAX_ITEMS[0]))
        return {"dict": [[self(key), self(value)] for key, value in pairs]}

    def _object(self, value: Any) -> dict[str, str]:
        text = self._objects.get(value)
        if text is None:
            text = self._objects[value] = {"repr": str(value)}
        return text

    def _choose(self, kind: type) -> Callable[[Any], Any]:
        """The encoder of a type seen for the first time."""
        if issubclass(kind, Tensor):
            return self.tensor
        if issubclass(kind, bool | int):
            return _enum if hasattr(kind, "__members__") else lambda value: _int(int.__int__(value))
        if issubclass(kind, float):
            return lambda value: _float(float.__float__(value))
        if issubclass(kind, str):
            return lambda value: _str(str.__str__(value))
        if issubclass(kind, tuple):
            return lambda value: self._sequence(tuple.__getitem__(value, slice(None)))
        if issubclass(kind, list):
            return lambda value: self._sequence(list.__getitem__(value, slice(None)))
        if issubclass(kind, dict):
            return lambda value: self._dict(dict(dict.items(value)))
        if issubclass(kind, Node):
            return _node
        if issubclass(kind, OperatorHandle):
            return _operator
        if issubclass(kind, np.generic):
            return _repr
        if issubclass(kind, np.ndarray):
            return _array
        if kind.__module__.partition(".")[0] in ("engine", "torch"):
            return _named  # not its repr, which may go through the elements of tensors
        return _opaque


def _same(value: Any) -> Any:
    return value


def _int(value: int) -> Any:
    return value if -(2**63) <= value < 2**64 else {"repr": str(value)}


def _float(value: float) -> Any:
    return value if math.isfinite(value) else {"repr": repr(value)}


def _str(value: str) -> Any:
    return value if len(value) <= MAX_CHARS else {"str": value[:MAX_CHARS], "len": len(value)}


def _repr(value: Any) -> dict[str, str]:
    return {"repr": repr(value)}


def _enum(value: Any) -> dict[str, str]:
    return {"repr": value.name}


def _function(value: Any) -> dict[str, str]:
    return {"repr": f"<function {value.__qualname__}>"}


def _class(value: type) -> dict[str, str]:
    return {"repr": f"<class '{value.__module__}.{value.__qualname__}'>"}


def _module(value: ModuleType) -> dict[str, str]:
    return {"repr": f"<module {value.__name__!r}>"}


def _array(value: npt.NDArray[Any]) -> dict[str, str]:
    return {"repr": f"<numpy.ndarray {list(value.shape)} {value.dtype}>"}


def _options(value: TensorOptions) -> dict[str, str]:
    """The axes that are given; the others are at their defaults."""
    given = []
    for slot in TensorOptions.__slots__:
        axis = getattr(value, slot)
        if axis is not None:
            given.append(f"{slot[1:]}={axis}")
    return {"repr": f"TensorOptions({', '.join(sorted(given))})"}


def _operator(value: OperatorHandle) -> dict[str, str]:
    return {"repr": value.name}


def _node(value: Node) -> dict[str, str]:
    return {"repr": f"<{value.name()}>"}


def _named(value: Any) -> dict[str, str]:
    return {"repr": f"<{type(value).__qualname__}>"}


def _opaque(value: Any) -> dict[str, str]:
    """An object of the program: its type only, for its own ``__repr__`` is not ours to run."""
    kind = type(value)
    return {"repr": f"<{kind.__module__}.{kind.__qualname__} object>"}
