"""Short programs at the edges of what PyTorch allows, in the engine and in the installed PyTorch: both end alike.

A program ends in an expression; programs of several lines are separated by ``---``.
"""

from __future__ import annotations

import ast
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import engine
from engine import torch as ours

torch = pytest.importorskip("torch")

DEVICES = """
c + m
m + c
c * m
c - m
c / m
c + m0
m0 + c
m + c0
c0 + m
c0 + m0
m0 + c0
torch.cat([c, m])
torch.cat([m, c])
torch.stack([c, m])
torch.stack([m, c])
torch.cat([c, c], out=m)
torch.add(c, c, out=m)
torch.add(m, m, out=c)
torch.add(c, m, out=c)
torch.sub(c, c, out=m)
torch.mul(c, c, out=m)
torch.div(c, c, out=m)
torch.neg(c, out=m)
torch.reciprocal(m, out=c)
torch.sum(c, 0, out=m0)
torch.mean(c, 0, out=m0)
torch.sum(torch.ones(3, 3), 0, out=m)
torch.mean(torch.ones(3, 3), 0, out=m)
torch.sum(m, 0, out=c0)
torch.add(c0, c0, out=m0)
torch.add(m, c0, alpha=2)
torch.sub(m, c0, alpha=2)
c.add_(m)
m.add_(c)
c.copy_(m)
m.copy_(c)
m.copy_(torch.ones(2))
c.requires_grad_() * m
c.requires_grad_().sum().backward(m0)
c.index_add_(0, torch.zeros(3, dtype=torch.long), m)
c.scatter_add_(0, torch.zeros(2, dtype=torch.long, device='meta'), c)
c.gather(0, torch.zeros(2, dtype=torch.long, device='meta')).shape
c.index_select(0, torch.zeros(2, dtype=torch.long, device='meta')).shape
"""

