"""Every row with a derivative: its gradient against finite differences, at arguments made up from the schema."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from engine import torch
from engine.aten.core.ops import at
from engine.torch.autograd import gradcheck, gradgradcheck
from engine.torchgen.gen_variable_type import functional_row
from engine.torchgen.register import register_all, registered_rows

register_all()

# by the name of the argument; tensors are 2 x 3
VALUES: dict[str, Any] = {
    "size": (6,),
    "sizes": (6,),
    "stride": (1,),
    "dim": 0,
    "dim0": 0,
    "dim1": 1,
    "dims": (1, 0),
    "index": 1,
    "start": 0,
    "end": 2,
    "step": 1,
    "split_size": 1,
    "split_sizes": (1, 1),
    "length": 1,
    "input_sizes": (3, 2, 3),
    "implicit": False,
    "storage_offset": 0,
    "exponent": 3,
    "threshold": 0,
    "generator": None,
}
OF_OPERATOR = {"expand": {"size": (2, 2, 3)}, "slice_backward": {"end": 2, "input_sizes": (3, 3)}}
RANDOM = ("uniform_", "normal_", "random_", "bernoulli", "native_dropout", "multinomial")


def tensor(seed: int) -> Any:
    data = np.random.default_rng(seed).uniform(0.5, 2.0, (2, 3))
    return torch.tensor(data.tolist(), dtype=torch.float64, requires_grad=True)


def arguments(row: Any) -> list[Any]:
    values = []
    own = {**VALUES, **OF_OPERATOR.get(row.schema.name.base, {})}
    for i, argument in enumerate(row.schema.all_arguments):
        text = str(argument.type)
        if text.startswith("Tensor") and "[" in text:
            values.append([tensor(i), tensor(i + 1)])
        elif argument.name == "index" and text == "Tensor":
            whole = "gather" in row.schema.name.base or "scatter" in row.schema.name.base
            values.append(torch.tensor([[0, 1, 1], [1, 0, 1]] if whole else [1, 1]))
        elif text.startswith("Tensor") and not text.endswith("?"):
            values.append(tensor(i).sum().detach().requires_grad_() if argument.name == "value" else tensor(i))
        elif text == "Scalar":
            values.append(own.get(argument.name, 2.0))
        elif argument.name in own and not (argument.has_default and argument.default is None):
            value = own[argument.name]
            values.append((value,) if "[" in text and isinstance(value, int) else value)
        elif argument.has_default:
            values.append(argument.default)
        else:
            values.append(None)
    return values


ROWS = [
    pytest.param(struct, id=struct)
    for struct, row in registered_rows.items()
    if row.schema.kind() in ("functional", "inplace")
    and (source := functional_row(row)) is not None
    and source.derivatives
    and row.schema.name.base not in RANDOM
    and row.autograd is None
]


@pytest.mark.parametrize("struct", ROWS)
def test_gradient(struct: str) -> None:
    row = registered_rows[struct]
    source = functional_row(row)
    assert source is not None
    names = {n.strip() for key in source.derivatives or () for n in key.split(",")}
    template = arguments(row)
    leaves: list[Any] = []
    for argument, value in zip(row.schema.all_arguments, template, strict=True):
        if argument.name in names:
            leaves += value if isinstance(value, list) else [value]
        elif isinstance(value, torch.Tensor):
            value.requires_grad_(False)
    call = getattr(at, struct).call

    def run(*given: Any) -> Any:
        rest = iter(given)
        args = []
        for argument, value in zip(row.schema.all_arguments, template, strict=True):
            if argument.name not in names:
                args.append(value)
            elif isinstance(value, list):
                args.append([next(rest) for _ in value])
            else:
                fresh = next(rest)
                args.append(fresh.clone() if argument.is_write else fresh)
        return call(*args)

    assert gradcheck(run, leaves)
    assert gradgradcheck(run, leaves)
