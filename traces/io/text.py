"""Values as compact JSON text."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from traces.io.format import VOLATILE_NUMBER
from traces.store import fill
from traces.values import Encoded, Value, encode

__all__ = ["decode", "dump", "split"]

_text: Callable[[Any], str] = json.JSONEncoder(separators=(",", ":"), allow_nan=False, check_circular=False).encode


def _clean(value: Any) -> Value:
    """A value that JSON can hold, of one that it refused."""
    if isinstance(value, dict):
        return {str(key): _clean(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_clean(item) for item in value]
    return encode(value)


def dump(value: Any) -> str:
    """Compact JSON text; what is not JSON (nan, objects) becomes its ``{"repr": …}``."""
    try:
        return _text(value)
    except (TypeError, ValueError):
        return _text(_clean(value))


def split(text: str) -> tuple[str, list[str]]:
    """A value's text with zeros for its volatile numbers, and those numbers."""
    if '"$":' not in text:
        return text, []
    pieces = VOLATILE_NUMBER.split(text)  # between, key, number, between, …
    numbers = pieces[2::3]
    pieces[2::3] = ["0"] * len(numbers)
    return "".join(pieces), numbers


def decode(value: Encoded) -> Value:
    """What an encoded value stands for."""
    made = [json.loads(value.text)]
    filled = fill(made, iter(value.numbers)) if value.numbers else made
    assert isinstance(filled, list)
    return filled[0]
