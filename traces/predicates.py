"""PRED: the little language of ``--at``, ``--only`` and breakpoints.

    aten::rand    rand    aten::add.Tensor    aten::add*         an operator; without an overload, all of them
    torch::rand   VariableType::mul_Tensor                       a frame, by the end of its name
    key=CPU   op=aten::*   kind=redispatch   layer=native   name=at::*   thread=1   line=script.py:12   hop=3
    op=aten::add* and not (key=CPU or kind=redispatch)           and, or, not, parentheses; key!=CPU is not key=CPU

A `Predicate` is an object: ``p & q``, ``p | q``, ``~p`` combine, ``str(p)`` reads back, `Predicate.matches` asks.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from traces.errors import PredicateError
from traces.model import Frame, Hop

if TYPE_CHECKING:
    from traces.trace import Trace

__all__ = ["FIELDS", "And", "Facts", "Not", "Or", "Predicate", "Term", "facts_of", "fields", "parse", "select"]

MAX_WORDS = 400
KINDS = ("call", "redispatch", "callBoxed", "redispatchBoxed")


@dataclass(slots=True)
class Facts:
    """What is known of a point; a predicate on something unknown does not match."""

    op: str | None = None
    key: str | None = None
    kind: str | None = None
    layer: str | None = None
    thread: int | None = None
    name: str | None = None
    file: str | None = None
    line: int | None = None
    hop: int | None = None
    stack: tuple[tuple[str, int], ...] = ()
    """Further places (file, line) that lead here: the user's Python stack."""


def _glob(text: str | None, pattern: str) -> bool:
    return text is not None and (text == pattern or fnmatchcase(text, pattern))


def _op(op: str | None, pattern: str) -> bool:
    """``aten::add`` names every overload, ``aten::add.default`` the one without a name; ``aten::`` may be left out."""
    if op is None:
        return False
    space, _, name = op.rpartition("::")
    base, _, overload = name.partition(".")
    for way in (name, base, f"{base}.{overload or 'default'}"):
        if _glob(way, pattern) or (space and _glob(f"{space}::{way}", pattern)):
            return True
    return False


def _name(name: str | None, pattern: str) -> bool:
    """A whole name, or the end of one from a ``::`` on."""
    if name is None:
        return False
    if _glob(name, pattern):
        return True
    start = name.find("::")
    while start >= 0:
        if _glob(name[start + 2 :], pattern):
            return True
        start = name.find("::", start + 2)
    return False


def _place(facts: Facts, pattern: str) -> bool:
    file, _, line = pattern.rpartition(":")
    places = list(facts.stack)
    if facts.file is not None and facts.line is not None:
        places.append((facts.file, facts.line))
    for place, number in places:
        if str(number) == line and (not file or _glob(place, file) or _glob(place, "*/" + file)):
            return True
    return False


FIELDS: dict[str, Callable[[Facts, str], bool]] = {
    "op": lambda facts, value: _op(facts.op, value),
    "key": lambda facts, value: _glob(facts.key, value),
    "kind": lambda facts, value: _glob(facts.kind, value),
    "layer": lambda facts, value: _glob(facts.layer, value),
    "thread": lambda facts, value: facts.thread is not None and facts.thread == int(value),
    "name": lambda facts, value: _name(facts.name, value),
    "line": _place,
    "hop": lambda facts, value: facts.hop is not None and facts.hop == int(value),
}


class Predicate:
    """A question about a point of a trace (a hop or a frame)."""

    __slots__ = ()

    def matches(self, facts: Facts) -> bool:
        raise NotImplementedError

    def __call__(self, trace: Trace, point: Hop | Frame) -> bool:
        return self.matches(facts_of(trace, point))

    def __and__(self, other: Predicate) -> Predicate:
        return And(self, other)

    def __or__(self, other: Predicate) -> Predicate:
        return Or(self, other)

    def __invert__(self) -> Predicate:
        return Not(self)


