"""The trace file: what is written is read back, whatever happens to the writer; what is damaged is refused."""

from __future__ import annotations

import gzip
import io
import json
import os
import random
import signal
import subprocess
import sys
import textwrap
import threading
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import traces
from tests.traces.samples import HEADER, Driver, backward, built, rand, tensor
from traces import Trace, TraceBuilder, TraceError, Writer, dumps, load, loads

ROOT = Path(__file__).parents[2]
PATHS = {**os.environ, "PYTHONPATH": str(ROOT)}

# ---- round trip ----------------------------------------------------------------------------------------------------

texts = st.text(max_size=8)
names = st.sampled_from(["at::native::rand", "torch::rand", "aten::add", "", 'ü\n"$":3', "[0,1]", "\ud800"])
plain = st.one_of(st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), texts)
tensors = st.builds(
    lambda number, shape, more: {"$": number, "dtype": "float32", "shape": shape, **more},
    st.integers(0, 10**20),
    st.lists(st.integers(0, 9), max_size=3),
    st.dictionaries(st.sampled_from(["version", "storage", "offset", "view_of", "requires_grad"]), plain, max_size=2),
)
values = st.recursive(
    st.one_of(plain, tensors, st.builds(lambda text: {"repr": text}, texts)),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.builds(lambda items: {"list": items, "len": 99}, st.lists(inner, max_size=2)),
        st.dictionaries(st.one_of(texts, st.sampled_from(["$", "version", '"$":', "{"])), inner, max_size=2),
    ),
    max_leaves=6,
)
keys = st.lists(st.sampled_from(["CPU", "AutogradCPU", "BackendSelect", "x"]), max_size=3).map(tuple)
events = st.lists(
    st.tuples(
        st.sampled_from(["begin", "begin", "begin", "end", "fail", "hop", "hop", "detail", "node", "ran", "warning"]),
        st.integers(0, 2**16),
        values,
        names,
        keys,
    ),
    max_size=25,
)


def play(sink: Any, script: list[Any], thread_count: int, skip: int) -> None:
    """Drive a sink by a list of arbitrary events; ids leave gaps when ``skip`` is not 1."""
    open_frames: list[int] = []
    begun: list[int] = []
    nodes: list[int] = []
    hops = 0
    time = 0
    for kind, number, value, name, some in script:
        time += number - 2**14
        if kind == "begin":
            parent = open_frames[-1 - number % 2] if len(open_frames) > 1 else (open_frames or [None])[-1]
            python = [(name, number % 5, "f"), ("s.py", 1, "<module>")] if number % 3 == 0 else []
            key = sink.site(name, "native", ("a", "b"), "file.py", number % 4, name if number % 2 else None)
            frame = len(begun) * skip
            sink.begin(
                frame, parent, 1 + number % thread_count, key, [value, number], time, number % 7 or None, python,
                number % 11 == 0,
            )  # fmt: skip
            begun.append(frame)
            open_frames.append(frame)
        elif not begun:
            continue
        elif kind in ("end", "fail") and open_frames:
            frame = open_frames.pop(-1 - (number % 2 if len(open_frames) > 1 else 0))
            if kind == "end":
                sink.end(frame, time, value)
            else:
                sink.fail(frame, time, "RuntimeError", name)
        elif kind == "hop":
            sink.hop(
                hops * skip, begun[number % len(begun)], kind="call", op=name, keyset=(number, some), key="CPU",
                kernel=name, arg_keysets=[("self", some)], tls_include=some, fallthrough=list(some),
                derived=number % 5 == 0,
            )  # fmt: skip
            hops += 1
        elif kind == "detail":
            sink.detail(begun[number % len(begun)], name, value)
        elif kind == "node":
            node = len(nodes) * skip
            made = begun[number % len(begun)] if number % 2 else None
            sink.node(node, name, number, ((None, 0), (node, number % 3)), {"self": value}, made, number % 4 or None)
            nodes.append(node)
        elif kind == "ran" and nodes:
            sink.node_ran(nodes[number % len(nodes)], begun[number % len(begun)])
        elif kind == "warning":
            sink.warning("UserWarning", name, begun[number % len(begun)] if number % 2 else None)


