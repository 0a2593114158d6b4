"""c10/core/TensorOptions.h: the construction axes of a tensor, each of which may be left open.

Like C++'s, the methods named after an axis are both builder and getter: ``options.dtype(Long)`` is a copy with that
dtype, ``options.dtype()`` the dtype or its default.

Differs: no ``backend()``, which c10 itself is about to drop.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, overload

from engine.c10 import exception
from engine.c10.device import Device, device_or_default, kCPU
from engine.c10.layout import (
    Jagged,
    Layout,
    Mkldnn,
    Sparse,
    SparseBsc,
    SparseBsr,
    SparseCsc,
    SparseCsr,
    Strided,
    layout_or_default,
)
from engine.c10.memory_format import MemoryFormat
from engine.c10.scalar_type import ScalarType, dtype_or_default, isQIntType

if TYPE_CHECKING:
    from engine.c10.dispatch_key import DispatchKey

_GET: Final[Any] = object()  # "no argument": the method is a getter

# device types that have a backend component, and the name of it in dispatch keys
_BACKENDS: Final = {
    "cpu": "CPU", "cuda": "CUDA", "hip": "HIP", "xla": "XLA", "mps": "MPS", "ipu": "IPU", "xpu": "XPU", "hpu": "HPU",
    "ve": "VE", "lazy": "Lazy", "meta": "Meta", "mtia": "MTIA", "privateuseone": "PrivateUse1",
}  # fmt: skip
_DENSE_ONLY: Final = {"fpga": "FPGA", "maia": "MAIA", "vulkan": "Vulkan", "metal": "Metal"}
_DEVICE_OF_BACKEND: Final = {name: type_ for type_, name in _BACKENDS.items()}
_CAFFE2: Final = ("mkldnn", "opengl", "opencl", "ideep")
_COMPRESSED: Final = (SparseCsr, SparseCsc, SparseBsr, SparseBsc)
_FUNCTIONALITIES: Final = ("Quantized", "SparseCsr", "Sparse", "NestedTensor", "Autograd", "")


def pinned_memory_or_default(pinned_memory: bool | None) -> bool:
    return bool(pinned_memory)


def computeDispatchKey(dtype: ScalarType | None, layout: Layout | None, device: Device | None) -> DispatchKey:
    """The backend's dispatch key of a tensor with these axes: CPU, Meta, QuantizedCPU, SparseCPU, …"""
    layout = layout_or_default(layout)
    quantized = isQIntType(dtype_or_default(dtype))
    type_ = device_or_default(device)._type
    found = _keys.get((layout, type_, quantized))
    if found is None:
        from engine.c10.dispatch_key import DispatchKey  # found once per kind of tensor

        found = _keys[layout, type_, quantized] = DispatchKey[_dispatch_key_name(layout, type_, quantized)]
    return found


_keys: dict[tuple[Layout, str, bool], DispatchKey] = {}


def _dispatch_key_name(layout: Layout, type_: str, quantized: bool) -> str:
    backend = _BACKENDS.get(type_)
    if layout is Strided or layout is Jagged:
        if backend is not None:
            return f"Quantized{backend}" if quantized else backend
        exception.TORCH_INTERNAL_ASSERT(
            type_ not in _CAFFE2,
            "0",
            f"This is a grandfathered Caffe2 device type {type_}, it shouldn't ever convert to a DispatchKey.  File a "
            "bug describing what you were doing if you think this is in error.",
        )
        return _DENSE_ONLY[type_]
    if layout is Mkldnn:
        if type_ != "cpu":
            raise exception.NotImplementedError("Unsupported device type for mkldnn layout: ", type_)
        return "MkldnnCPU"
    if layout is Sparse:
        if backend is None:
            raise exception.NotImplementedError("Unsupported device type for sparse layout: ", type_)
        return f"Sparse{backend}"
    if layout in _COMPRESSED:
        if backend is None:
            raise exception.NotImplementedError("Unsupported device type for ", layout.name, " layout: ", type_)
        return f"SparseCsr{backend}"
    raise exception.Error("Unsupported layout: ", layout.name)


def dispatchKeyToLayout(dispatch_key: DispatchKey) -> Layout:
    """The layout of tensors with that key."""
    name = dispatch_key.name
    if name.startswith("SparseCsr"):
        raise exception.Error("Cannot map DispatchKey ", name, " to a unique layout.")
    if name.startswith("Sparse"):
        return Sparse
    return Mkldnn if name == "MkldnnCPU" else Strided