@dataclass(frozen=True, slots=True)
class Term(Predicate):
    """``field=value``; without a field, an operator or the end of a frame's name."""

    value: str
    field: str | None = None

    def matches(self, facts: Facts) -> bool:
        if self.field is None:
            return _op(facts.op, self.value) or _name(facts.name, self.value)
        return FIELDS[self.field](facts, self.value)

    def __str__(self) -> str:
        if self.field is None:
            plain = _PLAIN.fullmatch(self.value) and self.value not in _WORDS and "=" not in self.value
            return self.value if plain else _quote(self.value)
        return f"{self.field}={self.value if _PLAIN.fullmatch(self.value) else _quote(self.value)}"


@dataclass(frozen=True, slots=True)
class Not(Predicate):
    inner: Predicate

    def matches(self, facts: Facts) -> bool:
        return not self.inner.matches(facts)

    def __str__(self) -> str:
        return f"not {self.inner}" if isinstance(self.inner, Term | Not) else f"not ({self.inner})"


@dataclass(frozen=True, slots=True)
class And(Predicate):
    left: Predicate
    right: Predicate

    def matches(self, facts: Facts) -> bool:
        return self.left.matches(facts) and self.right.matches(facts)

    def __str__(self) -> str:
        left = f"({self.left})" if isinstance(self.left, Or) else str(self.left)
        right = f"({self.right})" if isinstance(self.right, Or | And) else str(self.right)
        return f"{left} and {right}"


@dataclass(frozen=True, slots=True)
class Or(Predicate):
    left: Predicate
    right: Predicate

    def matches(self, facts: Facts) -> bool:
        return self.left.matches(facts) or self.right.matches(facts)

    def __str__(self) -> str:
        right = f"({self.right})" if isinstance(self.right, Or) else str(self.right)
        return f"{self.left} or {right}"


def fields(predicate: Predicate) -> set[str]:
    """The fields that a predicate asks for."""
    return {term.field or "" for term in terms(predicate)}


def terms(predicate: Predicate) -> list[Term]:
    """The terms of a predicate, left to right."""
    found: list[Term] = []
    pending = [predicate]
    while pending:
        part = pending.pop()
        if isinstance(part, Term):
            found.append(part)
        elif isinstance(part, Not):
            pending.append(part.inner)
        elif isinstance(part, And | Or):
            pending += (part.right, part.left)
    return found


# ---- reading -------------------------------------------------------------------------------------------------------

_WORDS = ("and", "or", "not")
_PLAIN = re.compile(r"(?:[^\s()'\"]|\(\))+")
_TOKEN = re.compile(
    r"""\s*(?:
      (?P<paren>[()](?!\)) | \)) |
      (?P<term>(?:(?P<field>\w+)\s*(?P<equals>!?==?)\s*)?
               (?:"(?P<double>(?:[^"\\]|\\.)*)" | '(?P<single>(?:[^'\\]|\\.)*)' | (?P<plain>(?:[^\s()'"]|\(\))+)))
    )""",
    re.VERBOSE,
)


def _quote(value: str) -> str:
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'


@dataclass(frozen=True, slots=True)
class _Token:
    word: str  # "(", ")", "and", "or", "not", or "" for a term
    term: Predicate | None
    start: int


def _tokens(text: str) -> Iterator[_Token]:
    position = 0
    while text[position:].strip():
        found = _TOKEN.match(text, position)
        if found is None:
            raise PredicateError(f"cannot read {text[position:].strip()!r} in the predicate {text!r}")
        start, position = position, found.end()
        if found["paren"]:
            yield _Token(found["paren"], None, start)
        elif found["field"] is None and found["plain"] in _WORDS:
            yield _Token(found["plain"], None, start)
        else:
            yield _Token("", _term(text, found), start)


