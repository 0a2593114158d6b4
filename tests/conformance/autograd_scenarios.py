"""Small scenes of autograd, each a function of the torch it is given; what it returns or raises is compared."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

__all__ = ["SCENES", "scene"]

SCENES: dict[str, Callable[[Any], Any]] = {}


def scene(fn: Callable[[Any], Any]) -> Callable[[Any], Any]:
    SCENES[fn.__name__] = fn
    return fn


def attempt(fn: Callable[[], Any]) -> Any:
    """The result, or the error's type and text."""
    try:
        return fn()
    except Exception as error:
        return (type(error).__name__, str(error))


def leaf(torch: Any, *shape: int) -> Any:
    return torch.ones(*(shape or (3,)), requires_grad=True)


def function(torch: Any, forward: Callable[..., Any], backward: Callable[..., Any]) -> Any:
    return type(
        "Foo", (torch.autograd.Function,), {"forward": staticmethod(forward), "backward": staticmethod(backward)}
    )


# -- errors of backward and grad


@scene
def roots(torch: Any) -> Any:
    x = leaf(torch)
    y = x * 2
    return [
        attempt(lambda: torch.ones(3).backward()),
        attempt(y.backward),
        attempt(lambda: y.backward(torch.ones(2))),
        attempt(lambda: y.backward(1)),
        attempt(lambda: torch.autograd.backward([y, y.sum()], [None, None])),
        attempt(lambda: torch.autograd.backward([y], [torch.ones(3), torch.ones(3)])),
        attempt(lambda: torch.autograd.backward([torch.ones(1)])),
        attempt(lambda: torch.autograd.backward("a")),
        attempt(lambda: torch.autograd.backward(3)),
        attempt(lambda: torch.autograd.grad([y], [x], ["a"])),
        attempt(lambda: torch.autograd.grad([y], [x], [None])),
    ]


@scene
def inputs(torch: Any) -> Any:
    x = leaf(torch)
    other = leaf(torch)
    return [
        attempt(lambda: torch.autograd.grad((x * x).sum(), [other])),
        attempt(lambda: torch.autograd.grad((x * x).sum(), [other], allow_unused=True)),
        attempt(lambda: torch.autograd.grad((x * x).sum(), [torch.ones(3)])),
        attempt(lambda: torch.autograd.grad((x * x).sum(), [])),
        attempt(lambda: torch.autograd.grad([], [x])),
        attempt(lambda: torch.autograd.grad((x * x).sum(), 3)),
        attempt(lambda: torch.autograd.grad((x * x).sum(), x, materialize_grads=True, allow_unused=False)),
        attempt(lambda: torch.autograd.backward([(x * x).sum()], inputs=[])),
        attempt(lambda: (x * x).sum().backward(inputs=[torch.ones(1)])),
        [g.tolist() for g in torch.autograd.grad((x * 2).sum(), [other, x], materialize_grads=True)],
        {k: g.tolist() for k, g in torch.autograd.grad((x * 2).sum(), {"x": x}).items()},
    ]


@scene
def captured_on_the_way(torch: Any) -> Any:
    x = leaf(torch)
    w = x * 2
    y = w.sum()
    w.register_hook(lambda g: g * 10)
    x.register_hook(lambda g: g * 100)
    found = [[g.tolist() for g in torch.autograd.grad(y, wanted, retain_graph=True)] for wanted in ([w, x], [w], [x])]
    y.backward(inputs=[w])
    return [found, w.grad.tolist(), x.grad]


@scene
def captured_behind_copy_slices(torch: Any) -> Any:
    found = []
    for create_graph in (False, True):
        x = leaf(torch).clone()
        y = x - 1.0
        y[1:].add_(0.5)
        for root in (y * y, y[1:] * y[1:]):
            grads = torch.autograd.grad(root.sum(), [y, x], create_graph=create_graph, retain_graph=True)
            found.append([(g.tolist(), g.grad_fn and g.grad_fn.name()) for g in grads])
    return found


@scene
def second_backward(torch: Any) -> Any:
    x = leaf(torch)
    y = x * x
    root = y.sum()
    root.backward()
    return [attempt(root.backward), attempt(lambda: y.grad_fn._saved_self), x.grad.tolist()]


