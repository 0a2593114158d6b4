"""Generated calls of operators, to be made in the engine and in the installed PyTorch."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

__all__ = ["CASES", "Case", "D", "Dev", "M", "T", "geometry"]


@dataclass(frozen=True)
class T:
    """A tensor: ``view`` says how it lies in its storage. ``same`` gives the n-th tensor of the case once more."""

    dtype: str = "float32"
    shape: tuple[int, ...] = (2, 3)
    view: str = ""
    same: int | None = None
    device: str = "cpu"

    def __str__(self) -> str:
        if self.same is not None:
            return f"same{self.same}"
        size = "x".join(map(str, self.shape))
        return f"{self.dtype}[{size}]{self.view and '.' + self.view}{'@' * (self.device != 'cpu')}"


@dataclass(frozen=True)
class D:
    """A dtype by name."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class M:
    """A memory format by name."""

    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Dev:
    name: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True)
class Case:
    op: str
    args: tuple[Any, ...]
    exact: bool = True
    values: bool = True

    def __str__(self) -> str:
        return f"{self.op}({', '.join(map(str, self.args))})"


def geometry(t: T) -> tuple[tuple[int, ...], int, int]:
    """Strides, offset and number of elements of the storage."""
    shape, view = t.shape, t.view
    if view == "expand":  # the first dimension repeats
        strides = (0, *_contiguous(shape[1:]))
        return strides, 0, max(_numel(shape[1:]), 1)
    if view == "step":  # every second element of the last dimension
        strides = tuple(2 * s for s in _contiguous(shape))
        return strides, 1, 2 * _numel(shape) + 1
    if view == "offset":
        return _contiguous(shape), 3, _numel(shape) + 3
    if view == "gap":  # rows with a gap behind them
        inner = _contiguous((*shape[:-1], shape[-1] + 2))
        return inner, 0, _numel((*shape[:-1], shape[-1] + 2))
    order = {
        "": tuple(range(len(shape))),
        "t": (*range(len(shape) - 2), len(shape) - 1, len(shape) - 2),
        "reversed": tuple(reversed(range(len(shape)))),
        "channels_last": (0, 2, 3, 1),
        "first_last": (*range(1, len(shape)), 0),
    }[view]
    strides = [0] * len(shape)
    step = 1
    for d in reversed(order):
        strides[d] = step
        step *= max(shape[d], 1)
    return tuple(strides), 0, _numel(shape)


def _numel(shape: tuple[int, ...]) -> int:
    n = 1
    for size in shape:
        n *= size
    return n


def _contiguous(shape: tuple[int, ...]) -> tuple[int, ...]:
    strides = [1] * len(shape)
    for d in range(len(shape) - 2, -1, -1):
        strides[d] = strides[d + 1] * max(shape[d + 1], 1)
    return tuple(strides)


INTS = ("uint8", "int8", "int16", "int32", "int64")
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
ALL = (*INTS, *FLOATS, *COMPLEX, "bool")
SOME = ("uint8", "int64", "float16", "float32", "float64", "complex64", "bool")
OPTIONS = (None, None, None, None)
SHAPES: tuple[T, ...] = (
    T(shape=()), T(shape=(1,)), T(shape=(5,)), T(shape=(0,)), T(shape=(2, 3)), T(shape=(2, 3), view="t"),
    T(shape=(3, 1)), T(shape=(2, 0, 3)), T(shape=(2, 3, 4)), T(shape=(2, 3, 4), view="reversed"),
    T(shape=(2, 3), view="step"), T(shape=(4, 3), view="expand"), T(shape=(2, 3), view="offset"),
    T(shape=(2, 3, 4, 5), view="channels_last"), T(shape=(2, 3, 4), view="first_last"), T(shape=(3, 4), view="gap"),
)  # fmt: skip


