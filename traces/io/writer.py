"""`Writer`: a trace file written while the program runs, readable up to the last record whenever the program dies.

Every method hands its line(s) to the kernel in one write before it returns, so nothing is lost to SIGKILL or
``os._exit``. What is small and repeats is written once and named by its number afterwards; FORMAT.md has the details.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from traces.errors import TraceError
from traces.io.format import BEGIN, DETAIL, END, HOP
from traces.io.scribe import Scribe
from traces.io.text import decode, dump
from traces.store import decision
from traces.values import Encoded, Value

__all__ = ["Writer"]


class Writer(Scribe):
    """Writes the events of a run to a trace file; see `traces.Sink`.

    Every step of time is written with two significant digits, unless ``exact``: the rest would be half of a compressed
    file, and says nothing beside what watching costs. The errors do not add up, and an inner frame never seems longer
    than the one around it.
    """

    def site(
        self, name: str, layer: str, params: Sequence[str] = (), file: str = "", line: int = 0, guard: str | None = None
    ) -> int:
        key = (name, layer, tuple(params), file, line, guard)
        with self._lock:
            number = self._site_keys.get(key)
            if number is None:
                number = self._site_keys[key] = len(self._sites)
                self._sites.append(key)
            return number

    def begin(
        self,
        frame_id: int,
        parent_id: int | None,
        thread: int,
        site_key: int,
        args: Sequence[Value],
        t_ns: int,
        line: int | None = None,
        python: Sequence[tuple[str, int, str]] = (),
        derived: bool = False,
    ) -> None:
        if type(args) is Encoded and type(python) is tuple and not derived:
            with self._lock:
                if not self._busy:
                    self._busy = True  # before anything is looked at: a signal handler may record, too
                    try:
                        call = self._quick.get((site_key, args.text, line, python))
                        done = call is not None and self._is_next(frame_id, parent_id, thread)
                        if done:
                            numbers = "".join([f",{n}" for n in args.numbers])
                            text = f"[{BEGIN},{call},{self._delta(t_ns)}{numbers}]"
                            self._enter(self._stacks[thread], frame_id, thread, text)
                    finally:
                        self._busy = False
                    self._catch_up()
                    if done:
                        return
        self._do(self._begin, frame_id, parent_id, thread, site_key, args, t_ns, line, python, derived)

    def _is_next(self, frame_id: int, parent_id: int | None, thread: int) -> bool:
        """Whether a frame can be written in the short form at once."""
        if self._closed or thread != self._thread or frame_id != self._frames.last() + 1:
            return False
        open_frames = self._stacks.get(thread)
        return bool(open_frames) and open_frames[-1] == parent_id  # type: ignore[index]

    def _enter(self, open_frames: list[int], frame_id: int, thread: int, text: str) -> None:
        if not open_frames:
            self._check()
        self._frames.add(frame_id)
        open_frames.append(frame_id)
        self._open[frame_id] = thread
        try:
            self._write(text, len(open_frames) == 1)
        except RecursionError:  # nothing can be called now
            del open_frames[-1], self._open[frame_id]
            ids = self._frames
            ids.count -= 1
            if ids.ids is not None:
                del ids.ids[-1], ids.positions[frame_id]
            raise

    def _begin(
        self,
        frame_id: int,
        parent_id: int | None,
        thread: int,
        site_key: int,
        args: Sequence[Value],
        t_ns: int,
        line: int | None,
        python: Sequence[tuple[str, int, str]],
        derived: bool,
    ) -> None:
        if self._frames.find(frame_id) is not None:
            raise TraceError(f"frame {frame_id} has begun before")
        if parent_id is not None:
            self._begun(parent_id)
        if not 0 <= site_key < len(self._sites):
            raise TraceError(f"no site has the key {site_key}")
        site = self._site(site_key)
        if type(args) is Encoded:
            value, numbers = self._text(args.text, [*map(str, args.numbers)])
        else:
            value, numbers = self._value(list(args))
        place = (line, *map(tuple, python))
        where = self._tables["@"].get(place)
        if where is None:
            stack = [self._python(entry) for entry in place[1:]]
            where = self._define("@", place, lambda: [line, stack])
        open_frames = self._on(thread)
        call = self._call((site, value, where))
        if type(args) is Encoded and type(python) is tuple:
            self._quick[site_key, args.text, line, python] = call
        delta = self._delta(t_ns)
        top = open_frames[-1] if open_frames else None
        if frame_id == self._frames.last() + 1 and parent_id == top and not derived:
            text = f"[{BEGIN},{call},{delta}{',' if numbers else ''}{','.join(numbers)}]"
        else:
            parent = "null" if parent_id is None else parent_id
            text = f'["b",{frame_id},{parent},{call},{delta},{int(derived)},[{",".join(numbers)}]]'
        self._enter(open_frames, frame_id, thread, text)

    def _opened(self, frame_id: int) -> list[int]:
        thread = self._open.get(frame_id)
        if thread is None:
            raise TraceError(f"frame {frame_id} is not open")
        return self._on(thread)

    def _forget(self, open_frames: list[int], frame_id: int) -> None:
        del self._open[frame_id]
        if open_frames[-1] == frame_id:
            open_frames.pop()
        else:
            open_frames.remove(frame_id)

    def end(self, frame_id: int, t_ns: int, result: Value = None) -> None:
        if type(result) is Encoded:
            text = f"[{result.text}]"
            with self._lock:
                if not self._busy:
                    self._busy = True
                    try:
                        value = self._values.get(text)
                        open_frames = self._stacks.get(self._thread) or [-1]
                        done = value is not None and open_frames[-1] == frame_id and not self._closed
                        if done:
                            numbers = "".join([f",{n}" for n in result.numbers])
                            self._leave(open_frames, frame_id, f"[{END},{value},{self._delta(t_ns)}{numbers}]", False)
                    finally:
                        self._busy = False
                    self._catch_up()
                    if done:
                        return
        self._do(self._end, frame_id, t_ns, result)

    def _end(self, frame_id: int, t_ns: int, result: Value) -> None:
        open_frames = self._opened(frame_id)
        if type(result) is Encoded:
            value, numbers = self._text(f"[{result.text}]", [*map(str, result.numbers)])
        else:
            value, numbers = self._value([result])
        delta = self._delta(t_ns)
        if open_frames[-1] == frame_id:
            text = f"[{END},{value},{delta}{',' if numbers else ''}{','.join(numbers)}]"
        else:
            text = f'["e",{frame_id},{value},{delta},[{",".join(numbers)}]]'
        self._leave(open_frames, frame_id, text, False)

    def _leave(self, open_frames: list[int], frame_id: int, text: str, flush: bool) -> None:
        place = open_frames.index(frame_id) if open_frames[-1] != frame_id else len(open_frames) - 1
        thread = self._open[frame_id]
        self._forget(open_frames, frame_id)
        try:
            self._write(text, flush or not open_frames)
        except RecursionError:
            open_frames[place:place] = [frame_id]
            self._open[frame_id] = thread
            raise

    def fail(self, frame_id: int, t_ns: int, exc_type: str, message: str) -> None:
        self._do(self._fail, frame_id, t_ns, exc_type, message)

    def _fail(self, frame_id: int, t_ns: int, exc_type: str, message: str) -> None:
        open_frames = self._opened(frame_id)
        text = dump(["x", frame_id, self._delta(t_ns), exc_type, message])
        self._leave(open_frames, frame_id, text, True)

    def hop(
        self,
        hop_id: int,
        frame_id: int,
        *,
        kind: str,
        op: str,
        keyset: tuple[int, Sequence[str]],
        key: str,
        kernel: str = "",
        kernel_debug: str = "",
        reason: str = "",
        arg_keysets: Sequence[tuple[str, Sequence[str]]] = (),
        tls_include: Sequence[str] = (),
        tls_exclude: Sequence[str] = (),
        fallthrough: Sequence[str] = (),
        derived: bool = False,
    ) -> None:
        made: tuple[Any, ...] = (
            kind, op, keyset, arg_keysets, tls_include, tls_exclude, fallthrough, key, kernel, kernel_debug, reason,
            derived,
        )  # fmt: skip
        try:
            hash(made)
        except TypeError:
            made = decision(*made)
            made = (*made[:2], (made[2].raw, made[2].names), *made[3:])
        self._do(self._hop, hop_id, frame_id, made)

    def _hop(self, hop_id: int, frame_id: int, made: tuple[Any, ...]) -> None:
        self._begun(frame_id)
        if self._hops.find(hop_id) is not None:
            raise TraceError(f"hop {hop_id} appears twice")
        number = self._tables["d"].get(made)
        if number is None:
            number = self._decision(made)
        open_frames = self._on(self._open.get(frame_id, self._thread))
        if hop_id == self._hops.last() + 1 and open_frames and open_frames[-1] == frame_id:
            text = f"[{HOP},{number}]"
        else:
            text = f'["h",{hop_id},{frame_id},{number}]'
        self._hops.add(hop_id)
        try:
            self._write(text, True)
        except RecursionError:
            ids = self._hops
            ids.count -= 1
            if ids.ids is not None:
                del ids.ids[-1], ids.positions[hop_id]
            raise

    def detail(self, frame_id: int, name: str, value: Value) -> None:
        self._do(self._detail, frame_id, name, value)

    def _detail(self, frame_id: int, name: str, value: Value) -> None:
        self._begun(frame_id)
        if type(value) is Encoded:
            number, numbers = self._text(f"[{dump(name)},{value.text}]", [*map(str, value.numbers)])
        else:
            number, numbers = self._value([name, value])
        open_frames = self._on(self._open.get(frame_id, self._thread))
        if open_frames and open_frames[-1] == frame_id:
            text = f"[{DETAIL},{number}{',' if numbers else ''}{','.join(numbers)}]"
        else:
            text = f'["i",{frame_id},{number},[{",".join(numbers)}]]'
        self._write(text, False)

    def node(
        self,
        node_id: int,
        name: str,
        sequence_nr: int | None,
        edges: Sequence[tuple[int | None, int]],
        saved: Mapping[str, Value],
        created_by: int | None = None,
        variable: int | None = None,
    ) -> None:
        kept = {key: decode(value) if type(value) is Encoded else value for key, value in saved.items()}
        row = ["n", node_id, name, sequence_nr, list(edges), kept, created_by, variable]
        self._do(self._node, node_id, created_by, row)

    def _node(self, node_id: int, created_by: int | None, row: list[Any]) -> None:
        if node_id in self._nodes:
            raise TraceError(f"node {node_id} appears twice")
        if created_by is not None:
            self._begun(created_by)
        text = dump(row)
        self._write(text, True)
        self._nodes.add(node_id)

    def node_ran(self, node_id: int, frame_id: int) -> None:
        self._do(self._node_ran, node_id, frame_id)

    def _node_ran(self, node_id: int, frame_id: int) -> None:
        if node_id not in self._nodes:
            raise TraceError(f"node {node_id} runs before it was announced")
        self._begun(frame_id)
        self._write(dump(["r", node_id, frame_id]), False)

    def warning(self, category: str, message: str, frame_id: int | None = None) -> None:
        self._do(self._warning, category, message, frame_id)

    def _warning(self, category: str, message: str, frame_id: int | None) -> None:
        if frame_id is not None:
            self._begun(frame_id)
        self._write(dump(["w", category, message, frame_id]), True)

    def close(self, status: int = 0, error: tuple[str, str] | None = None) -> None:
        """Record the exit and close the file."""
        self._do(self._close, status, error)

    def _close(self, status: int, error: tuple[str, str] | None) -> None:
        self._check()
        self._write(dump(["z", status, error]), False)
        self.abandon()
