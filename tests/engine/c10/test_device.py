"""Devices: parsing, printing, comparing."""

from __future__ import annotations

import copy
import pickle

import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.c10 import device, exception
from engine.c10.device import Device

PARSED = (
    "cpu, cuda, ipu, xpu, mkldnn, opengl, opencl, ideep, hip, ve, fpga, maia, xla, lazy, vulkan, mps, meta, hpu, mtia, "
    "privateuseone"
)
INDICES = st.one_of(st.none(), st.integers(0, 127))


@given(st.sampled_from([t for t in device.DEVICE_TYPES if t not in ("metal", "mkldnn")]), INDICES)
def test_round_trip(type_, index):
    made = Device(type_, index)
    assert (made.type, made.index) == (type_, index)
    assert Device(str(made)) == Device.from_string(str(made)) == eval(repr(made), {"device": Device}) == made
    assert copy.deepcopy(made) == pickle.loads(pickle.dumps(made)) == made
    assert hash(Device(made)) == hash(made)


@pytest.mark.parametrize(
    ("args", "error", "message"),
    [
        (("foo",), RuntimeError, f"Expected one of {PARSED} device type at start of device string: foo"),
        (("cuda:-2",), RuntimeError, "Invalid device string: 'cuda:-2'"),
        (("",), RuntimeError, "Device string must not be empty"),
        (("cuda", -1), RuntimeError, "Device index must not be negative"),
        (
            ("cuda:1", 0),
            RuntimeError,
            "type (string) must not include an index because index was passed explicitly: cuda:1",
        ),
        ((3, 4), TypeError, "device(): argument 'type' (position 1) must be str, not int"),
        ((0,), RuntimeError, "Cannot access accelerator device when none is available."),
    ],
    ids=repr,
)
def test_errors(args, error, message):
    with pytest.raises(error) as caught:
        Device(*args)
    assert str(caught.value) == message


def test_inside_the_engine_the_error_is_c10s():
    with pytest.raises(exception.Error, match="Invalid device string: 'cuda:'"):
        Device.from_string("cuda:")


def test_an_old_type_warns_once(recwarn):
    exception._warned.clear()
    Device("mkldnn")
    Device("mkldnn")
    assert [str(w.message).partition(". ")[0] for w in recwarn] == ["'mkldnn' is no longer used as device type"]
    assert recwarn[0].filename == __file__


def test_immutable_and_unordered():
    cpu = Device("cpu")
    with pytest.raises(AttributeError, match=r"attribute 'type' of 'torch.device' objects is not writable"):
        cpu.type = "cuda"
    with pytest.raises(TypeError, match="comparison not implemented"):
        cpu < device.kMeta  # noqa: B015
    assert cpu != 0
    assert cpu == device.device_or_default(None)
    assert cpu.supports_as_strided()
    assert not Device("xla").supports_as_strided()