def _factories() -> Iterator[Case]:
    for size in ((), (3,), (2, 3), (0,), (2, 0), (-1,), (2, -3)):
        for op in ("ones", "zeros"):
            yield Case(op, (size, *OPTIONS))
        yield Case("empty.memory_format", (size, *OPTIONS, None), values=False)
        yield Case("full", (size, 2, *OPTIONS))
    for dtype in ALL:
        yield Case("ones", ((2,), D(dtype), None, None, None))
        yield Case("zeros", ((2,), D(dtype), None, None, None))
        for value in (0, 3, -1, 300, 1.5, -2.5, 1e6, 1e40, float("inf"), float("nan"), True, 2 + 3j, 2**40, 2**63):
            yield Case("full", ((2,), value, D(dtype), None, None, None))
            yield Case("fill_.Scalar", (T(dtype, (2, 2)), value))
    for value in (7, 7.5, True, 1j):
        yield Case("full", ((2,), value, *OPTIONS))
    for t in SHAPES:
        for op in ("empty_like", "ones_like", "zeros_like"):
            for m in (None, "contiguous_format", "preserve_format", "channels_last"):
                yield Case(op, (t, *OPTIONS, m and M(m)), values=op != "empty_like")
        yield Case("full_like", (t, 3, *OPTIONS, None))
        yield Case("full_like", (t, 3.7, D("int32"), None, None, None, None))
        yield Case("new_ones", (t, (2, 2), *OPTIONS))
        yield Case("new_zeros", (t, (2,), D("int64"), None, None, None))
        yield Case("new_full", (t, (2,), 4, *OPTIONS))
        yield Case("new_empty", (t, (2, 1), *OPTIONS), values=False)
        yield Case("clone", (t, None))
        for m in ("contiguous_format", "preserve_format", "channels_last"):
            yield Case("clone", (t, M(m)))
            yield Case("contiguous", (t, M(m)))
    yield Case("new_empty_strided", (T(), (2, 3), (1, 2), *OPTIONS), values=False)
    for size, stride in (
        ((2,), (1,)),
        ((2, 3), (1, 2)),
        ((2,), (1, 1)),
        ((-2,), (1,)),
        ((2,), (-1,)),
        ((0, 3), (5, 1)),
    ):
        yield Case("empty_strided", (size, stride, *OPTIONS), values=False)
    for size, m in (((1, 2, 3, 4), "channels_last"), ((1, 2, 3), "channels_last"),
                    ((1, 2, 3, 4, 5), "channels_last_3d"),
                    ((2,), "preserve_format"), ((1, 2, 3, 4), "channels_last_3d")):  # fmt: skip
        yield Case("empty.memory_format", (size, *OPTIONS, M(m)), values=False)
    yield Case("empty_permuted", ((2, 3, 4), (2, 0, 1), *OPTIONS), values=False)
    yield Case("empty_permuted", ((2, 3), (0, 0), *OPTIONS), values=False)
    yield Case("empty_permuted", ((2, 3), (0, 2), *OPTIONS), values=False)
    for n in (0, 1, 3, -1):
        yield Case("eye", (n, *OPTIONS))
        for m in (0, 2, 4, -1):
            yield Case("eye.m", (n, m, *OPTIONS))
    for dtype in ALL:
        yield Case("eye", (2, D(dtype), None, None, None))
    yield Case("eye.m_out", (2, 3, T("float32", (0,))))
    yield Case("eye.m_out", (2, 3, T("float32", (2, 3), "t")))
    yield Case("eye.out", (2, T("int32", (4,))))
    for op, args in (("ones.out", ((2, 3),)), ("zeros.out", ((2, 3),)), ("full.out", ((2, 3), 5))):
        for out in (T("float32", (0,)), T("int64", (2, 3)), T("float32", (4,)), T("float32", (2, 3), "t")):
            yield Case(op, (*args, out))
    for value in (3, 2.5, True, 1j):
        for dtype in (None, "float32", "int64", "bool"):
            yield Case("scalar_tensor", (value, dtype and D(dtype), None, None, None))


