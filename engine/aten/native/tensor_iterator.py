"""aten/src/ATen/TensorIterator.cpp: the common shape, type and order of the operands of an elementwise operation.

Differs: dimensions are not coalesced and loops are numpy's; ``operands[i].tensor.array`` is what a kernel computes on.
"""

from __future__ import annotations

from engine import doors
from engine.aten import at
from engine.aten.core.tensor import Tensor
from engine.aten.native.empty_tensor import empty_cpu, empty_meta, empty_strided_cpu, empty_strided_meta
from engine.aten.native.expand_utils import infer_size, insertion_sort
from engine.aten.native.geometry import empty_tensor_restride, is_contiguous, is_non_overlapping_and_dense
from engine.aten.native.inline import empty_like
from engine.aten.native.memory_overlap import assert_no_internal_overlap, assert_no_partial_overlap
from engine.aten.native.operand_info import OperandInfo, TensorIteratorConfig
from engine.aten.native.resize import resize_output
from engine.aten.native.type_properties import ResultTypeState, result_type_of_state, update_result_type_state
from engine.c10.device import Device
from engine.c10.exception import TORCH_CHECK, TORCH_INTERNAL_ASSERT
from engine.c10.memory_format import ChannelsLast, Contiguous, MemoryFormat
from engine.c10.scalar_type import ScalarType, Undefined, canCast, get_default_dtype, isIntegralType

__all__ = ["OperandInfo", "TensorIterator", "TensorIteratorBase", "TensorIteratorConfig"]

Sizes = tuple[int, ...]


def _byte_strides(shape: Sizes, t: Tensor) -> list[int]:
    """Strides in bytes over ``shape``: 0 where ``t`` is broadcast."""
    lead = len(shape) - len(t._sizes)
    item = t._dtype.itemsize
    strides = [0] * lead
    for i, (size, stride) in enumerate(zip(t._sizes, t._strides, strict=True)):
        strides.append(0 if size == 1 and shape[lead + i] != 1 else stride * item)
    return strides


