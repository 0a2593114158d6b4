"""What can be wrong with a trace, a predicate or a graph file; always one clear line."""

from __future__ import annotations

__all__ = ["PredicateError", "TraceError"]


class TraceError(Exception):
    """A trace (or graph) file that cannot be read or written; its text is one line: ``FILE:LINE: what``."""

    def __init__(self, message: str, path: str | None = None, line: int | None = None) -> None:
        self.message = message
        self.path = path
        self.line = line
        where = ":".join(str(part) for part in (path, line) if part is not None)
        super().__init__(f"{where}: {message}" if where else message)


class PredicateError(ValueError):
    """A predicate that does not parse; its text is one line and says what would."""