INFERENCE = """
with torch.inference_mode(): x=torch.ones(2,2)
[v.is_inference() for v in (x[:1], x.t(), x.detach(), x.expand(3,2,2), x.unsqueeze(0), x.view(4), x.view_as(x), x.data)]
---
with torch.inference_mode(): x=torch.ones(2,2)
[v.is_inference() for v in (x.select(0,0), x.reshape(4), x.as_strided((2,),(1,)), x.transpose(0,1), x.contiguous())]
---
with torch.inference_mode(): x=torch.ones(2,2)
[(y:=v, y._is_view(), y.requires_grad, y.is_leaf, y.grad_fn)[1:] for v in (x[:1], x.t(), x.detach(), x.data)]
---
with torch.inference_mode(): x=torch.ones(2)
x[:1].add_(1)
---
with torch.inference_mode(): x=torch.ones(2)
x[:1].is_inference(), x[:1]
---
with torch.inference_mode(): x=torch.ones(2)
x[:1]._version
---
with torch.inference_mode(): x=torch.ones(2)
y=torch.ones(1,requires_grad=True)
y*x[:1]
---
with torch.inference_mode(): x=torch.ones(2)
y=torch.ones(1,requires_grad=True)
y*x
---
with torch.inference_mode(): x=torch.ones(2)
x.detach().requires_grad_()
---
with torch.inference_mode(): x=torch.ones(2)
x[:1].requires_grad_()
---
with torch.inference_mode(): x=torch.ones(2)
x.detach().add_(1)
---
with torch.inference_mode(): x=torch.ones(2)
x.detach_()
---
with torch.inference_mode(): x=torch.ones(2)
x.data.add_(1)
---
with torch.inference_mode(): x=torch.ones(2)
x.data._version
---
with torch.inference_mode(): x=torch.ones(2,2)
x.t_()
---
with torch.inference_mode(): x=torch.ones(2,2)
(x+1).is_inference(), x.clone().is_inference(), torch.empty_like(x).is_inference()
---
with torch.inference_mode(): x=torch.ones(2,2)
with torch.inference_mode(): y=x[:1]; y.add_(1)
y.is_inference(), x
---
y=torch.ones(2,2)
with torch.inference_mode(): x=y[:1]; a=x.is_inference(); y.add_(1)
a, x[:1].is_inference(), x._version, y._version
---
y=torch.ones(2,2)
with torch.inference_mode(): x=y[:1]; 
x.add_(1), y._version
---
y=torch.ones(2,2, requires_grad=True)
with torch.inference_mode(): x=y[:1]; 
x.add_(1)
---
y=torch.ones(2,2, requires_grad=True)
with torch.inference_mode(): x=y[:1]; 
x.requires_grad, x.grad_fn, x._is_view()
---
with torch.inference_mode(): x=torch.ones(2)
x.detach()._version
---
with torch.inference_mode(): x=torch.ones(2)
v=x.view(2); w=v.view(1,2); w.is_inference(), v._base is x, w._base is None
---
with torch.inference_mode(): x=torch.ones(2)
x.unsqueeze_(0)
---
with torch.inference_mode(): x=torch.ones(2)
x.unbind()[0].is_inference(), x.split(1)[0].is_inference(), x.chunk(2)[0].is_inference()
---
with torch.inference_mode(): x=torch.ones(2)
x.unbind()[0].add_(1)
---
with torch.inference_mode(): x=torch.ones(2)
x[:1].zero_()
---
with torch.inference_mode(): x=torch.ones(2)
x[0]=5; x
---
with torch.inference_mode(): x=torch.ones(2)
torch.add(x,1,out=x[:])
---
with torch.inference_mode(): x=torch.ones(2)
x[:1].copy_(torch.ones(1))
---
with torch.inference_mode(): x=torch.ones(2)
torch.ones(2).copy_(x[:1])
---
with torch.inference_mode(): x=torch.ones(2)
x.numpy(), x[:1].numpy()
---
with torch.inference_mode(): x=torch.ones(2)
x[:1].register_hook(lambda g:g)
---
import copy
with torch.inference_mode(): x=torch.ones(2)
copy.deepcopy(x).is_inference()
---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a): ctx.save_for_backward(a); return a*2
    @staticmethod
    def backward(ctx, g): return g
with torch.inference_mode(): x=torch.ones(2)
F.apply(x[:1])
---
class F(torch.autograd.Function):
    @staticmethod
    def forward(ctx, a, b): ctx.save_for_backward(b); return a*2
    @staticmethod
    def backward(ctx, g): return g
with torch.inference_mode(): x=torch.ones(2)
F.apply(torch.ones(1,requires_grad=True), x[:1])
"""