class TensorIteratorBase:
    """Builds the operands. Subclasses say how outputs come to be (``set_output_raw_strided``)."""

    def __init__(self) -> None:
        self.operands: list[OperandInfo] = []
        self.num_outputs = 0
        self.shape: Sizes = ()
        self.perm: list[int] = []
        self.common_dtype: ScalarType = Undefined
        self.common_device: Device | None = None
        self.is_reduction = False
        self.is_meta = False
        self.all_ops_same_shape = False

    # ---- what a structured kernel sets and gets

    def maybe_get_output(self, output_idx: int) -> Tensor | None:
        return self.operands[output_idx].tensor

    def set_output_raw_strided(
        self,
        output_idx: int,
        sizes: Sizes,
        strides: Sizes,
        dtype: ScalarType,
        device: Device,
        memory_format: MemoryFormat | None = None,
    ) -> None:
        raise NotImplementedError

    def tensor(self, i: int) -> Tensor:
        found = self.operands[i].tensor
        assert found is not None
        return found

    def output(self, i: int = 0) -> Tensor:
        return self.tensor(i)

    def input(self, i: int = 0) -> Tensor:
        return self.tensor(self.num_outputs + i)

    @doors.frame("at::TensorIteratorBase::cast_outputs", params=("self",))
    def cast_outputs(self) -> None:
        """Write temporaries back to the outputs they stand for."""
        for op in self.operands[: self.num_outputs]:
            original, tensor = op.original_tensor, op.tensor
            if original is not None and tensor is not None and original._dtype is not op.current_dtype:
                at.copy_.call(original, tensor, False)
                op.tensor, op.original_tensor = original, None

    # ---- building

    @doors.frame("at::TensorIteratorBase::build_borrowing_unary_op", params=("self", "out", "a"))
    def build_borrowing_unary_op(self, out: Tensor | None, a: Tensor) -> None:
        self.build(TensorIteratorConfig(tensors=[out, a], num_outputs=1))  # all the same dtype

    @doors.frame("at::TensorIteratorBase::build_borrowing_unary_float_op", params=("self", "out", "a"))
    def build_borrowing_unary_float_op(self, out: Tensor | None, a: Tensor) -> None:
        self.build(
            TensorIteratorConfig(
                tensors=[out, a],
                num_outputs=1,
                promote_inputs_to_common_dtype=True,
                cast_common_dtype_to_outputs=True,
                enforce_safe_casting_to_output=True,
                promote_integer_inputs_to_float=True,
                check_all_same_dtype=False,
            )
        )

    @doors.frame("at::TensorIteratorBase::build_borrowing_binary_op", params=("self", "out", "a", "b"))
    def build_borrowing_binary_op(self, out: Tensor | None, a: Tensor, b: Tensor) -> None:
        self.build(
            TensorIteratorConfig(
                tensors=[out, a, b],
                num_outputs=1,
                allow_cpu_scalars=True,
                promote_inputs_to_common_dtype=True,
                cast_common_dtype_to_outputs=True,
                enforce_safe_casting_to_output=True,
                check_all_same_dtype=False,
            )
        )

    @doors.frame("at::TensorIteratorBase::build_borrowing_binary_float_op", params=("self", "out", "a", "b"))
    def build_borrowing_binary_float_op(self, out: Tensor | None, a: Tensor, b: Tensor) -> None:
        self.build(
            TensorIteratorConfig(
                tensors=[out, a, b],
                num_outputs=1,
                allow_cpu_scalars=True,
                promote_inputs_to_common_dtype=True,
                cast_common_dtype_to_outputs=True,
                enforce_safe_casting_to_output=True,
                promote_integer_inputs_to_float=True,
                check_all_same_dtype=False,
            )
        )

    @doors.frame("at::TensorIteratorBase::build", params=("self", "config"))
    def build(self, config: TensorIteratorConfig) -> None:
        self.is_reduction = config.is_reduction
        self._populate_operands(config)
        if config.check_mem_overlap:
            self._compute_mem_overlaps()
        self._compute_shape(config)
        self._mark_resize_outputs(config)
        self.compute_types(config)
        if not self.fast_set_up():
            self._compute_strides()
            self._reorder_dimensions()
            self._allocate_or_resize_outputs()

    def _populate_operands(self, config: TensorIteratorConfig) -> None:
        self.num_outputs = config.num_outputs
        outputs = config.num_outputs
        for tensor in config.tensors:
            if tensor is not None and tensor._storage.buffer is None:
                self.is_meta = True
            self.operands.append(OperandInfo(tensor, len(self.operands) < outputs))
        for op in self.operands[:outputs]:
            if op.tensor is not None:
                op.is_read_write = any(op.tensor is arg.tensor for arg in self.operands[outputs:])

    def _compute_mem_overlaps(self) -> None:
        for op in self.operands[: self.num_outputs]:
            output = op.tensor
            if output is None:
                continue
            assert_no_internal_overlap(output)
            for arg in self.operands[self.num_outputs :]:
                if arg.tensor is not None and arg.tensor is not output:
                    assert_no_partial_overlap(output, arg.tensor)

    def _compute_shape(self, config: TensorIteratorConfig) -> None:
        if config.static_shape is not None:
            self.shape = config.static_shape
            return
        same = True
        has_scalars = has_tensors = False
        shape: Sizes = ()
        for op in self.operands:
            t = op.tensor
            # outputs that may be resized have no say, unless they are inputs as well
            if t is None or (config.resize_outputs and op.is_output):
                continue
            sizes = t._sizes
            if sizes:
                has_tensors = True
            else:
                has_scalars = True
            if has_scalars and has_tensors:
                same = False
            if not shape:
                shape = sizes
            elif sizes != shape:
                same = False
                shape = infer_size(shape, sizes)
        self.shape = shape
        self.all_ops_same_shape = same

    def _mark_resize_outputs(self, config: TensorIteratorConfig) -> None:
        for op in self.operands[: self.num_outputs]:
            t = op.tensor
            if t is not None and t._sizes != self.shape:
                if config.resize_outputs and not op.is_read_write:
                    op.will_resize = True
                    continue
                # the output of a reduction is smaller by nature
                TORCH_CHECK(
                    self.is_reduction,
                    "output with shape ",
                    t._sizes,
                    " doesn't match the broadcast shape ",
                    self.shape,
                )

    def _compute_common_dtype(self) -> ScalarType:
        state = ResultTypeState()
        for op in self.operands[self.num_outputs :]:
            state = update_result_type_state(op.tensor, state)
        dtype = result_type_of_state(state)
        TORCH_INTERNAL_ASSERT(dtype is not Undefined, "common_dtype_ != ScalarType::Undefined")
        return dtype

    @doors.frame("at::TensorIteratorBase::compute_types", params=("self", "config"))
    def compute_types(self, config: TensorIteratorConfig) -> None:
        """The common type of the inputs; inputs and outputs of another type get temporaries of that type."""
        common_device: Device | None = None
        common = output_dtype = Undefined
        different_inputs = different_outputs = undefined_outputs = False
        for op in self.operands:
            t = op.tensor
            if t is None:
                undefined_outputs = True
                continue
            if t._device.type != "cpu" and common_device is None:
                common_device = t._device
            if not op.is_output:
                if op.target_dtype is not common:
                    if common is Undefined:
                        common = op.target_dtype
                    else:
                        different_inputs = True
            elif op.target_dtype is not output_dtype:
                if output_dtype is Undefined:
                    output_dtype = op.target_dtype
                else:
                    different_outputs = True
        if common_device is None:
            common_device = _CPU
        if config.check_all_same_dtype and (
            different_inputs or different_outputs or (common is not output_dtype and output_dtype is not Undefined)
        ):
            for op in self.operands:
                if op.tensor is not None:
                    TORCH_CHECK(
                        op.target_dtype is common, "Found dtype ", op.target_dtype.name, " but expected ", common.name
                    )
        if not (
            undefined_outputs
            or config.check_all_same_device
            or config.promote_inputs_to_common_dtype
            or config.cast_common_dtype_to_outputs
            or config.enforce_safe_casting_to_output
        ):
            self.common_dtype = Undefined if different_inputs else common
            return
        if different_inputs and config.promote_inputs_to_common_dtype:
            common = self._compute_common_dtype()
        if config.promote_integer_inputs_to_float and isIntegralType(common, includeBool=True):
            common = get_default_dtype()
        self.common_dtype, self.common_device = common, common_device
        self._review_operands(config, common, common_device)

    def _review_operands(self, config: TensorIteratorConfig, common: ScalarType, common_device: Device) -> None:
        is_cpu = common_device.type == "cpu"
        cpu_scalars = 0
        for op in self.operands:
            t = op.tensor
            if t is None:
                op.target_dtype, op.device = common, common_device
                continue
            if config.check_all_same_device:
                if (
                    not is_cpu
                    and config.allow_cpu_scalars
                    and not op.is_output
                    and not t._sizes
                    and t._device.type == "cpu"
                ):
                    TORCH_CHECK(cpu_scalars < 1, "Trying to pass too many CPU scalars to non-CPU kernel!")
                    cpu_scalars += 1
                elif op.device != common_device:
                    TORCH_CHECK(
                        False,
                        "Expected all tensors to be on the same device, but found at least two devices, ",
                        common_device.str(),
                        " and ",
                        t._device.str(),
                        "!",
                    )
            if op.current_dtype is common:
                continue
            if config.enforce_safe_casting_to_output and op.is_output and not canCast(common, op.current_dtype):
                TORCH_CHECK(
                    False,
                    f"result type {common.name} can't be cast to the desired output type {op.current_dtype.name}",
                )
            if not is_cpu:
                continue
            if op.is_output:
                if config.cast_common_dtype_to_outputs:
                    op.original_tensor = t
                    op.tensor = empty_like(t, common, t._layout, t._device, False, Contiguous)
                    op.current_dtype = op.target_dtype = common
            elif config.promote_inputs_to_common_dtype:
                op.original_tensor = t
                op.tensor = at.to_dtype.call(t, common, False, False, None)
                op.current_dtype = op.target_dtype = common

    # ---- outputs

    @doors.frame("at::TensorIteratorBase::fast_set_up", params=("self",))
    def fast_set_up(self) -> bool:
        """Outputs of operands that all have one shape and one dense order; False when they do not."""
        if self.is_reduction or not self.all_ops_same_shape:
            return False
        defined = [op.tensor for op in self.operands if op.tensor is not None and not op.will_resize]
        contiguous = True
        for t in defined:
            if not t.is_contiguous_():
                contiguous = False
                break
        if contiguous:
            strides: Sizes = ()
            memory_format: MemoryFormat | None = Contiguous
        elif all(is_contiguous(t, ChannelsLast) for t in defined):
            strides, memory_format = (), ChannelsLast
        elif all(is_non_overlapping_and_dense(t) for t in defined):
            strides, memory_format = defined[-1]._strides, None
            if any(t._strides != strides for t in defined):
                return False
        else:
            return False
        for i, op in enumerate(self.operands[: self.num_outputs]):
            assert op.device is not None
            self.set_output_raw_strided(i, self.shape, strides, self._original_dtype(op), op.device, memory_format)
        return True

    def _original_dtype(self, op: OperandInfo) -> ScalarType:
        """original_options: the type of the output as the caller knows it."""
        return op.original_tensor._dtype if op.original_tensor is not None else op.target_dtype

    def _compute_strides(self) -> None:
        for op in self.operands:
            if op.tensor is not None and not op.will_resize:
                op.stride_bytes = _byte_strides(self.shape, op.tensor)

    def _reorder_dimensions(self) -> None:
        """Order dimensions from the fastest moving to the slowest; ``perm`` says which."""
        shape = self.shape
        ndim = len(shape)
        self.perm = list(range(ndim - 1, -1, -1))
        if ndim <= 1:
            return

        def should_swap(dim0: int, dim1: int) -> int:
            for op in self.operands:
                strides = op.stride_bytes
                if strides is None or op.will_resize:
                    continue
                stride0, stride1 = strides[dim0], strides[dim1]
                if self.is_reduction and op.is_output and (stride0 == 0) != (stride1 == 0):
                    # reduced dimensions go to the front
                    return 1 if stride1 == 0 else -1
                if stride0 == 0 or stride1 == 0:
                    continue
                if stride0 != stride1:
                    return -1 if stride0 < stride1 else 1
                if shape[dim0] > shape[dim1]:
                    return 1
            return 0

        insertion_sort(self.perm, should_swap)

    def _allocate_or_resize_outputs(self) -> None:
        shape, perm, ndim = self.shape, self.perm, len(self.shape)
        for i, op in enumerate(self.operands[: self.num_outputs]):
            assert op.device is not None
            dtype = self._original_dtype(op)
            if op.tensor is None or op.will_resize:
                strides: Sizes = ()
                if perm != list(range(ndim - 1, -1, -1)):
                    fresh = [0] * ndim
                    step = 1
                    for dim in perm:
                        fresh[dim] = step
                        step *= shape[dim]
                    strides = tuple(fresh)
                self.set_output_raw_strided(i, shape, strides, dtype, op.device)
                op.current_dtype = op.target_dtype
            else:
                # nothing to allocate, but the output is announced
                self.set_output_raw_strided(i, op.tensor._sizes, (), dtype, op.device)


