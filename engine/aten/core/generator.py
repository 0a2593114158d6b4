"""aten/src/ATen/CPUGeneratorImpl.cpp, ATen/core/MT19937RNGEngine.h and torch/csrc/Generator.cpp: random numbers.

The stream is the Mersenne twister's, seeded as at::mt19937 is. numpy's bit generator has the same twister, so that
many draws at once cost what numpy's do.

Differs: only the CPU has a generator. A state whose ``left`` and ``next`` contradict each other is refused.
"""

from __future__ import annotations

import secrets
import struct
import threading
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from engine.c10 import exception
from engine.c10.device import Device, DeviceTypeName, kCPU
from engine.c10.dispatch_key import DispatchKey
from engine.c10.dispatch_key_set import key_bits
from engine.c10.scalar_type import Byte

__all__ = [
    "CPUGeneratorImpl",
    "Generator",
    "check_generator",
    "createCPUGenerator",
    "default_cpu_generator",
    "default_rng_seed_val",
    "getNonDeterministicRandom",
    "get_generator_or_default",
    "mt19937",
]

default_rng_seed_val: Final = 67280421310721
MERSENNE_STATE_N: Final = 624
_HEADER: Final = struct.Struct("<QiiQ")  # the_initial_seed, left, seeded, next
_FOOTER: Final = struct.Struct("<dddi4xf?3x")  # normal_x, _y, _rho, _is_valid; the float sample and whether it is there
_STATE_SIZE: Final = _HEADER.size + 8 * MERSENNE_STATE_N + _FOOTER.size


class mt19937:
    """The Mersenne twister: 32 bits a draw."""

    __slots__ = ("_bits", "_fresh", "_seed")

    def __init__(self, seed: int = 5489) -> None:
        self._seed = seed
        self._bits = np.random.MT19937(0)
        np.random.RandomState(self._bits).seed(seed & 0xFFFFFFFF)  # numpy's old seeding is at::mt19937's
        self._fresh = True  # nothing drawn yet: at::mt19937 says next 0 where numpy says 624

    def _set(self, key: npt.NDArray[np.uint32], pos: int) -> None:
        self._bits.state = {"bit_generator": "MT19937", "state": {"key": key, "pos": pos}}

    def seed(self) -> int:
        return self._seed

    def __call__(self) -> int:
        self._fresh = False
        return int(self._bits.random_raw())

    def draw(self, n: int) -> npt.NDArray[np.uint64]:
        """The next ``n`` draws, each in the lower half of a uint64."""
        if n == 0:
            return np.empty(0, dtype=np.uint64)
        self._fresh = False
        return self._bits.random_raw(n)  # type: ignore[return-value]

    def data(self) -> tuple[int, int, int, npt.NDArray[np.uint32]]:
        """seed, left, next and the 624 words of the state."""
        state: Any = self._bits.state["state"]
        next_ = 0 if self._fresh else state["pos"]
        return self._seed, 1 if self._fresh else MERSENNE_STATE_N + 1 - next_, next_, state["key"]

    def set_data(self, seed: int, left: int, next_: int, key: npt.NDArray[np.uint32]) -> None:
        self._fresh = next_ == 0
        self._seed = seed
        exception.TORCH_CHECK(left == (1 if self._fresh else MERSENNE_STATE_N + 1 - next_), "Invalid mt19937 state")
        self._set(key, MERSENNE_STATE_N if self._fresh else next_)


def getNonDeterministicRandom() -> int:
    """A seed from the operating system, 53 bits."""
    return secrets.randbits(53)