@scene
def written_since(torch: Any) -> Any:
    def case(write: Callable[[Any], Any]) -> Any:
        a = leaf(torch, 2, 3).clone()
        b = a.squeeze(0)
        c = b * b
        write(b)
        return attempt(c.sum().backward)

    x = leaf(torch)
    k = x * x
    with torch.no_grad():
        x.add_(1)
    plain = torch.ones(3)
    m = x * plain
    plain.add_(1)
    return [
        case(lambda b: b.add_(1)),
        case(lambda b: b.data.add_(1)),
        case(lambda b: b.detach().add_(1)),
        attempt(k.sum().backward),
        attempt(m.sum().backward),
    ]


# -- views and in-place


@scene
def forbidden_writes(torch: Any) -> Any:
    w = leaf(torch, 2, 3)
    a = w.clone()
    with torch.no_grad():
        of_leaf, of_clone = w.view(6), a.view(6)
    with torch.inference_mode():
        tensor, view = torch.ones(3), a.view(6)
    return [
        attempt(lambda: w.add_(1)),
        attempt(lambda: w[0].add_(1)),
        attempt(lambda: w.view(6).mul_(2)),
        attempt(lambda: of_leaf.add_(1)),
        attempt(lambda: of_clone.add_(1)),
        attempt(lambda: of_clone[1:].add_(1)),
        attempt(lambda: view.add_(1)),
        attempt(lambda: view[1:].add_(1)),
        attempt(lambda: a.unbind()[0].add_(1)),
        attempt(lambda: a.split(1)[0].squeeze(0).add_(1)),
        attempt(lambda: tensor.add_(1)),
        attempt(lambda: w.view(6).detach_()),
        attempt(lambda: w.resize_(2)),
    ]


@scene
def stale_views(torch: Any) -> Any:
    a = leaf(torch, 2, 3).clone()
    parts = a.unbind()
    with torch.no_grad():
        v = a[0]
    row = a[1]
    a.add_(1)
    return [
        attempt(lambda: v.grad_fn),
        attempt(lambda: v * 2),
        attempt(lambda: parts[0] * 2),
        row.grad_fn.name(),
        row.is_leaf,
        row._version,
    ]


@scene
def history_of_a_written_base(torch: Any) -> Any:
    x = leaf(torch, 4).clone()
    v = x[2:]
    y = v[1]
    v.retain_grad()
    x[0] += 0
    y.backward()
    return [v.grad, y.grad_fn.name(), x.grad_fn.name(), [fn.name() for fn, _ in x.grad_fn.next_functions if fn]]


@scene
def a_gradient_written_into_a_view(torch: Any) -> Any:
    w = leaf(torch, 2)
    base = torch.zeros(3)
    base[1:].copy_(w * 3)
    (base * base).sum().backward()
    return [w.grad.tolist(), base.requires_grad, base.grad_fn.name()]


@scene
def inference(torch: Any) -> Any:
    with torch.inference_mode():
        i = torch.ones(3)
        made = [i.requires_grad, i.is_inference(), torch.is_inference_mode_enabled(), torch.is_grad_enabled()]
    w = leaf(torch)
    return [
        made,
        attempt(lambda: w * i),
        attempt(lambda: i._version),
        attempt(i.requires_grad_),
        i.view(3)._is_view(),
        (w + i).requires_grad,
    ]


@scene
def flags(torch: Any) -> Any:
    x = leaf(torch)
    y = x * 2
    return [
        attempt(lambda: y.requires_grad_(False)),
        attempt(lambda: setattr(y, "requires_grad", True)),
        attempt(lambda: torch.ones(3, dtype=torch.int64).requires_grad_()),
        attempt(lambda: torch.ones(3, dtype=torch.int32, requires_grad=True)),
        attempt(lambda: torch.ones(3).retain_grad()),
        attempt(x.retain_grad),
        attempt(lambda: torch.add(torch.ones(3), 1, out=x)),
        attempt(lambda: torch.add(x, 1, out=torch.ones(3))),
        attempt(lambda: torch.ones(3).register_hook(print)),
        attempt(lambda: y.register_post_accumulate_grad_hook(print)),
    ]


# -- gradients at leaves


