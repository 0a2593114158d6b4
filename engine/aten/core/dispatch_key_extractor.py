"""aten/src/ATen/core/dispatch/DispatchKeyExtractor.h: which arguments of a call bring keys.

Differs: the masks of keys that fall through are kept by OperatorEntry.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from engine.aten.core.function_schema import FunctionSchema
from engine.c10.tensor_impl import TensorImpl

__all__ = ["argument_keysets", "make_extractor"]

# The key set of a generator is that of its device.
_TENSOR, _LIST, _OBJECT = range(3)


def _positions(schema: FunctionSchema) -> list[tuple[int, int]]:
    found = []
    for index, argument in enumerate(schema.all_arguments):
        base = str(argument.type).partition("(")[0].rstrip("?")
        text = str(argument.type)
        if text.startswith("Tensor") and "[" in text:
            found.append((index, _LIST))
        elif base == "Tensor":
            found.append((index, _TENSOR))
        elif base == "Generator":
            found.append((index, _OBJECT))
    return found


def make_extractor(schema: FunctionSchema) -> Callable[[tuple[Any, ...]], int]:
    """A function from the arguments of a call to the union of their raw key sets (multi_dispatch_key_set)."""
    positions = _positions(schema)
    plain = [index for index, kind in positions if kind == _TENSOR]
    if not positions:
        return lambda args: 0
    if len(plain) == len(positions) == 1:
        (only,) = plain

        def one(args: tuple[Any, ...]) -> int:
            t = args[only]
            return 0 if t is None else t._ks

        return one
    if len(plain) == len(positions) == 2:
        first, second = plain

        def two(args: tuple[Any, ...]) -> int:
            a = args[first]
            b = args[second]
            return (0 if a is None else a._ks) | (0 if b is None else b._ks)

        return two

    def many(args: tuple[Any, ...]) -> int:
        ks = 0
        for index, kind in positions:
            value = args[index]
            if value is None:
                continue
            if kind == _LIST:
                for t in value:
                    if t is not None:
                        ks |= t._ks
            elif kind == _TENSOR:
                ks |= value._ks
            else:
                ks |= value.unsafeGetGeneratorImpl().key_set()
        return ks

    return many


def argument_keysets(schema: FunctionSchema, args: tuple[Any, ...]) -> Iterator[tuple[str, int]]:
    """Each argument that brings keys, with its raw key set; elements of lists as ``tensors[2]``."""
    for argument, value in zip(schema.all_arguments, args, strict=False):
        if isinstance(value, TensorImpl):
            yield argument.name, value._ks
        elif isinstance(value, (list, tuple)):
            for index, item in enumerate(value):
                if isinstance(item, TensorImpl):
                    yield f"{argument.name}[{index}]", item._ks
        elif value is not None and str(argument.type).startswith("Generator"):
            yield argument.name, value.unsafeGetGeneratorImpl().key_set()