BIG_NUMBERS = """
2**63+torch.ones(2)
torch.ones(3)*(2**63)
torch.ones(3).add_(2**63)
torch.ones(2,dtype=torch.int64)+2**63
torch.ones(2,dtype=torch.int64)*2**63
torch.ones(2,dtype=torch.int32)+2**63
torch.ones(2,dtype=torch.uint8)+2**63
torch.ones(2,dtype=torch.bool)+2**63
torch.ones(2)+2**64
torch.ones(2)+(2**64-1)
torch.ones(2)+(-2**63)
torch.ones(2)+(-2**63-1)
torch.ones(2)+2**70
torch.ones(2)*-2**70
torch.ones(2)-2**63
2**63-torch.ones(2)
2**63/torch.ones(2)
torch.ones(2)/2**63
torch.ones(2)/2**64
2**64/torch.ones(2)
2**64*torch.ones(2)
2**64+torch.ones(2)
2**64-torch.ones(2)
torch.ones(3).mul_(2**63)
torch.ones(3).mul_(2**64)
torch.ones(3).fill_(2**63)
torch.ones(3).fill_(2**64)
torch.ones(3,dtype=torch.int64).fill_(2**63)
torch.full((2,), 2**63)
torch.full((2,), 2**64)
torch.full((2,), 2**63, dtype=torch.float64)
torch.full((2,), 2**63, dtype=torch.int64)
torch.full((2,), 2**63, dtype=torch.uint64)
torch.add(torch.ones(2), 2**63)
torch.add(torch.ones(2), 1, alpha=2**63)
torch.add(torch.ones(2), torch.ones(2), alpha=2**63)
torch.add(torch.ones(2,dtype=torch.int64), torch.ones(2,dtype=torch.int64), alpha=2**63)
torch.add(torch.ones(2), torch.ones(2), alpha=2**64)
torch.mul(torch.ones(2), 2**64)
torch.sub(torch.ones(2), 2**64)
torch.rsub(torch.ones(2), 2**63)
torch.rsub(torch.ones(2), 2**64)
torch.tensor(2**63)
torch.tensor([2**63])
torch.tensor(2**64)
torch.tensor(2**63, dtype=torch.float32)
torch.tensor(2**63, dtype=torch.uint64)
torch.tensor(-2**63-1)
torch.arange(2**63, 2**63+3)
torch.arange(2**63)
torch.arange(2**64)
torch.scalar_tensor(2**63)
torch.scalar_tensor(2**64)
x=torch.ones(2); x[0]=2**63; x
x=torch.ones(2); x[0]=2**64; x
x=torch.ones(2,dtype=torch.int64); x[0]=2**63; x
x=torch.ones(2); x[2**63]
x=torch.ones(2); x[2**64:]
x=torch.ones(2); x[:2**64]
x=torch.ones(2); x[:2**63]
torch.ones(2,dtype=torch.float64)+2**63
torch.ones(2,dtype=torch.complex64)+2**63
torch.ones(2,dtype=torch.uint64)+2**63
torch.ones(2,dtype=torch.uint64)*2**63
torch.ones(2,dtype=torch.int32).add_(2**63)
torch.ones(2,dtype=torch.int64).add_(2**63)
torch.ones(2,dtype=torch.bool).add_(2**63)
torch.ones(2,device="meta")+2**63
(torch.ones(2,dtype=torch.int64)+2**63).dtype
torch.zeros(2).uniform_(0, 2**63).shape
torch.zeros(2).uniform_(0, 2**64).shape
torch.sum(torch.ones(2), 2**63)
torch.ones(2).sum(2**63)
torch.ones(2).to(2**63)
torch.ones(2).select(0, 2**63)
torch.ones(2,requires_grad=True)*2**63
x=torch.ones(2,requires_grad=True); (x*2**63).sum().backward(); x.grad
x=torch.ones(2,requires_grad=True); (x/2**63).sum().backward(); x.grad
x=torch.ones(2,requires_grad=True); (2**63/x).sum().backward(); x.grad
torch.ones(2, dtype=torch.float16)+2**63
torch.ones(2, dtype=torch.float16)*2**63
torch.ones(2, dtype=torch.float16).fill_(2**63)
torch.ones(2).new_full((2,), 2**63)
torch.full_like(torch.ones(2), 2**63)
torch.eye(2**63)
torch.add(2**63, torch.ones(2))
torch.mul(2**63, torch.ones(2))
torch.add(2**64, torch.ones(2))
torch.ones(2).fill_(-2**63-1)
torch.set_default_dtype(torch.float64); r = 2**63+torch.ones(2); torch.set_default_dtype(torch.float32); r
"""

