"""torch/csrc/autograd/python_torch_functions_manual.cpp: functions of ``torch`` that are written by hand.

Differs: no sparse constructors, no DLPack and no buffers.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from engine import _on_switch, reference
from engine.aten.core.tensor import Tensor
from engine.c10 import exception, scalar_type
from engine.c10.scalar_type import ScalarType, get_default_dtype
from engine.torch.csrc.autograd import variable
from engine.torch.csrc.utils.python_arg_parser import PythonArgParser, PythonArgs
from engine.torch.csrc.utils.python_binding import as_function, parsed
from engine.torch.csrc.utils.tensor_new import as_tensor, internal_new_from_data, tensor_ctor
from engine.torch.csrc.utils.tensor_numpy import tensor_from_numpy
from engine.torch.csrc.utils.unmodelled import operator

__all__ = ["manual_functions"]

__tracebackhide__ = True  # pytest shows the line that called, as for a function in C++

Api = Callable[[], Any]


def _function(body: Callable[[PythonArgs], Any], api: Api, *signatures: str) -> Callable[..., Any]:
    name = signatures[0].partition("(")[0]
    parser = PythonArgParser(signatures)
    return as_function(parsed(lambda self_, r: body(r), parser, name, False, api), name)


def _tensor(api: Api) -> Callable[..., Any]:
    """torch.tensor; the article's PyTorch can name the dimensions."""
    plain = (
        "tensor(PyObject* data, *, ScalarType dtype=None, Device? device=None, bool pin_memory=False, "
        "bool requires_grad=False"
    )
    parser = PythonArgParser((plain + ")",))
    named = PythonArgParser((plain + ", DimnameList? names=None)",))
    runs = {
        "2.13": parsed(_tensor_body, parser, "tensor", False, api),
        "article": parsed(_tensor_body, named, "tensor", False, api),
    }
    chosen = [runs[reference()]]

    def choose() -> None:
        chosen[0] = runs[reference()]

    _on_switch.append(choose)

    def run(self_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        return chosen[0](self_, args, kwargs)

    return as_function(run, "tensor")


def _tensor_body(self_: Any, r: PythonArgs) -> Any:
    return tensor_ctor(get_default_dtype(), r)


def _as_tensor(r: PythonArgs) -> Any:
    return as_tensor(get_default_dtype(), r)


def _asarray(r: PythonArgs) -> Any:
    """torch.asarray: shares memory where it can, copies where ``copy``, dtype or device make it."""
    obj, requires_grad = r.pyobject(0), r.toBool(4)
    dtype, device, copy = r.scalartypeOptional(1), r.deviceOptional(2), r.toBoolOptional(3)
    tensor = obj if isinstance(obj, Tensor) else None
    if isinstance(obj, (np.ndarray, np.generic)):
        exception.TORCH_CHECK(
            not (isinstance(obj, np.generic) and copy is False),
            "can't alias NumPy scalars. Either remove copy=False or transform it in a ndarray. ",
        )
        tensor = tensor_from_numpy(np.asarray(obj), warn_if_not_writeable=False)
    if tensor is None:
        exception.TORCH_CHECK_VALUE(copy is not False, "can't alias arbitrary sequence into a tensor.")
        made = internal_new_from_data(dtype or get_default_dtype(), device, obj, False, False, dtype is None)
        variable.set_requires_grad(made, requires_grad)
        return made
    wrong_device = device is not None and device != tensor._device
    wrong_dtype = dtype is not None and dtype is not tensor._dtype
    if copy or (copy is None and (wrong_device or wrong_dtype)):
        if wrong_device or wrong_dtype:
            tensor = operator("to_device", "torch.asarray").call(
                tensor, device or tensor._device, dtype or tensor._dtype, False, bool(copy), None
            )
        else:
            tensor = operator("clone", "torch.asarray").call(tensor, None)
    else:
        exception.TORCH_CHECK_VALUE(
            not wrong_device, "can't alias tensor from device '", tensor._device, "' to '", device, "'."
        )
        exception.TORCH_CHECK_VALUE(
            not wrong_dtype,
            "can't alias tensor with dtype '",
            tensor._dtype.name,
            "' into dtype '",
            dtype.name if dtype is not None else "",
            "'.",
        )
    if not variable.is_leaf(tensor) and not requires_grad:
        return operator("detach", "torch.asarray").call(tensor)
    variable.set_requires_grad(tensor, requires_grad)
    return tensor


def _from_numpy(self_: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if kwargs or len(args) != 1:
        raise TypeError(f"_VariableFunctionsClass.from_numpy() takes exactly one argument ({len(args)} given)")
    return tensor_from_numpy(args[0])


def _can_cast(r: PythonArgs) -> bool:
    return scalar_type.canCast(r.scalartype(0), r.scalartype(1))


def _promote_types(r: PythonArgs) -> ScalarType:
    return scalar_type.promoteTypes(r.scalartype(0), r.scalartype(1))


def manual_functions(api: Api) -> dict[str, Callable[..., Any]]:
    """By name; ``api`` gives the module they are functions of."""
    return {
        "tensor": _tensor(api),
        "as_tensor": _function(
            _as_tensor, api, "as_tensor(PyObject* data, *, ScalarType dtype=None, Device? device=None)"
        ),
        "asarray": _function(
            _asarray,
            api,
            "asarray(PyObject* obj, *, ScalarType? dtype=None, Device? device=None, bool? copy=None, "
            "bool requires_grad=False)",
        ),
        "from_numpy": as_function(_from_numpy, "from_numpy"),
        "numel": _function(lambda r: r.tensor(0).numel_(), api, "numel(Tensor input)"),
        "is_floating_point": _function(
            lambda r: r.tensor(0)._dtype.is_floating_point, api, "is_floating_point(Tensor input)"
        ),
        "is_complex": _function(lambda r: r.tensor(0)._dtype.is_complex, api, "is_complex(Tensor input)"),
        "is_signed": _function(lambda r: r.tensor(0)._dtype.is_signed, api, "is_signed(Tensor input)"),
        "is_inference": _function(lambda r: r.tensor(0).is_inference_(), api, "is_inference(Tensor input)"),
        "can_cast": _function(_can_cast, api, "can_cast(ScalarType from_, ScalarType to)"),
        "promote_types": _function(_promote_types, api, "promote_types(ScalarType type1, ScalarType type2)"),
    }