@scene
def accumulation(torch: Any) -> Any:
    x = leaf(torch)
    (x * 2).sum().backward()
    first = x.grad
    (x * 2).sum().backward()
    t = torch.ones(2, 3).t().requires_grad_()
    t.sum().backward()
    g = torch.ones(3)
    z = leaf(torch)
    z.backward(g)
    d = leaf(torch)
    (d.double() * 2).backward(torch.ones(3))
    return [
        x.grad is first,
        first.tolist(),
        t.grad.stride(),
        z.grad is g,
        z.grad.data_ptr() == g.data_ptr(),
        d.grad.dtype is d.dtype,
    ]


@scene
def assigned_grad(torch: Any) -> Any:
    x = leaf(torch)
    return [
        attempt(lambda: setattr(x, "grad", torch.ones(2))),
        attempt(lambda: setattr(x, "grad", 1)),
        attempt(lambda: setattr(x, "grad", x)),
        attempt(lambda: setattr(x, "grad", torch.zeros(3))),
        x.grad.tolist(),
    ]


# -- hooks


@scene
def order_of_hooks(torch: Any) -> Any:
    x = leaf(torch)
    seen: list[Any] = []
    y = x * 2
    y.register_hook(lambda g: seen.append("y1"))
    y.retain_grad()
    y.register_hook(lambda g: (seen.append("y2"), g * 3)[1])
    y.grad_fn.register_prehook(lambda gs: seen.append("pre"))
    y.grad_fn.register_hook(lambda gi, go: seen.append(("post", len(gi), len(go))))
    x.register_hook(lambda g: seen.append("x"))
    x.register_post_accumulate_grad_hook(lambda t: seen.append(("acc", t.grad.tolist())))
    removed = x.register_hook(lambda g: g * 100)
    removed.remove()
    y.sum().backward()
    return [seen, y.grad.tolist(), x.grad.tolist()]


@scene
def bad_hooks(torch: Any) -> Any:
    def with_hook(hook: Callable[..., Any]) -> Any:
        x = leaf(torch)
        x.register_hook(hook)
        return attempt((x * 2).sum().backward)

    def on_node(method: str, hook: Callable[..., Any]) -> Any:
        y = leaf(torch) * 2
        getattr(y.grad_fn, method)(hook)
        return attempt(y.sum().backward)

    def boom(g: Any) -> None:
        raise KeyError("boom")

    x = leaf(torch)
    x.register_post_accumulate_grad_hook(lambda t: 3)
    return [
        with_hook(lambda g: g[:1]),
        with_hook(lambda g: "x"),
        with_hook(boom),
        on_node("register_hook", lambda gi, go: 3),
        on_node("register_hook", lambda gi, go: (torch.ones(3),)),
        on_node("register_prehook", lambda go: (torch.ones(2),)),
        attempt((x * 1).sum().backward),
    ]


@scene
def saved_tensor_hooks(torch: Any) -> Any:
    log: list[Any] = []

    def pack(t: Any) -> Any:
        log.append(("pack", tuple(t.shape), t.requires_grad))
        return t * 2

    def unpack(t: Any) -> Any:
        log.append(("unpack", tuple(t.shape)))
        return t

    x = leaf(torch)
    with torch.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x * x
    y.sum().backward()
    z = x * x
    saved = z.grad_fn._raw_saved_self
    saved.register_hooks(pack, unpack)
    again = attempt(lambda: saved.register_hooks(pack, unpack))
    z.sum().backward()
    # a saved tensor does not keep its node, and PyTorch crashes without it
    doubled, times_plain = x * 2, x * torch.ones(3)
    nothing, plain = doubled.grad_fn._raw_saved_self, times_plain.grad_fn._raw_saved_other
    return [
        log,
        x.grad.tolist(),
        again,
        attempt(lambda: z.grad_fn._raw_saved_other.register_hooks(pack, unpack)),
        attempt(lambda: nothing.register_hooks(pack, unpack)),
        attempt(lambda: plain.register_hooks(lambda t: t.add_(1), unpack)),
    ]


@scene
def callbacks(torch: Any) -> Any:
    x = leaf(torch)
    seen: list[str] = []
    engine = torch.autograd.Variable._execution_engine
    x.register_hook(lambda g: engine.queue_callback(lambda: seen.append("callback")))
    x.register_hook(lambda g: seen.append("hook"))
    (x * 2).sum().backward()
    return [seen, attempt(lambda: engine.queue_callback(lambda: None))]


