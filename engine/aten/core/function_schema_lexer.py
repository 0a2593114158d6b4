"""torch/csrc/jit/frontend/lexer.h, error_report.cpp, parse_string_literal.h: the words of a schema.

Differs: comments and triple-quoted strings are not read.
"""

from __future__ import annotations

import re
from typing import NamedTuple, NoReturn

from engine.c10.exception import Error

__all__ = ["Token", "fail_at", "parseStringLiteral", "tokenize"]

# TorchScript's reserved words; True, False and None are tokens of their own.
_RESERVED = (
    "for in if elif else while def return pass break continue global import as is not and or class with assert raise "
    "del None True False"
)
_KEYWORDS = frozenset(_RESERVED.split())
_TOKEN = re.compile(
    r"""(?P<ident>[A-Za-z_]\w*)
      | (?P<dots>\.\.\.)
      | (?P<number>(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?j?)
      | (?P<string_literal>"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)*')
      | (?P<arrow>->)
      | (?P<symbol>[()\[\]{},.:;=*?!|+\-<>/@&%^~])
      | (?P<bad>\S)
    """,
    re.VERBOSE | re.ASCII,
)
_ESCAPES = {"a": 7, "b": 8, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13, '"': 34, "'": 39, "\\": 92}


class Token(NamedTuple):
    kind: str  # ident, number, string_literal, dots, arrow, eof, a keyword or the symbol itself
    text: str
    start: int


def tokenize(source: str) -> list[Token]:
    found: list[Token] = []
    for match in _TOKEN.finditer(source):  # what no group matches is white space
        kind = str(match.lastgroup)
        text = match[0]
        if kind == "bad":
            fail_at(f"expected a valid token but found '{text}' here:", source, match.start(), 1)
        if kind == "symbol" or text in _KEYWORDS:
            kind = text
        found.append(Token(kind, text, match.start()))
    found.append(Token("eof", "", len(source.rstrip())))
    return found


def fail_at(message: str, source: str, start: int, length: int, hint: str = "") -> NoReturn:
    """Raise with the line of the schema and a mark under the place, as ErrorReport prints them."""
    line_start = source.rfind("\n", 0, start) + 1
    line_end = source.find("\n", start)
    line_end = len(source) if line_end < 0 else line_end
    mark = " " * (start - line_start) + "~" * max(length, 1)
    raise Error(f"{message}\n{source[:line_end]}\n{mark} <--- HERE{source[line_end:]}\n{hint}")


def parseStringLiteral(text: str) -> str | None:
    """The value of a quoted string; None where an escape is not supported."""
    data = bytearray()
    at = 1
    while at < len(text) - 1:
        if text[at] != "\\":
            data += text[at].encode(errors="surrogatepass")
            at += 1
        elif text[at + 1] in _ESCAPES:
            data.append(_ESCAPES[text[at + 1]])
            at += 2
        elif re.fullmatch(r"[0-3][0-7]{2}", text[at + 1 : at + 4]):
            data.append(int(text[at + 1 : at + 4], 8))
            at += 4
        else:
            return None
    return data.decode(errors="surrogateescape")
