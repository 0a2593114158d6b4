"""Points, backtraces, paths, explanations and filters of a trace."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.traces.samples import CPU_SET, Driver, backward, built, rand
from traces import Frame, Hop, TraceError, dumps, loads
from traces.passes import filter as filters
from traces.passes.path import chain, landing
from traces.passes.select import point
from traces.passes.why import why
from traces.predicates import parse

RAND_BT = """\
#0  at::native::rand (size=[3, 4], dtype=None, layout=None, device=device(type='cpu'), pin_memory=False) at engine/aten/native/tensor_factories.py:41
#1  at::wrapper_CompositeExplicitAutograd__rand (size=[3, 4], dtype=None, layout=None, device=device(type='cpu'), pin_memory=False) at engine/register.py:10
#2  at::_ops::rand::redispatch (size=[3, 4], dtype=None, layout=None, device=device(type='cpu'), pin_memory=False) at engine/ops.py:55
      [redispatch] op=[aten::rand], key=[CPU] of (ADInplaceOrView, CPU), kernel at::wrapper_CompositeExplicitAutograd__rand [default backend kernel]
#3  at::(backend select)::rand (size=[3, 4], dtype=None, layout=None, device=None, pin_memory=None) at engine/backend_select.py:9
      the BackendSelect kernel
#4  at::_ops::rand::call (size=[3, 4], dtype=None, layout=None, device=None, pin_memory=None) at engine/ops.py:44
      [call] op=[aten::rand], key=[BackendSelect] of (BackendSelect, ADInplaceOrView), kernel at::rand [kernel]
#5  at::rand (size=[3, 4], options=TensorOptions()) at engine/at.py:8
#6  torch::rand (size=[3, 4], options=TensorOptions()) at engine/torch/variable_factories.py:22
      guard at::AutoDispatchBelowADInplaceOrView
#7  torch::autograd::THPVariable_rand (self_=None, args=[3, 4], kwargs=None) at engine/torch/python_bindings.py:31
      case 2: rand(SymInt[] size, *, Tensor out=None, ScalarType? dtype=None)
#8  <module> () at script.py:2"""  # noqa: E501 (as gdb prints it)


def test_backtrace_of_a_call_reaches_the_kernel() -> None:
    trace = built()
    for at in (None, "rand", "aten::rand", parse("op=rand")):
        assert str(trace.bt(at)) == RAND_BT
    assert [frame.name for frame in trace.bt("rand").frames][:2] == [
        "at::native::rand",
        "at::wrapper_CompositeExplicitAutograd__rand",
    ]


def test_backtrace_of_a_particular_hop_begins_there() -> None:
    trace = built()
    for at in ("key=CPU", "hop=1", "rand and kind=redispatch"):
        assert trace.bt(at).lines()[0].startswith("#0  at::_ops::rand::redispatch (")
        assert trace.bt(at).lines()[0].endswith(" at engine/ops.py:50")
    assert trace.bt("kind=call").lines()[0].startswith("#0  at::_ops::rand::call (")
    assert trace.bt("torch::rand").lines()[0] == (
        "#0  torch::rand (size=[3, 4], options=TensorOptions()) at engine/torch/variable_factories.py:20"
    )


def test_numbers_line_up_and_two_digits_too() -> None:
    def deep(sink: Any) -> None:
        d = Driver(sink)
        for number in range(12):
            d.begin(f"f{number}", "native", (), [], python=(("s.py", 1, "<module>"),) if not number else ())
        d.hop("call", "aten::x", "CPU", CPU_SET)

    lines = [line for line in built(deep).bt("x").lines() if line.startswith("#")]
    assert lines[0].startswith("#0  f11 ()")
    assert lines[10].startswith("#10 f1 ()")
    assert lines[12] == "#12 <module> () at s.py:1"


