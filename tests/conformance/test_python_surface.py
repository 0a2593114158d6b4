"""Expressions over ``torch`` in the engine and in the installed PyTorch: values, types, errors and warnings alike."""

from __future__ import annotations

import re
import warnings
from typing import Any

import numpy as np
import pytest

import engine
from engine import torch as ours

torch = pytest.importorskip("torch")

ERRORS = """
torch.neg(torch.float32)
torch.neg(torch.Size([1]))
torch.neg(np.ones(2))
torch.neg(torch.finfo(torch.float32))
torch.neg(...)
torch.add(x, x, foo=1)
torch.add(x, x, 1, 2, 3)
torch.add(alpha=1)
torch.add(other=1, input=1, alpha=2, out=x, x=3)
torch.sum(x, 'x')
torch.sum(x, 0, True, 4)
torch.sum(x, 2**70)
torch.full((2,), 2**70)
torch.full((2,), torch.tensor(2., requires_grad=True))
torch.ones(2, out=x.clone(), dtype=torch.float64)
torch.ones(2, out=x.clone(), layout=torch.sparse_coo)
torch.ones(2, out=x.clone(), device='meta')
torch.ones(2, device='cuda')
torch.ones(2, device='xpu')
torch.ones(2, device='foo')
torch.ones(2, device=5)
torch.ones(2, dtype=torch.int32, requires_grad=True)
torch.ones(-1)
x.neg(1)
x.neg(a=1)
torch.Tensor.neg()
torch.Tensor.neg(1)
x + 'x'
x + None
'x' + x
x * [1, 2]
x.add('x')
x.view(1, 2, 'x')
x.view(2, 1, dtype=3)
x.to('x')
x.to(1, 2, 3)
x.size(5)
x.size('x')
torch.tensor(1).size(0)
x.numel(1)
x.contiguous(1)
x.copy_('x')
x.type(3)
x.type('torch.Foo')
x.requires_grad_(1)
i.requires_grad_()
(g * 1).requires_grad_(False)
setattr(x, 'requires_grad', 1)
setattr(g * 1, 'requires_grad', False)
setattr(x, 'grad', 1)
setattr(g, 'grad', torch.ones(1))
setattr(g, 'grad', torch.ones(2, 3, dtype=torch.float64))
setattr(g, 'grad', g)
setattr(x, 'data', 1)
setattr(x, 'shape', 1)
setattr(x, 'grad_fn', 1)
len(torch.tensor(1))
iter(torch.tensor(1))
bool(x)
bool(torch.tensor([]))
float(x)
[0][x]
x.item()
x.numpy(1)
g.numpy()
torch.ones(2, device='meta').numpy()
torch.ones(2, device='meta').tolist()
torch.ones(2, dtype=torch.bfloat16).numpy()
x[5]
x[0, 5]
x[0, 0, 0]
x[-3]
torch.tensor(1)[0]
x[1.5]
x[{}]
x[0:2:-1]
x[::0]
x[0:'a']
x.__setitem__(0, 'a')
x.__setitem__(0, 1j)
x.__setitem__(0, [1])
x.__setitem__(0, torch.ones(2))
x.__delitem__(0)
torch.tensor()
torch.tensor('x')
torch.tensor(b'ab')
torch.tensor([[1, 2], [3]])
torch.tensor([1, 'x'])
torch.tensor(object())
torch.tensor([None])
torch.tensor([1, [2]])
torch.tensor([[1], 2])
torch.tensor([2**70])
torch.tensor(2**63)
torch.tensor(-1, dtype=torch.uint64)
torch.tensor(300, dtype=torch.uint8)
torch.tensor(float('nan'), dtype=torch.int32)
torch.tensor(1j, dtype=torch.float32)
torch.tensor([1], requires_grad=True)
torch.tensor([1, 2], device='cuda')
torch.tensor(x, pin_memory=True)
torch.tensor(np.array(['a']))
torch.tensor(np.ones(2)[::-1])
torch.tensor(np.array([1, 2], dtype='>i4'))
torch.tensor([x])
torch.from_numpy(3)
torch.Tensor('x')
torch.Tensor(2.)
torch.Tensor(1, 'x')
torch.Tensor(device='meta')
x.new('x')
torch.Size([1.5])
torch.Size([1, 'x'])
torch.Size(3)
torch.finfo(torch.int32)
torch.iinfo(torch.float32)
torch.finfo('x')
torch.iinfo()
torch.set_default_dtype(torch.int32)
torch.set_default_dtype('x')
torch.set_default_device('x')
torch.manual_seed('x')
torch.manual_seed(2**64)
format(x, '.3f')
float(torch.tensor(1j))
int(torch.tensor(float('nan')))
"""

