"""The words of the trace file; FORMAT.md explains them."""

from __future__ import annotations

import re

from traces.store import VOLATILE

__all__ = ["FORMAT", "VERSION"]

FORMAT = "dispatch-trace"
VERSION = 1

# The records that a big trace consists of have numbers for tags, everything else has a word.
BEGIN, HOP, END, DETAIL = 0, 1, 2, 3

# In compact JSON text a quote after ``{`` or ``,`` opens a string, and only a key is followed by ``":``.
VOLATILE_NUMBER = re.compile(
    r'(?<=[{,])("(?:' + "|".join(re.escape(key) for key in VOLATILE) + r')":)(0|[1-9][0-9]{0,17})(?=[,}])'
)
