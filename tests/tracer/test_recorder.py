"""The engine's recorder, driven through the doors by functions of our own."""

from __future__ import annotations

import gc
import os
import threading
import warnings
import weakref
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from engine import doors
from engine.aten.core.tensor import Tensor, empty_tensor
from engine.c10 import scalar_type
from engine.c10.device import Device
from engine.c10.layout import strided
from tracer.record import record
from tracer.targets import engine as target
from tracer.targets.values import Values, key_names
from traces import Frame, Trace, TraceBuilder
from traces.io.text import decode

HERE = os.path.relpath(__file__)


def tensor(*sizes: int) -> Tensor:
    strides: list[int] = []
    step = 1
    for size in reversed(sizes):
        strides.insert(0, step)
        step *= size
    return empty_tensor(sizes, tuple(strides), scalar_type.Float, Device("cpu"), 0x10001)


@doors.frame("at::native::inner")
def inner(x: Any, y: Any = None) -> Any:
    return x


@doors.frame("at::native::outer")
def outer(x: Any, fn: Callable[..., Any] = inner) -> Any:
    unused = 1
    return fn(x, unused)


@doors.frame("at::native::fails")
def fails(text: str) -> None:
    raise ValueError(text)


@pytest.fixture(autouse=True)
def nobody_listens() -> Iterator[None]:
    assert doors.listener is None
    yield
    assert doors.listener is None


def frames(call: Callable[[], Any]) -> list[Frame]:
    with record() as trace:
        call()
    return list(trace.frames)


def test_frames_nest_and_carry_arguments_and_results() -> None:
    t = tensor(2, 3)
    first, second = frames(lambda: outer(t))
    assert (first.site.name, first.parent, first.thread) == ("at::native::outer", None, 1)
    assert (second.site.name, second.parent) == ("at::native::inner", first.id)
    assert first.args[0] == {
        "$": 1,
        "dtype": "float32",
        "shape": [2, 3],
        "strides": [3, 1],
        "device": "cpu",
        "requires_grad": False,
    }
    assert second.args == (first.args[0], 1)
    assert first.result == first.args[0]
    assert first.end_ns is not None and second.end_ns is not None
    assert first.start_ns <= second.start_ns <= second.end_ns <= first.end_ns


def test_the_line_is_where_the_parent_stands() -> None:
    _, second = frames(lambda: outer(tensor(1)))
    with open(__file__, encoding="utf-8") as file:
        lines = file.read().splitlines()
    assert second.line is not None
    assert "return fn(x, unused)" in lines[second.line - 1]


def test_the_python_stack_is_the_users() -> None:
    def helper() -> None:
        outer(tensor(1))

    first, second = frames(helper)
    assert [entry.function.rpartition(".")[2] for entry in first.python][:2] == ["helper", "frames"]
    assert first.python[0].file == HERE
    assert not any("tracer" in entry.file and "tests" not in entry.file for entry in first.python)
    assert not any("_pytest" in entry.file or "pluggy" in entry.file for entry in first.python)
    assert second.python == ()  # nothing of the user's lies between the two


def test_the_users_code_between_two_frames(tmp_path: Any) -> None:
    def hook(x: Any, y: Any) -> None:
        def deeper() -> None:
            inner(x)

        deeper()

    first, second = frames(lambda: outer(1, hook))
    names = [entry.function.rpartition(".")[2] for entry in second.python]
    assert names[:2] == ["deeper", "hook"]
    assert second.python[2:] == first.python


def test_an_exception_ends_the_frame_and_goes_on() -> None:
    def run() -> None:
        with pytest.raises(ValueError, match="no"):
            fails("no")
        inner(1)

    first, second = frames(run)
    assert first.error == ("ValueError", "no")
    assert second.parent is None


def test_frames_left_without_notice_are_closed() -> None:
    a = doors.site_of(inner.__wrapped__, "a", "native")  # type: ignore[attr-defined]
    b = doors.site_of(inner.__wrapped__, "b", "native")  # type: ignore[attr-defined]
    with record() as trace:
        door = doors.listener
        assert door is not None
        door.leave(a, None)  # entered before the recording began
        door.enter(a, ())
        door.enter(b, ())
        door.leave(a, None)  # b's end was not announced
        door.enter(b, ())
        door.leave(b, None)
    assert [(f.site.name, f.parent, f.error and f.error[0]) for f in trace.frames] == [
        ("a", None, None),
        ("b", 0, "left unseen"),
        ("b", None, None),
    ]
    assert all(f.end_ns is not None for f in trace.frames)