def _ranges() -> Iterator[Case]:
    ranges = (
        (0, 5, 1), (1, 5, 1), (0, 5, 0), (5, 0, -2), (5, 0, 1), (0, 5, 1.5), (1.0, 2.0, 0.25), (0, 1, 0.1), (0, 5, -1),
        (0.5, 5, 1), (0, float("nan"), 1), (0, float("inf"), 1), (0.0, 1e30, 1), (-3, 3, 1), (250, 260, 3), (3, 3, 1),
        (0, 100, 1), (0, 37, 0.3), (2**62, 2**62 + 3, 1), (True, 3, 1), (0, 2**63 - 1, 2**62), (-2.5, 7.1, 0.7),
    )  # fmt: skip
    for bounds in ranges:
        for dtype in (None, "float32", "int64", "uint8", "float16"):
            yield Case("arange.start_step", (*bounds, dtype and D(dtype), None, None, None))
    for dtype in ALL:
        yield Case("arange.start_step", (0, 20, 0.7, D(dtype), None, None, None))
    for end in (5, 5.5, 0, -1, True):
        yield Case("arange", (end, *OPTIONS))
        yield Case("arange.start", (1, end, *OPTIONS))
    for out in (T("float32", (0,)), T("int64", (5,)), T("int64", (5,), "step"), T("float32", (2, 3)), T("int64", (3,))):
        yield Case("arange.out", (5, out))
        yield Case("arange.start_out", (1, 6, 1, out))


def _copies() -> Iterator[Case]:
    for a, b in itertools.product(ALL, ALL):
        yield Case("copy_", (T(a, (2, 3)), T(b, (2, 3)), False))
        yield Case("to.dtype", (T(a, (5,), "step"), D(b), False, False, None))
    pairs = (
        ((2, 3), (3,)), ((2, 3), (2, 1)), ((2, 3), ()), ((2, 3), (4,)), ((2, 3), (3, 2, 3)), ((3,), (2, 3)),
        ((0,), (0,)),
        ((2, 0), (1,)), ((), ()), ((), (1,)),
    )  # fmt: skip
    for a, b in pairs:
        yield Case("copy_", (T("float32", a), T("float32", b), False))
    for t in SHAPES:
        yield Case("copy_", (t, T("float32", t.shape, "t" if len(t.shape) > 1 else ""), False))
        yield Case("copy_", (t, T(same=0), False))
        for m in (None, "contiguous_format", "preserve_format", "channels_last"):
            yield Case("_to_copy", (t, D("float64"), None, None, None, False, m and M(m)))
            yield Case("to.dtype", (t, D("float32"), False, False, m and M(m)))
        yield Case("to.dtype", (t, D("float32"), False, True, None))
        yield Case("to.other", (t, T("int32", (1,)), False, False, None))
        yield Case("zero_", (t,))
        yield Case("fill_.Tensor", (t, T("int64", ())))
        yield Case("fill_.Tensor", (t, T("float32", (2,))))
        yield Case("fill.Scalar", (t, 3))
        yield Case("lift_fresh", (t,))
        for size in ((), (4,), (2, 3), (5, 5), (0,), (-1,)):
            yield Case("resize_", (t, size, None), values=size == () and 0 not in t.shape)
        yield Case("resize_", (t, (1, 2, 2, 1), M("channels_last")), values=False)
        yield Case("resize_", (t, (2, 2), M("preserve_format")), values=False)
        yield Case("item", (t,))
        yield Case("is_nonzero", (t,))
    for dtype in ALL:
        yield Case("item", (T(dtype, ()),))
        yield Case("_local_scalar_dense", (T(dtype, (1,)),))


