"""torch/csrc/autograd/edge.h: an edge of the graph, a node and which of its inputs."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from engine.torch.csrc.autograd.function import Node

__all__ = ["NO_EDGE", "Edge", "edge_list"]


class Edge(NamedTuple):
    """Leads to input ``input_nr`` of ``function``; to nowhere when ``function`` is None."""

    function: Node | None
    input_nr: int


edge_list = list[Edge]
NO_EDGE = Edge(None, 0)