def dispatchKeyToDeviceType(dispatch_key: DispatchKey) -> str:
    """The device type of tensors with that key."""
    name = dispatch_key.name
    if name == "MkldnnCPU":
        return "cpu"
    if name in ("Vulkan", "MAIA"):
        return name.lower()
    for functionality in _FUNCTIONALITIES:
        found = _DEVICE_OF_BACKEND.get(name.removeprefix(functionality))
        if found is not None:
            return found
    raise exception.Error("DispatchKey ", name, " doesn't correspond to a device")


def dispatchKeyToTensorOptions(dispatch_key: DispatchKey) -> TensorOptions:
    return TensorOptions(dispatchKeyToLayout(dispatch_key), Device(dispatchKeyToDeviceType(dispatch_key)))


class TensorOptions:
    """dtype, layout, device, requires_grad, pinned_memory and memory_format, each given or open; immutable.

    Positional arguments convert as in C++: ``TensorOptions(Long)``, ``TensorOptions(Device("meta"))``.
    """

    __slots__ = ("_device", "_dtype", "_layout", "_memory_format", "_pinned_memory", "_requires_grad")

    _dtype: ScalarType | None
    _layout: Layout | None
    _device: Device | None
    _requires_grad: bool | None
    _pinned_memory: bool | None
    _memory_format: MemoryFormat | None

    def __init__(
        self,
        *axes: ScalarType | Layout | Device | MemoryFormat,
        dtype: ScalarType | None = None,
        layout: Layout | None = None,
        device: Device | None = None,
        requires_grad: bool | None = None,
        pinned_memory: bool | None = None,
        memory_format: MemoryFormat | None = None,
    ) -> None:
        for axis in axes:
            match axis:
                case ScalarType():
                    dtype = axis
                case Layout():
                    layout = axis
                case Device():
                    device = axis
                case MemoryFormat():
                    memory_format = axis
        self._dtype = dtype
        self._layout = layout
        self._device = device
        self._requires_grad = requires_grad
        self._pinned_memory = pinned_memory
        self._memory_format = memory_format

    def _with(self, **axis: Any) -> TensorOptions:
        return TensorOptions(**{**self._axes(), **axis})

    def _axes(self) -> dict[str, Any]:
        return {name.removeprefix("_"): getattr(self, name) for name in TensorOptions.__slots__}

    @overload
    def dtype(self) -> ScalarType: ...
    @overload
    def dtype(self, dtype: ScalarType | None) -> TensorOptions: ...
    def dtype(self, dtype: ScalarType | None = _GET) -> ScalarType | TensorOptions:
        return dtype_or_default(self._dtype) if dtype is _GET else self._with(dtype=dtype)

    @overload
    def layout(self) -> Layout: ...
    @overload
    def layout(self, layout: Layout | None) -> TensorOptions: ...
    def layout(self, layout: Layout | None = _GET) -> Layout | TensorOptions:
        return layout_or_default(self._layout) if layout is _GET else self._with(layout=layout)

    @overload
    def device(self) -> Device: ...
    @overload
    def device(self, device: Device | str | None, index: int = -1) -> TensorOptions: ...
    def device(self, device: Device | str | None = _GET, index: int = -1) -> Device | TensorOptions:
        if device is _GET:
            return device_or_default(self._device)
        if isinstance(device, str):
            device = Device(device) if index == -1 else Device(device, index)
        return self._with(device=device)

    @overload
    def requires_grad(self) -> bool: ...
    @overload
    def requires_grad(self, requires_grad: bool | None) -> TensorOptions: ...
    def requires_grad(self, requires_grad: bool | None = _GET) -> bool | TensorOptions:
        return bool(self._requires_grad) if requires_grad is _GET else self._with(requires_grad=requires_grad)

    @overload
    def pinned_memory(self) -> bool: ...
    @overload
    def pinned_memory(self, pinned_memory: bool | None) -> TensorOptions: ...
    def pinned_memory(self, pinned_memory: bool | None = _GET) -> bool | TensorOptions:
        return bool(self._pinned_memory) if pinned_memory is _GET else self._with(pinned_memory=pinned_memory)

    def memory_format(self, memory_format: MemoryFormat | None) -> TensorOptions:
        """A copy with that format; there is no getter, as the default differs from function to function."""
        return self._with(memory_format=memory_format)

    def has_dtype(self) -> bool:
        return self._dtype is not None

    def has_layout(self) -> bool:
        return self._layout is not None

    def has_device(self) -> bool:
        return self._device is not None

    def has_requires_grad(self) -> bool:
        return self._requires_grad is not None

    def has_pinned_memory(self) -> bool:
        return self._pinned_memory is not None

    def has_memory_format(self) -> bool:
        return self._memory_format is not None

    def dtype_opt(self) -> ScalarType | None:
        return self._dtype

    def layout_opt(self) -> Layout | None:
        return self._layout

    def device_opt(self) -> Device | None:
        return self._device

    def requires_grad_opt(self) -> bool | None:
        return self._requires_grad

    def pinned_memory_opt(self) -> bool | None:
        return self._pinned_memory

    def memory_format_opt(self) -> MemoryFormat | None:
        return self._memory_format

    def device_index(self) -> int:
        return self.device()._index

    def is_sparse(self) -> bool:
        return self._layout is Sparse

    def is_sparse_csr(self) -> bool:
        return self._layout is SparseCsr

    def is_sparse_compressed(self) -> bool:
        return self._layout in _COMPRESSED

    def type_equal(self, other: TensorOptions) -> bool:
        return self.computeDispatchKey() == other.computeDispatchKey() and self.dtype() is other.dtype()

    def merge_in(self, options: TensorOptions) -> TensorOptions:
        """A copy in which whatever ``options`` gives wins."""
        return self._with(**{name: value for name, value in options._axes().items() if value is not None})

    def merge_memory_format(self, optional_memory_format: MemoryFormat | None) -> TensorOptions:
        return self if optional_memory_format is None else self.memory_format(optional_memory_format)

    def computeDispatchKey(self) -> DispatchKey:
        return computeDispatchKey(self._dtype, self._layout, self._device)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, TensorOptions) and self._axes() == other._axes()

    def __hash__(self) -> int:
        return hash(tuple(self._axes().values()))

    def __repr__(self) -> str:
        parts = [
            _axis("dtype", self.dtype().cpp_name, self.has_dtype()),
            _axis("device", str(self.device()), self.has_device()),
            _axis("layout", self.layout().name, self.has_layout()),
            _axis("requires_grad", str(self.requires_grad()).lower(), self.has_requires_grad()),
            _axis("pinned_memory", str(self.pinned_memory()).lower(), self.has_pinned_memory()),
            f"memory_format={'(nullopt)' if self._memory_format is None else self._memory_format.name}",
        ]
        return f"TensorOptions({', '.join(parts)})"