def _views() -> Iterator[Case]:
    for t in SHAPES:
        n = len(t.shape)
        for op in ("t", "squeeze", "alias", "detach", "unbind.int", "numpy_T", "mT", "ravel", "t_", "squeeze_"):
            yield Case(op, (t, 0) if op == "unbind.int" else (t,))
        for d in (0, 1, -1, n, -n - 1, 7):
            yield Case("unsqueeze", (t, d))
            yield Case("squeeze.dim", (t, d))
            yield Case("transpose.int", (t, 0, d))
            yield Case("select.int", (t, d, 0))
            yield Case("chunk", (t, 2, d))
            yield Case("split.Tensor", (t, 2, d))
        yield Case("unsqueeze_", (t, 0))
        yield Case("transpose_", (t, 0, -1))
        yield Case("squeeze.dims", (t, (0, -1)))
        for index in (1, -1, -2, 5, -6):
            yield Case("select.int", (t, 0, index))
        for start, end, step in (
            (None, None, 1), (1, None, 1), (None, 1, 1), (0, 10, 2), (-1, None, 1), (-5, 5, 1), (2, 1, 1), (5, 9, 1),
            (0, 2, 0), (0, 2, -1),
        ):  # fmt: skip
            yield Case("slice.Tensor", (t, 0, start, end, step))
        for start, length in ((0, 1), (1, 1), (-1, 1), (0, 9), (9, 1), (0, -1), (-9, 1)):
            yield Case("narrow", (t, 0, start, length))
        for shape in (
            (-1,),
            (1, -1),
            t.shape,
            (t.shape[0], -1) if n else (1,),
            (4,),
            (-1, -1),
            (-2,),
            (3, 2),
            (6,),
            (0, -1),
        ):
            yield Case("view", (t, shape))
            yield Case("reshape", (t, shape))
        for shape in (t.shape, (2, *t.shape), (-1,) * n, (2, 3), (4, 3), (5,), (-1, *t.shape), (2,) * (n + 1)):
            yield Case("expand", (t, shape, False))
        yield Case("expand_as", (t, T("int8", (2, 3))))
        yield Case("permute", (t, tuple(reversed(range(n)))))
        yield Case("permute", (t, (0, 0)))
        yield Case("permute", (t, (1, -2)))
        yield Case("permute", (t, (0,)))
        yield Case("flatten.using_ints", (t, 0, -1))
        yield Case("flatten.using_ints", (t, 1, 0))
        yield Case("flatten.using_ints", (t, -1, -1))
        yield Case("movedim.int", (t, 0, -1))
        yield Case("movedim.intlist", (t, (0, 1), (1, 0)))
        yield Case("movedim.intlist", (t, (0, 1), (1,)))
        yield Case("movedim.intlist", (t, (0, 0), (1, 0)))
        for size in ((3,), (1, 3), (2, 3), (), (4,)):
            yield Case("sum_to_size", (t, size))
        for dtype in ("int32", "float64", "int8", "float16", "complex64"):
            yield Case("view.dtype", (t, D(dtype)))
    for args in (
        ((2,), (1,), None), ((2, 2), (1, 2), 1), ((2,), (1, 1), None), ((20,), (1,), None), ((2,), (-1,), None),
        ((2,), (1,), -1), ((0, 9), (100, 1), None), ((3, 3), (0, 0), 5), ((), (), 2), ((2,), (1,), 5),
    ):  # fmt: skip
        yield Case("as_strided", (T("float32", (2, 3)), *args))
        yield Case("as_strided", (T("float32", (2, 3), "offset"), *args))
    yield Case("select_backward", (T("float32", (3,)), (2, 3), 0, 1))
    yield Case("slice_backward", (T("float32", (2, 3)), (5, 3), 0, 0, 4, 2))
    yield Case("split_with_sizes", (T("float32", (5,)), (2, 3), 0))
    yield Case("split_with_sizes", (T("float32", (5,)), (2, 2), 0))
    yield Case("split_with_sizes", (T("float32", (5,)), (-1, 6), 0))
    yield Case("chunk", (T("float32", (0, 2)), 3, 0))
    yield Case("chunk", (T("float32", (7,)), 3, 0))
    yield Case("chunk", (T("float32", (7,)), 0, 0))
    yield Case("split.Tensor", (T("float32", (7,)), 3, 0))
    yield Case("split.Tensor", (T("float32", (7,)), 0, 0))
    yield Case("split.Tensor", (T("float32", (7,)), -1, 0))
    yield Case("split.Tensor", (T("float32", (0,)), 0, 0))
    yield Case("is_same_size", (T(), T("int64")))
    yield Case("is_same_size", (T(), T("int64", (3,))))


