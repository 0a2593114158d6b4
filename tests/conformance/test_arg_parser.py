"""The argument parser against the installed PyTorch: which calls fit, and the text when they do not."""

from __future__ import annotations

import random
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest

from engine.aten.core.generator import Generator
from engine.aten.core.tensor import Tensor, empty_tensor
from engine.c10 import layout, memory_format, scalar_type
from engine.c10.device import Device
from engine.c10.dispatch_key import DispatchKey
from engine.c10.dispatch_key_set import key_bits
from engine.c10.exception import Error, translate
from engine.torch.csrc.autograd.variable import set_requires_grad
from engine.torch.csrc.size import Size
from engine.torch.csrc.utils.python_arg_parser import PythonArgParser

torch = pytest.importorskip("torch")

CASES_PER_SIGNATURE = 40
OPTIONS = (
    "ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=False, "
    "bool? requires_grad=False"
)
OUT = "Tensor out=None"

FUNCTIONS = {
    "rand": (
        f"rand(SymIntArrayRef size, *, Generator? generator, {OUT}, {OPTIONS})",
        f"rand(SymIntArrayRef size, *, {OUT}, {OPTIONS})",
    ),
    "ones": (f"ones(SymIntArrayRef size, *, {OUT}, {OPTIONS})",),
    "empty": (f"empty(SymIntArrayRef size, *, MemoryFormat? memory_format=None, {OUT}, {OPTIONS})",),
    "full": (f"full(SymIntArrayRef size, Scalar fill_value, *, {OUT}, {OPTIONS})",),
    "eye": (f"eye(SymInt n, *, {OUT}, {OPTIONS})", f"eye(SymInt n, SymInt m, *, {OUT}, {OPTIONS})"),
    "arange": (
        f"arange(Scalar end, *, {OUT}, {OPTIONS})",
        f"arange(Scalar start, Scalar end, *, {OPTIONS})",
        f"arange(Scalar start, Scalar end, Scalar step=1, *, {OUT}, {OPTIONS})",
    ),
    "zeros_like": (f"zeros_like(Tensor input, *, MemoryFormat? memory_format=None, {OPTIONS})",),
    "full_like": (f"full_like(Tensor input, Scalar fill_value, *, MemoryFormat? memory_format=None, {OPTIONS})",),
    "neg": (f"neg(Tensor input, *, {OUT})",),
    "add": (
        f"add(Tensor input, Scalar alpha, Tensor other, *, {OUT})|deprecated",
        f"add(Tensor input, Tensor other, *, Scalar alpha=1, {OUT})",
    ),
    "mul": (f"mul(Tensor input, Tensor other, *, {OUT})",),
    "div": (
        f"div(Tensor input, Tensor other, *, {OUT})",
        f"div(Tensor input, Tensor other, *, c10::string_view? rounding_mode, {OUT})",
        "div(Tensor input, Scalar other, *, c10::string_view? rounding_mode)",
    ),
    "sum": (
        "sum(Tensor input, *, ScalarType? dtype=None)",
        f"sum(Tensor input, IntArrayRef[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, {OUT})",
    ),
    "mean": (
        f"mean(Tensor input, *, ScalarType? dtype=None, {OUT})",
        f"mean(Tensor input, IntArrayRef[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, {OUT})",
    ),
    "transpose": ("transpose(Tensor input, int64_t dim0, int64_t dim1)",),
    "select": ("select(Tensor input, int64_t dim, SymInt index)",),
    "squeeze": (
        "squeeze(Tensor input)",
        "squeeze(Tensor input, int64_t dim)",
        "squeeze(Tensor input, IntArrayRef dim)",
    ),
    "reshape": ("reshape(Tensor input, SymIntArrayRef shape)",),
    "clone": ("clone(Tensor input, *, MemoryFormat? memory_format=None)",),
    "cat": (f"cat(TensorList tensors, int64_t dim=0, *, {OUT})",),
}