def _axis(name: str, value: str, given: bool) -> str:
    return f"{name}={value}{'' if given else ' (default)'}"


def dtype(dtype: ScalarType) -> TensorOptions:
    """``at::dtype(at::kLong)``."""
    return TensorOptions(dtype)


def layout(layout: Layout) -> TensorOptions:
    """``at::layout(at::kStrided)``."""
    return TensorOptions(layout)


def device(device: Device | str, index: int = -1) -> TensorOptions:
    """``at::device(at::kCPU)``, ``at::device("cuda", 1)``."""
    return TensorOptions().device(device, index)


def requires_grad(requires_grad: bool = True) -> TensorOptions:
    """``at::requires_grad()``."""
    return TensorOptions(requires_grad=requires_grad)


def memory_format(memory_format: MemoryFormat) -> TensorOptions:
    """``at::memory_format(at::MemoryFormat::ChannelsLast)``."""
    return TensorOptions(memory_format)


def backend_supports_empty_operator(options: TensorOptions) -> bool:
    """Quantised tensors are not made with ``at::empty``."""
    return not isQIntType(options.dtype())


__all__ = [
    "TensorOptions",
    "backend_supports_empty_operator",
    "computeDispatchKey",
    "device",
    "dispatchKeyToDeviceType",
    "dispatchKeyToLayout",
    "dispatchKeyToTensorOptions",
    "dtype",
    "kCPU",
    "layout",
    "memory_format",
    "pinned_memory_or_default",
    "requires_grad",
]