VALUES = """
torch.add(1, 2.5)
torch.add(True, 2)
torch.add(x, 2, alpha=3)
torch.add(x, x, out=torch.empty(0))
x + 1
1 + x
1 - x
x - np.float32(2)
x / 2
2 * i
x.sum()
x.sum(0)
x.sum(dim=(0, 1), keepdim=True)
torch.sum(x, axis=0)
torch.sum(i, dtype=complex)
torch.mean(x, dtype=float)
torch.ones(2, 3)
torch.ones((2, 3), dtype=torch.int64)
torch.ones([torch.tensor(2), 3])
torch.ones(np.int64(2))
torch.ones(2, device='meta')
torch.ones(2, requires_grad=True)
torch.zeros(2, out=torch.empty(2), requires_grad=True)
torch.full((2,), 7)
torch.full((2,), torch.tensor(2))
torch.full((2,), 3.5, dtype=torch.int32)
torch.eye(2, 3)
torch.arange(5)
torch.arange(1, 2, 0.25)
torch.zeros_like(x, dtype=torch.float64, requires_grad=True)
torch.empty(0)
x.new_zeros(2, requires_grad=True)
x.new_full((2,), 3)
x.new_tensor([1])
x.new()
x.new([1, 2])
x.new(2, 3).shape
torch.rand(2, 3)
torch.tensor([1.0, 2])
torch.tensor([[1, 2], [3, 4]])
torch.tensor([1, 2.5, 3j])
torch.tensor([True, 2])
torch.tensor([])
torch.tensor([[], []])
torch.tensor(-1, dtype=torch.uint8)
torch.tensor([1.5], dtype=torch.int32)
torch.tensor(2**63, dtype=torch.uint64)
torch.tensor(70000., dtype=torch.float16)
torch.tensor([1e39])
torch.tensor([1.1], dtype=torch.bfloat16)
torch.tensor(range(3))
torch.tensor(np.float32(2))
torch.tensor(np.ones(2))
torch.tensor([np.int8(1), 2])
torch.tensor([torch.tensor(1), torch.tensor(2)])
torch.tensor(x)
torch.tensor(bytearray(b'ab'))
torch.as_tensor([1, 2])
torch.as_tensor(x) is x
torch.as_tensor(np.arange(3))
torch.asarray([1])
torch.asarray(x, dtype=torch.float64)
torch.from_numpy(np.arange(6).reshape(2, 3).T)
torch.Tensor(2, 3).shape
torch.Tensor([1, 2])
torch.Tensor()
x[0]
x[-1]
x[0, 1]
x[0:1]
x[:, None, 0]
x[...]
x[None]
x[..., 0]
x[:, 1:]
x[10:]
x[torch.tensor(1)]
x[np.int64(1)]
list(x)
x.view(3, 2)
x.view(-1)
x.reshape((6,))
x.t()
x.T
x.transpose(0, 1)
x.expand(4, 2, 3).shape
x.unsqueeze(0)
x.squeeze()
x.clone()
x.to(torch.float64)
x.to('cpu') is x
x.to(i)
x.to(copy=True)
x.double()
x.int()
x.type()
i.type(torch.float16)
x.cpu() is x
x.contiguous() is x
x.t().contiguous().stride()
x.numpy()
x.tolist()
s.item()
bool(s)
float(s)
int(s)
complex(s)
[0, 1, 2][torch.tensor(2)]
f'{s:.3f}'
np.asarray(x)
np.add(x.numpy(), 1)
x.size()
x.size(0)
x.stride()
x.storage_offset()
x[1].storage_offset()
x.dim()
x.ndim
x.numel()
x.nelement()
x.element_size()
x.itemsize
x.nbytes
x.shape
x.dtype
x.layout
x.device
x.is_cuda
x.is_meta
x.is_leaf
g.is_leaf
(g * 1).is_leaf
g.requires_grad
x.grad
x.grad_fn
type((g * 1).grad_fn).__name__
x._version
x.add_(1)._version
x._base
x.view(6)._base is x
x.data.requires_grad
g.data
g.detach()
g.detach_()
x.requires_grad_()
x.retains_grad
x.output_nr
x.is_contiguous()
x.t().is_contiguous()
torch.ones(1, 2, 3, 4).is_contiguous(memory_format=torch.channels_last)
x.is_floating_point()
x.is_complex()
x.is_signed()
x.is_inference()
x.is_conj()
hash(x) == id(x)
len(x)
x.fill_(3)
x.zero_()
x.copy_(torch.tensor(2))
x.uniform_()
torch.is_tensor(x)
torch.is_floating_point(i)
torch.numel(x)
torch.promote_types(torch.int8, torch.uint8)
torch.can_cast(torch.float32, torch.int32)
torch.Size([2, 3]).numel()
torch.Size([2, 3]) + (3,)
(3,) + torch.Size([1])
torch.Size([2, 3])[1:]
torch.Size((2, 3)) * 2
torch.Size(torch.tensor([1, 2]))
torch.finfo(torch.float32)
torch.finfo(torch.bfloat16)
torch.finfo(torch.float16).smallest_normal
torch.iinfo(torch.uint8)
torch.initial_seed()
torch.Generator().manual_seed(3).initial_seed()
torch.get_default_dtype()
torch.get_default_device()
torch.half is torch.float16
torch.broadcast_shapes((2, 1), (3,))
torch.Tensor.add.__qualname__
torch.add.__name__
torch.Tensor.shape
type(x)
"""

