"""What a trace says of the engine's values: JSON text that keeps nothing alive and runs no code of the program.

An encoder takes a value and a list of numbers; it returns compact JSON and appends the numbers of tensors (of which the
text has only a 0, see `traces.values.Encoded`), so that the texts of equal tensors are equal and are made once.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from json.encoder import encode_basestring_ascii as quote
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
from traces.values import Encoded

__all__ = ["Values", "key_names", "key_set_text"]

Encoder = Callable[[Any, list[int]], str]

MAX_ITEMS = (16, 8, 4, 4)  # of a list, of a list in it, …
MAX_CHARS = 200

_tickets = itertools.count(1)  # what Tensor._debug_id is given; unique in the process, a trace numbers from 1 by itself

_names: dict[int, tuple[str, ...]] = {}
_key_sets: dict[int, str] = {}


def key_names(raw: int) -> tuple[str, ...]:
    """The keys of a raw key set, highest priority first."""
    names = _names.get(raw)
    if names is None:
        names = _names[raw] = tuple(key.name for key in reversed(list(DispatchKeySet.from_raw_repr(raw))))
    return names


def key_set_text(raw: int) -> str:
    """A key set as an argument of a function."""
    text = _key_sets.get(raw)
    if text is None:
        text = _key_sets[raw] = _repr(str(DispatchKeySet.from_raw_repr(raw)))
    return text


class _Encoders(dict[type, Encoder]):
    """Encoders by type; the one of a type seen for the first time is chosen then."""

    __slots__ = ("_choose",)

    def __init__(self, choose: Callable[[type], Encoder]) -> None:
        self._choose = choose

    def __missing__(self, kind: type) -> Encoder:
        encode = self[kind] = self._choose(kind)
        return encode


class Values:
    """Encodes values and numbers the tensors it meets, in order of appearance."""

    __slots__ = ("_numbers", "_objects", "_tensors", "by_type")

    def __init__(self) -> None:
        self._numbers: dict[int, int] = {}  # ticket -> number in this trace
        self._objects: dict[Any, str] = {}  # singletons of the engine -> their text
        self._tensors: dict[tuple[Any, ...], str] = {}  # geometry and flags -> the text of such a tensor
        self.by_type = _Encoders(self._choose)
        """The encoder of each type; hot code calls it without going through us."""
        self.by_type |= {
            type(None): lambda value, numbers: "null",
            bool: lambda value, numbers: "true" if value else "false",
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
            complex: _plain,
            slice: _plain,
            type(...): _plain,
            range: _plain,
            FunctionType: _function,
            type(len): _function,
            type: _class,
            ModuleType: _module,
        }

    def __call__(self, value: Any) -> Encoded:
        numbers: list[int] = []
        return Encoded(self.by_type[type(value)](value, numbers), numbers)

    def number(self, tensor: Tensor) -> int:
        """The tensor's ``$`` number."""
        ticket = tensor._debug_id
        if not ticket:
            ticket = tensor._debug_id = next(_tickets)
        number = self._numbers.get(ticket)
        if number is None:
            number = self._numbers[ticket] = len(self._numbers) + 1
        return number

    def tensor(self, tensor: Tensor, numbers: list[int]) -> str:
        """What is to be known of a tensor; its elements are not."""
        numbers.append(self._numbers.get(tensor._debug_id) or self.number(tensor))
        meta = tensor._autograd_meta
        grad_fn = base = None
        requires_grad = False
        if meta is not None:
            if meta.grad_fn_ is not None:
                requires_grad = True
                grad_fn = meta.grad_fn_.name()
            else:
                requires_grad = bool(meta.requires_grad_)
            if meta.is_view_ and meta.backward_info_ is not None:
                base = meta.backward_info_.base_
                numbers.append(self.number(base))
        offset = tensor._offset
        if offset:
            numbers.append(offset)
        counter = tensor._version_counter
        version = 0 if counter is None else counter.version
        if version:
            numbers.append(version)
        device = tensor._device
        key = (
            tensor._dtype,
            tuple(tensor._sizes),
            tuple(tensor._strides),
            device._type if device._index == -1 else str(device),
            requires_grad,
            grad_fn,
            base is not None,
            offset != 0,
            version != 0,
            tensor._wrapped,
            tensor._names and tuple(tensor._names),
        )
        text = self._tensors.get(key)
        if text is None:
            text = self._tensors[key] = _tensor_text(*key)
        return text

    def _sequence(self, items: Sequence[Any], numbers: list[int], level: int = 0) -> str:
        """Nested ones are cut shorter the deeper they lie, so that no argument makes a record of unbounded size."""
        if level == len(MAX_ITEMS):
            return f'{{"list":[],"len":{len(items)}}}'
        encoders = self.by_type
        shown = [
            self._sequence(item, numbers, level + 1)
            if type(item) in (list, tuple)
            else encoders[type(item)](item, numbers)
            for item in items[: MAX_ITEMS[level]]
        ]
        text = f"[{','.join(shown)}]"
        return text if len(shown) == len(items) else f'{{"list":{text},"len":{len(items)}}}'

    def _dict(self, mapping: dict[Any, Any], numbers: list[int]) -> str:
        encoders = self.by_type
        pairs = [
            f"[{encoders[type(key)](key, numbers)},{encoders[type(value)](value, numbers)}]"
            for key, value in itertools.islice(mapping.items(), MAX_ITEMS[0])
        ]
        return f'{{"dict":[{",".join(pairs)}]}}'

    def _object(self, value: Any, numbers: list[int]) -> str:
        text = self._objects.get(value)
        if text is None:
            text = self._objects[value] = _repr(str(value))
        return text

    def _choose(self, kind: type) -> Encoder:
        """The encoder of a type seen for the first time."""
        if issubclass(kind, Tensor):
            return self.tensor
        if issubclass(kind, int):
            return _enum if hasattr(kind, "__members__") else lambda value, numbers: _int(int.__int__(value), numbers)
        if issubclass(kind, float):
            return lambda value, numbers: _float(float.__float__(value), numbers)
        if issubclass(kind, str):
            return lambda value, numbers: _str(str.__str__(value), numbers)
        if issubclass(kind, tuple):
            return lambda value, numbers: self._sequence(tuple.__getitem__(value, slice(None)), numbers)
        if issubclass(kind, list):
            return lambda value, numbers: self._sequence(list.__getitem__(value, slice(None)), numbers)
        if issubclass(kind, dict):
            return lambda value, numbers: self._dict(dict(dict.items(value)), numbers)
        if issubclass(kind, Node):
            return lambda value, numbers: _repr(f"<{value.name()}>")
        if issubclass(kind, OperatorHandle):
            return lambda value, numbers: _repr(value.name)
        if issubclass(kind, np.generic):
            return _plain
        if issubclass(kind, np.ndarray):
            return _array
        module, _, _ = kind.__module__.partition(".")
        if module in ("engine", "torch"):  # not its repr, which may go through the elements of tensors
            text = _repr(f"<{kind.__qualname__}>")
        else:  # an object of the program: its own __repr__ is not ours to run
            text = _repr(f"<{kind.__module__}.{kind.__qualname__} object>")
        return lambda value, numbers: text


