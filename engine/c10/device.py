"""c10/core/Device.h, c10/core/DeviceType.h and torch/csrc/Device.cpp: the device a tensor lives on.

``Device`` is at once C++'s ``c10::Device`` and Python's ``torch.device``.

Differs: no accelerator is ever available. ``with torch.device(...)`` is a torch function mode and belongs to the
Python layer.
"""

from __future__ import annotations

import builtins
import operator
import re
from typing import Any, Final, NoReturn

from engine.c10 import exception

# c10's DeviceType values, in order
DEVICE_TYPES: Final = (
    "cpu", "cuda", "mkldnn", "opengl", "opencl", "ideep", "hip", "fpga", "maia", "xla", "vulkan", "metal", "xpu", "mps",
    "meta", "hpu", "ve", "lazy", "ipu", "mtia", "privateuseone",
)  # fmt: skip

# what a device string may start with, in the order in which the error names them
_PARSED_TYPES: Final = (
    "cpu", "cuda", "ipu", "xpu", "mkldnn", "opengl", "opencl", "ideep", "hip", "ve", "fpga", "maia", "xla", "lazy",
    "vulkan", "mps", "meta", "hpu", "mtia", "privateuseone",
)  # fmt: skip

_DEVICE_STRING: Final = re.compile(r"([a-zA-Z_]+)(?::(0|[1-9][0-9]*))?", re.ASCII)
_NO_STRIDES: Final = frozenset(("ipu", "xla", "lazy"))
_SIGNATURES: Final = (" * (torch.device device)\n", " * (str type, int index = -1)\n")


def DeviceTypeName(type: str, lower_case: bool = False) -> str:
    """``"CPU"``, or ``"cpu"`` in lower case."""
    return type if lower_case else type.upper()


def _int8(index: int) -> int:
    """DeviceIndex is an int8_t; larger numbers wrap as they do in C++."""
    return (index + 128) % 256 - 128


class Device:
    """A device type and perhaps an index: ``Device("cuda", 1)``, ``Device("cuda:1")``, ``Device("cpu")``."""

    __slots__ = ("_index", "_type")

    _type: str
    _index: int

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        try:
            type_, index = _parse_args(args, kwargs)
        except exception.Error as error:
            raise exception.translate(error) from None
        object.__setattr__(self, "_type", type_)
        object.__setattr__(self, "_index", index)

    @classmethod
    def from_string(cls, device_string: str) -> Device:
        """``c10::Device::Device(const std::string&)``: fails with c10::Error."""
        return cls._of(*_parse_string(device_string))

    @classmethod
    def _of(cls, type_: str, index: int) -> Device:
        self = object.__new__(cls)
        object.__setattr__(self, "_type", type_)
        object.__setattr__(self, "_index", index)
        return self

    def __init_subclass__(cls) -> None:
        raise TypeError("type 'torch.device' is not an acceptable base type")

    @property
    def type(self) -> str:
        return self._type

    @property
    def index(self) -> int | None:
        """The index, or None for "the current one"."""
        return None if self._index == -1 else self._index

    def has_index(self) -> bool:
        return self._index != -1

    def is_cpu(self) -> bool:
        return self._type == "cpu"

    def is_cuda(self) -> bool:
        return self._type == "cuda"

    def is_meta(self) -> bool:
        return self._type == "meta"

    def supports_as_strided(self) -> bool:
        return self._type not in _NO_STRIDES

    def str(self) -> builtins.str:
        """``"cuda:1"``."""
        return self._type if self._index == -1 else f"{self._type}:{self._index}"

    __str__ = str

    def __repr__(self) -> builtins.str:
        if self._index == -1:
            return f"device(type='{self._type}')"
        return f"device(type='{self._type}', index={self._index % 2**16})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Device):
            return NotImplemented
        return self._type == other._type and self._index == other._index

    def __hash__(self) -> int:
        return DEVICE_TYPES.index(self._type) << 16 | self._index % 256

    def _no_order(self, other: object) -> Any:
        if not isinstance(other, Device):
            return NotImplemented
        raise TypeError("comparison not implemented")

    __lt__ = __le__ = __gt__ = __ge__ = _no_order

    def __setattr__(self, name: builtins.str, value: object) -> NoReturn:
        if name in ("type", "index"):
            raise AttributeError(f"attribute '{name}' of 'torch.device' objects is not writable")
        raise AttributeError(f"'torch.device' object has no attribute '{name}'")

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self._type,) if self._index == -1 else (self._type, self._index)

    def __getattr__(self, name: builtins.str) -> NoReturn:
        raise AttributeError(f"'torch.device' object has no attribute '{name}'")


Device.__name__ = Device.__qualname__ = "device"
Device.__module__ = "torch"


def _unpickle(type_: str, index: int = -1) -> Device:
    return Device._of(type_, index)


