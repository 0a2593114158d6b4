"""torchgen/gen.py (Functions.h), tools/autograd/gen_variable_factories.py: the inline at:: and torch:: functions.

``at::X`` unpacks TensorOptions and calls ``at::_ops::X``; ``torch::X`` calls ``at::X`` below the autograd keys and
makes the result a variable.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from engine import doors
from engine.aten.core.dispatcher import OperatorHandle
from engine.c10.dispatch_key_set import autograd_dispatch_keyset_with_ADInplaceOrView
from engine.c10.local_dispatch_key_set import tls
from engine.torchgen.model import NativeFunction
from engine.torchgen.naming import cpp_name, options_position

__all__ = ["is_variable_factory", "make_at_function", "make_variable_factory"]

_GUARD = "at::AutoDispatchBelowADInplaceOrView"


def _cpp_params(row: NativeFunction, position: int | None) -> tuple[str, ...]:
    names = [argument.name for argument in row.schema.all_arguments]
    if position is not None:
        names[position : position + 4] = ["options"]
    return tuple(names)


def make_at_function(row: NativeFunction, op: OperatorHandle, scope: str = "at::") -> Callable[..., Any]:
    """``at::X(…, options, …)``, or ``at::Tensor::X`` with that scope.

    TensorOptions stand where dtype, layout, device and pin_memory are in the schema.
    requires_grad of the options is not looked at: that is why ``at::`` factories never make a differentiable tensor.
    """
    position = options_position(row)
    name = scope + cpp_name(row)
    call = op.call

    if position is None:

        def function(*args: Any) -> Any:
            door = doors.listener
            if door is None:
                return call(*args)
            return _announced(door, site, call, args, args)

    else:
        at = position

        def function(*args: Any) -> Any:
            options = args[at]
            full = (
                *args[:at],
                options.dtype_opt(),
                options.layout_opt(),
                options.device_opt(),
                options.pinned_memory_opt(),
                *args[at + 1 :],
            )
            door = doors.listener
            if door is None:
                return call(*full)
            return _announced(door, site, call, args, full)

    site = doors.site_of(function, name, "at", _cpp_params(row, position))
    return doors.rename(function, name)


def _announced(door: Any, site: doors.Site, call: Callable[..., Any], shown: Any, args: Any) -> Any:
    door.enter(site, shown)
    try:
        result = call(*args)
    except BaseException as error:
        door.fail(site, error)
        raise
    door.leave(site, result)
    return result


def is_variable_factory(row: NativeFunction) -> bool:
    """Whether torch/csrc/autograd/generated/variable_factories.h has the function."""
    return "function" in row.variant_set and options_position(row) is not None


def make_variable_factory(row: NativeFunction, at_function: Callable[..., Any]) -> Callable[..., Any]:
    """``torch::X(…, options, …)``: ``at::X`` under the guard, then make_variable with the options' requires_grad."""
    from engine.torch.csrc.autograd.variable import make_variable

    position = options_position(row)
    assert position is not None
    name = "torch::" + cpp_name(row)

    def below_autograd(args: tuple[Any, ...]) -> Any:
        options = args[position]
        excluded = tls.excluded
        tls.excluded = excluded | autograd_dispatch_keyset_with_ADInplaceOrView
        try:
            plain = at_function(*args[:position], options.requires_grad(None), *args[position + 1 :])
            return make_variable(plain, options.requires_grad())
        finally:
            tls.excluded = excluded

    def function(*args: Any) -> Any:
        door = doors.listener
        if door is None:
            return below_autograd(args)
        return _announced(door, site, below_autograd, args, (args,))

    site = doors.site_of(function, name, "torch", _cpp_params(row, position), _GUARD)
    return doors.rename(function, name)
