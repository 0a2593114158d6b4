"""Where a script asks for something of PyTorch that the engine does not have: one wording, and what to do about it."""

from __future__ import annotations

from typing import Any

from engine.aten import at
from engine.c10.exception import NotImplementedError as C10NotImplementedError

__all__ = ["HINT", "missing", "operator"]

__tracebackhide__ = True  # pytest shows the line that called, as for a function in C++

HINT = "run the script with --on torch"


def missing(prefix: str, name: str) -> str:
    """The text for ``prefix.name``, which PyTorch has."""
    return f"{prefix}.{name} is not modelled by the engine; {HINT}"


def operator(struct: str, what: str) -> Any:
    """The operator ``at::_ops::struct``; when the table has no row for it, an error that says ``what`` needs it."""
    try:
        return getattr(at, struct)
    except AttributeError:
        name = struct.replace("_Tensor", ".Tensor").replace("_int", ".int")
        raise C10NotImplementedError(
            f"{what} needs aten::{name}, which is not modelled by the engine; {HINT}"
        ) from None
