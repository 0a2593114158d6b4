"""What a node of the backward graph has saved, read without unpacking: that would run checks and hooks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from engine.torch.csrc.autograd.saved_variable import SavedVariable
from tracer.targets.values import Values
from traces.values import Encoded

__all__ = ["saved_values"]


def saved_values(node: Any, values: Values, outputs: tuple[Any, ...] = ()) -> dict[str, Encoded]:
    """The saved values by the name Python has for them (``_saved_NAME``); ``outputs`` are the node's own tensors."""
    return {name: _value(value, values, outputs) for name, value in _slots(node)}


def _slots(node: Any) -> Iterator[tuple[str, Any]]:
    info = getattr(type(node), "info", None)
    if info is not None:  # a generated class
        for saved in info.all_saved:
            yield saved.name, getattr(node, saved.slot, None)
    saved = getattr(node, "_saved_variables", None)  # a torch.autograd.Function
    if saved:
        yield "saved_tensors", saved


def _value(value: Any, values: Values, outputs: tuple[Any, ...]) -> Encoded:
    if isinstance(value, SavedVariable):
        return _tensor(value, values, outputs)
    if isinstance(value, list | tuple) and value and isinstance(value[0], SavedVariable):
        items = [_tensor(item, values, outputs) for item in value]
        return Encoded(f"[{','.join([item.text for item in items])}]", [n for item in items for n in item.numbers])
    return values(value)


def _tensor(saved: SavedVariable, values: Values, outputs: tuple[Any, ...]) -> Encoded:
    if saved.undefined_:
        return values(None)
    data = saved.data_
    if data is None:
        return Encoded('{"repr":"<packed by a hook>"}' if saved.hooks_ is not None else '{"repr":"<released>"}', [])
    if saved.is_output_:  # kept as a tensor without history; name the one that the program has
        for output in outputs:
            if output is not None and output._storage is data._storage and output._sizes == data._sizes:
                return values(output)
    return values(data)
