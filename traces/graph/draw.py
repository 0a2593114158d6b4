"""Drawings as text: DOT for graphviz, Mermaid for web pages, and a plain SVG that needs neither."""

from __future__ import annotations

from collections import deque
from typing import Any
from xml.sax.saxutils import escape

from traces.graph.labels import edge_label, layer_of, node_lines

__all__ = ["html", "to_dot", "to_mermaid", "to_svg"]


def _kind(graph: Any) -> str:
    return str(graph.graph.get("kind", ""))


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"').replace("\r", " ").replace("\n", "\\n") + '"'


def to_dot(graph: Any) -> str:
    """The graph in graphviz' language."""
    kind = _kind(graph)
    lines = [
        f"digraph {_quoted(kind or 'trace')} {{",
        '  node [shape=box, style="rounded,filled", fontname="monospace", fontsize=10];',
        '  edge [fontname="monospace", fontsize=9];',
    ]
    numbers = {node: i for i, node in enumerate(graph)}
    for node, facts in graph.nodes(data=True):
        label = "\\n".join(_quoted(line)[1:-1] for line in node_lines(node, facts, kind))
        lines.append(f'  n{numbers[node]} [label="{label}", fillcolor="{layer_of(facts, kind)}"];')
    for above, below, facts in graph.edges(data=True):
        label = edge_label(facts, kind)
        lines.append(f"  n{numbers[above]} -> n{numbers[below]}" + (f" [label={_quoted(label)}];" if label else ";"))
    return "\n".join([*lines, "}", ""])


def _entity(text: str) -> str:
    for character, name in (("&", "&amp;"), ('"', "&quot;"), ("<", "&lt;"), (">", "&gt;"), ("\n", " ")):
        text = text.replace(character, name)
    return text


def to_mermaid(graph: Any) -> str:
    """The graph in Mermaid's language."""
    kind = _kind(graph)
    lines = ["flowchart TD"]
    numbers = {node: i for i, node in enumerate(graph)}
    for node, facts in graph.nodes(data=True):
        label = "<br/>".join(_entity(line) for line in node_lines(node, facts, kind))
        lines.append(f'  n{numbers[node]}["{label}"]')
    for above, below, facts in graph.edges(data=True):
        label = edge_label(facts, kind)
        arrow = f'-- "{_entity(label)}" -->' if label else "-->"
        lines.append(f"  n{numbers[above]} {arrow} n{numbers[below]}")
    return "\n".join([*lines, ""])


def _levels(graph: Any) -> dict[Any, int]:
    """Every node as far down as the longest way to it; edges that close a cycle do not count."""
    entering = {node: len({above for above in graph.predecessors(node) if above != node}) for node in graph}
    levels: dict[Any, int] = {}
    ready = deque(node for node, count in entering.items() if count == 0)
    waiting = dict.fromkeys(node for node, count in entering.items() if count)
    found = dict.fromkeys(graph, 0)
    while ready or waiting:
        if not ready:  # only cycles are left: enter one where it was met first
            ready.append(next(iter(waiting)))
            waiting.pop(ready[0])
        node = ready.popleft()
        levels[node] = found[node]
        for below in dict.fromkeys(graph.successors(node)):
            if below in levels or below not in waiting:
                continue
            found[below] = max(found[below], levels[node] + 1)
            entering[below] -= 1
            if entering[below] <= 0:
                waiting.pop(below)
                ready.append(below)
    return levels


CHAR, LINE, PAD, DOWN, RIGHT = 6.6, 14, 8, 46, 24


