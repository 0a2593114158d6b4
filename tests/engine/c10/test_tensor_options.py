"""TensorOptions: building, merging, printing, and the dispatch key they give."""

from __future__ import annotations

import pytest

from engine.c10 import exception, layout, scalar_type
from engine.c10 import memory_format as mf
from engine.c10 import tensor_options as to
from engine.c10.device import Device, kCPU, kMeta
from engine.c10.dispatch_key import DispatchKey
from engine.c10.tensor_options import TensorOptions


def test_defaults_print_as_cpp_prints_them():
    assert str(TensorOptions()) == (
        "TensorOptions(dtype=float (default), device=cpu (default), layout=Strided (default), requires_grad=false "
        "(default), pinned_memory=false (default), memory_format=(nullopt))"
    )
    full = (
        TensorOptions(scalar_type.Long).device(kMeta).requires_grad(True).pinned_memory(False).layout(layout.Sparse)
    ).memory_format(mf.ChannelsLast)
    assert str(full) == (
        "TensorOptions(dtype=long int, device=meta, layout=Sparse, requires_grad=true, pinned_memory=false, "
        "memory_format=ChannelsLast)"
    )


def test_methods_build_and_get():
    options = TensorOptions()
    longs = options.dtype(scalar_type.Long)
    assert options.dtype_opt() is None
    assert options.dtype() is scalar_type.Float
    assert (longs.dtype(), longs.has_dtype()) == (scalar_type.Long, True)
    assert longs.dtype(None) == options
    assert options.device("cuda", 1).device() == Device("cuda:1")
    assert options.device("cuda", 1).device_index() == 1
    assert options.device() == kCPU
    assert not options.requires_grad()
    assert to.requires_grad().requires_grad_opt() is True
    assert to.layout(layout.SparseCsr).is_sparse_compressed()
    assert to.memory_format(mf.Preserve).memory_format_opt() is mf.Preserve
    assert hash(to.dtype(scalar_type.Int)) == hash(TensorOptions(scalar_type.Int))


def test_implicit_conversions():
    made = TensorOptions(scalar_type.Half, layout.Strided, kMeta, mf.Contiguous)
    assert made == TensorOptions(
        dtype=scalar_type.Half, layout=layout.Strided, device=kMeta, memory_format=mf.Contiguous
    )
    assert [made.has_dtype(), made.has_layout(), made.has_device(), made.has_memory_format()] == [True] * 4
    assert [made.has_requires_grad(), made.has_pinned_memory()] == [False] * 2


def test_merge_is_right_biased():
    left = TensorOptions(scalar_type.Half, kMeta, requires_grad=True)
    right = TensorOptions(scalar_type.Int, requires_grad=False, pinned_memory=True)
    merged = left.merge_in(right)
    assert merged == TensorOptions(scalar_type.Int, kMeta, requires_grad=False, pinned_memory=True)
    assert merged.merge_memory_format(None) is merged
    assert merged.merge_memory_format(mf.Preserve).has_memory_format()


@pytest.mark.parametrize(
    ("axes", "key"),
    [
        ((), "CPU"),
        (("meta",), "Meta"),
        (("cuda", 1), "CUDA"),
        (("privateuseone",), "PrivateUse1"),
        (("vulkan",), "Vulkan"),
        ((scalar_type.QInt8,), "QuantizedCPU"),
        ((scalar_type.QInt8, "cuda"), "QuantizedCUDA"),
        ((layout.Sparse,), "SparseCPU"),
        ((layout.SparseCsr, "meta"), "SparseCsrMeta"),
        ((layout.SparseBsc,), "SparseCsrCPU"),
        ((layout.Mkldnn,), "MkldnnCPU"),
        ((layout.Jagged,), "CPU"),
    ],
)
def test_dispatch_keys(axes, key):
    options = TensorOptions(*(a for a in axes if not isinstance(a, str | int)))
    names = [a for a in axes if isinstance(a, str | int)]
    if names:
        options = options.device(*names)
    assert options.computeDispatchKey() is DispatchKey[key]
    assert options.type_equal(options)
    if not key.startswith("SparseCsr"):
        back = to.dispatchKeyToTensorOptions(DispatchKey[key])
        assert back.computeDispatchKey() is (DispatchKey[key.removeprefix("Quantized")])


@pytest.mark.parametrize(
    ("lay", "device", "message"),
    [
        (layout.Sparse, "vulkan", "Unsupported device type for sparse layout: vulkan"),
        (layout.SparseCsc, "fpga", "Unsupported device type for SparseCsc layout: fpga"),
        (layout.Mkldnn, "cuda", "Unsupported device type for mkldnn layout: cuda"),
    ],
)
def test_combinations_that_do_not_exist(lay, device, message):
    with pytest.raises(exception.NotImplementedError) as caught:
        to.computeDispatchKey(None, lay, Device(device))
    assert str(caught.value) == message


def test_caffe2_devices_have_no_key():
    with pytest.raises(exception.Error, match="This is a grandfathered Caffe2 device type ideep, it shouldn't ever"):
        to.computeDispatchKey(None, None, Device("ideep"))


def test_keys_without_layout_or_device():
    with pytest.raises(exception.Error, match=r"Cannot map DispatchKey SparseCsrCPU to a unique layout."):
        to.dispatchKeyToLayout(DispatchKey.SparseCsrCPU)
    with pytest.raises(exception.Error, match="DispatchKey BackendSelect doesn't correspond to a device"):
        to.dispatchKeyToDeviceType(DispatchKey.BackendSelect)
    assert to.dispatchKeyToDeviceType(DispatchKey.AutogradCPU) == "cpu"
    assert not to.backend_supports_empty_operator(TensorOptions(scalar_type.QInt8))