def test_source_line_is_shown_while_it_is_the_one_that_ran(tmp_path: Path) -> None:
    script = tmp_path / "net.py"
    script.write_text("import torch\n    x = torch.rand(1)\n")

    def drive(sink: Any) -> None:
        d = Driver(sink)
        d.begin("f", "python", (), [], python=((str(script), 2, "step"), (str(script), 99, "<module>")))

    trace = built(drive)
    trace.header["time"] = "2999-01-01T00:00:00Z"  # type: ignore[index]
    assert trace.bt("f").lines()[1:] == [
        "      had not returned when the trace ends",
        f"#1  step () at {script}:2",
        "      2\tx = torch.rand(1)",
        f"#2  <module> () at {script}:99",
    ]
    trace.header["time"] = "2001-01-01T00:00:00Z"  # type: ignore[index]
    assert not any("\t" in line for line in trace.bt("f").lines())


def test_python_frames_between_frames() -> None:
    """A user's Python kernel that calls an operator stands between the two."""

    def drive(sink: Any) -> None:
        d = Driver(sink)
        d.begin("outer", "python", (), [], python=(("s.py", 9, "step"), ("s.py", 20, "<module>")))
        d.begin(
            "inner", "python", (), [], python=(("k.py", 3, "kernel"), ("s.py", 9, "step"), ("s.py", 20, "<module>"))
        )
        d.end()
        d.end()

    lines = built(drive).bt("inner").lines()
    assert lines == [
        "#0  inner ()",
        "#1  kernel () at k.py:3",
        "#2  outer ()",
        "#3  step () at s.py:9",
        "#4  <module> () at s.py:20",
    ]


def test_without_at_a_run_that_died_shows_where() -> None:
    cut = built(lambda sink: rand(sink, upto=0), close=False)
    assert cut.truncated
    lines = cut.bt().lines()
    assert lines[0].startswith("#0  at::native::rand")
    assert lines[1] == "      had not returned when the trace ends"
    assert sum("had not returned" in line for line in lines) == 1

    def raising(sink: Any) -> None:
        d = rand(sink, upto=0)
        for _ in range(len(d.open) - 1):
            d.fail("RuntimeError", "shape '[5]' is invalid\nmore of it")
        d.fail("RuntimeError", "shape '[5]' is invalid\nmore of it")

    died = built(raising, 1, ("RuntimeError", "shape '[5]' is invalid\nmore of it"))
    assert died.bt().lines()[:2] == [RAND_BT.splitlines()[0], "      raised RuntimeError: shape '[5]' is invalid"]
    elsewhere = built(backward, 1, ("ValueError", "of the script's own"))
    assert elsewhere.bt().point == elsewhere.hops[-1]
    assert built(backward, 3).bt().point == elsewhere.hops[0]


