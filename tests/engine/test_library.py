"""A user's own operators, kernels and fallbacks: added, used, traced, taken away."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

import tracer
from engine import torch
from engine.library import Library, define, fallthrough_kernel, impl


@pytest.fixture
def lib() -> Iterator[Library]:
    with Library("lib_test", "FRAGMENT") as made:
        yield made


def test_defaults_are_left_out_of_a_python_kernels_arguments(lib: Library) -> None:
    seen = []

    def kernel(*args: object, **kwargs: object) -> object:
        seen.append((args[1:], kwargs))
        return args[0]

    lib.define("f(Tensor x, float k=2.0, *, int n=1) -> Tensor")
    lib.impl("f", kernel, "CPU")
    x = torch.ones(2)
    assert torch.ops.lib_test.f(x) is x
    torch.ops.lib_test.f(x, 3.0)
    torch.ops.lib_test.f(x, n=2)
    assert seen == [((), {}), ((3.0,), {}), ((), {"n": 2})]


@pytest.mark.filterwarnings("ignore:Warning only once for all operators")
def test_a_kernel_of_an_aten_operator_comes_and_goes() -> None:
    two = torch.full((2,), 2.0)
    with Library("aten", "IMPL") as library:
        library.impl("mul.Tensor", lambda a, b: a + b, "CPU")
        assert (two * 5).tolist() == [7.0, 7.0]
    assert (two * 5).tolist() == [10.0, 10.0]


@pytest.mark.filterwarnings("ignore:Warning only once for all operators")
def test_the_newest_kernel_wins_and_the_older_comes_back(lib: Library) -> None:
    lib.define("g(Tensor x) -> Tensor")
    lib.impl("g", lambda x: x + 1, "CompositeExplicitAutograd")
    x = torch.zeros(1)
    assert torch.ops.lib_test.g(x).item() == 1
    with Library("lib_test", "IMPL", "CPU") as other:
        other.impl("g", lambda x: x + 2)
        assert torch.ops.lib_test.g(x).item() == 2
    assert torch.ops.lib_test.g(x).item() == 1


def test_without_an_autograd_kernel_operators_inside_make_the_graph(lib: Library) -> None:
    lib.define("h(Tensor x) -> Tensor")
    lib.impl("h", lambda x: x * 3, "CPU")
    x = torch.ones(2, requires_grad=True)
    y = torch.ops.lib_test.h(x)
    assert y.grad_fn.name() == "MulBackward0"
    with pytest.warns(UserWarning, match="an autograd kernel was not registered to the Autograd key"):
        y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]


def test_fallthrough_passes_the_key_over(lib: Library) -> None:
    lib.define("p(Tensor x) -> Tensor")
    lib.impl("p", lambda x: x + 1, "CPU")
    lib.impl("p", fallthrough_kernel, "AutogradCPU")
    with tracer.record() as trace:
        torch.ops.lib_test.p(torch.zeros(1))
    hop = next(hop for hop in trace.hops if hop.op == "lib_test::p")
    assert hop.kind == "callBoxed"
    assert hop.key == "CPU"
    assert "AutogradCPU" in hop.fallthrough


def test_with_keyset(lib: Library) -> None:
    lib.define("k(Tensor x) -> Tensor")
    seen = []

    def kernel(keys: object, x: object) -> object:
        seen.append(str(keys))
        return x

    lib.impl("k", kernel, "CPU", with_keyset=True)
    with torch.inference_mode():
        torch.ops.lib_test.k(torch.ones(1))
    assert seen == ["DispatchKeySet(CPU)"]


@pytest.mark.filterwarnings("ignore")
def test_a_fallback_serves_every_operator_of_its_key(lib: Library) -> None:
    lib.define("q(Tensor x) -> Tensor")
    calls = []

    def fallback(op: object, *args: object, **kwargs: object) -> object:
        calls.append(str(op))
        return args[0]

    with Library("_", "IMPL") as anything:
        anything.fallback(fallback, "CPU")
        x = torch.ones(1)
        torch.ops.lib_test.q(x)
        assert calls == ["lib_test.q.default"]
    with pytest.raises(NotImplementedError, match=r"Could not run 'lib_test::q' with arguments from the 'CPU' backend"):
        torch.ops.lib_test.q(torch.ones(1))


def test_define_and_impl_as_decorators() -> None:
    with Library("lib_deco", "DEF") as owner:
        define("lib_deco::dbl", "(Tensor x) -> Tensor", lib=owner)

        @impl("lib_deco::dbl", "cpu", lib=owner)
        def dbl(x: object) -> object:
            return x + x  # type: ignore[operator]

        assert torch.ops.lib_deco.dbl(torch.ones(1)).item() == 2
    with pytest.raises(AttributeError, match="'_OpNamespace' 'lib_deco' object has no attribute 'dbl'"):
        _ = torch.ops.lib_deco.dbl


def test_errors(lib: Library) -> None:
    lib.define("e(Tensor x) -> Tensor")
    with pytest.raises(RuntimeError, match="with the same name and overload name multiple times"):
        lib.define("e(Tensor x) -> Tensor")
    with pytest.raises(TypeError, match="Input function is required to be a callable but found type <class 'int'>"):
        lib.impl("e", 3, "CPU")  # type: ignore[arg-type]
    with pytest.raises(RuntimeError, match="could not parse dispatch key: Foo"):
        lib.impl("e", abs, "Foo")
    with pytest.raises(RuntimeError, match=r"Explicitly provided namespace \(aten\)"):
        lib.impl("aten::e", abs, "CPU")
    with pytest.raises(ValueError, match="Unsupported kind"):
        Library("lib_test", "XX")
    with pytest.raises(RuntimeError, match="Fallback can only be registered using library fragment on the global"):
        lib.fallback(abs, "CPU")
    with pytest.raises(RuntimeError, match=r"lib_test::e\(\) Expected a value of type 'Tensor' for argument 'x'"):
        torch.ops.lib_test.e("a")
    with Library("lib_once", "DEF"), pytest.raises(RuntimeError, match="Only a single TORCH_LIBRARY can be used"):
        Library("lib_once", "DEF")


@pytest.mark.parametrize(
    ("returns", "result", "error", "text"),
    [
        ("Tensor", 5, RuntimeError, "Unable to cast 5 to Tensor"),
        ("int", "s", RuntimeError, "Unable to cast Python instance of type <class 'str'>"),
        ("(Tensor, Tensor)", 5, TypeError, "Object of type 'int' is not an instance of 'sequence'"),
        ("()", 5, RuntimeError, "Expected PythonKernelHolder for lib_test::r to return None but it returned something"),
    ],
)
def test_a_kernels_result_must_fit_its_schema(
    lib: Library, returns: str, result: object, error: type[Exception], text: str
) -> None:
    lib.define(f"r(Tensor x) -> {returns}")
    lib.impl("r", lambda x: result, "CPU")
    with pytest.raises(error, match=text):
        torch.ops.lib_test.r(torch.ones(1))


def test_numbers_are_tensors_for_atens_binary_operators_only(lib: Library) -> None:
    lib.define("t(Tensor x) -> Tensor")
    lib.impl("t", lambda x: x, "CPU")
    with pytest.raises(RuntimeError, match="Expected a value of type 'Tensor' for argument 'x' but instead found type"):
        torch.ops.lib_test.t(5)
    assert torch.ops.aten.mul.Tensor(torch.ones(1), 3).item() == 3


def test_lists_reach_python_kernels_as_lists(lib: Library) -> None:
    seen = []
    lib.define("v(Tensor x, int[] s, int[2] p=[1,1], float[]? k=None) -> Tensor")
    lib.impl("v", lambda *args: (seen.append(args[1:]), args[0])[1], "CPU")
    x = torch.ones(1)
    torch.ops.lib_test.v(x, (1, 2), 3)
    torch.ops.lib_test.v(x, [1], [1, 1])
    torch.ops.lib_test.v(x, [1], [1, 2], [1.5])
    assert seen == [([1, 2], [3, 3]), ([1],), ([1], [1, 2], [1.5])]
