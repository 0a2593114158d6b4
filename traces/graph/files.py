"""Graphs into files and back."""

from __future__ import annotations

import difflib
import json
import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import networkx as nx

from traces.errors import TraceError
from traces.graph import draw

__all__ = ["formats", "load", "save"]

FORMATS = {
    "json": "networkx node-link data",
    "graphml": "GraphML",
    "dot": "graphviz",
    "mmd": "Mermaid",
    "svg": "a picture (laid out by graphviz if it is installed)",
    "png": "a picture (needs graphviz)",
    "html": "a page with the picture",
}
SECONDS = 120


def formats() -> tuple[str, ...]:
    """The endings that `save` knows."""
    return tuple(FORMATS)


def save(graph: Any, path: str | os.PathLike[str]) -> None:
    """Write a graph in the format that the path's ending names."""
    name = os.fspath(path)
    ending = os.path.splitext(name)[1].removeprefix(".").lower()
    if ending not in FORMATS:
        near = difflib.get_close_matches(ending, FORMATS, n=1)
        hint = f"; did you mean .{near[0]}?" if near else ""
        raise TraceError(f"unknown graph format {'.' + ending if ending else '(no ending)'!r}; "
                         f"known: {', '.join('.' + known for known in FORMATS)}{hint}", name)  # fmt: skip
    data = _data(graph, ending, name)
    try:
        Path(path).write_bytes(data)
    except OSError as error:
        raise TraceError(f"cannot write: {error.strerror}", name) from None


def _data(graph: Any, ending: str, name: str) -> bytes:
    if ending == "json":
        return (json.dumps(nx.node_link_data(graph, edges="edges"), indent=1) + "\n").encode()
    if ending == "graphml":
        return ("\n".join(nx.generate_graphml(_flat(graph))) + "\n").encode()
    if ending == "mmd":
        return _utf8(draw.to_mermaid(graph))
    if ending == "dot":
        return _utf8(draw.to_dot(graph))
    if ending == "png":
        data = _graphviz(graph, "png", name)
        if data is None:
            raise TraceError("a png needs graphviz' program 'dot', which is not installed; .svg and .html do not", name)
        return data
    svg = _graphviz(graph, "svg", name)
    picture = draw.to_svg(graph) if svg is None else svg.decode("utf-8", "replace")
    return _utf8(picture if ending == "svg" else draw.html(graph, picture))


def _utf8(text: str) -> bytes:
    return text.encode("utf-8", "backslashreplace")  # a name may hold a lone surrogate


def _flat(graph: Any) -> Any:
    """A copy whose attributes are what GraphML can hold: no lists, no None, no control characters."""

    def plain(facts: dict[str, Any]) -> dict[str, Any]:
        kept: dict[str, Any] = {}
        for key, value in facts.items():
            if value is None:
                continue
            if isinstance(value, str):
                kept[key] = _xml(value)
            elif isinstance(value, bool | int | float):
                kept[key] = value
            else:
                kept[key] = _xml(json.dumps(value))
        return kept

    copy = graph.__class__()
    copy.graph.update(plain(graph.graph))
    copy.add_nodes_from((node, plain(facts)) for node, facts in graph.nodes(data=True))
    copy.add_edges_from((above, below, plain(facts)) for above, below, facts in graph.edges(data=True))
    return copy


def _xml(text: str) -> str:
    return "".join(c if c in "\t\n\r" or " " <= c <= "\ud7ff" or "\ue000" <= c != "\uffff" else "�" for c in text)


def _graphviz(graph: Any, form: str, name: str) -> bytes | None:
    """What graphviz draws; None when it is not installed."""
    program = shutil.which("dot")
    if program is None:
        return None
    try:
        done = subprocess.run(
            [program, f"-T{form}"], input=_utf8(draw.to_dot(graph)), capture_output=True, timeout=SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise TraceError(
            f"graphviz did not finish within {SECONDS} seconds; .json and .dot hold it all", name
        ) from None
    except OSError as error:
        raise TraceError(f"graphviz' program 'dot' cannot be run: {error.strerror}", name) from None
    if done.returncode:
        said = done.stderr.decode("utf-8", "replace").strip().splitlines()
        raise TraceError(f"graphviz failed: {said[0] if said else f'exit status {done.returncode}'}", name)
    return done.stdout


def load(path: str | os.PathLike[str]) -> Any:
    """A graph saved as json (node-link data)."""
    name = os.fspath(path)
    try:
        text = Path(path).read_bytes()
    except OSError as error:
        raise TraceError(f"cannot read: {error.strerror}", name) from None
    expected = "expected networkx node-link json (an object with nodes and edges)"
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        raise TraceError(f"{expected}: {error.msg}", name, error.lineno) from None
    except (ValueError, RecursionError):
        raise TraceError(expected, name) from None
    if not isinstance(data, dict) or not isinstance(data.get("nodes"), list) or not isinstance(data.get("edges"), list):
        raise TraceError(expected, name)
    try:
        return nx.node_link_graph(data, edges="edges")
    except (nx.NetworkXError, KeyError, TypeError, ValueError, AttributeError) as error:
        raise TraceError(f"{expected}: {type(error).__name__}: {error}", name) from None