SHAPE_PAIRS: tuple[tuple[T, T], ...] = (
    (T(shape=(2, 3)), T(shape=(3,))), (T(shape=(2, 1)), T(shape=(1, 3))), (T(shape=(2, 3)), T(shape=())),
    (T(shape=()), T(shape=())), (T(shape=(2, 3)), T(shape=(4, 3))), (T(shape=(2, 3)), T(shape=(4,))),
    (T(shape=(3, 2), view="t"), T(shape=(3, 2))), (T(shape=(3, 2), view="t"), T(shape=(3, 2), view="t")),
    (T(shape=(2, 3, 4), view="reversed"), T(shape=(4,))), (T(shape=(2, 3, 4), view="first_last"), T(shape=(2, 3, 4))),
    (T(shape=(2, 3, 4, 5), view="channels_last"), T(shape=(2, 3, 4, 5))),
    (T(shape=(4, 3), view="expand"), T(shape=(4, 3))),
    (T(shape=(2, 3, 4, 5), view="channels_last"), T(shape=(1,))), (T(shape=(2, 0)), T(shape=(1,))),
    (T(shape=(4, 3), view="expand"), T(shape=(4, 3), view="expand")), (T(shape=(2, 3), view="step"), T(shape=(2, 3))),
    (T(shape=(3, 4), view="gap"), T(shape=(3, 4), view="gap")), (T(shape=(1, 1, 3)), T(shape=(5, 1))),
    (T(shape=(2, 3, 4), view="t"), T(shape=(3, 1))), (T(shape=(0,)), T(shape=(0,))),
)  # fmt: skip


def _binary() -> Iterator[Case]:
    def exact(op: str, *dtypes: str) -> bool:
        return op not in ("div", "mul") or not any(d.startswith("complex") for d in dtypes)

    for a, b in itertools.product(ALL, ALL):
        for op in ("add", "sub", "mul", "div"):
            alpha = (1,) if op in ("add", "sub") else ()
            yield Case(f"{op}.Tensor", (T(a, (2, 3)), T(b, (2, 3)), *alpha), exact=exact(op, a, b))
            yield Case(f"{op}_.Tensor", (T(a, (2, 3)), T(b, (3,)), *alpha), exact=exact(op, a, b))
    for a, b in itertools.product(SOME, SOME):
        if {a, b} != {"float16", "complex64"}:  # ComplexHalf
            yield Case("add.Tensor", (T(a, (2, 3)), T(b, ()), 1))
        yield Case("mul.out", (T(a, (3,)), T(b, (3,)), T("float64", (3,))))
        yield Case("add.out", (T(a, (3,)), T(b, (3,)), 1, T("int64", (0,))))
    for a, b in SHAPE_PAIRS:
        for op in ("add.Tensor", "sub.Tensor", "mul.Tensor", "div.Tensor", "add_.Tensor", "mul_.Tensor"):
            alpha = (1,) if op.startswith(("add", "sub")) else ()
            yield Case(op, (a, b, *alpha))
        for out in (T(shape=(0,)), T(shape=(2, 3)), T("float64", a.shape, "t" if len(a.shape) > 1 else "")):
            yield Case("mul.out", (a, b, out))
    for a in ALL:
        for value in (2, 2.5, True, 1j, -1, 300, 0):
            if a == "float16" and value == 1j:  # ComplexHalf
                continue
            for op in (
                "add.Scalar",
                "sub.Scalar",
                "mul.Scalar",
                "div.Scalar",
                "add_.Scalar",
                "mul_.Scalar",
                "rsub.Scalar",
            ):
                alpha = (1,) if op.startswith(("add", "sub", "rsub")) else ()
                yield Case(op, (T(a, (2, 2)), value, *alpha), exact=exact(op[:3], a) and value != 1j)
        for alpha in (2, 2.5, True, 1j, -1, 300, 0):
            yield Case("add.Tensor", (T(a, (37,)), T(a, (37,)), alpha), exact=not a.startswith("complex"))
            yield Case("sub.Tensor", (T(a, (2, 2)), T(a, (2, 2)), alpha), exact=not a.startswith("complex"))
        for op in ("neg", "neg_"):
            yield Case(op, (T(a, (2, 3)),))
        yield Case("rsub.Tensor", (T(a), T("float32"), 2))
        yield Case("neg.out", (T(a), T("float32", (0,))))
    for t in SHAPES:
        yield Case("neg", (t,))
        yield Case("neg_", (t,))
        yield Case("add.Tensor", (t, T(same=0), 1))
        yield Case("add_.Tensor", (t, T(same=0), 1))
        yield Case("mul_.Scalar", (t, 2))
        yield Case("add.out", (t, t, 1, T(same=0)))