class CPUGeneratorImpl:
    """The state of a CPU generator: the engine, and the second halves of the last Box-Muller pairs."""

    __slots__ = ("_engine", "_next_double_normal_sample", "_next_float_normal_sample", "mutex_")

    def __init__(self, seed_in: int = default_rng_seed_val) -> None:
        self.mutex_ = threading.RLock()  # held by kernels while they draw
        self.set_current_seed(seed_in)

    def set_current_seed(self, seed: int) -> None:
        self._engine = mt19937(seed)
        self._next_float_normal_sample: float | None = None
        self._next_double_normal_sample: float | None = None

    def key_set(self) -> int:
        """The raw key set that a call gets from its generator argument."""
        return key_bits(DispatchKey.CPU)

    def current_seed(self) -> int:
        return self._engine.seed()

    def seed(self) -> int:
        """Seed from the operating system; returns the seed."""
        self.set_current_seed(getNonDeterministicRandom())
        return self.current_seed()

    def random(self) -> int:
        """32 random bits."""
        return self._engine()

    def random64(self) -> int:
        """64 random bits: the first draw is the upper half."""
        high = self._engine()
        return high << 32 | self._engine()

    def randoms(self, n: int) -> npt.NDArray[np.uint64]:
        """``n`` times ``random()``."""
        return self._engine.draw(n)

    def randoms64(self, n: int) -> npt.NDArray[np.uint64]:
        """``n`` times ``random64()``."""
        pairs = self._engine.draw(2 * n)
        return pairs[0::2] << np.uint64(32) | pairs[1::2]

    def next_float_normal_sample(self) -> float | None:
        return self._next_float_normal_sample

    def set_next_float_normal_sample(self, randn: float | None) -> None:
        self._next_float_normal_sample = randn

    def next_double_normal_sample(self) -> float | None:
        return self._next_double_normal_sample

    def set_next_double_normal_sample(self, randn: float | None) -> None:
        self._next_double_normal_sample = randn

    def engine(self) -> mt19937:
        return self._engine

    def set_offset(self, offset: int) -> None:
        exception.TORCH_CHECK(False, "CPU Generator does not use offset")

    def get_offset(self) -> int:
        raise exception.Error("CPU Generator does not use offset")

    def get_state(self) -> npt.NDArray[np.uint8]:
        """The 5056 bytes of PyTorch's CPUGeneratorImplState."""
        seed, left, next_, key = self._engine.data()
        double, single = self._next_double_normal_sample, self._next_float_normal_sample
        state = b"".join((
            _HEADER.pack(seed, left, 1, next_),
            key.astype("<u8").tobytes(),
            _FOOTER.pack(0.0, double or 0.0, 0.0, double is not None, single or 0.0, single is not None),
        ))  # fmt: skip
        return np.frombuffer(state, dtype=np.uint8).copy()

    def set_state(self, new_state: npt.NDArray[np.uint8]) -> None:
        size = new_state.size
        exception.TORCH_CHECK(
            size == _STATE_SIZE,
            f"Expected a CPUGeneratorImplState of size {_STATE_SIZE} but found the input RNG state size to be {size}",
        )
        state = new_state.tobytes()
        seed, left, seeded, next_ = _HEADER.unpack_from(state)
        valid = seeded and 0 < left <= MERSENNE_STATE_N and next_ <= MERSENNE_STATE_N
        exception.TORCH_CHECK(valid, "Invalid mt19937 state")
        key = np.frombuffer(state, "<u8", MERSENNE_STATE_N, _HEADER.size).astype(np.uint32)
        _, double, _, has_double, single, has_single = _FOOTER.unpack_from(state, _STATE_SIZE - _FOOTER.size)
        self._engine.set_data(seed, left, next_, key)
        self._next_double_normal_sample = double if has_double else None
        self._next_float_normal_sample = single if has_single else None

    def clone(self) -> CPUGeneratorImpl:
        """A generator that will draw the same numbers."""
        other = CPUGeneratorImpl(self.current_seed())
        other.set_state(self.get_state())
        return other


_CUDA_HELP: Final = (
    "PyTorch splits its backend into two shared libraries: a CPU library and a CUDA library; this error has occurred "
    "because you are trying to use some CUDA functionality, but the CUDA library has not been loaded by the dynamic "
    "linker for some reason.  The CUDA library MUST be loaded, EVEN IF you don't directly use any symbols from the "
    "CUDA library! One common culprit is a lack of -Wl,--no-as-needed in your link arguments; many dynamic linkers "
    "will delete dynamic library dependencies if you don't depend on any of their symbols.  You can check if this has "
    "occurred by using ldd on your binary to see if there is a dependency on *_cuda.so library."
)
_NO_GENERATOR: Final = {
    "cuda": f"Cannot get CUDA generator without ATen_cuda library. {_CUDA_HELP}",
    "xpu": "Cannot get XPU generator without ATen_xpu library.",
    "hip": "Backend doesn`t support getNewGenerator()",
    "hpu": "Backend doesn`t support getNewGenerator()",
    "mps": "Cannot execute getNewGenerator() without MPS backend.",
    "mtia": "Cannot execute getNewGenerator() without MTIA backend.",
    "xla": "Cannot get XLA generator without torch_xla library. This error has occurred because you are trying to use "
    "some XLA functionality, but the XLA library has not been loaded by the dynamic linker. You must load xla "
    "libraries by `import torch_xla`",
    "privateuseone": "Please register PrivateUse1HooksInterface by `RegisterPrivateUse1HooksInterface` first.",
}


