"""torch/csrc/utils/invalid_arguments.cpp: the text for a call that matches none of several signatures.

Differs: nothing that a reader of the text could see; keyword arguments come in the order of libstdc++'s
std::unordered_map, and the printed defaults confuse the parser of options, as they do in PyTorch.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from engine.torch.csrc.utils.python_numbers import tp_name

__all__ = ["format_invalid_args", "unordered"]

__tracebackhide__ = True  # pytest shows the line that called, as for a function in C++

_MASK = (1 << 64) - 1
_MUL = 0xC6A4A7935BD1E995
_BUCKETS = (13, 29, 59, 127, 257, 541, 1109)


def _hash_bytes(data: bytes) -> int:
    """std::_Hash_bytes of libstdc++ on 64 bits (MurmurHash64A), as std::hash<std::string> calls it."""

    def shift_mix(value: int) -> int:
        return value ^ (value >> 47)

    whole = len(data) & ~7
    value = 0xC70F6907 ^ ((len(data) * _MUL) & _MASK)
    for start in range(0, whole, 8):
        word = int.from_bytes(data[start : start + 8], "little")
        mixed = (shift_mix((word * _MUL) & _MASK) * _MUL) & _MASK
        value = ((value ^ mixed) * _MUL) & _MASK
    if len(data) & 7:
        value = ((value ^ int.from_bytes(data[whole:], "little")) * _MUL) & _MASK
    value = (shift_mix(value) * _MUL) & _MASK
    return shift_mix(value)


def unordered(keys: Iterable[str]) -> list[str]:
    """The order in which a std::unordered_map<std::string, ...> filled with ``keys`` is walked."""
    order: list[str] = []
    buckets = 1
    hashes: dict[str, int] = {}

    def insert(order: list[str], key: str) -> None:
        # a node goes before the others of its bucket; the first of a bucket goes to the head of the whole list
        mine = hashes[key] % buckets
        for place, other in enumerate(order):
            if hashes[other] % buckets == mine:
                order.insert(place, key)
                return
        order.insert(0, key)

    for key in keys:
        hashes[key] = _hash_bytes(key.encode())
        if buckets == 1 or len(order) + 1 > buckets:
            wanted = 12 if buckets == 1 else max(len(order) + 2, 2 * buckets)
            buckets = next(prime for prime in _BUCKETS if prime >= wanted)
            old, order = order, []
            for other in old:
                insert(order, other)
        insert(order, key)
    return order


def _matches(type_name: str, obj: Any) -> bool:
    """Whether an option's type text covers ``obj``; types are compared by name only."""
    name = tp_name(obj)
    if type_name == "float":
        return name in ("float", "int", "long")
    if type_name == "int":
        return name in ("int", "long")
    return name == type_name


def _parse_option(option: str) -> list[tuple[str, str]]:
    """(type, name) per argument of "(Tensor input, *, Number alpha = 1)".

    The text after the last blank is taken for the name, so that a default shows up as one and "*" counts.
    """
    arguments = []
    for argument in option[1:-1].split(", "):
        kind, _, name = argument.rpartition(" ")
        arguments.append((kind or argument, name))
    return arguments


def _describe(obj: Any) -> str:
    if not isinstance(obj, (tuple, list)):
        return tp_name(obj)
    inner = ", ".join(tp_name(item) for item in obj)
    if isinstance(obj, tuple):
        return f"{tp_name(obj)} of ({inner}{',' if len(obj) == 1 else ''})"
    return f"{tp_name(obj)} of [{inner}]"


def _formatted_arg_desc(arguments: list[tuple[str, str]], args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    """The call with every argument marked whose type the option does not cover; red on a terminal."""
    terminal = os.isatty(1) and os.isatty(2)
    red, reset_red = ("\33[31;1m", "\33[0m") if terminal else ("!", "!")
    green, reset_green = ("\33[32;1m", "\33[0m") if terminal else ("", "")
    parts = []
    for i in range(len(args) + len(kwargs)):
        kind, name = arguments[i]
        keyword = i >= len(args)
        obj = kwargs[name] if keyword else args[i]
        fits = _matches(kind, obj)
        text = (name + "=" if keyword else "") + _describe(obj)
        parts.append(f"{green if fits else red}{text}{reset_green if fits else reset_red}")
    text = "(" + ", ".join(parts)
    # the separator after the last argument is cut off only when there are positional ones
    return text + (")" if args or not parts else ", )")


def _arg_desc(args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
    parts = [tp_name(arg) for arg in args] + [f"{key}={tp_name(value)}" for key, value in kwargs.items()]
    return "(" + ", ".join(parts) + (")" if args or not parts else ", )")


def _try_match_kwargs(arguments: list[tuple[str, str]], kwargs: Mapping[str, Any]) -> list[str]:
    names = [name for _, name in arguments[max(len(arguments) - len(kwargs), 0) :]]
    return [key for key in kwargs if key not in names]


def format_invalid_args(
    args: Sequence[Any], kwargs: Mapping[str, Any] | None, function_name: str, options: Sequence[str]
) -> str:
    given = {key: kwargs[key] for key in unordered(kwargs)} if kwargs else {}
    text = f"{function_name} received an invalid combination of arguments - "
    if len(options) == 1:
        arguments = _parse_option(options[0])
        unmatched = _try_match_kwargs(arguments, given)
        if unmatched:
            return text + "got unrecognized keyword arguments: " + ", ".join(unmatched)
        fits = len(args) + len(given) == len(arguments)
        described = _formatted_arg_desc(arguments, args, given) if fits else _arg_desc(args, given)
        return f"{text}got {described}, but expected {options[0]}"
    text += f"got {_arg_desc(args, given)}, but expected one of:\n"
    for option in options:
        text += f" * {option}\n"
        arguments = _parse_option(option)
        if len(args) + len(given) != len(arguments):
            continue
        unmatched = _try_match_kwargs(arguments, given)
        if unmatched:
            text += "      didn't match because some of the keywords were incorrect: " + ", ".join(unmatched) + "\n"
        else:
            text += "      didn't match because some of the arguments have invalid types: "
            text += _formatted_arg_desc(arguments, args, given) + "\n"
    return text