STATEMENTS = (
    "x[0] = 3; r = x",
    "x[0, 1] = 3.5; r = x",
    "x[...] = 2; r = x",
    "x[0:1] = x[1:] * 2; r = x",
    "x[:, 0] = torch.tensor([1., 5.]); r = x._version",
    "x += 1; r = x",
    "x.data = torch.ones(3); r = x",
    "a = np.ones(2); t = torch.from_numpy(a); t[0] = 5; r = a.tolist()",
    "a = x.numpy(); a[0] = 7; r = x",
    "(g * 2).sum().backward(); r = g.grad",
    "y = g * 2; y.retain_grad(); y.sum().backward(); r = y.grad",
    "seen = []; g.register_hook(lambda grad: seen.append(grad.tolist())); (g * 2).sum().backward(); r = seen",
    "h = g.register_hook(lambda grad: grad * 2); (g * 2).sum().backward(); h.remove(); r = g.grad",
    "y = g * 2; y.register_hook(lambda grad: grad * 3); y.sum().backward(); r = g.grad",
    "g.grad = torch.ones(2, 3); del g.grad; r = g.grad",
    "import copy; y = copy.deepcopy(g); y.data.zero_(); r = (g, y)",
    "r = (g * 2).grad",
    "torch.set_default_dtype(torch.float64); r = torch.tensor(1.).dtype; torch.set_default_dtype(torch.float32)",
    "torch.set_default_device('meta'); r = torch.ones(2).device; torch.set_default_device(None)",
    "with torch.device('meta'): r = (torch.ones(2), torch.get_default_device())",
    "with torch.no_grad(): r = (g * 1).requires_grad",
    "with torch.inference_mode(): r = torch.ones(2).is_inference()",
    "torch.manual_seed(3); a = torch.rand(2); torch.manual_seed(3); r = (a, torch.rand(2))",
    "s = torch.get_rng_state(); a = torch.rand(2); torch.set_rng_state(s); r = (a - torch.rand(2)).tolist()",
    "class S(torch.Tensor): pass\nr = type(x.as_subclass(S) + 1).__name__",
    "class S(torch.Tensor):\n  def __new__(cls, v): return super().__new__(cls, v)\nr = S([1, 2]).tolist()",
)


@pytest.fixture(autouse=True)
def reference() -> Any:
    before = engine.reference()
    engine.reference("2.13")
    yield
    engine.reference(before)


def _shown(value: Any, module: Any) -> str:
    if isinstance(value, module.Tensor):
        plain = value.detach()
        values = "no data" if plain.device.type == "meta" else repr(plain.tolist())
        flags = f"grad={value.requires_grad} leaf={value.is_leaf}"
        return f"Tensor {values} {value.dtype} {value.device} {tuple(value.shape)} {value.stride()} {flags}"
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}({', '.join(_shown(item, module) for item in value)})"
    return repr(value)


def _outcome(source: str, module: Any) -> tuple[str, list[str]]:
    """What the source gives: value or exception, and the warnings."""
    module.manual_seed(0)
    names = {
        "torch": module,
        "np": np,
        "x": module.ones(2, 3),
        "g": module.ones(2, 3, requires_grad=True),
        "i": module.tensor([1, 2]),
        "s": module.tensor(2.5),
    }
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            if source in STATEMENTS:
                exec(source, names)
                shown = _shown(names["r"], module)
            else:
                shown = _shown(eval(source, names), module)
        except Exception as error:
            shown = f"{type(error).__name__}: {str(error).partition(chr(10) + 'Exception raised from')[0]}"
    return shown, [re.sub(r" \(Triggered internally.*", "", str(w.message)) for w in caught]


@pytest.mark.parametrize("source", [*ERRORS.split("\n")[1:-1], *VALUES.split("\n")[1:-1], *STATEMENTS])
def test_same(source: str) -> None:
    assert _outcome(source, ours) == _outcome(source, torch)