@settings(deadline=None, max_examples=100)
@given(events, st.integers(1, 3), st.sampled_from([1, 1, 3]), st.booleans())
def test_round_trip(script: list[Any], threads: int, skip: int, close: bool) -> None:
    builder = TraceBuilder(HEADER)
    buffer = io.BytesIO()
    writer = Writer(buffer, HEADER, exact=True)
    for sink in (builder, writer):
        play(sink, script, threads, skip)
    if close:
        for sink in (builder, writer):
            sink.close(3, ("ValueError", "x"))
    else:
        writer.abandon()
    written = loads(buffer.getvalue())
    assert written == builder.trace
    assert loads(dumps(written)) == written
    assert loads(dumps(builder.trace)) == written
    assert written.truncated is not close


def test_save_and_load(tmp_path: Path) -> None:
    trace = built()
    for name in ("a.trace", "a.trace.gz"):
        trace.save(tmp_path / name)
        assert load(tmp_path / name) == trace
    assert (tmp_path / "a.trace.gz").read_bytes()[:2] == b"\x1f\x8b"
    assert gzip.decompress((tmp_path / "a.trace.gz").read_bytes()) == (tmp_path / "a.trace").read_bytes()
    (tmp_path / "renamed.trace").write_bytes((tmp_path / "a.trace.gz").read_bytes())
    assert load(tmp_path / "renamed.trace") == trace


def test_values_that_json_does_not_know() -> None:
    def drive(sink: Any) -> None:
        d = Driver(sink)
        d.begin("f", "native", (), [float("nan"), float("-inf"), (1, 2), object, {"$": 1, "x": {1, 2}}])
        d.end()

    args = loads(dumps(built(drive))).frames[0].args
    assert args[:3] == ({"repr": "nan"}, {"repr": "-inf"}, [1, 2])
    assert args[3] == {"repr": "<class 'object'>"}
    assert args[4] == {"$": 1, "x": {"repr": "{1, 2}"}}


def test_repeated_things_are_written_once() -> None:
    def drive(sink: Any) -> None:
        d = Driver(sink)
        for number in range(50):
            d.begin("torch::rand", "torch", ("size",), [tensor(number, [3, 4])], ("engine/file.py", 3))
            d.hop("call", "aten::rand", "CPU", (5, ("CPU", "AutogradCPU")), kernel="at::k")
            d.end(tensor(number, [3, 4]))

    text = dumps(built(drive)).decode()
    for once in ("torch::rand", "engine/file.py", "aten::rand", "AutogradCPU", "float32"):
        assert text.count(once) == 1, once
    assert len(text.splitlines()) < 50 * 3 + 12


@pytest.mark.parametrize("seed", range(5))
def test_times_are_rounded_and_errors_do_not_add_up(seed: int) -> None:
    dice = random.Random(seed)
    buffer = io.BytesIO()
    writer = Writer(buffer, HEADER)
    key = writer.site("f", "native")
    times = [0]
    for number in range(300):
        writer.begin(number, None, 1, key, [], times[-1])
        times.append(times[-1] + dice.choice((0, 7, 99, 100, 999, 12_345, 87_654, 1_999_999)) + dice.randrange(50))
        writer.end(number, times[-1])
    writer.close(0)
    frames = loads(buffer.getvalue()).frames
    assert [frame.start_ns for frame in frames[1:]] == [frame.end_ns for frame in frames[:-1]]
    for frame, start, end in zip(frames, times, times[1:], strict=False):
        step = end - start
        assert frame.duration_ns is not None
        assert frame.duration_ns >= 0
        assert abs(frame.duration_ns - step) <= step / 10
        assert abs(frame.start_ns - start) <= 200_000