def test_a_frame_is_left_by_the_python_frame_that_announced_it() -> None:
    site = doors.site_of(inner.__wrapped__, "a", "native")  # type: ignore[attr-defined]

    def announce(depth: int, lose_end: bool) -> None:
        door = doors.listener
        assert door is not None
        if depth != 1:  # the beginning of that one is missed
            door.enter(site, (depth,))
        if depth < 2:
            announce(depth + 1, lose_end)
        if depth != 2 or not lose_end:
            door.leave(site, depth)

    with record() as trace:
        announce(0, False)
        announce(0, True)
        inner(3)
    assert [(f.name, f.args, f.parent, f.result, f.error and f.error[0]) for f in trace.frames] == [
        ("a", (0,), None, 0, None),
        ("a", (2,), 0, 2, None),
        ("a", (0,), None, 0, None),
        ("a", (2,), 2, None, "left unseen"),
        ("at::native::inner", (3,), None, 3, None),
    ]


RECURSION = """
import torch
def deep(n):
    if n > 700:  # what matters happens near the limit
        torch.ones(1, requires_grad=True).sum()
    return deep(n + 1)
for _ in range(2):
    try:
        deep(0)
    except RecursionError:
        pass
def shallow(pad):
    return torch.ones(2, requires_grad=True).mean() if not pad else shallow(pad - 1)
for pad in range(700, 1000, 11):
    try:
        shallow(pad)
    except RecursionError:
        pass
torch.zeros(3)
"""


@pytest.mark.parametrize("where", ["memory", "file", "gz", "only", "two"])
def test_a_recursion_error_of_the_program(where: str, tmp_path: Path) -> None:
    from engine import torch

    path = {"file": tmp_path / "r.trace", "gz": tmp_path / "r.trace.gz"}.get(where)
    code = compile(RECURSION.replace("import torch", ""), "<deep>", "exec")
    with warnings.catch_warnings(), record(path=path, only="not op=aten::nosuch" if where == "only" else None) as trace:
        warnings.simplefilter("error")
        if where == "two":
            with record():
                exec(code, {"torch": torch})
        else:
            exec(code, {"torch": torch})
    found = trace.trace
    assert trace.path("aten::zeros") == ["BackendSelect", "CPU"]
    assert found.frames[-1].end_ns is not None
    zeros = [frame for frame in found.frames if frame.name == "torch::autograd::THPVariable_zeros"]
    assert [frame.parent for frame in zeros] == [None]
    assert dict(zeros[0].details)["case"] is not None
    assert all(frame.end_ns is not None for frame in found.frames)
    for frame in found.frames:
        hops = found.hops_of(frame.id)
        assert len(hops) <= 1
        if hops:
            assert frame.layer == "ops"
            assert frame.name.rpartition("::")[0] == "at::_ops::" + hops[0].op.removeprefix("aten::").replace(".", "_")
        if frame.parent is not None:
            outer = found.frame(frame.parent)
            assert outer.start_ns <= frame.start_ns
            assert outer.end_ns is not None
            assert frame.end_ns is not None
            assert frame.end_ns <= outer.end_ns


def test_details_go_to_the_innermost_frame() -> None:
    def tell(x: Any, y: Any) -> None:
        door = doors.listener
        assert door is not None
        door.detail("case", 2)

    first = frames(lambda: outer(1, tell))[0]
    assert dict(first.details) == {"case": 2}


def test_tensors_are_numbered_in_order_of_appearance_in_each_trace() -> None:
    a, b = tensor(1), tensor(1)
    for first, second in ((a, b), (b, a)):
        with record() as trace:
            inner(first, second)
            inner(second)
        numbers = [[arg["$"] for arg in frame.args] for frame in trace.frames]  # type: ignore[index, call-overload]
        assert numbers == [[1, 2], [2]]


def test_a_tensor_whose_sizes_are_a_list() -> None:
    t = tensor(2)
    t._sizes, t._strides = [2], [1]  # type: ignore[assignment]
    assert decoded(t)["shape"] == [2]


def test_nothing_is_kept_alive() -> None:
    class Thing:
        pass

    t, thing = tensor(4), Thing()
    gone = [weakref.ref(t), weakref.ref(thing)]
    with record() as trace:
        outer(t)
        inner(thing, [t, {"x": t}])
        del t, thing
        gc.collect()
        assert [ref() for ref in gone] == [None, None]
    assert len(trace.frames) == 3


def decoded(value: Any) -> Any:
    """What a trace will say of a value."""
    return decode(Values()(value))


def test_values() -> None:
    values = decoded
    assert values(float("nan")) == {"repr": "nan"}
    assert values(2**70) == {"repr": str(2**70)}
    assert values([True, None, "a", 1.5, 3]) == [True, None, "a", 1.5, 3]
    assert values(list(range(100))) == {"list": list(range(16)), "len": 100}
    assert values("x" * 500) == {"str": "x" * 200, "len": 500}
    assert values(1j) == {"repr": "1j"}
    assert values(scalar_type.Float) == {"repr": "torch.float32"}
    assert values(strided) == {"repr": "torch.strided"}
    assert values(Device("cpu")) == {"repr": "cpu"}
    assert values({"a": (1, 2)}) == {"dict": [["a", [1, 2]]]}
    assert values(len) == {"repr": "<function len>"}
    assert values(int) == {"repr": "<class 'builtins.int'>"}
    assert values(os) == {"repr": "<module 'os'>"}


