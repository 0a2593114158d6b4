"""What C++ prints of tensors."""

from __future__ import annotations

import numpy as np
import pytest

from engine.aten.core.formatting import print_, to_string
from engine.aten.core.tensor import empty_tensor
from engine.c10 import exception
from engine.c10 import scalar_type as s
from engine.c10.device import kCPU, kMeta
from engine.c10.dispatch_key import DispatchKey
from engine.c10.dispatch_key_set import key_bits
from engine.c10.memory_format import contiguous_strides


def tensor(values, dtype=s.Float):
    array = np.asarray(values, dtype.np)
    made = empty_tensor(array.shape, contiguous_strides(array.shape), dtype, kCPU, key_bits(DispatchKey.CPU))
    made.array[...] = array
    return made


@pytest.mark.parametrize(
    ("made", "text"),
    [
        (None, "[ Tensor (undefined) ]"),
        (tensor(np.ones((2, 2))), " 1  1\n 1  1\n[ CPUFloatType{2,2} ]"),
        (tensor(1), "1\n[ CPUFloatType{} ]"),
        (tensor(2.5, s.Double), "2.5\n[ CPUDoubleType{} ]"),
        (tensor([1, 2, 300], s.Long), "   1\n   2\n 300\n[ CPULongType{3} ]"),
        (tensor([True, False], s.Bool), " 1\n 0\n[ CPUBoolType{2} ]"),
        (tensor([1 + 2j, 3.5], s.ComplexFloat), " 1.0000\n 3.5000\n[ CPUComplexFloatType{2} ]"),
        (tensor([0.25e-3, 0.5e-3]), "0.0001 *\n 2.5000\n 5.0000\n[ CPUFloatType{2} ]"),
        (tensor([1e-8, 1.0]), " 1.0000e-08\n 1.0000e+00\n[ CPUFloatType{2} ]"),
        (tensor([0.5, np.nan, -np.inf]), " 0.5000\n    nan\n   -inf\n[ CPUFloatType{3} ]"),
        (tensor(np.zeros((0, 3))), "[ CPUFloatType{0,3} ]"),
        (tensor(np.zeros((2, 0, 3))), "[ CPUFloatType{2,0,3} ]"),
        (
            tensor(np.arange(8).reshape(2, 2, 2)),
            "(1,.,.) = \n 0  1\n  2  3\n\n(2,.,.) = \n 4  5\n  6  7\n[ CPUFloatType{2,2,2} ]",
        ),
    ],
    ids=lambda x: repr(x) if isinstance(x, str) else "",
)
def test_text(made, text):
    assert to_string(made) == text


def test_wide_matrices_are_cut():
    lines = to_string(tensor(np.arange(60).reshape(2, 30), s.Int)).splitlines()
    assert lines[0].startswith("Columns 1 to 20  0   1")
    assert lines[3].startswith("Columns 21 to 30 20  21")
    assert print_(tensor(np.arange(4).reshape(1, 4)), 6).count("Columns") == 2


def test_slices_count_the_first_index_fastest():
    text = to_string(tensor(np.zeros((2, 2, 1, 1))))
    assert [line for line in text.splitlines() if ".,." in line] == [
        "(1,1,.,.) = ",
        "(2,1,.,.) = ",
        "(1,2,.,.) = ",
        "(2,2,.,.) = ",
    ]


def test_meta_tensors_have_nothing_to_print():
    made = empty_tensor((2,), (1,), s.Float, kMeta, key_bits(DispatchKey.Meta))
    with pytest.raises(exception.NotImplementedError, match="Cannot copy out of meta tensor; no data!"):
        to_string(made)
