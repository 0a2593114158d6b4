"""c10/core/DispatchKey.h, DispatchKey.cpp: the dispatch keys, and the backends a per-backend key is made for.

Differs: the names kept for backward compatibility (CPUTensorId, DefaultBackend, …) and the trimmed mobile table.
"""

from __future__ import annotations

from enum import IntEnum

__all__ = [
    "BackendComponent",
    "DispatchKey",
    "dispatch_key",
    "full_backend_mask",
    "isAliasDispatchKey",
    "isPerBackendFunctionalityKey",
    "kAutograd",
    "numPerBackendFunctionalityKeys",
    "num_backends",
    "num_functionality_keys",
    "num_runtime_entries",
    "parseDispatchKey",
    "toBackendComponent",
    "toFunctionalityKey",
    "toRuntimePerBackendFunctionalityKey",
    "toString",
]


class BackendComponent(IntEnum):
    """A backend bit of a key set; several functionalities have one kernel slot for each of these."""

    InvalidBit = 0
    CPUBit = 1
    CUDABit = 2
    HIPBit = 3
    XLABit = 4
    MPSBit = 5
    IPUBit = 6
    XPUBit = 7
    HPUBit = 8
    VEBit = 9
    LazyBit = 10
    MTIABit = 11
    MAIABit = 12
    PrivateUse1Bit = 13
    PrivateUse2Bit = 14
    PrivateUse3Bit = 15
    MetaBit = 16
    EndOfBackendKeys = 16

    def __str__(self) -> str:
        return self.name

    def __format__(self, spec: str) -> str:
        return format(self.name, spec)


class DispatchKey(IntEnum):
    """One level at which a call can be handled; a higher functionality is handled first."""

    Undefined = 0
    Dense = 1
    FPGA = 2
    Vulkan = 3
    Metal = 4
    Quantized = 5
    CustomRNGKeyId = 6
    MkldnnCPU = 7
    Sparse = 8
    SparseCsr = 9
    NestedTensor = 10
    BackendSelect = 11
    Fake = 12
    Python = 13
    FuncTorchDynamicLayerBackMode = 14
    Functionalize = 15
    Conjugate = 16
    Negative = 17
    ZeroTensor = 18
    ADInplaceOrView = 19
    AutogradOther = 20
    AutogradFunctionality = 21
    AutogradNestedTensor = 22
    Tracer = 23
    AutocastCPU = 24
    AutocastMTIA = 25
    AutocastMAIA = 26
    AutocastXPU = 27
    AutocastIPU = 28
    AutocastHPU = 29
    AutocastXLA = 30
    AutocastMPS = 31
    AutocastCUDA = 32
    AutocastPrivateUse1 = 33
    FuncTorchBatched = 34
    BatchedNestedTensor = 35
    FuncTorchVmapMode = 36
    Batched = 37
    VmapMode = 38
    FuncTorchGradWrapper = 39
    DeferredInit = 40
    PythonTLSSnapshot = 41
    FuncTorchDynamicLayerFrontMode = 42
    TESTING_ONLY_GenericWrapper = 43
    TESTING_ONLY_GenericMode = 44
    PreDispatch = 45
    PythonDispatcher = 46
    EndOfFunctionalityKeys = 47
    StartOfDenseBackends = 48
    CPU = 49
    CUDA = 50
    HIP = 51
    XLA = 52
    MPS = 53
    IPU = 54
    XPU = 55
    HPU = 56
    VE = 57
    Lazy = 58
    MTIA = 59
    MAIA = 60
    PrivateUse1 = 61
    PrivateUse2 = 62
    PrivateUse3 = 63
    Meta = 64
    EndOfDenseBackends = 64
    StartOfQuantizedBackends = 65
    QuantizedCPU = 66
    QuantizedCUDA = 67
    QuantizedHIP = 68
    QuantizedXLA = 69
    QuantizedMPS = 70
    QuantizedIPU = 71
    QuantizedXPU = 72
    QuantizedHPU = 73
    QuantizedVE = 74
    QuantizedLazy = 75
    QuantizedMTIA = 76
    QuantizedMAIA = 77
    QuantizedPrivateUse1 = 78
    QuantizedPrivateUse2 = 79
    QuantizedPrivateUse3 = 80
    QuantizedMeta = 81
    EndOfQuantizedBackends = 81
    StartOfSparseBackends = 82
    SparseCPU = 83
    SparseCUDA = 84
    SparseHIP = 85
    SparseXLA = 86
    SparseMPS = 87
    SparseIPU = 88
    SparseXPU = 89
    SparseHPU = 90
    SparseVE = 91
    SparseLazy = 92
    SparseMTIA = 93
    SparseMAIA = 94
    SparsePrivateUse1 = 95
    SparsePrivateUse2 = 96
    SparsePrivateUse3 = 97
    SparseMeta = 98
    EndOfSparseBackends = 98
    StartOfSparseCsrBackends = 99
    SparseCsrCPU = 100
    SparseCsrCUDA = 101
    SparseCsrHIP = 102
    SparseCsrXLA = 103
    SparseCsrMPS = 104
    SparseCsrIPU = 105
    SparseCsrXPU = 106
    SparseCsrHPU = 107
    SparseCsrVE = 108
    SparseCsrLazy = 109
    SparseCsrMTIA = 110
    SparseCsrMAIA = 111
    SparseCsrPrivateUse1 = 112
    SparseCsrPrivateUse2 = 113
    SparseCsrPrivateUse3 = 114
    SparseCsrMeta = 115
    EndOfSparseCsrBackends = 115
    StartOfNestedTensorBackends = 116
    NestedTensorCPU = 117
    NestedTensorCUDA = 118
    NestedTensorHIP = 119
    NestedTensorXLA = 120
    NestedTensorMPS = 121
    NestedTensorIPU = 122
    NestedTensorXPU = 123
    NestedTensorHPU = 124
    NestedTensorVE = 125
    NestedTensorLazy = 126
    NestedTensorMTIA = 127
    NestedTensorMAIA = 128
    NestedTensorPrivateUse1 = 129
    NestedTensorPrivateUse2 = 130
    NestedTensorPrivateUse3 = 131
    NestedTensorMeta = 132
    EndOfNestedTensorBackends = 132
    StartOfAutogradFunctionalityBackends = 133
    AutogradCPU = 134
    AutogradCUDA = 135
    AutogradHIP = 136
    AutogradXLA = 137
    AutogradMPS = 138
    AutogradIPU = 139
    AutogradXPU = 140
    AutogradHPU = 141
    AutogradVE = 142
    AutogradLazy = 143
    AutogradMTIA = 144
    AutogradMAIA = 145
    AutogradPrivateUse1 = 146
    AutogradPrivateUse2 = 147
    AutogradPrivateUse3 = 148
    AutogradMeta = 149
    EndOfAutogradFunctionalityBackends = 149
    EndOfRuntimeBackendKeys = 149
    Autograd = 150
    CompositeImplicitAutograd = 151
    FuncTorchBatchedDecomposition = 152
    CompositeImplicitAutogradNestedTensor = 153
    CompositeExplicitAutograd = 154
    CompositeExplicitAutogradNonFunctional = 155
    StartOfAliasKeys = 150
    EndOfAliasKeys = 155

    def __str__(self) -> str:
        return toString(self)

    def __format__(self, spec: str) -> str:
        return format(toString(self), spec)