def _parse_string(device_string: str) -> tuple[str, int]:
    exception.TORCH_CHECK(device_string, "Device string must not be empty")
    match = _DEVICE_STRING.fullmatch(device_string)
    if match is None:
        raise exception.Error(f"Invalid device string: '{device_string}'")
    type_, digits = match.groups()
    index = -1
    if digits is not None:
        if int(digits) >= 2**31:
            raise exception.Error(f"Could not parse device index '{digits}' in device string '{device_string}'")
        index = _int8(int(digits))
    if type_ == "mkldnn":
        exception.TORCH_WARN_ONCE(
            "'mkldnn' is no longer used as device type. So torch.device('mkldnn') will be deprecated and removed in "
            "the future. Please use other valid device types instead."
        )
    if type_ not in _PARSED_TYPES:
        raise exception.Error(
            f"Expected one of {', '.join(_PARSED_TYPES)} device type at start of device string: {type_}"
        )
    return type_, index


# ---- Python's constructor


def _is_str(x: object) -> bool:
    return isinstance(x, str | bytes)


def _is_int(x: object) -> bool:
    return hasattr(x, "__index__") and not isinstance(x, bool)


def _text(x: str | bytes) -> str:
    return x.decode() if isinstance(x, bytes) else x


def _type_name(x: object) -> str:
    if isinstance(x, list | tuple):
        items = ", ".join(map(_type_name_flat, x))
        return f"list of [{items}]" if isinstance(x, list) else f"tuple of ({items})"
    return "torch.device" if isinstance(x, Device) else type(x).__name__


def _parse_args(args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, int]:
    """The two signatures ``(Device device)`` and ``(str type, int index=-1)``."""
    if not kwargs and len(args) == 1:  # the common case
        return _from_device(args[0], args, kwargs)
    if not args and kwargs.keys() == {"device"}:
        return _from_device(kwargs["device"], args, kwargs)
    count = len(args) + len(kwargs)
    if count not in (1, 2):
        raise TypeError(_invalid_combination(args, kwargs))
    if count == 1 and not ("type" in kwargs and _is_str(kwargs["type"])):
        raise TypeError(_invalid_combination(args, kwargs))
    values = dict(zip(("type", "index"), args, strict=False))
    for name in ("type", "index"):
        if name not in values and name in kwargs:
            values[name] = kwargs[name]
    if "type" not in values:
        raise TypeError('device() missing 1 required positional arguments: "type"')
    type_, index = values["type"], values.get("index")
    if not _is_str(type_):
        raise TypeError(_wrong_type("type", 1, args, "str", type_))
    if index is not None and not _is_int(index):
        raise TypeError(_wrong_type("index", 2, args, "int", index))
    for name in kwargs:
        if name not in ("type", "index"):
            raise TypeError(f"device() got an unexpected keyword argument '{name}'")
        if name == "type" and args:
            raise TypeError("device() got multiple values for argument 'type'")
    return _from_type_and_index(_text(type_), None if index is None else operator.index(index))


def _wrong_type(name: str, position: int, args: tuple[Any, ...], expected: str, got: object) -> str:
    where = f" (position {position})" if len(args) >= position else ""
    return f"device(): argument '{name}'{where} must be {expected}, not {_type_name(got).partition(' of ')[0]}"


def _from_device(device: object, args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[str, int]:
    if isinstance(device, Device):
        return device._type, device._index
    if isinstance(device, str | bytes):
        return _parse_string(_text(device))
    if _is_int(device):
        exception.TORCH_CHECK(operator.index(device) >= 0, "Device index must not be negative")  # type: ignore[arg-type]
        exception.TORCH_CHECK(False, "Cannot access accelerator device when none is available.")
    raise TypeError(_invalid_combination(args, kwargs))


def _from_type_and_index(type_: str, index: int | None) -> tuple[str, int]:
    parsed, own_index = _parse_string(type_)
    if own_index != -1:
        raise exception.Error(f"type (string) must not include an index because index was passed explicitly: {type_}")
    if index is None:
        return parsed, -1
    if not -(2**63) <= index < 2**63:
        raise exception.ValueError("Overflow when unpacking long long")
    exception.TORCH_CHECK(index >= 0, "Device index must not be negative")
    return parsed, _int8(index)


def _invalid_combination(args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    names = ", ".join(map(_type_name_flat, args))
    # C++ walks its map of keywords backwards, and after a lone one leaves a comma
    for name, value in reversed(kwargs.items()):
        names += f", {name}={_type_name_flat(value)}" if args else f"{name}={_type_name_flat(value)}, "
    reason = ""
    if len(args) == 1 and not kwargs:
        reason = f"      didn't match because some of the arguments have invalid types: (!{_type_name(args[0])}!)\n"
    elif len(kwargs) == 1 and not args:
        (name, value), *_ = kwargs.items()
        reason = f"      didn't match because some of the keywords were incorrect: {name}\n"
        if name == "device":
            reason = (
                "      didn't match because some of the arguments have invalid types: "
                f"(!device={_type_name(value)}!, )\n"
            )
    return (
        f"device() received an invalid combination of arguments - got ({names}), but expected one of:\n"
        f"{_SIGNATURES[0]}{reason}{_SIGNATURES[1]}"
    )


def _type_name_flat(x: object) -> str:
    return _type_name(x).partition(" of ")[0]


kCPU: Final = Device("cpu")
kMeta: Final = Device("meta")


def device_or_default(device: Device | None) -> Device:
    return kCPU if device is None else device
