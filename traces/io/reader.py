"""Reading trace files: everything checked, one clear line for what is wrong, quick for millions of records."""

from __future__ import annotations

import gc
import json
import os
import zlib
from collections.abc import Callable
from typing import Any

from traces.errors import TraceError
from traces.io.format import FORMAT, VERSION
from traces.io.rows import Rows
from traces.store import Store
from traces.trace import Trace

__all__ = ["load", "loads"]

CHUNK = 1 << 18
BIG = 1 << 20  # bytes from which on it pays to use numpy
GZIP_MAGIC = b"\x1f\x8b"


def load(path: str | os.PathLike[str]) -> Trace:
    """The trace in a file (compressed or not). TraceError, in one line, for anything that is not a whole trace.

    A file that stops in the middle of its last line, or before the exit, is a trace whose ``truncated`` is true.
    """
    name = os.fspath(path)
    try:
        with open(path, "rb") as file:
            data = file.read()
    except OSError as error:
        raise TraceError(f"cannot read: {error.strerror}", name) from None
    return loads(data, name)


def loads(data: bytes, name: str = "<trace>") -> Trace:
    """The trace in the bytes of a trace file; ``name`` is what errors call it."""
    if data[:2] == GZIP_MAGIC or (data[:1] == GZIP_MAGIC[:1] and len(data) == 1):
        data = _gunzip(data, name)
    collecting = gc.isenabled()
    gc.disable()  # nothing here makes cycles, and looking for them among millions of rows takes most of the time
    try:
        if len(data) >= BIG:
            from traces.io import bulk

            try:
                return _Reader(name, bulk.take).read(data)
            except (bulk.Unclear, TraceError):
                pass  # line by line it will turn out
        return _Reader(name).read(data)
    finally:
        if collecting:
            gc.enable()


def _gunzip(data: bytes, name: str) -> bytes:
    """All that can be decompressed; a member cut short gives what it has."""
    parts: list[bytes] = []
    while data:
        member = zlib.decompressobj(31)
        try:
            parts.append(member.decompress(data))
        except zlib.error as error:
            raise TraceError(f"damaged gzip data ({error})", name) from None
        data = member.unused_data
        if data and data[:2] != GZIP_MAGIC[: len(data)]:
            raise TraceError("damaged gzip data (something else follows it)", name)
    return b"".join(parts)


def _parse(text: bytes) -> Any:
    """JSON, or None (which no line may be) when it is none."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


class _Reader:
    """Reads one file; ``bulk`` may take many lines at once."""

    def __init__(self, name: str, bulk: Callable[[Rows, bytes], bool] | None = None) -> None:
        self.name = name
        self.bulk = bulk
        self.line = 1
        self.rows: Rows

    def fail(self, message: str, line: int | None = None) -> TraceError:
        return TraceError(message, self.name, self.line if line is None else line)

    def read(self, data: bytes) -> Trace:
        end = data.find(b"\n")
        head = data if end < 0 else data[:end]
        store = Store(self.header(head, end < 0))
        self.rows = Rows(store)
        self.line = 2
        position = len(head) + 1
        last = data.rfind(b"\n") + 1
        while position < last:
            stop = data.rfind(b"\n", position, position + CHUNK) + 1
            if stop <= position:  # one line longer than a chunk
                stop = data.find(b"\n", position) + 1
            self.chunk(data[position : stop - 1])
            position = stop
        tail = data[max(last, position) :]
        if tail:
            row = _parse(tail)
            if isinstance(row, list):  # a whole array: only the newline is missing
                self.take([row])
        store.truncated = not self.rows.closed
        store.complete = True
        return Trace(store)

    def header(self, head: bytes, cut: bool) -> dict[str, Any]:
        expected = f'expected a header {{"format":"{FORMAT}",…}}'
        if not head.strip():
            raise self.fail(f"not a trace: {expected}, found nothing")
        header = _parse(head)
        if not isinstance(header, dict):
            if cut and f'{{"format":"{FORMAT}"'.encode().startswith(head[: len(FORMAT) + 12]):
                raise self.fail("the trace ends inside its header")
            raise self.fail(f"not a trace: {expected}")
        if header.get("format") != FORMAT:
            raise self.fail(f"not a trace: {expected}, found format {header.get('format')!r}")
        version = header.get("version")
        if type(version) is not int or version < 1:
            raise self.fail(f"expected a version number in the header, found {version!r}")
        if version > VERSION:
            raise self.fail(
                f"the trace has format version {version}, this dispatch-tracer reads up to version {VERSION}: "
                "a newer dispatch-tracer is needed"
            )
        return header

    def chunk(self, text: bytes) -> None:
        """Some whole lines, parsed at once. A line that does not stand alone sends them through one by one."""
        lines = text.count(b"\n") + 1
        if self.bulk is not None and self.bulk(self.rows, text):
            self.line += lines
            return
        if text[:1] == b"[" and text[-1:] == b"]" and text.count(b"]\n[") == lines - 1:
            rows = _parse(b"[" + text.replace(b"\n", b",") + b"]")
            if isinstance(rows, list) and len(rows) == lines:
                self.take(rows, b",true" in text or b",false" in text)
                return
        for line in text.split(b"\n"):
            row = _parse(line)
            if not isinstance(row, list):
                raise self.fail(f"expected a record (a JSON array), found {_shown(line)}")
            self.take([row])

    def take(self, rows: list[Any], bools: bool = True) -> None:
        done = [0]
        try:
            self.rows.take(rows, done, bools)
        except TraceError as error:
            raise self.fail(error.message, self.line + done[0]) from None
        except (AssertionError, IndexError, KeyError, OverflowError, TypeError, ValueError, RecursionError):
            raise self.fail(f"damaged record {_shown(rows[done[0]])}", self.line + done[0]) from None
        self.line += len(rows)


def _shown(what: Any) -> str:
    text = what.decode("utf-8", "replace") if isinstance(what, bytes) else json.dumps(what)
    return repr(text if len(text) <= 60 else text[:60] + "…")