SIZES = """
torch.zeros(0,2**62)
torch.zeros(0,2**62).shape
torch.zeros(2**62,0).stride()
torch.zeros(0,2**62,2**62).shape
torch.zeros(2**62,2**62,0).shape
torch.zeros(0,2**62,4).stride()
torch.zeros(2**62,4)
torch.empty(2**62,4)
torch.empty(2**62,4,device="meta")
torch.empty(2**62,device="meta").shape
torch.empty(2**61,device="meta").shape
torch.empty(2**60,device="meta").numel()
torch.empty(2**60,device="meta").shape
torch.ones(2**62)
torch.ones(2**62,dtype=torch.uint8)
torch.zeros(1).expand(2**62,4)
torch.zeros(1).expand(2**62,1).shape
torch.zeros(1).expand(2**62).numel()
torch.zeros(1).expand(2**62,2).numel()
torch.zeros(1).expand(2**31,2**31).numel()
torch.zeros(1).expand(2**40).shape
torch.zeros(1).expand(2**40)+1
torch.zeros(1).expand(2**40).clone()
torch.zeros(1).as_strided((2**62,4),(0,0))
torch.zeros(1).as_strided((2**62,2),(0,0)).shape
torch.zeros(1).as_strided((2**62,),(2,))
torch.ones(2**40)
torch.empty(2**40)
torch.zeros(2**40)
torch.full((2**40,), 1.)
torch.rand(2**40)
torch.arange(0,1e18,1)
torch.arange(2**50)
torch.ones(1).resize_(2**50)
torch.ones(1).resize_(2**62)
torch.ones(1).resize_(2**62,4)
torch.ones(1).resize_(0,2**62).shape
torch.eye(2**21)
torch.eye(2**31)
torch.empty_strided((2**40,),(1,))
torch.empty_strided((2,),(2**40,))
torch.empty_strided((2,),(2**62,))
torch.empty_strided((2**62,),(2,))
torch.empty_strided((0,2**62),(2**62,2**62)).shape
torch.ones(2**40, dtype=torch.uint8)
torch.empty(0,2**62,device="meta").shape
torch.ones(2).new_empty(2**40)
torch.ones(2).new_zeros(2**40)
torch.empty_like(torch.ones(1).expand(2**40), memory_format=torch.contiguous_format)
torch.ones_like(torch.ones(1).expand(2**40), memory_format=torch.contiguous_format)
torch.zeros(0,2**62).sum()
torch.zeros(0,2**62).t().shape
torch.zeros(0,2**62)+1
torch.zeros(0,2**62).view(2**62,0).shape
torch.zeros(0,2**62).reshape(-1)
torch.zeros(0,2**62).clone().shape
torch.zeros(2**62,0).contiguous().shape
torch.zeros(2**62,0).nbytes
torch.zeros(2,0).expand(2,2**62,4,2,0).shape
torch.cat([torch.ones(1).expand(2**40)]*2)
torch.ones(0,2**62)[0:0].shape
torch.randn(2**40)
torch.tensor(1.).expand(2**40).float().double()
torch.ones(1).expand(2**40).contiguous()
torch.ones(1).new_full((2**40,),1)
torch.ones(2**40).sum()
torch.ones(1, requires_grad=True).expand(2**40)*2
"""


def programs(text: str) -> list[str]:
    parts = text.split("\n---\n") if "\n---\n" in text else text.splitlines()
    return [part.strip() for part in parts if part.strip()]


def shown(value: Any, module: Any) -> str:
    if isinstance(value, module.Tensor):
        plain = value.detach()
        data = "no data" if plain.device.type == "meta" else repr(plain.tolist())
        return f"Tensor {data} {value.dtype} {value.device} {tuple(value.shape)} {value.stride()} {value.requires_grad}"
    if isinstance(value, (tuple, list)):
        return f"{type(value).__name__}({', '.join(shown(item, module) for item in value)})"
    return repr(value)


def outcome(source: str, module: Any) -> str:
    names = {
        "torch": module,
        "np": np,
        "c": module.ones(3),
        "m": module.ones(3, device="meta"),
        "c0": module.tensor(2.0),
        "m0": module.tensor(2.0, device="meta"),
    }
    tree = ast.parse(source)
    last = tree.body.pop()
    assert isinstance(last, ast.Expr)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(compile(tree, "program", "exec"), names)
            return shown(eval(compile(ast.Expression(last.value), "program", "eval"), names), module)
        except Exception as error:
            # PyTorch appends where in its C++ the error was raised
            text = str(error).partition("\nException raised from ")[0]
            return f"{type(error).__name__}: {text}"


@pytest.fixture(autouse=True)
def reference() -> Iterator[None]:
    before = engine.reference()
    engine.reference("2.13")
    yield
    engine.reference(before)


@pytest.mark.parametrize("source", programs(DEVICES))
def test_devices(source: str) -> None:
    assert outcome(source, ours) == outcome(source, torch)


@pytest.mark.parametrize("source", programs(INFERENCE))
def test_inference_tensors(source: str) -> None:
    assert outcome(source, ours) == outcome(source, torch)


@pytest.mark.parametrize("source", programs(BIG_NUMBERS))
def test_big_numbers(source: str) -> None:
    assert outcome(source, ours) == outcome(source, torch)


@pytest.mark.parametrize("source", programs(SIZES))
def test_sizes(source: str) -> None:
    assert outcome(source, ours) == outcome(source, torch)
