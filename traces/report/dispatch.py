"""The text of ``TORCH_SHOW_DISPATCH_TRACE``."""

from __future__ import annotations

from collections.abc import Iterator

from traces.trace import SHOWN, Trace

__all__ = ["lines"]


def lines(trace: Trace, boxed: bool = False) -> Iterator[str]:
    """`` [call] op=[aten::ones], key=[BackendSelect]``, with one more space for each hop that it is nested in.

    Steps of the boxed kinds are left out unless ``boxed``: PyTorch's own text (of a release under gdb) has none.
    """
    store = trace._store
    depths = trace.depths(boxed)
    texts = [
        f"[{fields[0]}] op=[{fields[1]}], key=[{fields[7]}]" if boxed or fields[0] in SHOWN else None
        for fields in store.decisions
    ]
    for frame, chosen in zip(list(store.h_frame), list(store.h_decision), strict=False):
        text = texts[chosen] if chosen < len(texts) else None
        if text is not None:
            yield " " * (depths[frame] + 1) + text
