"""A whole trace into a file, through the same `Writer` that writes it live."""

from __future__ import annotations

import io
import os
from collections.abc import Iterator
from typing import BinaryIO

from traces.io.writer import Writer
from traces.model import Frame, Hop
from traces.trace import Trace

__all__ = ["dumps", "save"]


def save(trace: Trace, path: str | os.PathLike[str] | int | BinaryIO) -> None:
    """Write a trace. A truncated one stays so: it gets no exit."""
    header = {key: value for key, value in trace.header.items() if key not in ("format", "version")}
    writer = Writer(path, header, exact=True)
    try:
        _replay(trace, writer)
        if trace.truncated:
            writer.abandon()
        else:
            writer.close(trace.exit_status or 0, trace.error)
    finally:
        writer.abandon()


def dumps(trace: Trace) -> bytes:
    """The bytes of an uncompressed trace file."""
    buffer = io.BytesIO()
    save(trace, buffer)
    return buffer.getvalue()


class _Hops:
    """The hops in order, each one due as soon as its frame has begun."""

    def __init__(self, trace: Trace, writer: Writer) -> None:
        self.pending: Iterator[Hop] = iter(trace.hops)
        self.next = next(self.pending, None)
        self.writer = writer
        self.begun: set[int] = set()

    def due(self) -> None:
        while self.next is not None and self.next.frame in self.begun:
            hop = self.next
            self.writer.hop(
                hop.id,
                hop.frame,
                kind=hop.kind,
                op=hop.op,
                keyset=(hop.keyset.raw, hop.keyset.names),
                key=hop.key,
                kernel=hop.kernel,
                kernel_debug=hop.kernel_debug,
                reason=hop.reason,
                arg_keysets=hop.arg_keysets,
                tls_include=hop.tls_include,
                tls_exclude=hop.tls_exclude,
                fallthrough=hop.fallthrough,
                derived=hop.derived,
            )
            self.next = next(self.pending, None)


def _replay(trace: Trace, writer: Writer) -> None:
    open_frames: dict[int, list[Frame]] = {}
    hops = _Hops(trace, writer)

    def finish(frame: Frame) -> None:
        if frame.end_ns is None:
            return
        if frame.error is not None:
            writer.fail(frame.id, frame.end_ns, *frame.error)
        else:
            writer.end(frame.id, frame.end_ns, frame.result)

    for frame in trace.frames:
        stack = open_frames.setdefault(frame.thread, [])
        while stack and stack[-1].id != frame.parent:
            finish(stack.pop())
        key = writer.site(
            frame.site.name, frame.site.layer, frame.site.params, frame.site.file, frame.site.line, frame.site.guard
        )
        writer.begin(
            frame.id,
            frame.parent,
            frame.thread,
            key,
            frame.args,
            frame.start_ns,
            frame.line,
            [(entry.file, entry.line, entry.function) for entry in frame.python],
            frame.derived,
        )
        stack.append(frame)
        hops.begun.add(frame.id)
        for name, value in frame.details.items():
            writer.detail(frame.id, name, value)
        hops.due()
    for stack in open_frames.values():
        while stack:
            finish(stack.pop())
    for node in trace.nodes:
        writer.node(
            node.id,
            node.name,
            node.sequence_nr,
            [(edge.node, edge.input_nr) for edge in node.edges],
            node.saved,
            node.created_by,
            node.variable,
        )
        for frame_id in node.ran_in:
            writer.node_ran(node.id, frame_id)
    for warning in trace.warnings:
        writer.warning(warning.category, warning.message, warning.frame)