_CPU = Device("cpu")


class TensorIterator(TensorIteratorBase):
    """The iterator of kernels that are not structured: allocates through the dispatcher, resizes what is given."""

    def __init__(self, config: TensorIteratorConfig | None = None) -> None:
        super().__init__()
        if config is not None:
            self.build(config)

    def set_output_raw_strided(
        self,
        output_idx: int,
        sizes: Sizes,
        strides: Sizes,
        dtype: ScalarType,
        device: Device,
        memory_format: MemoryFormat | None = None,
    ) -> None:
        op = self.operands[output_idx]
        if op.tensor is None:
            if strides:
                op.tensor = at.empty_strided.call(sizes, strides, dtype, None, device, None)
            else:
                op.tensor = at.empty_memory_format.call(sizes, dtype, None, device, None, memory_format)
            op.current_dtype = op.target_dtype
        elif op.will_resize:
            for t in (op.original_tensor, op.tensor):
                if t is not None:
                    resize_and_restride(t, sizes, strides, memory_format)


def resize_and_restride(t: Tensor, sizes: Sizes, strides: Sizes, memory_format: MemoryFormat | None) -> None:
    """Resize an output that was given, with a warning if it had elements, and give it the strides asked for."""
    if not resize_output(t, sizes):
        return
    if strides:
        at.as_strided_.call(t, sizes, strides, None)
    elif memory_format is not None:
        empty_tensor_restride(t, memory_format)


def create_out(
    sizes: Sizes, strides: Sizes, dtype: ScalarType, device: Device, memory_format: MemoryFormat | None
) -> Tensor:
    """at::(anonymous namespace)::create_out of RegisterCPU and RegisterMeta: allocates without a dispatcher call."""
    if device.type == "meta":
        if strides:
            return empty_strided_meta(sizes, strides, dtype)
        return empty_meta(sizes, dtype, memory_format=memory_format)
    if strides:
        return empty_strided_cpu(sizes, strides, dtype)
    return empty_cpu(sizes, dtype, memory_format=memory_format)
