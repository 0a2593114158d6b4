"""c10/core/DispatchKeySet.h, DispatchKeySet.cpp: sets of dispatch keys, with c10's own 64 bits.

The low 16 bits are backends, the bits above are functionalities: CPU is the pair of bits CPUBit and Dense.
The constants are plain ints, because hot code works on raw bits; ``DispatchKeySet`` is what people see.

Differs: nothing is asserted about sets that mix backend bits of several keys.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from engine.c10.dispatch_key import (
    BackendComponent,
    DispatchKey,
    dispatch_key,
    full_backend_mask,
    isPerBackendFunctionalityKey,
    num_backends,
    num_functionality_keys,
    toBackendComponent,
    toFunctionalityKey,
    toRuntimePerBackendFunctionalityKey,
    toString,
)

__all__ = [
    "DispatchKeySet", "after_ADInplaceOrView_keyset", "after_autograd_keyset", "after_func_keyset",
    "autocast_dispatch_keyset", "autograd_cpu_ks", "autograd_cuda_ks", "autograd_dispatch_keyset",
    "autograd_dispatch_keyset_with_ADInplaceOrView", "autograd_hpu_ks", "autograd_ipu_ks", "autograd_lazy_ks",
    "autograd_maia_ks", "autograd_meta_ks", "autograd_mps_ks", "autograd_mtia_ks", "autograd_nested",
    "autograd_other_ks", "autograd_privateuse1_ks", "autograd_privateuse2_ks", "autograd_privateuse3_ks",
    "autograd_xla_ks", "autograd_xpu_ks", "autogradother_backends", "backend_bitset_mask", "backend_dispatch_keyset",
    "backend_functionality_keys", "default_excluded_set", "default_included_set", "functorch_batched_ks",
    "functorch_transforms_ks", "getAutocastRelatedKeySetFromBackend", "getAutogradKeyFromBackend",
    "getAutogradRelatedKeySetFromBackend", "getBackendKeySetFromAutograd", "getDispatchTableIndexForDispatchKey",
    "getRuntimeDispatchKeySet", "highestPriorityBackendTypeId", "highest_priority_type_id",
    "initializeFunctionalityOffsetsAndMasks", "inplace_or_view_ks", "isBackendDispatchKey", "isIncludedInAlias",
    "key_bits", "legacyExtractDispatchKey", "math_dispatch_keyset", "mkldnn_ks", "nested_dispatch_keyset",
    "non_functional_backend_dispatch_keyset", "python_ks", "runtimeDispatchKeySetHas", "runtime_table_index",
    "sparse_csr_ks", "sparse_ks",
]  # fmt: skip

_FULL = (1 << (num_backends + num_functionality_keys - 1)) - 1


def _bits(k: DispatchKey | BackendComponent) -> int:
    if isinstance(k, BackendComponent):
        return 0 if k == BackendComponent.InvalidBit else 1 << (k - 1)
    functionality = toFunctionalityKey(k)
    if functionality == DispatchKey.Undefined:  # aliases have no bits
        return 0
    return 1 << (num_backends + functionality - 1) | _bits(toBackendComponent(k))


_KEY_BITS = tuple(_bits(dispatch_key(i)) for i in range(DispatchKey.EndOfAliasKeys + 1))


def key_bits(k: DispatchKey) -> int:
    """``DispatchKeySet(k).raw_repr()``."""
    return _KEY_BITS[k]


def _highest_functionality(raw: int) -> DispatchKey:
    return dispatch_key((raw >> num_backends).bit_length())


def _highest_backend(raw: int) -> BackendComponent:
    return BackendComponent((raw & full_backend_mask).bit_length())


_highest: dict[int, DispatchKey] = {}


def highest_priority_type_id(raw: int) -> DispatchKey:
    """The key that handles a call with this set; programs meet few different sets, so answers are kept."""
    key = _highest.get(raw)
    if key is None:
        key = _highest_functionality(raw)
        if isPerBackendFunctionalityKey(key):
            key = toRuntimePerBackendFunctionalityKey(key, _highest_backend(raw))
        _highest[raw] = key
    return key


def initializeFunctionalityOffsetsAndMasks() -> tuple[tuple[int, int], ...]:
    """By functionality: its first slot in an operator's table, and the backend bits that choose among its slots."""
    table = []
    offset = 0
    for functionality in range(num_functionality_keys):
        per_backend = isPerBackendFunctionalityKey(dispatch_key(functionality))
        table.append((offset, full_backend_mask if per_backend else 0))
        offset += num_backends if per_backend else 1
    return tuple(table)


_offsets_and_masks = initializeFunctionalityOffsetsAndMasks()


def runtime_table_index(raw: int) -> int:
    """The slot of an operator's table that a call with this set uses."""
    offset, mask = _offsets_and_masks[(raw >> num_backends).bit_length()]
    return offset + ((raw & mask) >> 1).bit_length()