def _new_impl(device: Device) -> CPUGeneratorImpl:
    if device.type != "cpu":
        message = f"{DeviceTypeName(device.type)} device type not an accelerator."
        raise RuntimeError(_NO_GENERATOR.get(device.type, message))
    return CPUGeneratorImpl()


class Generator:
    """``at::Generator`` and Python's ``torch.Generator``: a handle to a generator's state."""

    __slots__ = ("_impl",)

    def __init__(self, device: Any = None) -> None:
        self._impl = _new_impl(kCPU if device is None else Device(device))

    @classmethod
    def _wrap(cls, impl: CPUGeneratorImpl) -> Generator:
        self = cls.__new__(cls)
        self._impl = impl
        return self

    def unsafeGetGeneratorImpl(self) -> CPUGeneratorImpl:
        return self._impl

    @property
    def device(self) -> Device:
        return kCPU

    def manual_seed(self, seed: int) -> Generator:
        """Seed the stream; -1 means 2**64 - 1."""
        if isinstance(seed, np.integer):
            raise TypeError("an integer is required")
        if isinstance(seed, bool) or not isinstance(seed, int):
            raise RuntimeError(f"manual_seed expected a long, but got {type(seed).__name__}")
        if not -(2**63) <= seed < 2**64:
            raise ValueError("Overflow when unpacking long long")
        with self._impl.mutex_:
            self._impl.set_current_seed(seed % 2**64)
        return self

    def seed(self) -> int:
        """Seed from the operating system; returns the seed."""
        with self._impl.mutex_:
            return self._impl.seed()

    def initial_seed(self) -> int:
        """The seed the stream began with."""
        return self._impl.current_seed()

    def get_state(self) -> Any:
        """The state, as a ByteTensor that PyTorch's generator would take."""
        from engine.aten.core.tensor import empty_tensor

        t = empty_tensor((_STATE_SIZE,), (1,), Byte, kCPU, key_bits(DispatchKey.CPU))
        with self._impl.mutex_:
            t.array[...] = self._impl.get_state()
        return t

    def set_state(self, new_state: Any) -> Generator:
        """Go back to a state that ``get_state`` gave."""
        from engine.aten.core.tensor import Tensor

        if not isinstance(new_state, Tensor):
            raise TypeError(f"expected a torch.ByteTensor, but got {type(new_state).__name__}")
        dense = new_state._layout.name == "Strided" and new_state._device.type == "cpu"
        if not dense or new_state._dtype.name != "Byte":
            raise TypeError("RNG state must be a torch.ByteTensor")
        with self._impl.mutex_:
            try:
                self._impl.set_state(np.ascontiguousarray(new_state.array))
            except exception.Error as error:
                raise exception.translate(error) from None
        return self

    def clone_state(self) -> Generator:
        """A new generator in the same state."""
        return type(self)._wrap(self._impl.clone())

    def get_offset(self) -> int:
        raise RuntimeError("CPU Generator does not use offset")

    def set_offset(self, offset: int) -> Generator:
        raise RuntimeError("CPU Generator does not use offset")

    def graphsafe_get_state(self) -> Generator:
        raise NotImplementedError("graphsafe_get_state is not supported in this Generator")

    def graphsafe_set_state(self, state: Generator) -> Generator:
        raise NotImplementedError("graphsafe_set_state is not supported in this Generator")

    def __copy__(self) -> Generator:
        return self.clone_state()

    def __deepcopy__(self, memo: dict[int, Any]) -> Generator:
        return self.clone_state()

    def __reduce__(self) -> tuple[Any, ...]:
        return _unpickle, (self._impl.get_state().tobytes(),)


Generator.__module__ = "torch._C"


def _unpickle(state: bytes) -> Generator:
    made = Generator()
    made._impl.set_state(np.frombuffer(state, dtype=np.uint8))
    return made


def createCPUGenerator(seed_val: int = default_rng_seed_val) -> Generator:
    """``at::detail::createCPUGenerator``."""
    return Generator._wrap(CPUGeneratorImpl(seed_val))


# at::detail::getDefaultCPUGenerator(): seeded by the operating system until manual_seed
default_cpu_generator: Final = createCPUGenerator(getNonDeterministicRandom())


def check_generator(gen: Generator | None) -> CPUGeneratorImpl:
    """The state behind ``gen``, which must be there."""
    if gen is None:
        raise exception.Error("Expected Generator but received nullopt")
    return gen._impl


def get_generator_or_default(gen: Generator | None, default: Generator = default_cpu_generator) -> CPUGeneratorImpl:
    """The state behind ``gen``, or that of the default generator."""
    return default._impl if gen is None else gen._impl