@pytest.mark.parametrize(
    ("at", "nth", "message"),
    [
        ("aten::rnd", 1, r"nothing in the trace matches 'aten::rnd'; did you mean 'aten::rand'\?"),
        ("unlike", 1, r"nothing in the trace matches 'unlike'; it has aten::rand, aten::uniform_, aten::mul.Tensor$"),
        ("key=CUDA", 1, r"nothing in the trace matches 'key=CUDA'; it has BackendSelect, CPU, AutogradCPU$"),
        ("rand", 3, r"'rand' matches once in the trace, there is no match 3"),
        ("not rand", 9, r"'not rand' matches 3 times in the trace, there is no match 9"),
        ("rand", 0, r"the first match is number 1, there is no match 0"),
        (None, 9, r"the trace has 5 hops, there is no hop number 9"),
    ],
)
def test_no_such_point(at: str | None, nth: int, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        point(built(), at, nth)


def test_no_point_in_an_empty_trace() -> None:
    with pytest.raises(TraceError, match="the trace has no hops"):
        built(lambda sink: None).bt()
    with pytest.raises(TraceError, match="nothing in the trace matches 'x'; it has no hops"):
        built(lambda sink: None).bt("x")


def test_path_chain_and_landing() -> None:
    trace = built()
    assert trace.path("aten::rand") == ["BackendSelect", "CPU"]
    assert trace.path("rand") == ["BackendSelect", "CPU"]
    assert trace.path("aten::mul.Tensor", 2) == ["CPU"]
    assert trace.path("aten::mul") == ["AutogradCPU"]
    assert [hop.id for hop in chain(trace, trace.hops[0])] == [0, 1]
    assert landing(trace, trace.hops[0]).name == "at::native::rand"
    assert landing(trace, trace.hops[3]).name == "torch::autograd::VariableType::mul_Tensor"
    with pytest.raises(TraceError, match=r"aten::randn was not called in this trace; did you mean 'aten::rand'\?"):
        trace.path("aten::randn")
    with pytest.raises(TraceError, match="aten::rand was called once in this trace, there is no call 2"):
        trace.path("aten::rand", 2)


def test_a_nested_call_of_the_same_operator_is_another_dispatch() -> None:
    def drive(sink: Any) -> None:
        d = Driver(sink)
        d.begin("at::_ops::mul::call", "ops", (), [])
        d.hop("call", "aten::mul", "AutogradCPU", CPU_SET)
        d.begin("VariableType::mul", "autograd", (), [])
        d.begin("at::_ops::mul::call", "ops", (), [])
        d.hop("call", "aten::mul", "CPU", CPU_SET)

    assert built(drive).path("aten::mul") == ["AutogradCPU"]


def test_why_of_a_call() -> None:
    trace = built()
    explanation = why(trace, trace.hops[0])
    assert explanation.title == "aten::rand [call] went to BackendSelect"
    assert explanation.words == (
        "Key BackendSelect won because it has the highest priority of the keys in the set, before ADInplaceOrView.",
        "No tensor argument brought a key.",
        "The thread-local state included BackendSelect and ADInplaceOrView (among them the winner).",
        "The thread-local state excluded AutogradCPU and AutocastCPU, none of which an argument brought.",
        "at::rand, registered at engine/backend_select.py:5, is in the operator's table under BackendSelect: "
        "it was registered for BackendSelect itself.",
    )
    assert dict(explanation.table)["registered"] == "at engine/backend_select.py:5"
    assert dict(explanation.table)["merged"] == "BackendSelect, ADInplaceOrView  (0x41)"


def test_why_of_a_redispatch() -> None:
    trace = built()
    words = why(trace, trace.hops[1]).words
    assert words[0] == "Key CPU won because it is the only key left in the set."
    assert words[1].startswith("A redispatch takes the key set that the kernel above handed on (ADInplaceOrView, CPU)")
    assert words[2] == (
        "ADInplaceOrView has a higher priority but falls through for this operator, so it was passed over."
    )
    assert "CompositeExplicitAutograd kernel serves all" in words[3]


def test_why_names_arguments_and_what_was_masked() -> None:
    def drive(sink: Any) -> None:
        d = Driver(sink)
        d.begin("at::_ops::add::call", "ops", (), [])
        d.hop(
            "callBoxed", "aten::add", "CPU", (1, ("CPU",)), arg_keysets=(("self", ("AutogradCPU", "CPU")),
            ("other", ())),
            tls_exclude=("AutogradCPU",), reason="[backend fallback]", kernel="", derived=True,
        )  # fmt: skip
        d.hop("call", "aten::add", "Undefined", (0, ()))
        d.hop("call", "aten::add", "Weird", (1, ("CPU",)), reason="[new reason]")

    trace = built(drive)
    first, second, third = (why(trace, hop).words for hop in trace.hops)
    assert "Argument self brought AutogradCPU and CPU (among them the winner)." in first
    assert not any("other" in words.split() for words in first)
    assert "The thread-local state excluded AutogradCPU, which took AutogradCPU out of the set." in first
    assert any("the fallback of CPU stands in" in words and "(boxed)" in words for words in first)
    assert first[-1].startswith("This step was not observed")
    assert second[0].startswith("Key Undefined won because the key set was empty")
    assert third[0].startswith("Key Weird won: no key of the set (CPU)")
    assert "[new reason]" in third[-1]


def test_only_keeps_what_matches_and_the_way_to_it() -> None:
    trace = built()
    kept = filters.only(trace, parse("rand"))
    assert [hop.op for hop in kept.hops] == ["aten::rand", "aten::rand"]
    assert [frame.id for frame in kept.frames] == list(range(8))
    assert kept.frames == trace.frames[:8]
    assert not kept.nodes or all(node.created_by is None for node in kept.nodes)
    inner = filters.only(trace, parse("uniform_"))
    assert inner.dispatch_text() == " [call] op=[aten::uniform_], key=[CPU]\n"
    assert [frame.id for frame in inner.frames] == list(range(9))
    assert str(inner.bt("uniform_")).splitlines()[-1] == "#9  <module> () at script.py:2"
    assert len(filters.only(trace, parse("nothing")).frames) == 0
    everything = filters.only(trace, parse("key=CPU or not key=CPU"))
    assert everything == trace
    for some in (kept, inner):
        assert loads(dumps(some)) == some
        assert filters.only(loads(dumps(trace)), parse("uniform_")) == inner


def test_depth() -> None:
    trace = built()
    assert [frame.id for frame in filters.depth(trace, 1).frames] == [0, 9, 12]
    assert filters.depth(trace, 4).dispatch_text() == (
        " [call] op=[aten::rand], key=[BackendSelect]\n"
        " [call] op=[aten::mul.Tensor], key=[AutogradCPU]\n"
        " [call] op=[aten::mul.Tensor], key=[CPU]\n"
    )
    assert filters.depth(trace, 99) == trace


def test_lookups() -> None:
    trace = loads(dumps(built()))
    assert [frame.name for frame in trace.children(None)] == [
        "torch::autograd::THPVariable_rand", "torch::autograd::THPVariable_mul", "MulBackward0::apply",
    ]  # fmt: skip
    assert [frame.id for frame in trace.children(0)] == [1]
    assert [frame.id for frame in trace.ancestors(3)] == [3, 2, 1, 0]
    assert trace.hop_of(3) == trace.hops[0]
    assert trace.hop_of(2) is None
    assert trace.enclosing_hop(4) == trace.hops[0]
    assert trace.enclosing_hop(0) is None
    assert trace.depth(2) == 2
    assert trace.node(1).variable == 1
    assert trace.node(0).ran_in == (12,)
    assert isinstance(trace.frame(0), Frame)
    assert isinstance(trace.hop(0), Hop)
    for missing in (lambda: trace.frame(99), lambda: trace.hop(-1), lambda: trace.node(7)):
        with pytest.raises(TraceError, match=r"^no .* in this trace"):
            missing()
    assert trace.frames[-1] == trace.frames[len(trace.frames) - 1]
    assert trace.frames[1:3] == [trace.frame(1), trace.frame(2)]
    with pytest.raises(IndexError):
        trace.frames[99]
    assert "5 hops, 14 frames, exit 0" in repr(trace)


def test_a_growing_trace_is_seen_as_it_grows() -> None:
    from traces import TraceBuilder

    builder = TraceBuilder()
    trace = builder.trace
    assert len(trace.hops) == 0
    d = rand(builder, upto=0)
    assert len(trace.hops) == 2
    assert trace.children(None)[0].end_ns is None
    assert trace.path("rand") == ["BackendSelect", "CPU"]
    while d.open:
        d.end(1)
    assert trace.children(None)[0].result == 1
    assert trace.truncated
    builder.close(0)
    assert not trace.truncated


def test_a_backtrace_is_a_sequence_of_entries() -> None:
    bt = built().bt("rand")
    assert len(bt) == len(bt.entries)
    assert bt[0] is bt.entries[0]
    assert bt[:2] == bt.entries[:2]
    assert list(bt) == list(bt.entries)
