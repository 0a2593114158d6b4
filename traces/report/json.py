"""A trace for other programs: one json object a hop."""

from __future__ import annotations

import json
from collections.abc import Iterator

from traces.model import Hop
from traces.trace import Trace

__all__ = ["lines"]


def lines(trace: Trace, ascii: bool = False) -> Iterator[str]:
    """One line a hop; with ``ascii`` everything else is escaped."""
    for hop in trace.hops:
        text = json.dumps(_hop(trace, hop), ensure_ascii=ascii)
        yield text if _is_utf8(text) else json.dumps(_hop(trace, hop))


def _is_utf8(text: str) -> bool:
    try:
        text.encode()
    except UnicodeEncodeError:  # a lone surrogate: escapes can say it
        return False
    return True


def _hop(trace: Trace, hop: Hop) -> dict[str, object]:
    frame = trace.frame(hop.frame)
    entered = trace.python_of(frame.id)
    return {
        "hop": hop.id,
        "frame": hop.frame,
        "depth": trace.depth(hop.id, boxed=True),
        "thread": frame.thread,
        "kind": hop.kind,
        "op": hop.op,
        "key": hop.key,
        "keyset": {"raw": hop.keyset.raw, "keys": list(hop.keyset.names)},
        "arg_keysets": {name: list(keys) for name, keys in hop.arg_keysets},
        "tls_include": list(hop.tls_include),
        "tls_exclude": list(hop.tls_exclude),
        "fallthrough": list(hop.fallthrough),
        "kernel": hop.kernel,
        "kernel_debug": hop.kernel_debug,
        "reason": hop.reason,
        "derived": hop.derived,
        "args": {name or str(i): value for i, (name, value) in enumerate(frame.named_args())},
        "result": frame.result,
        "error": None if frame.error is None else list(frame.error),
        "start_ns": frame.start_ns,
        "end_ns": frame.end_ns,
        "python": [] if entered is None else [[e.file, e.line, e.function] for e in entered.python],
    }
