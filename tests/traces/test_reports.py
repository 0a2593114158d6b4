"""What people read: trees, dispatch text, json, explanations; plain and coloured."""

from __future__ import annotations

import io
import json
from typing import Any

from rich.console import Console, RenderableType

from tests.traces.samples import CPU_SET, Driver, backward, built, rand
from traces import values
from traces.passes.why import why
from traces.predicates import parse
from traces.report import backtrace, dispatch, summary, tree
from traces.report import json as as_json
from traces.report import why as why_report
from traces.report.styles import duration

DISPATCH = """\
 [call] op=[aten::rand], key=[BackendSelect]
  [redispatch] op=[aten::rand], key=[CPU]
   [call] op=[aten::uniform_], key=[CPU]
 [call] op=[aten::mul.Tensor], key=[AutogradCPU]
 [call] op=[aten::mul.Tensor], key=[CPU]
"""

TREE = """\
thread 1  script.py:2
└─ torch::autograd::THPVariable_rand case 2 (args=[3, 4]) = $1: f32[3, 4]  17.0 µs
   └─ torch::rand (size=[3, 4], options=TensorOptions()) guard at::AutoDispatchBelowADInplaceOrView = $1: f32[3, 4]  15.0 µs
      └─ at::rand (size=[3, 4], options=TensorOptions()) = $1: f32[3, 4]  13.0 µs
         └─ [call] aten::rand → BackendSelect (size=[3, 4]) = $1: f32[3, 4]  11.0 µs
            └─ … 1 more
thread 1  script.py:3
└─ torch::autograd::THPVariable_mul (self=$1: f32[3, 4]) = $2: f32[3, 4]  5.0 µs
   └─ [call] aten::mul.Tensor → AutogradCPU (self=$1: f32[3, 4], other=$1: f32[3, 4]) = $2: f32[3, 4]  3.0 µs
      └─ torch::autograd::VariableType::mul_Tensor () = $2: f32[3, 4]  1.0 µs
thread 2  script.py:4
└─ MulBackward0::apply (grads=[$3: f32[3, 4]])  3.0 µs
   └─ [call] aten::mul.Tensor → CPU (self=$1: f32[3, 4], other=$1: f32[3, 4]) = $4: f32[3, 4]  1.0 µs
UserWarning: the non-leaf one"""  # noqa: E501 (as it is printed)


def printed(renderable: RenderableType, colour: bool, width: int = 80) -> str:
    out = io.StringIO()
    Console(file=out, force_terminal=colour, width=width, color_system="truecolor" if colour else None).print(
        renderable
    )
    return out.getvalue()


def test_dispatch_text() -> None:
    assert built().dispatch_text() == DISPATCH


def test_dispatch_text_leaves_boxed_steps_out() -> None:
    def drive(sink: Any) -> None:
        d = Driver(sink)
        d.begin("at::_ops::rand::call", "ops", (), [])
        d.hop("call", "aten::rand", "AutogradCPU", CPU_SET)
        d.begin("fallback", "autograd", (), [])
        d.hop("redispatchBoxed", "aten::rand", "CPU", CPU_SET)
        d.begin("at::_ops::empty::call", "ops", (), [])
        d.hop("call", "aten::empty", "CPU", CPU_SET)

    trace = built(drive)
    assert list(dispatch.lines(trace)) == [
        " [call] op=[aten::rand], key=[AutogradCPU]",
        "  [call] op=[aten::empty], key=[CPU]",
    ]
    assert list(dispatch.lines(trace, boxed=True)) == [
        " [call] op=[aten::rand], key=[AutogradCPU]",
        "  [redispatchBoxed] op=[aten::rand], key=[CPU]",
        "   [call] op=[aten::empty], key=[CPU]",
    ]
    assert [trace.depth(hop) for hop in range(3)] == [0, 1, 1]


def test_tree() -> None:
    assert "\n".join(tree.lines(built(), depth=4)) == TREE


def test_tree_of_siblings_failures_and_endings() -> None:
    def drive(sink: Any) -> None:
        d = Driver(sink)
        d.begin("outer", "python", (), [], python=(("s.py", 1, "f"),))
        d.begin("first", "native", ("x",), [{"repr": "a\nb"}])
        d.end()
        d.begin("second", "native", (), [])
        d.fail("ValueError", "no\nsecond line")

    lines = list(tree.lines(built(drive, 1, ("ValueError", "no"))))
    assert lines == [
        "s.py:1 in f",
        "└─ outer () not returned",
        "   ├─ first (x=a\\nb)  1.0 µs",
        "   └─ second () raised ValueError: no\\nsecond line  1.0 µs",
        "the run ended with ValueError: no",
    ]
    assert list(tree.lines(built(drive, close=False)))[-1] == "the trace ends here: the run was killed, or is not over"
    assert list(tree.lines(built(lambda sink: None, 3))) == [
        "no frames in this trace",
        "the run ended with exit status 3",
    ]
    assert next(tree.lines(built(), only=parse("unlike"))) == "no frames match in this trace"


def test_tree_only() -> None:
    lines = list(tree.lines(built(), only=parse("uniform_")))
    assert lines[0] == "script.py:2"
    assert lines[-1].strip().startswith("└─ [call] aten::uniform_ → CPU")


def test_json_has_a_line_a_hop() -> None:
    lines = [json.loads(line) for line in as_json.lines(built())]
    assert [line["op"] for line in lines] == [
        "aten::rand",
        "aten::rand",
        "aten::uniform_",
        "aten::mul.Tensor",
        "aten::mul.Tensor",
    ]
    assert lines[1]["keyset"] == {"raw": 0x10001, "keys": ["ADInplaceOrView", "CPU"]}
    assert lines[1]["depth"] == 1
    assert lines[1]["python"] == [["script.py", 2, "<module>"]]
    assert lines[2]["args"]["self"]["shape"] == [3, 4]