def _reductions() -> Iterator[Case]:
    dims = (None, (), (0,), (1,), (-1,), (0, 1), (0, 0), (7,), (1, 2), (0, 2))
    for t in SHAPES:
        for dim, keepdim in itertools.product(dims, (False, True)):
            yield Case("sum.dim_IntList", (t, dim, keepdim, None))
            yield Case("mean.dim", (t, dim, keepdim, None))
        yield Case("sum", (t, None))
        yield Case("mean", (t, None))
    for a in ALL:
        for b in (None, *ALL):
            yield Case("sum", (T(a, (2, 3)), b and D(b)))
            yield Case("mean", (T(a, (7,)), b and D(b)), exact=not (b or a).startswith("complex"))
    for shape in (
        (1000,),
        (33, 65),
        (65, 33),
        (7, 11, 13),
        (3, 100, 5),
        (300, 100),
        (40, 50, 30),
        (70000,),
        (3, 20000),
    ):
        for dtype in ("float32", "float64", "float16", "bfloat16", "complex64", "int32"):
            for dim in ((), (0,), (-1,), (0, -1)):
                yield Case("sum.dim_IntList", (T(dtype, shape), dim, False, None))
        yield Case("sum.dim_IntList", (T("float32", shape, "reversed"), (0,), False, None))
        yield Case("sum.dim_IntList", (T("float32", shape, "step"), (-1,), False, None))
        yield Case("sum", (T("float32", shape, "step"), None))
        yield Case("mean", (T("float32", shape), None))
    for out in (T("float32", (3,)), T("float32", (0,)), T("float64", (3,)), T("int64", (3,)), T("float32", (2,))):
        for dtype in (None, "float32", "float64"):
            yield Case("sum.IntList_out", (T(), (0,), False, dtype and D(dtype), out))
            yield Case("mean.out", (T(), (0,), False, dtype and D(dtype), out))
            yield Case("mean.dtype_out", (T(), dtype and D(dtype), out))


def _meta() -> Iterator[Case]:
    """The same on the Meta device: geometry and type without memory."""
    on_meta = (None, None, Dev("meta"), None)
    for size in ((), (2, 3), (0,), (-1,)):
        for op in ("ones", "zeros", "rand"):
            yield Case(op, (size, *on_meta), values=False)
        yield Case("full", (size, 2, *on_meta), values=False)
    yield Case("arange", (5, *on_meta), values=False)
    yield Case("arange.start_step", (0, 1, 0.3, *on_meta), values=False)
    yield Case("eye", (3, *on_meta), values=False)
    for case in itertools.chain(_views(), _binary(), _reductions()):
        tensors = [a for a in case.args if isinstance(a, T)]
        if any(t.dtype not in ("float32", "int64") for t in tensors) or any(a in ((0, 0), True) for a in case.args):
            continue
        if case.op.partition(".")[0].endswith("_") or "out" in case.op:  # Python functions with checks of their own
            continue
        args = tuple(replace(a, device="meta") if isinstance(a, T) else a for a in case.args)
        yield Case(case.op, args, values=False)


CASES: dict[str, list[Case]] = {
    "factories": list(_factories()),
    "ranges": list(_ranges()),
    "copies": list(_copies()),
    "views": list(_views()),
    "binary": list(_binary()),
    "reductions": list(_reductions()),
    "meta": list(_meta()),
}
