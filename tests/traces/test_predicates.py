"""PRED: reading, asking, combining, and what is said when it does not read."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.traces.samples import built
from traces import Frame, Hop, PredicateError
from traces.predicates import FIELDS, And, Facts, Not, Or, Predicate, Term, fields, parse, select

ADD = Facts(
    op="aten::add.Tensor", key="AutogradCPU", kind="call", layer="ops", thread=2, name="at::_ops::add_Tensor::call",
    file="engine/ops.py", line=7, hop=12, stack=(("lib/net.py", 3), ("script.py", 12)),
)  # fmt: skip
RAND = Facts(op="aten::rand", key="CPU", kind="redispatch", hop=0)
FRAME = Facts(name="torch::autograd::VariableType::mul_Tensor", layer="autograd", thread=1)


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("aten::add", ADD), ("aten::add.Tensor", ADD), ("add", ADD), ("add.Tensor", ADD), ("aten::add*", ADD),
        ("op=aten::*", ADD), ("op=add", ADD), ("aten::rand", RAND), ("rand", RAND), ("rand.default", RAND),
        ("op=aten::rand.default", RAND), ("key=AutogradCPU", ADD), ("key=Autograd*", ADD), ("kind=call", ADD),
        ("kind=re*", RAND), ("layer=ops", ADD), ("thread=2", ADD), ("name=at::_ops::*", ADD), ("hop=12", ADD),
        ("name=add_Tensor::call", ADD), ("line=script.py:12", ADD), ("line=net.py:3", ADD), ("line=12", ADD),
        ("line=engine/ops.py:7", ADD), ("line=ops.py:7", ADD), ("key!=CPU", ADD), ("not key=CPU", ADD),
        ("VariableType::mul_Tensor", FRAME), ("mul_Tensor", FRAME), ("torch::autograd::*", FRAME), ("key!=CPU", FRAME),
        ("op=aten::add* and key=Auto*", ADD), ("rand or add", ADD), ("rand or add and key=CPU", RAND),
        ("(rand or add) and not (key=CPU or hop=3)", ADD), ("not not add", ADD), ('op="aten::add"', ADD),
        ("op = 'aten::add'", ADD), ("op==add", ADD),
    ],
)  # fmt: skip
def test_matches(text: str, facts: Facts) -> None:
    predicate = parse(text)
    assert predicate.matches(facts)
    assert not (~predicate).matches(facts)
    assert parse(str(predicate)) == predicate


@pytest.mark.parametrize(
    ("text", "facts"),
    [
        ("aten::ad", ADD), ("add.Scalar", ADD), ("add.default", ADD), ("rand.Tensor", RAND), ("Tensor", ADD),
        ("key=CPU", ADD), ("key=autogradcpu", ADD), ("thread=1", ADD), ("hop=1", ADD), ("line=script.py:1", ADD),
        ("line=cript.py:12", ADD), ("name=_Tensor::call", ADD), ("key=CPU", FRAME), ("hop=0", FRAME),
        ("add and rand", ADD), ("not add", ADD), ("Type::mul_Tensor", FRAME), ("layer=ops", RAND),
    ],
)  # fmt: skip
def test_does_not_match(text: str, facts: Facts) -> None:
    assert not parse(text).matches(facts)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", r"the predicate is empty; write for instance aten::rand, or op=aten::add\* and key=CPU"),
        ("  ", "the predicate is empty"),
        (
            "kye=CPU",
            r"unknown field 'kye' .* \(known: op, key, kind, layer, thread, name, line, hop\); did you mean 'key'\?",
        ),
        ("zzz=1", r"unknown field 'zzz' .*hop\)$"),
        (
            "kind=cal",
            r"unknown kind 'cal' \(known: call, redispatch, callBoxed, redispatchBoxed\); did you mean 'call'\?",
        ),
        ("hop=first", "hop= takes a number, not 'first'"),
        ("thread=-1", "thread= takes a number, not '-1'"),
        ("line=script.py", "line= takes FILE:NUMBER, not 'script.py'"),
        ("a b", "expected 'and' or 'or' before 'b' in the predicate 'a b'"),
        ("a not b", "expected 'and' or 'or' before 'not'"),
        ("a (b)", r"expected 'and' or 'or' before '\('"),
        ("and", "expected a term before 'and'"),
        ("a or", "expected a term at the end"),
        ("not", "expected a term at the end"),
        ("(a", r"'\(' without '\)'"),
        ("a)", r"'\)' without '\('"),
        ("( )", r"expected a term before '\)'"),
        ("'abc", "cannot read"),
        ("key=", "cannot read 'key='"),
        ("a and " * 300 + "a", "the predicate has 601 words; 400 is the most"),
    ],
)
def test_errors(text: str, message: str) -> None:
    with pytest.raises(PredicateError, match=message) as info:
        parse(text)
    assert "\n" not in str(info.value)


values = st.one_of(
    st.sampled_from(
        ["aten::rand", "a b", "x*", "and", "not", "(", "a(b)", "operator()", 'q"uote', "back\\slash", "k=v", "'"]
    ),
    st.text(min_size=1, max_size=6).filter(lambda text: text.strip() == text and text),
)
terms = st.one_of(
    st.builds(Term, values),
    st.builds(Term, values, st.sampled_from(["op", "key", "layer", "name"])),
    st.builds(lambda number: Term(str(number), "hop"), st.integers(0, 99)),
)
predicates = st.recursive(
    terms,
    lambda inner: st.one_of(st.builds(Not, inner), st.builds(And, inner, inner), st.builds(Or, inner, inner)),
    max_leaves=8,
)


@given(predicates)
def test_text_reads_back(predicate: Predicate) -> None:
    assert parse(str(predicate)) == predicate


@given(st.text(alphabet="ab=()'\" andort!*:.\\", max_size=20))
def test_any_text_reads_or_says_why(text: str) -> None:
    try:
        predicate = parse(text)
    except PredicateError as error:
        assert "\n" not in str(error)
    else:
        predicate.matches(ADD)
        assert parse(str(predicate)) == predicate


def test_objects_combine() -> None:
    predicate = (parse("add") & parse("key=CPU")) | ~parse("rand")
    assert str(predicate) == "add and key=CPU or not rand"
    assert predicate.matches(ADD)
    assert fields(predicate) == {"", "key"}


def test_unknown_facts_do_not_match() -> None:
    for field in FIELDS:
        value = {"thread": "1", "hop": "1", "line": "1", "kind": "call"}.get(field, "*")
        assert not parse(f"{field}={value}").matches(Facts())


def test_select_prefers_hops() -> None:
    trace = built()
    assert [(type(point), point.id) for point in select(trace, parse("rand"))] == [(Hop, 0), (Hop, 1)]
    assert [type(point) for point in select(trace, parse("torch::rand"))] == [Frame]
    assert [point.id for point in select(trace, parse("key=CPU"))] == [1, 2, 4]
    assert [point.id for point in select(trace, parse("line=script.py:4"))] == [4]
    assert [point.id for point in select(trace, parse("thread=2"))] == [4]
    assert [point.site.name for point in select(trace, parse("layer=native"))] == ["at::native::rand"]
    assert not list(select(trace, parse("nothing")))