METHODS = {
    "add": ("add(Scalar alpha, Tensor other)|deprecated", "add(Tensor other, *, Scalar alpha=1)"),
    "sum": (
        "sum(*, ScalarType? dtype=None)",
        "sum(IntArrayRef[1]? dim, bool keepdim=False, *, ScalarType? dtype=None)",
    ),
    "view": ("view(ScalarType dtype)", "view(SymIntArrayRef size)"),
    "expand": ("expand(SymIntArrayRef size, *, bool implicit=False)",),
    "reshape": ("reshape(SymIntArrayRef shape)",),
    "new_full": (f"new_full(SymIntArrayRef size, Scalar fill_value, *, {OPTIONS})",),
    "new_zeros": (f"new_zeros(SymIntArrayRef size, *, {OPTIONS})",),
    "fill_": ("fill_(Tensor value)", "fill_(Scalar value)"),
    "uniform_": ("uniform_(double from=0, double to=1, *, Generator? generator=None)",),
    "size": ("size(int64_t? dim=None)",),
    "copy_": (
        "copy_(Tensor other, bool non_blocking=False)",
        "copy_(Tensor other, bool async=False)|deprecated",
    ),
    "to": (
        "to(Device device=None, ScalarType dtype=None, bool non_blocking=False, bool copy=False, *, "
        "MemoryFormat? memory_format=None)",
        "to(ScalarType dtype, bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None)",
        "to(Tensor tensor, bool non_blocking=False, bool copy=False, *, MemoryFormat? memory_format=None)",
    ),
}


def _tensor(sizes: tuple[int, ...], dtype: Any = scalar_type.Float, requires_grad: bool = False) -> Any:
    strides = tuple(np.cumprod((1, *sizes[:0:-1]))[::-1].tolist()) if sizes else ()
    t = empty_tensor(sizes, strides, dtype, Device("cpu"), key_bits(DispatchKey.CPU))
    t.array[...] = 1
    if requires_grad:
        set_requires_grad(t, True)
    return t


@dataclass(frozen=True)
class Pair:
    """An argument made anew for each call, as PyTorch's object and as the engine's: calls may write to it."""

    text: str
    theirs: Callable[[], Any]
    ours: Callable[[], Any]

    def __repr__(self) -> str:
        return self.text


def _pair(text: str, ours: Callable[[], Any]) -> Pair:
    return Pair(text, lambda: eval(text, {"torch": torch}), ours)


POOL: tuple[Any, ...] = (
    0, 1, 2, -1, True, False, 1.5, 2.0, 1j, None, "x", b"x", "cpu", "floor", (), (1, 2), [2, 1], (2.5,), [1, "x"],
    (None,), [True, 1], object(), float, int, str, ..., slice(1), range(2), {"a": 1}, np.float32(1.5), np.float64(2),
    np.int64(1), np.bool_(True), np.ones(2), np.complex64(1j), [np.int64(1)], 2**40,
    _pair("torch.float64", lambda: scalar_type.Double),
    _pair("torch.strided", lambda: layout.strided),
    _pair("torch.device('cpu')", lambda: Device("cpu")),
    _pair("torch.contiguous_format", lambda: memory_format.contiguous_format),
    _pair("torch.Generator()", Generator),
    _pair("torch.Size([2])", lambda: Size([2])),
    _pair("torch.ones(2)", lambda: _tensor((2,))),
    _pair("torch.ones(2, 1)", lambda: _tensor((2, 1))),
    _pair("torch.tensor(1.0)", lambda: _tensor(())),
    _pair("torch.tensor(1)", lambda: _tensor((), scalar_type.Long)),
    _pair("torch.tensor([1])", lambda: _tensor((1,), scalar_type.Long)),
    _pair("torch.tensor(True)", lambda: _tensor((), scalar_type.Bool)),
    _pair("torch.tensor(1.0, requires_grad=True)", lambda: _tensor((), requires_grad=True)),
    _pair("[torch.ones(2)]", lambda: [_tensor((2,))]),
    _pair("[torch.tensor(1), 1]", lambda: [_tensor((), scalar_type.Long), 1]),
)  # fmt: skip

KEYWORDS = ("foo", "out", "dtype", "dim", "axis", "x", "self", "requires_grad", "a_rather_long_keyword")

PARSER_ERROR = re.compile(
    r"\w+\(\)( received an invalid combination| missing \d| takes |: argument '| got an unexpected| got multiple)"
    r"|expected Tensor as element|keywords must be strings"
)


def _ours_of(obj: Any) -> Any:
    return obj.ours() if isinstance(obj, Pair) else obj


def _theirs_of(obj: Any) -> Any:
    return obj.theirs() if isinstance(obj, Pair) else obj