@scene
def multi_grad_hooks(torch: Any) -> Any:
    a, b = leaf(torch), leaf(torch)
    seen: list[Any] = []
    torch.autograd.graph.register_multi_grad_hook(
        (a, b), lambda gs: seen.append([None if g is None else g.tolist() for g in gs])
    )
    torch.autograd.graph.register_multi_grad_hook((a, b), lambda g: seen.append(g.tolist()), mode="any")
    (a * b).sum().backward()
    (a * 2).sum().backward()
    return seen


# -- Function


@scene
def results_of_backward(torch: Any) -> Any:
    def case(backward: Callable[..., Any], *more: Any) -> Any:
        foo = function(torch, lambda ctx, a, *rest: a * 2, backward)
        return attempt(foo.apply(leaf(torch), *more).sum().backward)

    return [
        case(lambda ctx, g: (g, g)),
        case(lambda ctx, g: g, 2),
        case(lambda ctx, g: (g, g), 2),
        case(lambda ctx, g: (g, None, None), 2),
        case(lambda ctx, g: 3),
        case(lambda ctx, g: g.sum()),
        case(lambda ctx, g: torch.ones(5)),
    ]


@scene
def results_of_forward(torch: Any) -> Any:
    x = leaf(torch, 2)

    def dirty(ctx: Any, a: Any) -> Any:
        ctx.mark_dirty(a)
        return a.add_(1)

    def dirty_lost(ctx: Any, a: Any) -> Any:
        ctx.mark_dirty(a)
        return a.add_(1) * 2

    def fixed(ctx: Any, a: Any) -> Any:
        result = a * 2
        ctx.mark_non_differentiable(result)
        return result

    def number(ctx: Any, a: Any) -> Any:
        ctx.save_for_backward(a, 3)
        return a * 2

    def show(forward: Callable[..., Any], arg: Any) -> Any:
        def run() -> Any:
            result = function(torch, forward, lambda ctx, g: g * 3).apply(arg)
            fn = result.grad_fn
            return [result.tolist(), fn and fn.name(), result.requires_grad, result._is_view()]

        return attempt(run)

    y, z = x.clone(), x.clone()
    return [
        show(lambda ctx, a: a, x),
        show(lambda ctx, a: a.view(2, 1), x),
        show(dirty, x),
        show(dirty, y),
        y.grad_fn.name(),
        show(dirty, z[:1]),
        z.grad_fn.name(),
        show(dirty_lost, x.clone()),
        show(fixed, x),
        show(number, x),
        attempt(lambda: function(torch, lambda ctx, a: a.view(2, 1), lambda ctx, g: g).apply(x).add_(1)),
    ]


@scene
def contexts(torch: Any) -> Any:
    seen: list[Any] = []

    def forward(ctx: Any, a: Any, k: int) -> Any:
        ctx.save_for_backward(a)
        ctx.k = k
        seen.append(torch.is_grad_enabled())
        return a * k

    def backward(ctx: Any, g: Any) -> Any:
        (a,) = ctx.saved_tensors
        seen.append((ctx.needs_input_grad, a.requires_grad, torch.is_grad_enabled()))
        return g * ctx.k, None

    y = function(torch, forward, backward).apply(leaf(torch), 3)
    y.sum().backward()
    fn = y.grad_fn
    return [
        seen,
        fn.k,
        fn.name(),
        type(fn).__name__,
        attempt(lambda: fn.saved_tensors),
        attempt(y.sum().backward),
        attempt(lambda: fn(torch.ones(3))),
    ]


@scene
def missing_parts(torch: Any) -> Any:
    base = torch.autograd.Function
    only_forward = type("Only", (base,), {"forward": staticmethod(lambda ctx, a: a * 1)})
    return [
        attempt(lambda: type("Empty", (base,), {}).apply(leaf(torch))),
        attempt(only_forward.apply(leaf(torch)).sum().backward),
    ]


@scene
def two_outputs_one_used(torch: Any) -> Any:
    found = []
    for materialize in (True, False):
        seen: list[Any] = []

        def forward(ctx: Any, a: Any, materialize: bool = materialize) -> Any:
            ctx.set_materialize_grads(materialize)
            return a * 1, a * 2

        def backward(ctx: Any, g: Any, h: Any, seen: list[Any] = seen) -> Any:
            seen.append([None if t is None else t.tolist() for t in (g, h)])
            return h

        x = leaf(torch)
        function(torch, forward, backward).apply(x)[1].sum().backward()
        found.append([seen, x.grad.tolist()])
    return found