def test_nested_values_stay_small() -> None:
    values = decoded
    deep: list[Any] = []
    deep.append(deep)
    assert len(str(values(deep))) < 200
    wide = [[[[[0] * 100] * 100] * 100] * 100] * 100
    assert len(str(values(wide))) < 100_000
    assert values([[1, 2], [3, [4]]]) == [[1, 2], [3, [4]]]


def test_no_code_of_the_program_runs() -> None:
    def never(*_: Any) -> Any:
        raise AssertionError("code of the program was run")

    words = "repr str len iter getitem int index float eq format bool"
    space = {f"__{word}__": never for word in words.split()}
    values = Values()
    for base in (object, int, float, str, list, dict, tuple):
        thing = type("Thing", (base,), dict(space, __hash__=base.__hash__))()
        values(thing)
    error = type("Bad", (Exception,), {"__str__": never, "__repr__": never})("text", object())
    assert target.error_text(error) == "text"


def test_a_key_set_reads_highest_priority_first() -> None:
    from engine.c10.dispatch_key import DispatchKey
    from engine.c10.dispatch_key_set import DispatchKeySet

    keys = DispatchKeySet([DispatchKey.CPU, DispatchKey.AutogradCPU, DispatchKey.ADInplaceOrView])
    assert key_names(keys.raw_repr()) == ("AutogradCPU", "ADInplaceOrView", "CPU")


def test_threads_have_numbers_and_stacks_of_their_own() -> None:
    barrier = threading.Barrier(2)

    def meet(x: Any, y: Any) -> None:
        barrier.wait(5)
        inner(x)
        barrier.wait(5)

    def work(x: int) -> None:
        outer(x, meet)

    with record() as trace:
        other = threading.Thread(target=work, args=(2,))
        other.start()
        work(1)
        other.join()
    assert {frame.thread for frame in trace.frames} == {1, 2}
    for frame in trace.frames:
        if frame.parent is not None:
            parent = trace.trace.frame(frame.parent)
            assert parent.thread == frame.thread
            assert parent.args[0] == frame.args[0]


def test_recordings_nest() -> None:
    with record() as whole:
        inner(1)
        with record() as part:
            outer(2)
        inner(3)
    assert [frame.args[0] for frame in whole.frames] == [1, 2, 2, 3]
    assert [frame.args[0] for frame in part.frames] == [2, 2]
    assert [frame.line for frame in part.frames] == [frame.line for frame in whole.frames][1:3]


def test_a_recorder_that_fails_is_let_go_with_a_warning(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("disk full")

    with record():
        monkeypatch.setattr(target._active[0].sink, "begin", broken)
        with pytest.warns(RuntimeWarning, match="disk full"):
            assert outer(3) == 3
        assert outer(4) == 4


def test_one_of_two_recorders_may_fail(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise RuntimeError("disk full")

    with record() as good, record():
        monkeypatch.setattr(target._active[1].sink, "begin", broken)
        with pytest.warns(RuntimeWarning, match="disk full"):
            inner(1)
        inner(2)
    assert [frame.args[0] for frame in good.frames] == [1, 2]


def test_a_recording_can_be_read_while_it_grows() -> None:
    with record() as trace:
        inner(1)
        assert len(trace.frames) == 1
        inner(2)
        assert len(trace.frames) == 2
        assert trace.trace.truncated
    assert not trace.trace.truncated


def test_a_block_that_fails_is_recorded_so() -> None:
    with pytest.raises(ValueError, match="no"), record() as trace:
        inner(1)
        fails("no")
    assert trace.trace.error == ("ValueError", "no")
    assert trace.trace.exit_status == 1


def test_recording_to_a_file(tmp_path: Any) -> None:
    from traces import load

    path = tmp_path / "block.trace"
    with record(path=path) as trace:
        outer(tensor(2))
    loaded: Trace = load(path)
    assert loaded == trace.trace
    assert [frame.site.name for frame in loaded.frames] == ["at::native::outer", "at::native::inner"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_forked_child_is_not_recorded() -> None:
    with record() as trace:
        inner(1)
        pid = os.fork()
        if pid == 0:
            inner(2)
            os._exit(0 if doors.listener is None else 1)
        _, status = os.waitpid(pid, 0)
        inner(3)
    assert os.waitstatus_to_exitcode(status) == 0
    assert [frame.args[0] for frame in trace.frames] == [1, 3]


def test_an_unknown_target_is_one_sentence() -> None:
    from tracer.errors import TracerError

    with pytest.raises(TracerError, match=r"unknown target 'engin' \(did you mean 'engine'\?\)"), record(on="engin"):
        pass
    with pytest.raises(TracerError, match="'gdb' is not built in yet"), record(on="gdb"):
        pass


def test_sites_are_told_once() -> None:
    sink = TraceBuilder({})
    recorder = target.EngineTarget().record(sink)
    for _ in range(3):
        outer(1)
    assert recorder.stop()
    assert len(sink.trace.frames) == 6
    assert len({id(frame.site) for frame in sink.trace.frames}) == 2