def test_colours_and_plain_text() -> None:
    trace = built()
    explanation = why(trace, trace.hops[0])
    for renderable, lines in (
        (tree.render(trace), tree.lines(trace)),
        (backtrace.render(trace.bt("rand")), backtrace.lines(trace.bt("rand"))),
        (why_report.render(explanation), why_report.lines(explanation)),
    ):
        coloured = printed(renderable, colour=True)
        assert "\x1b[" in coloured
        plain = printed(renderable, colour=False, width=400)
        assert "\x1b" not in plain
        for line in lines:
            assert " ".join(line.split()) in " ".join(plain.split())


def test_wide_lines_are_cut_in_a_tree_and_folded_in_a_backtrace() -> None:
    trace = built()
    for line in printed(tree.render(trace), colour=False, width=50).splitlines():
        assert len(line) <= 50
    folded = printed(backtrace.render(trace.bt("rand")), colour=False, width=50)
    assert all(len(line) <= 50 for line in folded.splitlines())
    assert "tensor_factories.py" in folded.replace("\n", "")


def test_deep_and_wide_traces_do_not_recurse() -> None:
    def drive(sink: Any) -> None:
        d = Driver(sink)
        for number in range(10_000):
            d.begin(f"f{number % 7}", "native", (), [])
        d.hop("call", "aten::x", "CPU", CPU_SET)
        while d.open:
            d.end()

    trace = built(drive)
    assert sum(1 for _ in tree.lines(trace)) == 10_001
    assert len(trace.bt("x").entries) == 10_000
    assert trace.dispatch_text() == " [call] op=[aten::x], key=[CPU]\n"
    assert trace.call_graph().number_of_nodes() == 7


def test_summary() -> None:
    assert list(summary.lines(built())) == [
        "script.py  on engine 2.1",
        "5 hops, 14 frames, 2 autograd nodes, 1 warnings, 2 threads, 27.0 µs",
        "ended with exit status 0",
        "",
        "  1  aten::mul.Tensor → AutogradCPU",
        "  1  aten::mul.Tensor → CPU",
        "  1  aten::rand → BackendSelect",
        "  1  aten::rand → CPU",
        "  1  aten::uniform_ → CPU",
    ]
    assert list(summary.lines(built(), most=2))[-1] == "  …  3 more pairs of operator and key"
    assert list(summary.lines(built(lambda sink: None, close=False)))[-1].startswith("truncated")
    assert "hops" in printed(summary.render(built()), colour=True)


def test_durations() -> None:
    shown = [duration(ns) for ns in (None, 0, 999, 1000, 12_340, 123_400, 999_600, 5_000_000, 2_500_000_000)]
    assert shown == ["", "0 ns", "999 ns", "1.0 µs", "12.3 µs", "123 µs", "1.0 ms", "5.0 ms", "2.50 s"]


def test_values_read_as_text() -> None:
    for value, text in (
        (None, "None"), (True, "True"), (2.5, "2.5"), ("a'b", '"a\'b"'), ([1, [2]], "[1, [2]]"),
        ({"$": 3, "dtype": "float32", "shape": [3, 4]}, "$3: f32[3, 4]"), ({"$": 3}, "$3: ?[]"),
        ({"$": 1, "dtype": "torch.bool", "shape": []}, "$1: b8[]"),
        ({"$": 1, "dtype": "quint8", "shape": [1]}, "$1: quint8[1]"),
        ({"repr": "torch.float32"}, "torch.float32"), ({"list": [1, 2], "len": 9}, "[1, 2, …]"),
        ({"str": "abc", "len": 9}, "'abc…'"), ({"dict": [["a", 1]]}, "{'a': 1}"),
        ({"dict": [["a", 1]], "len": 3}, "{'a': 1, …}"),
        ({"odd": 1}, "{odd: 1}"), ({"dict": 5}, "{dict: 5}"), ({"$": 1, "shape": 5}, "{$: 1, shape: 5}"), ({}, "{}"),
    ):  # fmt: skip
        assert values.text(value) == text


def test_encode() -> None:
    class Bad:
        def __repr__(self) -> str:
            raise RuntimeError

    class Tensor:
        pass

    def special(obj: Any) -> Any:
        return {"$": 7} if isinstance(obj, Tensor) else NotImplemented

    assert values.encode((1, [True, None], {"k": Tensor()}), special) == [1, [True, None], {"dict": [["k", {"$": 7}]]}]
    assert values.encode([0] * 20) == {"list": [0] * 16, "len": 20}
    assert values.encode({i: i for i in range(20)})["len"] == 20
    assert values.encode("x" * 300) == {"str": "x" * 200, "len": 300}
    assert values.encode(1j) == {"repr": "1j"}
    assert values.encode(float("nan")) == {"repr": "nan"}
    assert values.encode(1 << 10_000) == {"repr": "int of 10001 bits"}
    assert values.encode(Bad()) == {"repr": "<Bad whose repr raises RuntimeError>"}
    assert len(values.encode(range(10**300, 10**300 + 1))["repr"]) == 201
    deep: list[Any] = []
    deep.append(deep)
    assert values.text(values.encode(deep)).startswith("[[[[")
    assert values.tensor_numbers([{"$": 1}, {"list": [{"$": 2}], "len": 9}, {"dict": [["a", {"$": 3}]]}, "x"]) == [
        1,
        2,
        3,
    ]


def test_samples_are_the_article() -> None:
    assert built(rand).path("aten::rand") == ["BackendSelect", "CPU"]
    assert len(built(backward).nodes) == 2