def to_svg(graph: Any) -> str:
    """The graph as SVG, in rows from callers to callees."""
    kind = _kind(graph)
    rows: dict[int, list[Any]] = {}
    for node, level in _levels(graph).items():
        rows.setdefault(level, []).append(node)
    labels = {node: node_lines(node, facts, kind) for node, facts in graph.nodes(data=True)}
    size: dict[Any, tuple[float, float]] = {
        node: (max(len(line) for line in lines) * CHAR + 2 * PAD, len(lines) * LINE + 2 * PAD)
        for node, lines in labels.items()
    }
    place: dict[Any, tuple[float, float]] = {}
    widths = {level: sum(size[node][0] + RIGHT for node in row) for level, row in rows.items()}
    total = max(widths.values(), default=0.0) + RIGHT
    top = float(RIGHT)
    for level in sorted(rows):
        row = sorted(rows[level], key=lambda node: _above(graph, node, place)) if place else rows[level]
        left = (total - widths[level]) / 2 + RIGHT / 2
        for node in row:
            place[node] = (left, top)
            left += size[node][0] + RIGHT
        top += max(size[node][1] for node in row) + DOWN
    shapes = [
        _edge(place, size, above, below, edge_label(facts, kind)) for above, below, facts in graph.edges(data=True)
    ]
    for node, facts in graph.nodes(data=True):
        shapes.append(_box(place[node], size[node], labels[node], layer_of(facts, kind)))
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{total:.0f}" height="{top:.0f}" '
        f'viewBox="0 0 {total:.0f} {top:.0f}" font-family="monospace" font-size="11">\n'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">'
        '<path d="M0,0 L8,4 L0,8 z" fill="#555"/></marker></defs>\n' + "\n".join(shapes) + "\n</svg>\n"
    )


def _above(graph: Any, node: Any, place: dict[Any, tuple[float, float]]) -> float:
    """Where the callers of a node stand, on average."""
    known = [place[above][0] for above in graph.predecessors(node) if above in place]
    return sum(known) / len(known) if known else 0.0


def _edge(
    place: dict[Any, tuple[float, float]], size: dict[Any, tuple[float, float]], above: Any, below: Any, label: str
) -> str:
    x1, y1 = place[above][0] + size[above][0] / 2, place[above][1] + size[above][1]
    x2, y2 = place[below][0] + size[below][0] / 2, place[below][1]
    if above == below:
        x1, x2, y1, y2 = x1 + size[above][0] / 2, x1 + size[above][0] / 2, y1 - PAD, place[above][1] + PAD
        path = f"M{x1:.0f},{y1:.0f} C{x1 + 30:.0f},{y1:.0f} {x2 + 30:.0f},{y2:.0f} {x2:.0f},{y2:.0f}"
    else:
        middle = (y1 + y2) / 2
        path = f"M{x1:.0f},{y1:.0f} C{x1:.0f},{middle:.0f} {x2:.0f},{middle:.0f} {x2:.0f},{y2:.0f}"
    shape = f'<path d="{path}" fill="none" stroke="#555" marker-end="url(#tip)"/>'
    if label:
        shape += f'<text x="{(x1 + x2) / 2 + 4:.0f}" y="{(y1 + y2) / 2:.0f}" fill="#555">{escape(label)}</text>'
    return shape


def _box(at: tuple[float, float], size: tuple[float, float], lines: list[str], colour: str) -> str:
    x, y = at
    text = "".join(
        f'<text x="{x + PAD:.0f}" y="{y + PAD + LINE * (i + 0.75):.0f}">{escape(line)}</text>'
        for i, line in enumerate(lines)
    )
    return (
        f'<rect x="{x:.0f}" y="{y:.0f}" width="{size[0]:.0f}" height="{size[1]:.0f}" rx="5" '
        f'fill="{colour}" stroke="#888"/>{text}'
    )


def html(graph: Any, svg: str) -> str:
    """A page of its own around a drawing."""
    title = {"calls": "Call graph", "autograd": "Autograd graph"}.get(_kind(graph), "Graph")
    counts = f"{graph.number_of_nodes()} nodes, {graph.number_of_edges()} edges"
    drawing = svg[svg.index("<svg") :]
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{title}</title>\n'
        "<style>body{font:14px sans-serif;margin:1.5em;background:#fff;color:#222}figure{margin:0;overflow:auto}"
        f"</style></head>\n<body><h1>{title}</h1><p>{counts}</p>\n<figure>{drawing}</figure></body></html>\n"
    )