def _term(text: str, found: re.Match[str]) -> Predicate:
    quoted = found["double"] if found["double"] is not None else found["single"]
    value = found["plain"] if quoted is None else re.sub(r"\\(.)", r"\1", quoted)
    field = found["field"]
    if field is None:
        if quoted is None and ("=" in value or value == "()"):
            raise PredicateError(f"cannot read {value!r} in the predicate {text!r}; write field=value")
        return Term(value)
    if field not in FIELDS:
        near = difflib.get_close_matches(field, FIELDS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise PredicateError(f"unknown field {field!r} in the predicate {text!r} (known: {', '.join(FIELDS)}){hint}")
    if field in ("thread", "hop") and not re.fullmatch("[0-9]{1,18}", value):
        raise PredicateError(f"{field}= takes a number, not {value!r}")
    if field == "line" and not re.fullmatch("[0-9]{1,18}", value.rpartition(":")[2]):
        raise PredicateError(f"line= takes FILE:NUMBER, not {value!r}")
    if field == "kind" and not any(_glob(kind, value) for kind in KINDS):
        near = difflib.get_close_matches(value, KINDS, n=1)
        hint = f"; did you mean {near[0]!r}?" if near else ""
        raise PredicateError(f"unknown kind {value!r} (known: {', '.join(KINDS)}){hint}")
    term = Term(value, field)
    return Not(term) if found["equals"].startswith("!") else term


def parse(text: str) -> Predicate:
    """A predicate from its text; PredicateError, in one line, when it is none."""
    tokens = list(_tokens(text))
    if not tokens:
        raise PredicateError("the predicate is empty; write for instance aten::rand, or op=aten::add* and key=CPU")
    if len(tokens) > MAX_WORDS:
        raise PredicateError(f"the predicate has {len(tokens)} words; {MAX_WORDS} is the most")
    return _Parser(text, tokens).parse()


_POWER = {"or": 1, "and": 2, "not": 3}


class _Parser:
    """Operator precedence, with its own stacks."""

    def __init__(self, text: str, tokens: list[_Token]) -> None:
        self.text = text
        self.tokens = tokens
        self.values: list[Predicate] = []
        self.operators: list[str] = []

    def fail(self, what: str) -> PredicateError:
        return PredicateError(f"{what} in the predicate {self.text!r}")

    def reduce(self) -> None:
        word = self.operators.pop()
        if word == "not":
            self.values.append(Not(self.values.pop()))
            return
        right, left = self.values.pop(), self.values.pop()
        self.values.append(And(left, right) if word == "and" else Or(left, right))

    def parse(self) -> Predicate:
        wanting = True  # a term, rather than what joins two
        for token in self.tokens:
            if token.term is not None:
                if not wanting:
                    raise self.fail(f"expected 'and' or 'or' before {str(token.term)!r}")
                self.values.append(token.term)
                wanting = False
            elif token.word in ("(", "not"):
                if not wanting:
                    raise self.fail(f"expected 'and' or 'or' before {token.word!r}")
                self.operators.append(token.word)
            elif token.word == ")":
                if wanting:
                    raise self.fail("expected a term before ')'")
                while self.operators and self.operators[-1] != "(":
                    self.reduce()
                if not self.operators:
                    raise self.fail("')' without '('")
                self.operators.pop()
            else:
                if wanting:
                    raise self.fail(f"expected a term before {token.word!r}")
                power = _POWER[token.word]
                while self.operators and _POWER.get(self.operators[-1], 0) >= power:
                    self.reduce()
                self.operators.append(token.word)
                wanting = True
        if wanting:
            raise self.fail("expected a term at the end")
        while self.operators:
            if self.operators[-1] == "(":
                raise self.fail("'(' without ')'")
            self.reduce()
        return self.values[0]


# ---- asking a trace ------------------------------------------------------------------------------------------------


def facts_of(trace: Trace, point: Hop | Frame) -> Facts:
    """What a trace knows of a hop or a frame."""
    if isinstance(point, Hop):
        hop: Hop | None = point
        frame = trace.frame(point.frame)
    else:
        frame = point
        hop = trace.hop_of(frame.id)
    entered = trace.python_of(frame.id)
    facts = Facts(
        name=frame.site.name,
        layer=frame.site.layer,
        thread=frame.thread,
        file=frame.site.file,
        line=frame.site.line,
        stack=() if entered is None else tuple((entry.file, entry.line) for entry in entered.python),
    )
    if hop is not None:
        facts.op, facts.key, facts.kind, facts.hop = hop.op, hop.key, hop.kind, hop.id
    return facts


def select(trace: Trace, predicate: Predicate) -> Iterator[Hop | Frame]:
    """What matches, in order: the hops, or when no hop does, the frames."""
    found = False
    for hop in trace.hops:
        if predicate(trace, hop):
            found = True
            yield hop
    if not found:
        for frame in trace.frames:
            if predicate(trace, frame):
                yield frame
