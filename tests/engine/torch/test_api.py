"""What a script finds in ``torch``, and what it is told about the rest."""

from __future__ import annotations

import copy
import subprocess
import sys

import pytest

from engine import torch


def test_aliases_of_dtypes() -> None:
    assert torch.half is torch.float16
    assert torch.int is torch.int32
    assert torch.cfloat is torch.complex64
    assert repr(torch.bfloat16) == "torch.bfloat16"


def test_names_of_pytorch_that_are_not_modelled_say_so() -> None:
    with pytest.raises(
        AttributeError, match=r"^torch\.sort is not modelled by the engine; run the script with --on torch$"
    ):
        _ = torch.sort
    with pytest.raises(AttributeError, match=r"^torch\.Tensor\.cumsum is not modelled by the engine"):
        torch.ones(1).cumsum(0)
    with pytest.raises(AttributeError, match="bitwise_not is not modelled"):
        ~torch.ones(1)
    assert not hasattr(torch, "sort")


def test_names_that_pytorch_does_not_have_either() -> None:
    with pytest.raises(AttributeError, match=r"^module 'torch' has no attribute 'zzz'$"):
        _ = torch.zzz
    with pytest.raises(AttributeError, match=r"^'Tensor' object has no attribute 'zzz'$"):
        torch.ones(1).zzz()
    with pytest.raises(AttributeError, match="'Tensor' object has no attribute '_zzz'"):
        _ = torch.ones(1)._zzz


def test_the_layers_below_do_not_load_the_names() -> None:
    code = "import sys, engine.torch.csrc.autograd.variable; sys.exit('engine.torch._api' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_dir() -> None:
    assert {"ones", "Tensor", "float32", "no_grad", "autograd"} <= set(dir(torch))
    assert "numel" in dir(torch.ones(1))


def test_operators_without_a_row_say_so() -> None:
    x = torch.ones(2)
    if "__matmul__" in vars(torch.Tensor) and not hasattr(torch, "matmul"):
        with pytest.raises(NotImplementedError, match="__matmul__ needs aten::matmul, which is not modelled"):
            x @ x
    assert (x == None) is False  # noqa: E711


def test_data_keeps_the_place_in_the_graph() -> None:
    x = torch.ones(2, requires_grad=True)
    version = x._version
    x.data = torch.zeros(3)
    assert (x.shape, x.requires_grad, x._version) == ((3,), True, version)
    with pytest.raises(RuntimeError, match="must be floating point or complex dtype"):
        x.data = torch.tensor([1])


def test_hooks() -> None:
    x = torch.ones(2, requires_grad=True)
    seen: list[object] = []
    x.register_post_accumulate_grad_hook(lambda p: seen.append(p.grad.tolist()))
    handle = x.register_hook(lambda grad: grad * 10)
    (x * 2).sum().backward()
    handle.remove()
    (x * 2).sum().backward()
    assert seen == [[20.0, 20.0], [22.0, 22.0]]
    with pytest.raises(RuntimeError, match="doesn't require gradient"):
        torch.ones(2).register_hook(print)
    with pytest.raises(RuntimeError, match="cannot be registered on non-leaf tensors"):
        (x * 2).register_post_accumulate_grad_hook(print)


def test_deepcopy() -> None:
    x = torch.ones(2, requires_grad=True)
    x.tag = "kept"
    (x * 2).sum().backward()
    y = copy.deepcopy(x)
    y.data[0] = 5
    assert (x.tolist(), y.tolist(), y.grad.tolist(), y.requires_grad, y.tag) == (
        [1.0, 1.0], [5.0, 1.0], [2.0, 2.0], True, "kept",
    )  # fmt: skip
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(x * 2)


def test_default_device_is_a_mode() -> None:
    torch.set_default_device("meta")
    try:
        assert torch.ones(2).device == torch.get_default_device() == torch.device("meta")
        assert torch.ones(2, device="cpu").device.type == "cpu"
        with torch.device("cpu"):
            assert torch.ones(2).device.type == "cpu"
    finally:
        torch.set_default_device(None)
    assert torch.get_default_device() == torch.device("cpu")


def test_names_of_dimensions() -> None:
    x = torch.ones(2, 3)
    assert x.names == (None, None)
    assert x.rename("a", "b").names == ("a", "b")
    assert x.rename_("a", "b").rename(a="z").names == ("z", "b")
    assert x.has_names()
    assert x.rename(None).names == (None, None)
    with pytest.raises(RuntimeError, match="dim 'q' does not exist"):
        x.rename(q="z")
    with pytest.raises(RuntimeError, match="Number of names"):
        x.rename("a")


def test_cuda_is_not_there() -> None:
    assert (torch.cuda.is_available(), torch.cuda.device_count()) == (False, 0)
    with pytest.raises(AssertionError, match="Torch not compiled with CUDA enabled"):
        torch.cuda.init()


def test_dispatch_state_is_visible() -> None:
    x = torch.ones(1)
    assert str(torch._C._dispatch_keys(x)) == "DispatchKeySet(CPU, ADInplaceOrView, AutogradCPU, AutocastCPU)"
    with torch._C._ExcludeDispatchKeyGuard(torch._C.DispatchKeySet(torch.DispatchKey.AutogradCPU)):
        assert torch._C._dispatch_tls_local_exclude_set().has(torch.DispatchKey.AutogradCPU)
    assert "CPU: " in torch._C._dispatch_dump_table("aten::empty.memory_format")
    assert "schema: aten::neg(Tensor self) -> Tensor" in torch._C._dispatch_dump("aten::neg")
