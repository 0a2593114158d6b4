"""Random programs over tensors: the same seed gives the same program, whichever torch it is given.

A program makes leaves, computes, takes views, writes in place, hooks, and runs backward; everything one can see of it
is logged: errors, values, flags, version counters, the graph behind every tensor.
"""

from __future__ import annotations

import random
import warnings
from collections.abc import Callable
from typing import Any

__all__ = ["run"]

SHAPES: list[tuple[int, ...]] = [(), (3,), (2, 3), (1, 3), (2, 1, 3)]


def graph(node: Any, depth: int = 6) -> Any:
    """Names and edges behind a grad_fn."""
    if node is None:
        return None
    if not depth:
        return node.name()
    return (node.name(), tuple((graph(fn, depth - 1), nr) for fn, nr in node.next_functions))


def values(t: Any) -> Any:
    return None if t is None else (tuple(t.shape), str(t.dtype), t.detach().reshape(-1).tolist())


class Program:
    def __init__(self, torch: Any, seed: int) -> None:
        self.torch = torch
        self.rng = random.Random(seed)
        self.pool: list[Any] = []
        self.log: list[Any] = []

    def pick(self) -> Any:
        return self.rng.choice(self.pool)

    def number(self) -> float:
        return self.rng.choice([-2.0, -1.0, 0.5, 1.0, 2.0, 3.0])

    def keep(self, t: Any) -> None:
        self.pool.append(t)

    # steps

    def leaf(self) -> None:
        shape = self.rng.choice(SHAPES)
        dtype = self.rng.choice([self.torch.float32, self.torch.float32, self.torch.float64])
        wanted = self.rng.random() < 0.7
        n = 1
        for size in shape:
            n *= size
        data = [self.rng.randint(1, 8) / 4 for _ in range(n)]
        t = self.torch.tensor(data, dtype=dtype).reshape(shape)
        t.requires_grad_(wanted)
        # not every one a leaf, which may not be written in place
        self.keep(t.clone() if self.rng.random() < 0.6 else t)

    def binary(self) -> None:
        a, b = self.pick(), self.rng.choice([self.pick(), self.number()])
        name = self.rng.choice(["add", "sub", "mul", "div"])
        if name in ("add", "sub") and self.rng.random() < 0.3:
            self.keep(getattr(self.torch, name)(a, b, alpha=2))
        else:
            self.keep(getattr(a, name)(b))

    def joined(self) -> None:
        a, b = self.pick(), self.pick()
        join = self.rng.choice([self.torch.cat, self.torch.stack])
        self.keep(join([a, b], self.rng.randint(-1, 1)))

    def reflected(self) -> None:
        a, c = self.pick(), self.number()
        self.keep(self.rng.choice([lambda: c - a, lambda: c + a, lambda: c * a])())

    def unary(self) -> None:
        a = self.pick()
        dims = list(range(a.dim()))
        keepdim = self.rng.random() < 0.5
        dim = self.rng.choice(dims) if dims else 0
        choices: list[Callable[[], Any]] = [
            lambda: -a,
            a.clone,
            a.sum,
            a.mean,
            lambda: a.sum(dim, keepdim=keepdim),
            lambda: a.mean(dim, keepdim=keepdim),
            a.double,
            a.detach,
            lambda: self.torch.zeros_like(a),
            lambda: a.reshape(-1),
        ]
        self.keep(self.rng.choice(choices)())

    def view(self) -> None:
        a = self.pick()
        dims = list(range(a.dim()))
        dim = self.rng.choice(dims) if dims else 0
        order = dims[:]
        self.rng.shuffle(order)
        index = self.rng.randint(0, 1)
        choices: list[Callable[[], Any]] = [
            lambda: a.view(-1),
            lambda: a.view(a.shape),
            a.t,
            lambda: a.transpose(0, -1),
            lambda: a.permute(order),
            lambda: a.unsqueeze(dim),
            a.squeeze,
            lambda: a.squeeze(dim),
            lambda: a.select(dim, index),
            lambda: a[index:],
            lambda: a[index],
            lambda: a.expand((2, *a.shape)),
            lambda: a.expand(a.shape),
            lambda: a.unbind(0)[-index],
            lambda: a.chunk(2)[-index],
            lambda: a.split(2, dim)[-index],
            lambda: a.as_strided((2,), (1,)),
            lambda: a.narrow(dim, 0, 1),
        ]
        self.keep(self.rng.choice(choices)())

    def inplace(self) -> None:
        a, b = self.pick(), self.rng.choice([self.pick(), self.number()])
        if not isinstance(b, float) and b is not a:
            # what a write into memory that is read at the same time gives depends on the order of the loop
            b = b.clone()
        n = self.number()
        choices: list[Callable[[], Any]] = [
            lambda: a.add_(b),
            lambda: a.sub_(b),
            lambda: a.mul_(b),
            lambda: a.div_(b),
            a.neg_,
            a.zero_,
            lambda: a.fill_(n),
            lambda: a.copy_(b if not isinstance(b, float) else a),
            a.detach_,
            a.requires_grad_,
        ]
        self.rng.choice(choices)()

    def hooks(self) -> None:
        a, factor = self.pick(), self.number()
        kind = self.rng.randint(0, 3)
        if kind in (1, 2) and a._backward_hooks is None and a.requires_grad and a._is_view() and a.grad_fn is None:
            return  # PyTorch 2.13 crashes
        if kind == 0:
            a.retain_grad()
        elif kind == 1:
            a.register_hook(lambda g: g * factor)
        elif kind == 2:
            a.register_hook(lambda g: self.log.append(("hook", values(g))))
        elif a.grad_fn is not None:
            a.grad_fn.register_prehook(lambda gs: self.log.append(("prehook", [values(g) for g in gs])))
            a.grad_fn.register_hook(lambda gi, go: self.log.append(("posthook", [values(g) for g in gi])))

    def backward(self) -> None:
        a = self.pick()
        keep, create = self.rng.random() < 0.5, self.rng.random() < 0.2
        wanted = [self.pick() for _ in range(self.rng.randint(1, 2))]
        kind = self.rng.randint(0, 3)
        root = a if self.rng.random() < 0.2 else a.sum()
        if kind < 2:
            root.backward(retain_graph=keep or create, create_graph=create)
        elif kind == 2:
            root.backward(inputs=wanted, retain_graph=keep)
        else:
            grads = self.torch.autograd.grad(root, wanted, retain_graph=keep, create_graph=create, allow_unused=True)
            for g in grads:
                self.log.append(("grad", values(g)))
                if g is not None:
                    self.keep(g)

    def look(self) -> None:
        for t in self.pool:
            fn = t.grad_fn
            self.log.append(
                (
                    values(t),
                    t.requires_grad,
                    t.is_leaf,
                    t._version,
                    t._is_view(),
                    t.output_nr,
                    graph(fn),
                    tuple(t.stride()),
                    values(t.grad) if t.is_leaf or t.retains_grad else None,
                    None if t.grad is None else tuple(t.grad.stride()),
                )
            )

    def step(self) -> None:
        steps = [
            self.leaf,
            self.binary,
            self.binary,
            self.reflected,
            self.joined,
            self.unary,
            self.unary,
            self.view,
            self.view,
            self.inplace,
            self.inplace,
            self.hooks,
            self.backward,
        ]
        chosen = self.rng.choice(steps)
        mode = self.rng.random()
        state = self.rng.getstate()
        try:
            if mode < 0.12:
                with self.torch.no_grad():
                    chosen()
            else:
                chosen()
        except (RuntimeError, IndexError, ValueError, TypeError) as error:
            self.log.append((chosen.__name__, type(error).__name__, str(error).split("\n")[0]))
        # however far a step that failed came, the next one starts alike
        self.rng.setstate(state)
        self.rng.random()

    def run(self, steps: int = 14) -> list[Any]:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self.leaf()
            self.leaf()
            for _ in range(steps):
                self.step()
            try:
                self.look()
            except RuntimeError as error:
                self.log.append(("look", str(error).split("\n")[0]))
        return self.log


def run(torch: Any, seed: int) -> list[Any]:
    """The log of program ``seed``."""
    return Program(torch, seed).run()
