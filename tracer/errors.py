"""What goes wrong by the user's hand: one sentence, no traceback."""

from __future__ import annotations

import codecs
import contextlib
import sys
from collections.abc import Iterable

from traces.near import closest, closest_op

__all__ = ["NoSuchPoint", "TracerError", "complain", "did_you_mean", "is_users", "replace", "say"]

REPLACEMENTS = "tracer.replace"
_ASCII = {
    "├": "|", "└": "`", "│": "|", "─": "-", "→": "->", "…": "...", "µ": "u", "·": "|", "–": "-", "×": "x", "’": "'",
}  # fmt: skip


def replace(error: UnicodeError) -> tuple[str, int]:
    """A codec's error handler: what the encoding lacks becomes a likeness in ASCII, else an escape."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    lacking = error.object[error.start : error.end]
    return "".join([_ASCII.get(c) or c.encode("ascii", "backslashreplace").decode() for c in lacking]), error.end


codecs.register_error(REPLACEMENTS, replace)


class TracerError(Exception):
    """Wrong usage or an unreadable file; the command line prints the text and exits with 2."""

    status = 2


class NoSuchPoint(TracerError):
    """The question was fine and the answer is no: nothing in the trace is what was asked for."""

    status = 1


def did_you_mean(word: str, known: Iterable[str]) -> str:
    """`` (did you mean 'show'?)``, or nothing when no known word is near."""
    words = list(known)
    near = closest_op(word, words) if "::" in word else closest(word, words)
    return f" (did you mean {near!r}?)" if near else ""


def complain(message: str, who: str = "tracer") -> int:
    """Say on stderr what is wrong; returns the exit status that goes with it."""
    say(f"{who}: {message}")
    return 2


def say(message: str) -> None:
    """A line of talk on stderr; where that is closed or full, nobody hears it."""
    if sys.stderr is None:
        return
    encoding = getattr(sys.stderr, "encoding", None) or "ascii"
    with contextlib.suppress(OSError, ValueError):
        print(message.encode(encoding, REPLACEMENTS).decode(encoding), file=sys.stderr, flush=True)


def is_users(error: Exception) -> bool:
    """Whether the user can mend this error: wrong usage, a file that is no trace, a predicate that does not parse."""
    from traces import PredicateError, TraceError

    return isinstance(error, TracerError | TraceError | PredicateError)
