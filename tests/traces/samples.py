"""Small traces made by hand: the article's ``torch.rand(3, 4)``, and a backward pass."""

from __future__ import annotations

from typing import Any

from traces import Sink, Trace, TraceBuilder

HEADER = {
    "target": "engine",
    "reference": "2.1",
    "script": "script.py",
    "argv": ["script.py"],
    "python": "3.11.7",
    "time": "2026-01-02T03:04:05Z",
}
CPU_SET = (0x10001, ("ADInplaceOrView", "CPU"))
SELECT_SET = (0x41, ("BackendSelect", "ADInplaceOrView"))
SIZE = ("size", "dtype", "layout", "device", "pin_memory")
CPU = {"repr": "device(type='cpu')"}
FILLED = [[3, 4], None, None, CPU, False]
NONE = [[3, 4], None, None, None, None]


def tensor(number: int, shape: list[int], **more: Any) -> dict[str, Any]:
    return {
        "$": number,
        "dtype": "float32",
        "shape": shape,
        "strides": [shape[-1], 1] if len(shape) == 2 else [],
        "device": "cpu",
        "requires_grad": False,
        **more,
    }


class Driver:
    """Drives a sink with frames that nest; time goes by in steps of a microsecond."""

    def __init__(self, sink: Sink) -> None:
        self.sink = sink
        self.time = 5_000_000
        self.frames = 0
        self.hops = 0
        self.open: list[int] = []

    def now(self) -> int:
        self.time += 1000
        return self.time

    def begin(
        self, name: str, layer: str, params: tuple[str, ...], args: list[Any], where: tuple[str, int] = ("", 0),
        line: int | None = None, python: tuple[tuple[str, int, str], ...] = (), guard: str | None = None,
        thread: int = 1,
    ) -> int:  # fmt: skip
        key = self.sink.site(name, layer, params, *where, guard)
        number = self.frames
        self.frames += 1
        parent = self.open[-1] if self.open else None
        self.sink.begin(number, parent, thread, key, args, self.now(), line, python)
        self.open.append(number)
        return number

    def hop(self, kind: str, op: str, key: str, keyset: tuple[int, tuple[str, ...]], **more: Any) -> None:
        self.sink.hop(self.hops, self.open[-1], kind=kind, op=op, key=key, keyset=keyset, **more)
        self.hops += 1

    def end(self, result: Any = None) -> None:
        self.sink.end(self.open.pop(), self.now(), result)

    def fail(self, kind: str, message: str) -> None:
        self.sink.fail(self.open.pop(), self.now(), kind, message)


def rand(sink: Sink, upto: int | None = None) -> Driver:
    """``a = torch.rand(3, 4)``, down to the kernels; ``upto`` leaves the frames open at that depth."""
    d = Driver(sink)
    d.begin(
        "torch::autograd::THPVariable_rand", "python", ("self_", "args", "kwargs"),
        [None, [3, 4], None], ("engine/torch/python_bindings.py", 12), python=(("script.py", 2, "<module>"),),
    )  # fmt: skip
    sink.detail(0, "signature", "rand(SymInt[] size, *, Tensor out=None, ScalarType? dtype=None)")
    sink.detail(0, "case", 2)
    d.begin(
        "torch::rand", "torch", ("size", "options"), [[3, 4], {"repr": "TensorOptions()"}],
        ("engine/torch/variable_factories.py", 20), 31, guard="at::AutoDispatchBelowADInplaceOrView",
    )  # fmt: skip
    d.begin("at::rand", "at", ("size", "options"), [[3, 4], {"repr": "TensorOptions()"}], ("engine/at.py", 7), 22)
    d.begin("at::_ops::rand::call", "ops", SIZE, NONE, ("engine/ops.py", 40), 8)
    d.hop(
        "call", "aten::rand", "BackendSelect", SELECT_SET, kernel="at::rand", reason="[kernel]",
        kernel_debug="registered at engine/backend_select.py:5", tls_include=("BackendSelect", "ADInplaceOrView"),
        tls_exclude=("AutogradCPU", "AutocastCPU"),
    )  # fmt: skip
    d.begin("at::(backend select)::rand", "backend_select", SIZE, NONE, ("engine/backend_select.py", 5), 44)
    d.begin("at::_ops::rand::redispatch", "ops", SIZE, FILLED, ("engine/ops.py", 50), 9)
    d.hop(
        "redispatch", "aten::rand", "CPU", CPU_SET, kernel="at::wrapper_CompositeExplicitAutograd__rand",
        reason="[default backend kernel]", kernel_debug="registered at engine/register.py:9",
        fallthrough=("ADInplaceOrView",),
    )  # fmt: skip
    d.begin("at::wrapper_CompositeExplicitAutograd__rand", "wrapper", SIZE, FILLED, ("engine/register.py", 9), 55)
    d.begin("at::native::rand", "native", SIZE, FILLED, ("engine/aten/native/tensor_factories.py", 41), 10)
    if upto is not None:
        return d
    d.begin(
        "at::_ops::uniform_::call",
        "ops",
        ("self", "from", "to"),
        [tensor(1, [3, 4]), 0.0, 1.0],
        ("engine/ops.py", 40),
        43,
    )
    d.hop(
        "call", "aten::uniform_", "CPU", CPU_SET, kernel="at::wrapper_CPU_uniform_", reason="[kernel]",
        arg_keysets=(("self", ("ADInplaceOrView", "CPU")),),
    )  # fmt: skip
    d.end(tensor(1, [3, 4]))
    while d.open:
        d.end(tensor(1, [3, 4]))
    return d


def backward(sink: Sink) -> None:
    """A node made by ``mul`` that leads twice to one AccumulateGrad, and runs."""
    d = rand(sink)
    d.begin(
        "torch::autograd::THPVariable_mul",
        "python",
        ("self",),
        [tensor(1, [3, 4])],
        python=(("script.py", 3, "<module>"),),
    )
    d.begin("at::_ops::mul_Tensor::call", "ops", ("self", "other"), [tensor(1, [3, 4]), tensor(1, [3, 4])], line=5)
    d.hop("call", "aten::mul.Tensor", "AutogradCPU", (7, ("AutogradCPU", "ADInplaceOrView", "CPU")))
    made = d.begin("torch::autograd::VariableType::mul_Tensor", "autograd", (), [], line=5)
    sink.node(0, "MulBackward0", 0, ((1, 0), (1, 0), (None, 0)), {"self": tensor(1, [3, 4]), "scale": 2}, made)
    sink.node(1, "AccumulateGrad", None, (), {}, None, 1)
    d.end(tensor(2, [3, 4]))
    d.end(tensor(2, [3, 4]))
    d.end(tensor(2, [3, 4]))
    ran = d.begin(
        "MulBackward0::apply",
        "node",
        ("grads",),
        [[tensor(3, [3, 4])]],
        python=(("script.py", 4, "<module>"),),
        thread=2,
    )
    sink.node_ran(0, ran)
    d.begin(
        "at::_ops::mul_Tensor::call", "ops", ("self", "other"), [tensor(1, [3, 4]), tensor(1, [3, 4])], line=5, thread=2
    )
    d.hop("call", "aten::mul.Tensor", "CPU", CPU_SET)
    d.end(tensor(4, [3, 4]))
    sink.warning("UserWarning", "the non-leaf one", ran)
    d.end(None)


def built(drive: Any = backward, status: int = 0, error: tuple[str, str] | None = None, close: bool = True) -> Trace:
    """The trace of a driver, in memory."""
    builder = TraceBuilder(HEADER)
    drive(builder)
    if close:
        builder.close(status, error)
    return builder.trace