class DispatchKeySet:
    """An immutable set of dispatch keys; iterates over its runtime keys from the lowest priority to the highest."""

    __slots__ = ("_repr",)

    _repr: int

    def __init__(
        self, *keys: DispatchKey | BackendComponent | DispatchKeySet | Iterable[DispatchKey | BackendComponent]
    ) -> None:
        raw = 0
        for key in keys:
            if isinstance(key, DispatchKeySet):
                raw |= key._repr
            elif isinstance(key, (DispatchKey, BackendComponent)):
                raw |= _bits(key)
            elif isinstance(key, int):
                raise TypeError(f"DispatchKeySet(): expected keys, got the number {key}; use DispatchKeySet.RAW({key})")
            else:
                for k in key:
                    raw |= _bits(k)
        object.__setattr__(self, "_repr", raw)

    @staticmethod
    def RAW(x: int) -> DispatchKeySet:
        """The set with these bits."""
        self = object.__new__(DispatchKeySet)
        object.__setattr__(self, "_repr", x)
        return self

    @staticmethod
    def FULL() -> DispatchKeySet:
        """Every key."""
        return DispatchKeySet.RAW(_FULL)

    @staticmethod
    def FULL_AFTER(t: DispatchKey) -> DispatchKeySet:
        """Every key of a lower priority than ``t``, and PythonDispatcher."""
        return DispatchKeySet.RAW((1 << (num_backends + toFunctionalityKey(t) - 1)) - 1).add(
            DispatchKey.PythonDispatcher
        )

    @staticmethod
    def from_raw_repr(x: int) -> DispatchKeySet:
        return DispatchKeySet.RAW(x)

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"DispatchKeySet is immutable: cannot set {name!r}")

    def __delattr__(self, name: str) -> None:
        raise AttributeError(f"DispatchKeySet is immutable: cannot delete {name!r}")

    def __reduce__(self) -> tuple[object, tuple[int]]:
        return DispatchKeySet.RAW, (self._repr,)

    def raw_repr(self) -> int:
        return self._repr

    def empty(self) -> bool:
        return self._repr == 0

    def __bool__(self) -> bool:
        return self._repr != 0

    def has(self, t: DispatchKey) -> bool:
        bits = _KEY_BITS[t]
        return self._repr & bits == bits

    def has_backend(self, t: BackendComponent) -> bool:
        bits = _bits(t)
        return self._repr & bits == bits

    def has_all(self, ks: DispatchKeySet) -> bool:
        return self._repr & ks._repr == ks._repr

    def has_any(self, ks: DispatchKeySet) -> bool:
        """Whether a bit is shared: meant for functionalities, since CPU and AutogradCPU share CPUBit."""
        return self._repr & ks._repr != 0

    def isSupersetOf(self, ks: DispatchKeySet) -> bool:
        return self._repr & ks._repr == ks._repr

    def __contains__(self, t: object) -> bool:
        """Whether the runtime key ``t`` is one of those iterated over."""
        return isinstance(t, DispatchKey) and any(k is t for k in self)

    def __or__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet.RAW(self._repr | other._repr)

    def __and__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet.RAW(self._repr & other._repr)

    def __sub__(self, other: DispatchKeySet) -> DispatchKeySet:
        """Without the functionalities of ``other``; backend bits stay, as they belong to several keys at once."""
        return DispatchKeySet.RAW(self._repr & (full_backend_mask | ~other._repr))

    def __xor__(self, other: DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet.RAW(self._repr ^ other._repr)

    def __eq__(self, other: object) -> bool:
        return self._repr == other._repr if isinstance(other, DispatchKeySet) else NotImplemented

    def __hash__(self) -> int:
        return hash(self._repr)

    def add(self, t: DispatchKey | DispatchKeySet) -> DispatchKeySet:
        return DispatchKeySet.RAW(self._repr | (t._repr if isinstance(t, DispatchKeySet) else _bits(t)))

    def remove(self, t: DispatchKey) -> DispatchKeySet:
        """Without the functionality of ``t``; its backend bit stays."""
        return DispatchKeySet.RAW(self._repr & ~(_bits(t) & ~full_backend_mask))

    def remove_backend(self, b: BackendComponent) -> DispatchKeySet:
        return DispatchKeySet.RAW(self._repr & ~_bits(b))

    def highestFunctionalityKey(self) -> DispatchKey:
        return _highest_functionality(self._repr)

    def highestBackendKey(self) -> BackendComponent:
        return _highest_backend(self._repr)

    def highestPriorityTypeId(self) -> DispatchKey:
        return highest_priority_type_id(self._repr)

    def indexOfHighestBit(self) -> int:
        return self._repr.bit_length()

    def getDispatchTableIndexForDispatchKeySet(self) -> int:
        return runtime_table_index(self._repr)

    def getBackendIndex(self) -> int:
        return ((self._repr & full_backend_mask) >> 1).bit_length()

    def __iter__(self) -> Iterator[DispatchKey]:
        backends = [b for b in BackendComponent if b and self._repr & _bits(b)]
        for index in range(1, num_functionality_keys):
            if not self._repr >> (num_backends + index - 1) & 1:
                continue
            functionality = dispatch_key(index)
            if isPerBackendFunctionalityKey(functionality):
                for backend in backends:
                    yield toRuntimePerBackendFunctionalityKey(functionality, backend)
            else:
                yield functionality

    def __repr__(self) -> str:
        return f"DispatchKeySet({', '.join(toString(k) for k in self)})"


def getDispatchTableIndexForDispatchKey(k: DispatchKey) -> int:
    return runtime_table_index(_KEY_BITS[k])


def _ks(*keys: DispatchKey) -> int:
    raw = 0
    for k in keys:
        raw |= _KEY_BITS[k]
    return raw


K = DispatchKey  # short, for the tables below

autograd_dispatch_keyset = _ks(K.AutogradFunctionality, K.AutogradOther, K.AutogradNestedTensor)
_AUTOCAST_BACKENDS = ("CPU", "MTIA", "MAIA", "XPU", "IPU", "HPU", "XLA", "MPS", "CUDA", "PrivateUse1")
autocast_dispatch_keyset = _ks(*(DispatchKey["Autocast" + name] for name in _AUTOCAST_BACKENDS))
default_included_set = _ks(K.BackendSelect, K.ADInplaceOrView)
default_excluded_set = autocast_dispatch_keyset
autograd_dispatch_keyset_with_ADInplaceOrView = autograd_dispatch_keyset | _ks(K.ADInplaceOrView)
python_ks = _ks(K.Python, K.PythonTLSSnapshot)
sparse_ks = _ks(K.Sparse)
sparse_csr_ks = _ks(K.SparseCsr)
mkldnn_ks = _ks(K.MkldnnCPU)
backend_bitset_mask = full_backend_mask
autogradother_backends = (
    _ks(K.FPGA, K.Vulkan, K.Metal, K.CustomRNGKeyId, K.MkldnnCPU, K.Sparse, K.SparseCsr, K.Quantized)
    | full_backend_mask
)
after_autograd_keyset = DispatchKeySet.FULL_AFTER(K.AutogradOther).raw_repr()
after_ADInplaceOrView_keyset = DispatchKeySet.FULL_AFTER(K.ADInplaceOrView).raw_repr()
after_func_keyset = DispatchKeySet.FULL_AFTER(K.Functionalize).remove(K.ADInplaceOrView).raw_repr()
inplace_or_view_ks = _ks(K.ADInplaceOrView)
autograd_cpu_ks = _ks(K.AutogradCPU)
autograd_ipu_ks = _ks(K.AutogradIPU)
autograd_mtia_ks = _ks(K.AutogradMTIA)
autograd_maia_ks = _ks(K.AutogradMAIA)
autograd_xpu_ks = _ks(K.AutogradXPU)
autograd_cuda_ks = _ks(K.AutogradCUDA)
autograd_xla_ks = _ks(K.AutogradXLA)
autograd_lazy_ks = _ks(K.AutogradLazy)
autograd_meta_ks = _ks(K.AutogradMeta)
autograd_mps_ks = _ks(K.AutogradMPS)
autograd_hpu_ks = _ks(K.AutogradHPU)
autograd_privateuse1_ks = _ks(K.AutogradPrivateUse1)
autograd_privateuse2_ks = _ks(K.AutogradPrivateUse2)
autograd_privateuse3_ks = _ks(K.AutogradPrivateUse3)
autograd_other_ks = _ks(K.AutogradOther)
autograd_nested = _ks(K.AutogradNestedTensor)
functorch_transforms_ks = _ks(K.FuncTorchBatched, K.FuncTorchVmapMode, K.Batched, K.VmapMode, K.FuncTorchGradWrapper)
functorch_batched_ks = _ks(K.FuncTorchBatched)
backend_functionality_keys = _ks(K.Dense, K.Quantized, K.Sparse, K.SparseCsr) | full_backend_mask

# What the alias keys stand for (DispatchKeySet.cpp). NestedTensor takes composite implicit kernels but not the
# explicit ones; kernels made for structured operators (NonFunctional) are for neither XLA and Lazy, which
# functionalize, nor Sparse.
backend_dispatch_keyset = autogradother_backends | _ks(K.Dense)
nested_dispatch_keyset = _ks(K.AutogradNestedTensor, K.NestedTensor) | full_backend_mask
math_dispatch_keyset = backend_dispatch_keyset | autograd_dispatch_keyset | _ks(K.NestedTensor)
non_functional_backend_dispatch_keyset = (
    DispatchKeySet.RAW(backend_dispatch_keyset)
    .remove(K.Sparse)
    .remove_backend(BackendComponent.XLABit)
    .remove_backend(BackendComponent.LazyBit)
    .raw_repr()
)

_ALIASES = {
    K.Autograd: autograd_dispatch_keyset | full_backend_mask,
    K.CompositeImplicitAutograd: math_dispatch_keyset,
    K.CompositeImplicitAutogradNestedTensor: nested_dispatch_keyset,
    K.FuncTorchBatchedDecomposition: functorch_batched_ks,
    K.CompositeExplicitAutograd: backend_dispatch_keyset,
    K.CompositeExplicitAutogradNonFunctional: non_functional_backend_dispatch_keyset,
}


def isBackendDispatchKey(t: DispatchKey) -> bool:
    bits = _KEY_BITS[t]  # none for Undefined and the aliases
    return bits != 0 and t != K.NestedTensor and backend_dispatch_keyset & bits == bits


def getRuntimeDispatchKeySet(t: DispatchKey) -> DispatchKeySet:
    """The runtime keys an alias stands for; a key that is no alias stands for itself."""
    return DispatchKeySet.RAW(_ALIASES.get(t, _KEY_BITS[t]))


def runtimeDispatchKeySetHas(t: DispatchKey, k: DispatchKey) -> bool:
    """Whether ``k`` is one of the runtime keys of ``t``."""
    if t not in _ALIASES:
        return t == k
    return DispatchKeySet.RAW(_ALIASES[t]).has(k)


def isIncludedInAlias(k: DispatchKey, alias: DispatchKey) -> bool:
    return k != K.Undefined and runtimeDispatchKeySetHas(alias, k)


# HIP and VE have an Autograd key that c10 does not use; MTIA's is used, but not found from it.
_AUTOGRAD_OTHER_BACKENDS = {BackendComponent.InvalidBit, BackendComponent.HIPBit, BackendComponent.VEBit}
_NO_BACKEND_FROM_AUTOGRAD = {*_AUTOGRAD_OTHER_BACKENDS, BackendComponent.MTIABit}


def getBackendKeySetFromAutograd(t: DispatchKey) -> DispatchKeySet:
    """The backends that share the autograd key ``t``; empty for a key that is none."""
    if t == K.AutogradOther:
        return DispatchKeySet.RAW(autogradother_backends)
    if t == K.AutogradNestedTensor:
        return DispatchKeySet(K.NestedTensor) | DispatchKeySet.RAW(full_backend_mask)
    backend = toBackendComponent(t)
    if toFunctionalityKey(t) != K.AutogradFunctionality or backend in _NO_BACKEND_FROM_AUTOGRAD:
        return DispatchKeySet()
    return DispatchKeySet(toRuntimePerBackendFunctionalityKey(K.Dense, backend))


def getAutogradRelatedKeySetFromBackend(t: BackendComponent) -> DispatchKeySet:
    """ADInplaceOrView and the backend's autograd key: what a tensor of that backend carries on top of it."""
    if t in _AUTOGRAD_OTHER_BACKENDS:
        return DispatchKeySet.RAW(inplace_or_view_ks | autograd_other_ks)
    key = toRuntimePerBackendFunctionalityKey(K.AutogradFunctionality, t)
    return DispatchKeySet.RAW(inplace_or_view_ks | _KEY_BITS[key])


def getAutogradKeyFromBackend(k: BackendComponent) -> DispatchKey:
    return getAutogradRelatedKeySetFromBackend(k).highestPriorityTypeId()


_AUTOCAST = {BackendComponent[name + "Bit"]: _KEY_BITS[DispatchKey["Autocast" + name]] for name in _AUTOCAST_BACKENDS}


def getAutocastRelatedKeySetFromBackend(t: BackendComponent) -> DispatchKeySet:
    return DispatchKeySet.RAW(_AUTOCAST.get(t, 0))


def highestPriorityBackendTypeId(ks: DispatchKeySet) -> DispatchKey:
    return highest_priority_type_id(ks.raw_repr() & backend_functionality_keys)


_LEGACY = ~(
    autograd_dispatch_keyset_with_ADInplaceOrView
    | autocast_dispatch_keyset
    | _ks(
        K.Functionalize, K.PythonTLSSnapshot, K.FuncTorchGradWrapper, K.FuncTorchVmapMode, K.FuncTorchBatched, K.Python
    )
)


def legacyExtractDispatchKey(s: DispatchKeySet) -> DispatchKey:
    """The key of the tensor's backend, whatever else it carries."""
    return highest_priority_type_id(s.raw_repr() & _LEGACY)
