"""``x[...]``: which operators it takes, through which functions."""

from __future__ import annotations

import pytest

from engine import doors, torch


class Ops(doors.Listener):
    def __init__(self) -> None:
        self.names: list[str] = []

    def enter(self, site: doors.Site, args: tuple[object, ...]) -> None:
        if not site.name.startswith(("at::_ops::as_strided", "at::native", "at::wrapper", "at::Tensor")):
            self.names.append(site.name)


def road(source: str) -> list[str]:
    """The functions entered by an expression or a statement over ``x``, down to the first operators."""
    names = {"torch": torch, "x": torch.ones(2, 3), "one": torch.tensor(1)}
    code = compile(source, "script", "exec")
    ops = Ops()
    undo = doors.attach(ops)
    try:
        exec(code, names)
    finally:
        undo()
    return [name for name in ops.names if name.endswith("::call") or "indexing" in name or "python" not in name]


GETITEM = "torch::autograd::THPVariable_getitem"
SELECT = ["at::indexing::impl::applySelect", "at::_ops::select_int::call"]


def test_an_integer() -> None:
    names = road("x[0]")
    assert names[:4] == [GETITEM, "at::indexing::get_item", *SELECT]


def test_a_tuple() -> None:
    names = road("x[0, 1]")
    assert names[:5] == [
        GETITEM, "torch::autograd::applySlicing", "at::indexing::handleDimInMultiDimIndexing", *SELECT,
    ]  # fmt: skip
    assert names.count("at::_ops::select_int::call") == 2


@pytest.mark.parametrize(
    ("source", "operators"),
    [
        ("x[0:1]", ["slice_Tensor"]),
        ("x[:]", ["slice_Tensor"]),
        ("x[:, :]", ["alias"]),
        ("x[...]", ["alias"]),
        ("x[None]", ["unsqueeze"]),
        ("x[..., 0]", ["select_int"]),
        ("x[:, None, 0]", ["unsqueeze", "select_int"]),
        ("x[one]", ["item", "select_int"]),
        ("x[0] = 3", ["lift_fresh", "select_int", "fill__Tensor"]),
        ("x[0, 0] = 3", ["lift_fresh", "select_int", "select_int", "copy_"]),
        ("x[...] = 3", ["lift_fresh", "fill__Tensor"]),
        ("x[0:1] = x[1:]", ["slice_Tensor", "slice_Tensor", "copy_"]),
    ],
)
def test_operators(source: str, operators: list[str]) -> None:
    called = [name.split("::")[2] for name in road(source) if name.endswith("::call")]
    inner = {"as_strided", "_local_scalar_dense", "copy_"}
    assert [name for name in called if name in operators or name not in inner][: len(operators)] == operators


def test_advanced_indexing_says_what_it_needs() -> None:
    x = torch.ones(2, 3)
    with pytest.raises(NotImplementedError, match=r"aten::index.*not modelled by the engine; run the script with --on"):
        x[[0, 1]]
    with pytest.raises(NotImplementedError, match="assigning through a tensor, a list or a boolean"):
        x[[0, 1]] = 1


def test_writes_bump_the_version_and_reach_the_base() -> None:
    x = torch.zeros(2, 3)
    x[1][0] = 5
    x[:, 2] = torch.tensor([7.0, 8.0])
    assert x.tolist() == [[0.0, 0.0, 7.0], [5.0, 0.0, 8.0]]
    assert x._version == 2