# -- graphs of graphs, nesting, threads


@scene
def higher_orders(torch: Any) -> Any:
    x = leaf(torch)
    y = (x * x * x / 2).sum()
    found = []
    for last in (False, False, True):
        (y,) = torch.autograd.grad(y.sum(), x, create_graph=not last)
        found.append((y.tolist(), y.grad_fn and y.grad_fn.name()))
    return found


@scene
def nested_backward(torch: Any) -> Any:
    def backward(ctx: Any, g: Any) -> Any:
        if ctx.n:
            with torch.enable_grad():
                t = leaf(torch)
                deep.apply(t, ctx.n - 1).sum().backward()
            assert t.grad is not None
        return g * 2, None

    def forward(ctx: Any, a: Any, n: int) -> Any:
        ctx.n = n
        return a.clone()

    deep = function(torch, forward, backward)
    x = leaf(torch)
    deep.apply(x, 70).sum().backward()
    return x.grad.tolist()


@scene
def grad_mode_is_the_threads(torch: Any) -> Any:
    found: list[Any] = []

    def work() -> None:
        a = leaf(torch)
        found.append(torch.is_grad_enabled())
        (a * a).sum().backward()
        found.append(a.grad.tolist())

    with torch.no_grad():
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    return found


@scene
def decorators(torch: Any) -> Any:
    @torch.no_grad()
    def plain() -> bool:
        return bool(torch.is_grad_enabled())

    @torch.no_grad
    def bare() -> bool:
        return bool(torch.is_grad_enabled())

    @torch.enable_grad()
    def steps() -> Any:
        yield torch.is_grad_enabled()
        yield torch.is_grad_enabled()

    @torch.inference_mode()
    def inference() -> bool:
        return bool(torch.ones(2).is_inference())

    with torch.no_grad():
        inside = [plain(), list(steps()), torch.is_grad_enabled()]
    with torch.set_grad_enabled(False):
        off = torch.is_grad_enabled()
    return [
        inside,
        plain(),
        bare(),
        inference(),
        off,
        torch.is_grad_enabled(),
        attempt(lambda: torch.set_grad_enabled(1)),
    ]


@scene
def edges(torch: Any) -> Any:
    x = leaf(torch)
    y = x * 2
    edge = torch.autograd.graph.get_gradient_edge(y)
    return [
        [g.tolist() for g in torch.autograd.grad(y.sum(), edge, retain_graph=True)],
        [g.tolist() for g in torch.autograd.grad(edge, x, grad_outputs=torch.ones(3), retain_graph=True)],
        attempt(lambda: torch.autograd.graph.get_gradient_edge(torch.ones(2))),
        attempt(lambda: y.grad_fn(torch.ones(3), torch.ones(3))),
        attempt(lambda: y.grad_fn(1)),
        [g.tolist() if g is not None else None for g in y.grad_fn(torch.ones(3))],
    ]


@scene
def saved_attributes(torch: Any) -> Any:
    x, w = leaf(torch, 2, 3), leaf(torch, 2, 3)
    results = [
        x * w,
        x * 2,
        x + w,
        x / w,
        x.sum(),
        x.sum(1),
        x.mean(0),
        x.expand(4, 2, 3),
        x.view(6),
        x.transpose(0, 1),
        x.permute(1, 0),
        x[0],
        x[:, 1:],
        x.unsqueeze(0),
        x.squeeze(0),
        x.as_strided((2,), (1,)),
        torch.cat([x, w]),
        x.split(1)[0],
    ]
    found = []
    for t in results:
        fn = t.grad_fn
        saved = {n: getattr(fn, n) for n in dir(fn) if n.startswith("_saved")}
        shown = {n: tuple(v.shape) if isinstance(v, torch.Tensor) else v for n, v in saved.items()}
        found.append((fn.name(), [f and f.name() for f, _ in fn.next_functions], shown))
    return found


@scene
def nan_in_anomaly_mode(torch: Any) -> Any:
    x = leaf(torch)
    with torch.autograd.set_detect_anomaly(True):
        y = x * 0.0
        failed = attempt((y / y).sum().backward)
        (g,) = torch.autograd.grad((x * x).sum(), x, create_graph=True)
        metadata = g.grad_fn.metadata
    return [failed, sorted(metadata), type(metadata["parent_"]).__name__, attempt(lambda: (x * 1).grad_fn.metadata)]