def _tensor_text(
    dtype: ScalarType,
    sizes: tuple[int, ...],
    strides: tuple[int, ...],
    device: str,
    requires_grad: bool,
    grad_fn: str | None,
    view: bool,
    offset: bool,
    version: bool,
    wrapped: bool,
    names: tuple[str | None, ...] | None,
) -> str:
    """Zeros stand for the numbers, in the order in which `Values.tensor` appends them."""
    parts = ['"$":0', f'"dtype":{quote(dtype.torch_name)}']
    parts.append(f'"shape":[{",".join(map(str, sizes))}],"strides":[{",".join(map(str, strides))}]')
    parts.append(f'"device":{quote(device)},"requires_grad":{"true" if requires_grad else "false"}')
    if grad_fn is not None:
        parts.append(f'"grad_fn":{quote(grad_fn)}')
    parts += [f'"{name}":0' for name, given in (("view_of", view), ("offset", offset), ("version", version)) if given]
    if wrapped:
        parts.append('"wrapped_number":true')
    if names is not None:
        parts.append(f'"names":[{",".join("null" if name is None else quote(name) for name in names)}]')
    return f"{{{','.join(parts)}}}"


def _repr(text: str) -> str:
    """Any object by its text."""
    return f'{{"repr":{quote(text)}}}'


def _int(value: int, numbers: list[int]) -> str:
    return str(value) if -(2**63) <= value < 2**64 else _repr(_digits(value))


def _digits(value: int) -> str:
    return str(value) if value.bit_length() < 4096 else f"<int of {value.bit_length()} bits>"


def _float(value: float, numbers: list[int]) -> str:
    return float.__repr__(value) if math.isfinite(value) else _repr(float.__repr__(value))


def _str(value: str, numbers: list[int]) -> str:
    if len(value) <= MAX_CHARS:
        return quote(value)
    return f'{{"str":{quote(value[:MAX_CHARS])},"len":{len(value)}}}'


def _plain(value: Any, numbers: list[int]) -> str:
    return _repr(repr(value)[:MAX_CHARS])


def _enum(value: Any, numbers: list[int]) -> str:
    return _repr(value.name)


def _function(value: Any, numbers: list[int]) -> str:
    return _repr(f"<function {value.__qualname__}>")


def _class(value: type, numbers: list[int]) -> str:
    return _repr(f"<class '{value.__module__}.{value.__qualname__}'>")


def _module(value: ModuleType, numbers: list[int]) -> str:
    return _repr(f"<module {value.__name__!r}>")


def _array(value: npt.NDArray[Any], numbers: list[int]) -> str:
    return _repr(f"<numpy.ndarray {list(value.shape)} {value.dtype}>")


def _options(value: TensorOptions, numbers: list[int]) -> str:
    """The axes that are given; the others are at their defaults."""
    given = []
    for slot in TensorOptions.__slots__:
        axis = getattr(value, slot)
        if axis is not None:
            given.append(f"{slot[1:]}={axis}")
    return _repr(f"TensorOptions({', '.join(sorted(given))})")
