"""The JSON values a trace holds for arguments, results and details, and how they read as text.

========================================  =======================================================
JSON                                      stands for
========================================  =======================================================
``null true 3 2.5 "text" [..]``           themselves
``{"$": 3, "dtype": "float32", ...}``     a tensor, numbered in order of appearance
``{"repr": "torch.float32"}``             any other object, by its text
``{"list": [..], "len": 1000}``           a list of which only the first items were kept
``{"str": "..", "len": 5000}``            a text of which only the first characters were kept
``{"dict": [[key, value], ..]}``          a mapping
========================================  =======================================================
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from typing import Any, NamedTuple, TypeAlias

__all__ = ["Encoded", "Value", "encode", "short_dtype", "tensor_numbers", "text"]

Value: TypeAlias = Any  # None | bool | int | float | str | list[Value] | dict[str, Value]


class Encoded(NamedTuple):
    """A value that a recorder has written down already: sinks take it for one, and have less to do.

    ``text`` is compact JSON, with a 0 for the number of each volatile key (``$``, ``version``, ``offset``, …);
    ``numbers`` are those numbers in order. As the arguments of a frame, ``text`` is the whole list.
    """

    text: str
    numbers: list[int]


MAX_DEPTH = 8
MAX_INT_BITS = 4096  # Python refuses to read decimal integers of more than 4300 digits

_SHORT = {
    "float16": "f16",
    "float32": "f32",
    "float64": "f64",
    "bfloat16": "bf16",
    "complex32": "c32",
    "complex64": "c64",
    "complex128": "c128",
    "int8": "i8",
    "int16": "i16",
    "int32": "i32",
    "int64": "i64",
    "uint8": "u8",
    "uint16": "u16",
    "uint32": "u32",
    "uint64": "u64",
    "bool": "b8",
}


def short_dtype(name: str) -> str:
    """``float32`` (or ``torch.float32``) as ``f32``."""
    name = name.removeprefix("torch.")
    return _SHORT.get(name, name)


def encode(
    obj: Any,
    special: Callable[[Any], Any] | None = None,
    max_items: int = 16,
    max_chars: int = 200,
    _depth: int = 0,
) -> Value:
    """The JSON value of any Python object; ``special`` is asked first for objects that are not plain data.

    ``special(obj)`` returns a JSON value or ``NotImplemented``. An object whose ``repr`` raises still gets a text.
    """
    kind = obj.__class__
    if obj is None or kind is bool:
        return obj
    if kind is int:
        return obj if obj.bit_length() <= MAX_INT_BITS else {"repr": f"int of {obj.bit_length()} bits"}
    if kind is float:
        return obj if math.isfinite(obj) else {"repr": repr(obj)}
    if kind is str:
        return obj if len(obj) <= max_chars else {"str": obj[:max_chars], "len": len(obj)}
    if special is not None:
        value = special(obj)
        if value is not NotImplemented:
            return value
    if _depth < MAX_DEPTH:
        if isinstance(obj, list | tuple):
            items = [encode(item, special, max_items, max_chars, _depth + 1) for item in obj[:max_items]]
            return items if len(obj) <= max_items else {"list": items, "len": len(obj)}
        if isinstance(obj, dict):
            pairs: list[Value] = []
            for key, item in obj.items():
                if len(pairs) == max_items:
                    return {"dict": pairs, "len": len(obj)}
                pairs.append(
                    [
                        encode(key, special, max_items, max_chars, _depth + 1),
                        encode(item, special, max_items, max_chars, _depth + 1),
                    ]
                )
            return {"dict": pairs}
    try:
        shown = repr(obj)
    except Exception as error:
        shown = f"<{kind.__name__} whose repr raises {type(error).__name__}>"
    return {"repr": shown if len(shown) <= max_chars else shown[:max_chars] + "…"}


def _list(items: Iterable[Value], more: bool) -> str:
    return "[" + ", ".join([*(text(item) for item in items), *(["…"] if more else [])]) + "]"


def _mapping(value: Mapping[str, Value]) -> str:
    pairs = [f"{text(key)}: {text(item)}" for key, item in value["dict"]]
    return "{" + ", ".join([*pairs, *(["…"] if "len" in value else [])]) + "}"


def text(value: Value) -> str:
    """A value as a person reads it: ``$3: f32[3, 4]``, ``[3, 4]``, ``None``, ``'abc'``; never raises."""
    if isinstance(value, list | tuple):
        return _list(value, more=False)
    if not isinstance(value, dict):
        return repr(value)
    try:
        if "$" in value:
            shape = ", ".join(str(size) for size in value.get("shape") or ())
            dtype = short_dtype(value["dtype"]) if "dtype" in value else "?"
            return f"${value['$']}: {dtype}[{shape}]"
        if "repr" in value:
            return str(value["repr"])
        if "list" in value:
            return _list(value["list"], more=True)
        if "str" in value:
            return repr(value["str"])[:-1] + "…'"
        if "dict" in value:
            return _mapping(value)
    except (AttributeError, KeyError, TypeError, ValueError):
        pass  # a shape of value that is not in the table above: show it as it is
    return "{" + ", ".join(f"{key}: {text(item)}" for key, item in value.items()) + "}"


def tensor_numbers(value: Value) -> list[int]:
    """The numbers of all tensors in a value, in order."""
    found: list[int] = []
    pending = [value]
    while pending:
        item = pending.pop()
        if isinstance(item, list | tuple):
            pending.extend(reversed(item))
        elif isinstance(item, dict):
            if isinstance(item.get("$"), int):
                found.append(item["$"])
            else:
                pending.extend(reversed(list(item.values())))
    return found