def _calls(name: str, signatures: tuple[str, ...], seed: int) -> list[tuple[list[Any], dict[str, Any]]]:
    """Calls that are sometimes right: as many arguments as a parameter list takes, more often than not fitting ones."""
    rng = random.Random(f"{name}{seed}")
    parser = PythonArgParser(signatures)
    names = [param.name for signature in parser.signatures for param in signature.params]
    calls = []
    for _ in range(CASES_PER_SIGNATURE):
        args = [rng.choice(POOL) for _ in range(rng.choice((0, 1, 1, 2, 2, 2, 3, 4)))]
        keys = {rng.choice(names if rng.random() < 0.7 else KEYWORDS) for _ in range(rng.choice((0, 0, 0, 1, 1, 2, 3)))}
        calls.append((args, {key: rng.choice(POOL) for key in sorted(keys)}))
    # arguments that fit, one of them replaced
    signature = rng.choice(parser.signatures)
    fitting = [next(obj for obj in POOL if _fits(param, _ours_of(obj))) for param in signature.params]
    positional = fitting[: signature.max_pos_args]
    keyword = {p.name: v for p, v in zip(signature.params, fitting, strict=True) if p.keyword_only}
    for i in range(len(positional)):
        for obj in rng.sample(POOL, 6):
            calls.append(([*positional[:i], obj, *positional[i + 1 :]], {}))
    for key in keyword:
        calls.append((positional, {**{k: v for k, v in keyword.items() if rng.random() < 0.3}, key: rng.choice(POOL)}))
    return calls


def _fits(param: Any, obj: Any) -> bool:
    try:
        return obj is not None and param.check(obj, [], 0, [])
    except Error:
        return False


CONVERSIONS = {
    "TENSOR": "tensor",
    "SCALAR": "scalar",
    "INT64": "toInt64",
    "SYM_INT": "toSymInt",
    "DOUBLE": "toDouble",
    "INT_LIST": "intlist",
    "SYM_INT_LIST": "symintlist",
    "DEVICE": "deviceOptional",
    "SCALARTYPE": "scalartypeOptional",
}


def _holds_tensor(obj: Any) -> bool:
    return isinstance(obj, Tensor) or (isinstance(obj, (list, tuple)) and any(map(_holds_tensor, obj)))


def _ours(parser: PythonArgParser, self_: Any, args: list[Any], kwargs: dict[str, Any]) -> Exception | None:
    try:
        r = parser.parse(self_, tuple(args), kwargs)
        for i, param in enumerate(r.signature.params):
            # a number in a tensor is read by an operator, which is not what is tested here
            dispatches = param.kind != "TENSOR" and _holds_tensor(r.args[i])
            if param.kind in CONVERSIONS and r.args[i] is not None and not dispatches:
                getattr(r, CONVERSIONS[param.kind])(i)
    except Error as error:
        return translate(error)
    except Exception as error:
        return error
    return None


def _theirs(function: Any, args: list[Any], kwargs: dict[str, Any]) -> Exception | None:
    try:
        function(*args, **kwargs)
    except Exception as error:
        return error
    return None


def _text(error: Exception | None) -> str:
    if error is None:
        return "no error"
    return f"{type(error).__name__}: {str(error).partition(chr(10) + 'Exception raised from')[0]}"


def _compare(name: str, signatures: tuple[str, ...], method: bool, seed: int) -> tuple[int, list[str]]:
    parser = PythonArgParser(signatures)
    wrong = []
    calls = _calls(name, signatures, seed)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for args, kwargs in calls:
            function = getattr(torch.ones(2, 1), name) if method else getattr(torch, name)
            theirs = _theirs(function, list(map(_theirs_of, args)), {k: _theirs_of(v) for k, v in kwargs.items()})
            # twice: the second time the plan that was remembered is used
            for _ in range(2):
                mine = list(map(_ours_of, args))
                named = {k: _ours_of(v) for k, v in kwargs.items()}
                ours = _ours(parser, _tensor((2, 1)) if method else None, mine, named)
                same = _text(ours) == _text(theirs)
                later = ours is None and (theirs is None or not PARSER_ERROR.match(str(theirs)))
                if ours is None and "failed to unpack" in str(theirs):
                    later = any(map(_holds_tensor, (*mine, *named.values())))
                if not same and not later:
                    wrong.append(f"{name}(*{args}, **{kwargs})\n  ours   {_text(ours)}\n  theirs {_text(theirs)}")
    return len(calls), wrong


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions(name: str) -> None:
    count, wrong = _compare(name, FUNCTIONS[name], method=False, seed=0)
    assert count >= CASES_PER_SIGNATURE
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("name", METHODS)
def test_methods(name: str) -> None:
    count, wrong = _compare(name, METHODS[name], method=True, seed=0)
    assert count >= CASES_PER_SIGNATURE
    assert not wrong, "\n".join(wrong)
