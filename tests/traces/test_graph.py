"""The graphs: what is in them, every file format, and graphs that are deep."""

from __future__ import annotations

import shutil
import stat
import sys
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import networkx as nx
import pytest

from tests.traces.samples import Driver, backward, built
from traces import TraceError, graph
from traces.graph import draw


@pytest.fixture
def no_graphviz(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")


def test_call_graph_counts_functions() -> None:
    calls = built().call_graph()
    assert isinstance(calls, nx.DiGraph)
    assert calls.nodes["at::_ops::mul_Tensor::call"] == {
        "layer": "ops", "file": "", "line": 0, "count": 2, "total_ns": 4000, "self_ns": 3000,
    }  # fmt: skip
    assert list(calls.predecessors("at::_ops::mul_Tensor::call")) == [
        "torch::autograd::THPVariable_mul",
        "MulBackward0::apply",
    ]
    assert calls.edges["torch::rand", "at::rand"] == {"count": 1, "total_ns": 13000}


def test_recursion_is_not_counted_twice() -> None:
    def drive(sink: Any) -> None:
        d = Driver(sink)
        for _ in range(3):
            d.begin("f", "native", (), [])
        while d.open:
            d.end()

    calls = built(drive).call_graph()
    assert calls.nodes["f"]["total_ns"] == 5000
    assert calls.nodes["f"]["self_ns"] == 5000
    assert calls.edges["f", "f"]["count"] == 2


def test_call_graph_of_instances() -> None:
    trace = built()
    calls = trace.call_graph(instances=True)
    assert calls.number_of_nodes() == len(trace.frames)
    assert nx.is_forest(calls)
    assert calls.nodes[3]["key"] == "BackendSelect"
    assert calls.nodes[0]["python"] == "script.py:2"
    assert list(calls.successors(0)) == [1]


def test_autograd_graph() -> None:
    autograd = built().autograd_graph()
    assert isinstance(autograd, nx.MultiDiGraph)
    assert {node: facts["name"] for node, facts in autograd.nodes(data=True)} == {
        0: "MulBackward0",
        1: "AccumulateGrad",
    }
    assert list(autograd.edges(data=True)) == [
        (0, 1, {"output_nr": 0, "input_nr": 0}),
        (0, 1, {"output_nr": 1, "input_nr": 0}),
    ]
    node = autograd.nodes[0]
    assert (node["hop"], node["op"], node["ran_in"], node["ran_hops"]) == (3, "aten::mul.Tensor", [12], [4])
    assert node["saved"]["scale"] == 2
    assert autograd.nodes[1]["variable"] == 1


def test_a_node_that_was_never_announced() -> None:
    def drive(sink: Any) -> None:
        sink.node(0, "AddBackward0", 0, ((7, 0),), {})

    autograd = built(drive).autograd_graph()
    assert autograd.nodes[7]["name"] == "?"


@pytest.mark.parametrize("which", ["calls", "instances", "autograd"])
def test_json_round_trip(tmp_path: Path, which: str) -> None:
    trace = built()
    made = trace.autograd_graph() if which == "autograd" else trace.call_graph(which == "instances")
    graph.save(made, tmp_path / "g.json")
    read = graph.load(tmp_path / "g.json")
    assert type(read) is type(made)
    assert nx.utils.graphs_equal(read, made)
    assert read.graph == made.graph


@pytest.mark.parametrize("which", ["calls", "autograd"])
@pytest.mark.parametrize("ending", ["graphml", "dot", "mmd", "svg", "html"])
@pytest.mark.usefixtures("no_graphviz")
def test_every_format_without_graphviz(tmp_path: Path, which: str, ending: str) -> None:
    trace = built()
    made = trace.autograd_graph() if which == "autograd" else trace.call_graph()
    path = tmp_path / f"g.{ending}"
    graph.save(made, path)
    text = path.read_text(encoding="utf-8")
    assert ("MulBackward0" if which == "autograd" else "torch::rand") in text
    if ending == "graphml":
        assert nx.read_graphml(path).number_of_nodes() == made.number_of_nodes()
    if ending in ("svg", "graphml"):
        ET.fromstring(text)
    if ending == "html":
        assert text.startswith("<!doctype html>")
        assert "http" not in text.replace("http://www.w3.org/2000/svg", "")


def test_formats() -> None:
    assert graph.formats() == ("json", "graphml", "dot", "mmd", "svg", "png", "html")


def test_names_are_quoted() -> None:
    strange = nx.DiGraph(kind="calls")
    name = 'a"b\\c<d>&e\nf]'
    strange.add_node(1, name=name)
    strange.add_node(2, name="plain")
    strange.add_edge(1, 2, count=3)
    strange.add_edge(2, 1)
    strange.add_edge(1, 1)
    assert 'label="a\\"b\\\\c<d>&e\\nf]"' in draw.to_dot(strange)
    assert "a&quot;b\\c&lt;d&gt;&amp;e f]" in draw.to_mermaid(strange)
    ET.fromstring(draw.to_svg(strange))


@pytest.mark.usefixtures("no_graphviz")
def test_png_needs_graphviz(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"g\.png: a png needs graphviz' program 'dot', which is not installed"):
        graph.save(built().call_graph(), tmp_path / "g.png")
    assert not (tmp_path / "g.png").exists()


@pytest.mark.skipif(sys.platform == "win32", reason="needs a program that is a shell script")
def test_graphviz_is_used_when_it_is_there(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program = tmp_path / "dot"
    program.write_text("#!/bin/sh\ncat > /dev/null\nprintf '<svg>%s</svg>' \"$1\"\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    monkeypatch.setenv("PATH", f"{tmp_path}:/bin:/usr/bin")
    assert shutil.which("dot") == str(program)
    graph.save(built().call_graph(), tmp_path / "g.svg")
    assert (tmp_path / "g.svg").read_text() == "<svg>-Tsvg</svg>"
    program.write_text("#!/bin/sh\ncat > /dev/null\necho 'syntax error' >&2\nexit 1\n")
    with pytest.raises(TraceError, match="graphviz failed: syntax error"):
        graph.save(built().call_graph(), tmp_path / "g.png")


def test_save_errors(tmp_path: Path) -> None:
    calls = built().call_graph()
    with pytest.raises(TraceError, match=r"unknown graph format '\.jsn'; known: \.json, .*; did you mean \.json\?"):
        graph.save(calls, tmp_path / "g.jsn")
    with pytest.raises(TraceError, match=r"unknown graph format '\(no ending\)'"):
        graph.save(calls, tmp_path / "g")
    with pytest.raises(TraceError, match="cannot write: No such file or directory"):
        graph.save(calls, tmp_path / "none" / "g.json")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "hello",
        "[]",
        "{}",
        '{"nodes":[],"edges":3}',
        '{"nodes":[{"id":{}}],"edges":[]}',
        '{"nodes":[3],"edges":[]}',
        "\x80",
    ],
)
def test_load_errors(tmp_path: Path, text: str) -> None:
    path = tmp_path / "g.json"
    path.write_bytes(text.encode("latin-1"))
    with pytest.raises(TraceError, match="expected networkx node-link json") as info:
        graph.load(path)
    assert "\n" not in str(info.value)


def test_load_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match="cannot read: No such file or directory"):
        graph.load(tmp_path / "g.json")


@pytest.mark.usefixtures("no_graphviz")
def test_a_graph_of_ten_thousand_nodes_in_a_row(tmp_path: Path) -> None:
    def drive(sink: Any) -> None:
        for number in range(10_000):
            sink.node(number, "AddBackward0", number, ((number + 1, 0),) if number < 9_999 else (), {})

    autograd = built(drive).autograd_graph()
    assert autograd.number_of_edges() == 9_999
    for ending in ("json", "graphml", "dot", "mmd", "svg", "html"):
        graph.save(autograd, tmp_path / f"g.{ending}")
    assert graph.load(tmp_path / "g.json").number_of_nodes() == 10_000


def test_backward_sample_is_what_the_tests_think() -> None:
    assert [node.name for node in built(backward).nodes] == ["MulBackward0", "AccumulateGrad"]