num_functionality_keys = int(DispatchKey.EndOfFunctionalityKeys)  # Undefined is counted
num_backends = int(BackendComponent.EndOfBackendKeys)
full_backend_mask = (1 << num_backends) - 1
kAutograd = DispatchKey.Autograd

# The per-backend functionalities in the order of their blocks of runtime keys, with the prefix of those keys' names.
_PER_BACKEND = {
    DispatchKey.Dense: (DispatchKey.StartOfDenseBackends, ""),
    DispatchKey.Quantized: (DispatchKey.StartOfQuantizedBackends, "Quantized"),
    DispatchKey.Sparse: (DispatchKey.StartOfSparseBackends, "Sparse"),
    DispatchKey.SparseCsr: (DispatchKey.StartOfSparseCsrBackends, "SparseCsr"),
    DispatchKey.NestedTensor: (DispatchKey.StartOfNestedTensorBackends, "NestedTensor"),
    DispatchKey.AutogradFunctionality: (DispatchKey.StartOfAutogradFunctionalityBackends, "Autograd"),
}
_BLOCK = num_backends + 1  # StartOf… and one key a backend
_BACKENDS = tuple(BackendComponent(i) for i in range(num_backends + 1))
_KEYS = tuple(DispatchKey(i) for i in range(DispatchKey.EndOfAliasKeys + 1))
_FUNCTIONALITIES = tuple(_PER_BACKEND)


def dispatch_key(value: int) -> DispatchKey:
    """The key with this number; a table look-up, several times cheaper than ``DispatchKey(value)``."""
    return _KEYS[value]


def numPerBackendFunctionalityKeys() -> int:
    return len(_PER_BACKEND)


num_runtime_entries = num_functionality_keys + numPerBackendFunctionalityKeys() * (num_backends - 1)


def isAliasDispatchKey(k: DispatchKey) -> bool:
    """Whether ``k`` stands for several runtime keys at registration and never wins a call."""
    return DispatchKey.StartOfAliasKeys <= k <= DispatchKey.EndOfAliasKeys


