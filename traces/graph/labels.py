"""What a drawn node or edge says; drawings of every kind share it."""

from __future__ import annotations

from typing import Any

from traces.report.styles import duration
from traces.values import text

__all__ = ["edge_label", "layer_of", "node_lines"]


def node_lines(node: Any, facts: dict[str, Any], kind: str) -> list[str]:
    """The lines of a node's label."""
    if kind == "autograd":
        lines = [str(facts.get("name", node))]
        if facts.get("variable") is not None:
            lines.append(f"${facts['variable']}")
        saved = facts.get("saved")
        if isinstance(saved, dict):
            lines.extend(f"{name} = {text(value)}"[:60] for name, value in saved.items())
        return lines
    lines = [str(facts.get("name", node))]
    if facts.get("key") is not None:
        lines.append(f"key {facts['key']}")
    if isinstance(facts.get("count"), int):
        spent = facts.get("total_ns")
        lines.append(f"{facts['count']} × {duration(spent) if isinstance(spent, int) else ''}".rstrip(" ×"))
    return lines


def edge_label(facts: dict[str, Any], kind: str) -> str:
    """The label of an edge; empty when it would say nothing."""
    if kind == "autograd":
        return str(facts["input_nr"]) if facts.get("input_nr") else ""
    count = facts.get("count")
    return str(count) if isinstance(count, int) and count > 1 else ""


_COLOURS = {
    "python": "#e8d5f0",
    "torch": "#fbe0c4",
    "at": "#d6e9f8",
    "ops": "#ffe9a8",
    "backend_select": "#ffe9a8",
    "autograd": "#d7f0d2",
    "adinplaceorview": "#d7f0d2",
    "node": "#d7f0d2",
    "engine": "#d7f0d2",
}


def layer_of(facts: dict[str, Any], kind: str) -> str:
    """The colour of a node."""
    if kind == "autograd":
        return "#d6e9f8" if facts.get("variable") is not None else "#d7f0d2"
    return _COLOURS.get(str(facts.get("layer")), "#eeeeee")
