"""Graphs out of a trace, as networkx graphs whose attributes are plain data."""

from __future__ import annotations

from typing import Any

import networkx as nx

from traces.trace import Trace
from traces.values import text

__all__ = ["autograd_graph", "call_graph"]


def call_graph(trace: Trace, instances: bool = False) -> Any:
    """Who calls whom.

    A node a function (name; layer, count, total_ns, self_ns), an edge with count and total_ns: a DiGraph. With
    ``instances`` a node a frame (its id; name, layer, thread, start_ns, end_ns, …), which makes a forest.
    """
    return _instances(trace) if instances else _functions(trace)


def _functions(trace: Trace) -> Any:
    graph = nx.DiGraph(kind="calls", instances=False)
    store = trace._store
    names = [site.name for site in store.sites]
    nodes: dict[str, dict[str, Any]] = {}
    edges: dict[tuple[str, str], dict[str, int]] = {}
    # The functions that a frame runs in, so that recursion is not counted twice: few sets, many frames.
    contexts: list[frozenset[str]] = [frozenset()]
    entered: dict[tuple[int, str], int] = {}
    active: list[int] = []
    for position, parent in enumerate(store.f_parent):
        number = store.site_of(position)
        site, name = store.sites[number], names[number]
        node = nodes.get(name)
        if node is None:
            node = nodes[name] = {
                "layer": site.layer, "file": site.file, "line": site.line, "count": 0, "total_ns": 0, "self_ns": 0,
            }  # fmt: skip
        end = store.end_ns(position)
        spent = 0 if end is None else end - store.f_start[position]
        outside = active[parent] if parent >= 0 else 0
        node["count"] += 1
        node["self_ns"] += spent
        if name in contexts[outside]:
            active.append(outside)
        else:
            node["total_ns"] += spent
            inside = entered.get((outside, name))
            if inside is None:
                inside = entered[outside, name] = len(contexts)
                contexts.append(contexts[outside] | {name})
            active.append(inside)
        if parent >= 0:
            above = names[store.site_of(parent)]
            if store.f_thread[parent] == store.f_thread[position]:
                nodes[above]["self_ns"] -= spent
            edge = edges.setdefault((above, name), {"count": 0, "total_ns": 0})
            edge["count"] += 1
            edge["total_ns"] += spent
    graph.add_nodes_from(nodes.items())
    graph.add_edges_from((above, below, facts) for (above, below), facts in edges.items())
    return graph


def _instances(trace: Trace) -> Any:
    graph = nx.DiGraph(kind="calls", instances=True)
    for frame in trace.frames:
        facts: dict[str, Any] = {
            "name": frame.site.name,
            "layer": frame.site.layer,
            "file": frame.site.file,
            "line": frame.site.line,
            "thread": frame.thread,
            "args": [text(value) for value in frame.args],
            "start_ns": frame.start_ns,
            "end_ns": frame.end_ns,
        }
        if frame.python:
            facts["python"] = f"{frame.python[0].file}:{frame.python[0].line}"
        if frame.error is not None:
            facts["error"] = ": ".join(frame.error)
        hop = trace.hop_of(frame.id)
        if hop is not None:
            facts.update(hop=hop.id, kind=hop.kind, op=hop.op, key=hop.key)
        graph.add_node(frame.id, **facts)
        if frame.parent is not None:
            graph.add_edge(frame.parent, frame.id)
    return graph


def autograd_graph(trace: Trace) -> Any:
    """The backward graph: a node a grad_fn, an edge from output ``output_nr`` of one's list of next functions to input
    ``input_nr`` of another. A MultiDiGraph, because two edges may join the same two nodes.

    ``hop`` is the dispatcher step that made a node, ``ran_hops`` are the steps taken while it ran.
    """
    graph = nx.MultiDiGraph(kind="autograd")
    for node in trace.nodes:
        made = None if node.created_by is None else trace.enclosing_hop(node.created_by)
        facts: dict[str, Any] = {
            "name": node.name,
            "sequence_nr": node.sequence_nr,
            "saved": dict(node.saved),
            "created_by": node.created_by,
            "hop": None if made is None else made.id,
            "op": None if made is None else made.op,
            "ran_in": list(node.ran_in),
            "ran_hops": _hops_below(trace, node.ran_in),
        }
        if node.variable is not None:
            facts["variable"] = node.variable
        graph.add_node(node.id, **facts)
    for node in trace.nodes:
        for output_nr, edge in enumerate(node.edges):
            if edge.node is not None:
                if edge.node not in graph:
                    graph.add_node(edge.node, name="?", saved={}, ran_in=[], ran_hops=[])
                graph.add_edge(node.id, edge.node, output_nr=output_nr, input_nr=edge.input_nr)
    return graph


def _hops_below(trace: Trace, frames: tuple[int, ...]) -> list[int]:
    found: list[int] = []
    pending = list(frames)
    while pending:
        frame = pending.pop()
        found.extend(hop.id for hop in trace.hops_of(frame))
        pending.extend(child.id for child in trace.children(frame))
    return sorted(set(found))