def isPerBackendFunctionalityKey(k: DispatchKey) -> bool:
    """Whether ``k`` has one runtime key, and one slot in an operator's table, for each backend."""
    return k in _PER_BACKEND


def toFunctionalityKey(k: DispatchKey) -> DispatchKey:
    """AutogradCPU -> AutogradFunctionality, CPU -> Dense; a functionality is its own, an alias gives Undefined."""
    if k <= DispatchKey.EndOfFunctionalityKeys:
        return k
    if k <= DispatchKey.EndOfRuntimeBackendKeys:
        return _FUNCTIONALITIES[(k - DispatchKey.StartOfDenseBackends) // _BLOCK]
    return DispatchKey.Undefined


# DeviceType names that are not the lower-cased name of their backend.
_DEVICE_NAMES = {"privateuseone": BackendComponent.PrivateUse1Bit}
_DEVICE_NAMES.update({b.name.removesuffix("Bit").lower(): b for b in _BACKENDS[1:] if "Private" not in b.name})


def toBackendComponent(k: DispatchKey | str) -> BackendComponent:
    """The backend of a runtime key (SparseCUDA -> CUDABit) or of a device type ("cpu" -> CPUBit), else InvalidBit."""
    if isinstance(k, str):
        return _DEVICE_NAMES.get(k, BackendComponent.InvalidBit)
    if DispatchKey.StartOfDenseBackends <= k <= DispatchKey.EndOfRuntimeBackendKeys:
        return _BACKENDS[(k - DispatchKey.StartOfDenseBackends) % _BLOCK]
    return BackendComponent.InvalidBit


def toRuntimePerBackendFunctionalityKey(functionality_k: DispatchKey, backend_k: BackendComponent) -> DispatchKey:
    """(Sparse, CUDABit) -> SparseCUDA; Undefined where the functionality is not per backend."""
    block = _PER_BACKEND.get(functionality_k)
    return DispatchKey.Undefined if block is None else _KEYS[block[0] + backend_k]


def _name(k: DispatchKey) -> str:
    if k == DispatchKey.EndOfFunctionalityKeys:
        return "UnknownUnknown"
    if DispatchKey.StartOfDenseBackends <= k <= DispatchKey.EndOfRuntimeBackendKeys:
        prefix = _PER_BACKEND[toFunctionalityKey(k)][1]
        backend = toBackendComponent(k)
        return prefix + ("Undefined" if backend == BackendComponent.InvalidBit else backend.name.removesuffix("Bit"))
    return k.name


_NAMES = tuple(_name(k) for k in _KEYS)


def toString(k: DispatchKey | BackendComponent) -> str:
    """The name c10 prints."""
    return k.name if isinstance(k, BackendComponent) else _NAMES[k]


# Backends whose runtime keys c10's parser knows by name, by functionality; every other runtime key can be
# registered to only through an alias or in C++.
_PARSED_BACKENDS = {
    DispatchKey.Quantized: "CPU CUDA XPU PrivateUse1",
    DispatchKey.Sparse: "CPU CUDA HIP MPS XPU VE PrivateUse1 Meta",
    DispatchKey.SparseCsr: "CPU CUDA HIP MPS XPU VE PrivateUse1 Meta",
    DispatchKey.NestedTensor: "CPU CUDA XPU HPU PrivateUse1 Meta",
    DispatchKey.AutogradFunctionality: "CPU CUDA XLA MPS IPU XPU HPU Lazy PrivateUse1 PrivateUse2 PrivateUse3 Meta",
}


def _parsed_names() -> dict[str, DispatchKey]:
    known: dict[str, DispatchKey] = {}
    for k in _KEYS:
        functionality, backend = toFunctionalityKey(k), toBackendComponent(k)
        if k == DispatchKey.EndOfFunctionalityKeys:
            continue
        if DispatchKey.StartOfDenseBackends <= k <= DispatchKey.EndOfRuntimeBackendKeys:
            names = _PARSED_BACKENDS.get(functionality)
            if backend == BackendComponent.InvalidBit:
                continue
            if names is not None and backend.name.removesuffix("Bit") not in names.split():
                continue
        known[toString(k)] = k
    return known


_PARSED = _parsed_names()


def parseDispatchKey(k: str) -> DispatchKey:
    """The key with this name. As in c10 some rare runtime keys (AutogradHIP, SparseXLA, …) are not known by name."""
    try:
        return _PARSED[k]
    except KeyError:
        from engine.c10.exception import TORCH_CHECK

        TORCH_CHECK(False, "could not parse dispatch key: ", k)
        raise