def test_forgetting_values_keeps_the_file_right(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("traces.io.scribe.MAX_INTERNED", 4)

    def drive(sink: Any) -> None:
        d = Driver(sink)
        for number in range(40):
            d.begin("f", "native", (), [float(number % 7), "x" * (number % 5)])
            d.end(number)

    trace = built(drive)
    assert loads(dumps(trace)) == trace


# ---- whatever happens to the writer --------------------------------------------------------------------------------


def written(compressed: bool = False) -> bytes:
    data = dumps(built())
    return gzip.compress(data) if compressed else data


def test_cut_at_every_byte() -> None:
    data = written()
    whole = loads(data)
    header = data.index(b"\n")
    hops = 0
    for length in range(len(data)):
        if length < header:
            with pytest.raises(TraceError, match=r"^cut\.trace:1: "):
                loads(data[:length], "cut.trace")
            continue
        trace = loads(data[:length], "cut.trace")
        assert trace.truncated or length == len(data) - 1
        assert hops <= len(trace.hops) <= len(whole.hops)
        hops = len(trace.hops)
        assert list(trace.hops) == whole.hops[:hops]
        if trace.frames:
            assert str(trace.bt())
    assert hops == len(whole.hops)


def test_cut_gzip_at_every_byte(tmp_path: Path) -> None:
    path = tmp_path / "a.trace.gz"
    writer = Writer(path, HEADER)
    sizes = []
    original = writer._out._put

    def put(data: bytes) -> None:
        original(data)
        sizes.append(path.stat().st_size)

    writer._out._put = put  # type: ignore[method-assign]
    backward(writer)
    writer.close(0)
    data = path.read_bytes()
    whole = load(path)
    for length in range(1, len(data)):
        try:
            trace = loads(data[:length], "cut.trace.gz")
        except TraceError as error:
            assert length <= sizes[0] + 20, "only a file without its header is refused"
            assert str(error).startswith("cut.trace.gz:1: ")
            continue
        assert trace.truncated or trace == whole  # only the checksum is missing
        assert list(trace.hops) == whole.hops[: len(trace.hops)]
    assert loads(data[: sizes[-2]]).hops == whole.hops


PROGRAM = """
    import os, signal, sys
    from traces import Writer
    from tests.traces.samples import HEADER, rand
    writer = Writer(sys.argv[1], HEADER)
    rand(writer, upto=0)
    print("ready", flush=True)
    {end}
"""


@pytest.mark.parametrize("name", ["a.trace", "a.trace.gz"])
@pytest.mark.parametrize("end", ["os._exit(3)", "os.kill(os.getpid(), signal.SIGKILL)"])
def test_killed(tmp_path: Path, name: str, end: str) -> None:
    path = tmp_path / name
    program = textwrap.dedent(PROGRAM).format(end=end)
    done = subprocess.run(
        [sys.executable, "-c", program, str(path)], env=PATHS, capture_output=True, text=True, timeout=60, check=False
    )
    assert done.stdout == "ready\n", done.stderr
    assert done.returncode in (3, -signal.SIGKILL)
    trace = load(path)
    assert trace.truncated
    assert trace.exit_status is None
    assert [hop.key for hop in trace.hops] == ["BackendSelect", "CPU"]
    if name == "a.trace":
        assert trace.frames[-1].name == "at::native::rand"
        assert str(trace.bt()).startswith("#0  at::native::rand (size=[3, 4]")


def test_a_forked_child_writes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    program = textwrap.dedent(
        """
        import os, sys
        from traces import Writer
        from tests.traces.samples import HEADER, rand
        writer = Writer(sys.argv[1], HEADER)
        child = os.fork()
        rand(writer)
        writer.close(0)
        if child == 0:
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        """
    )
    subprocess.run([sys.executable, "-c", program, str(path)], env=PATHS, check=True, timeout=60)
    assert load(path) == built(rand)


def test_threads(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    writer = Writer(path, HEADER)

    def work(thread: int) -> None:
        for number in range(200):
            frame = thread * 1000 + number
            key = writer.site(f"f{thread}", "native", ("n",))
            writer.begin(frame, None, thread, key, [number], number)
            writer.hop(frame, frame, kind="call", op=f"aten::f{thread}", keyset=(0, ()), key="CPU")
            writer.end(frame, number + 1, [number])

    workers = [threading.Thread(target=work, args=(thread,)) for thread in (1, 2, 3)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    writer.close(0)
    trace = load(path)
    assert len(trace.hops) == 600
    for frame in trace.frames:
        assert frame.name == f"f{frame.thread}"
        assert frame.args == (frame.id % 1000,)
        assert frame.result == [frame.id % 1000]
        assert trace.hop(frame.id).op == f"aten::f{frame.thread}"


def test_a_signal_handler_that_records(tmp_path: Path) -> None:
    """A record made in the middle of another one is written after it."""
    path = tmp_path / "a.trace"
    writer = Writer(path, HEADER)
    key = writer.site("f", "native")
    original = writer._value
    inside = []

    def value(what: Any) -> Any:
        if not inside:
            inside.append(True)
            writer.begin(1, 0, 1, writer.site("handler", "native"), [], 3)
            writer.hop(0, 1, kind="call", op="aten::x", keyset=(0, ()), key="CPU")
            writer.end(1, 4)
        return original(what)

    writer._value = value  # type: ignore[method-assign]
    writer.begin(0, None, 1, key, ["outer"], 1)
    writer.end(0, 9)
    writer.close(0)
    trace = load(path)
    assert [(frame.name, frame.parent, frame.end_ns is not None) for frame in trace.frames] == [
        ("f", None, True),
        ("handler", 0, True),
    ]


def test_misuse_is_refused_and_leaves_a_good_file(tmp_path: Path) -> None:
    path = tmp_path / "a.trace"
    writer = Writer(path, HEADER)
    key = writer.site("f", "native")
    for misuse in (
        lambda: writer.end(5, 1),
        lambda: writer.begin(0, 7, 1, key, [], 1),
        lambda: writer.begin(0, None, 1, key + 1, [], 1),
        lambda: writer.hop(0, 9, kind="call", op="x", keyset=(0, ()), key="CPU"),
        lambda: writer.node_ran(3, 0),
        lambda: writer.detail(3, "a", 1),
        lambda: writer.warning("a", "b", 4),
    ):
        with pytest.raises(TraceError):
            misuse()
    writer.begin(0, None, 1, key, ["x"], 1)
    with pytest.raises(TraceError):
        writer.begin(0, None, 1, key, [], 1)
    writer.end(0, 2)
    writer.close(0)
    writer.close(1)
    writer.begin(1, None, 1, key, [], 1)  # too late: ignored
    assert [frame.name for frame in load(path).frames] == ["f"]
    assert load(path).exit_status == 0


def test_cannot_write(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"none/a\.trace: cannot write: No such file or directory"):
        Writer(tmp_path / "none" / "a.trace", HEADER)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs /dev/full, a device that is always full")
def test_disk_full() -> None:
    with pytest.raises(TraceError, match="/dev/full: cannot write: No space left on device"):
        Writer("/dev/full", HEADER)


# ---- what is refused -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", r"^f:1: not a trace: expected a header .*, found nothing$"),
        (b"\n\n", r"^f:1: not a trace: expected a header .*, found nothing$"),
        (b"hello\nworld\n", r"^f:1: not a trace: expected a header"),
        (b'{"format":"x"}\n', r"^f:1: not a trace: .* found format 'x'$"),
        (b"[1,2]\n", r"^f:1: not a trace: expected a header"),
        (b'{"format":"dispatch-tr', r"^f:1: the trace ends inside its header$"),
        (b'{"format":"dispatch-trace"}\n', r"^f:1: expected a version number in the header, found None$"),
        (b'{"format":"dispatch-trace","version":true}\n', r"^f:1: expected a version number"),
        (
            b'{"format":"dispatch-trace","version":2}\n',
            r"^f:1: the trace has format version 2, .* up to version 1: a newer",
        ),
        (b"\x80\x04\x95pickle\n", r"^f:1: not a trace"),
        (b"\x1f\x8bnonsense", r"^f: damaged gzip data"),
        (gzip.compress(b"hello\n", mtime=0), r"^f:1: not a trace"),
        (written(True)[:-8] + b"\0" * 8, r"^f: damaged gzip data"),
        (written(True) + b"more", r"^f: damaged gzip data"),
        (b"[" * 100_000 + b"\n", r"^f:1: not a trace"),
    ],
)
def test_foreign_files(data: bytes, message: str) -> None:
    with pytest.raises(TraceError, match=message):
        loads(data, "f")


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(TraceError, match=r"nope\.trace: cannot read: No such file or directory"):
        load(tmp_path / "nope.trace")
    with pytest.raises(TraceError, match="cannot read: Is a directory"):
        load(tmp_path)


def lines() -> list[bytes]:
    return written().splitlines(keepends=True)


@pytest.mark.parametrize(
    "bad",
    [
        b"garbage", b"", b"{}", b"[", b"[]", b"[9]", b"[-1,2]", b"[0]", b"[0,0,0,9,9,9,9]", b"[0,99999,0]",
        b"[0,-1,0]", b"[0,0.0,1]", b"[3]", b"[3,0,9]", b"[3,99]", b'["c",0,0,99]', b"[1]", b"[1,99]",
        b"[1,-1]", b"[1,true]", b"[2,0]", b"[2,99999,0]",
        b"[2,0,0,1,2,3]", b'["?"]', b'["s"]', b'["s",1,2,[],0,0,null]', b'["s","a","b",[],-1,0,null]', b'["a",3]',
        b'["f",3]', b'["b",0,null,0,0,0,[]]', b'["b",99,77,0,0,0,[]]', b'["e",99,0,0,[]]', b'["h",9,99,0]',
        b'["h",0,0,0]', b'["n",0.5,"x",0,[],{},null,null]', b'["n",5,"x",0,[3],{},null,null]', b'["r",9,0]',
        b'["t","x"]',
        b'["w",1,2,3]', b'["x",0]', b'["@",null,[99]]', b'["i",0,0,[]]', b"[0,0,0]]", b'["f","x"],["f","y"]',
        b"null", b"3", b'"text"', b'["k",1]', b'["d","call"]', b'["z",0,null]', b"\xff\xfe",
    ],
)  # fmt: skip
def test_damaged_line(bad: bytes) -> None:
    """A line in the middle that is not right is named by its number, and nothing is given."""
    good = lines()
    at = len(good) // 2 + 1
    data = b"".join([*good[:at], bad + b"\n", *good[at:]])
    line = at + 2 if bad == b'["z",0,null]' else at + 1
    with pytest.raises(TraceError, match=rf"^f:{line}: \S.*") as info:
        loads(data, "f")
    assert "\n" not in str(info.value)


def test_damage_anywhere_is_an_error_or_another_trace() -> None:
    """Whatever byte is changed into whatever: one clear line, or a trace; never another exception."""
    data = bytearray(dumps(built(rand)))
    for position in range(0, len(data), 2):
        for byte in b"\n,1]":
            old = data[position]
            data[position] = byte
            try:
                trace = loads(bytes(data), "f")
            except TraceError as error:
                assert str(error).startswith("f:")
                assert "\n" not in str(error)
            else:
                if position % 16 == 0:
                    assert isinstance(list(trace.frames), list)
                    assert isinstance(list(trace.hops), list)
                    assert isinstance(list(trace.nodes), list)
            data[position] = old


def test_a_missing_line_is_noticed_where_it_matters() -> None:
    good = lines()
    for at in range(1, len(good) - 1):
        try:
            trace = loads(b"".join([*good[:at], *good[at + 1 :]]), "f")
        except TraceError as error:
            assert str(error).startswith("f:")
        else:
            assert isinstance(list(trace.frames), list)


def test_many_chunks(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = built()
    for size in (1, 7, 64, 300):
        monkeypatch.setattr("traces.io.reader.CHUNK", size)
        assert loads(dumps(whole)) == whole


def test_header_is_first_and_plain() -> None:
    first = json.loads(written().splitlines()[0])
    assert first == {"format": "dispatch-trace", "version": 1, **HEADER}


def test_public_names() -> None:
    for name in traces.__all__:
        assert getattr(traces, name) is not None


def test_empty_run() -> None:
    trace = loads(dumps(built(lambda sink: None)))
    assert isinstance(trace, Trace)
    assert not trace.truncated
    assert (len(trace.frames), len(trace.hops), trace.dispatch_text()) == (0, 0, "")
