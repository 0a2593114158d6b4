"""torch/csrc/autograd/engine.cpp: runs backward.

A call computes how many gradients each node waits for, queues the root, and then this thread pops the ready node that
was created last until the task is done. Backward called inside backward runs on the same queue; deep nesting moves to
another thread.

Differs: there is one device, so no worker threads wait for work; streams, checkpoints and compiled autograd are left
out. MAX_DEPTH is smaller than PyTorch's 60, because Python's own stack is.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

from engine import doors
from engine.c10.exception import TORCH_CHECK, TORCH_WARN_ONCE, Error
from engine.c10.local_dispatch_key_set import tls
from engine.torch.csrc.autograd.anomaly_mode import AnomalyMetadata
from engine.torch.csrc.autograd.basic_ops import GraphRoot
from engine.torch.csrc.autograd.edge import edge_list
from engine.torch.csrc.autograd.function import Node, sequence_number, tls_anomaly
from engine.torch.csrc.autograd.graph_task import (
    CPU_DEVICE,
    NO_DEVICE,
    GraphTask,
    NodeTask,
    ReadyQueue,
    current,
)
from engine.torch.csrc.autograd.input_buffer import InputBuffer
from engine.torch.csrc.autograd.input_metadata import maybe_reduce

__all__ = ["MAX_DEPTH", "Engine", "validate_outputs"]

MAX_DEPTH = 20


class _Worker(threading.local):
    """What an engine keeps per thread."""

    def __init__(self) -> None:
        self.device = NO_DEVICE
        self.local_ready_queue: ReadyQueue | None = None
        # reentrant calls open on this thread, and below the outermost call over all threads
        self.current_depth = 0
        self.total_depth = 0


worker = _Worker()


def validate_outputs(edges: edge_list, grads: list[Any], format_error: Callable[[str], str]) -> None:
    """Make each gradient what the next node expects (shape, dtype, device), or raise."""
    if len(grads) == len(edges):
        for (function, input_nr), grad in zip(edges, grads, strict=True):
            if function is None or grad is None:
                continue
            metadata = function._input_metadata_[input_nr]
            if grad._sizes != metadata.shape or grad._dtype is not metadata.dtype or grad._device != metadata.device:
                break
        else:
            # the common case: all fit; the function that would find nothing to do has no frame
            return
    validate_outputs_impl(edges, grads, format_error)


@doors.frame("torch::autograd::validate_outputs_impl", layer="node", params=("edges", "grads", "format_error"))
def validate_outputs_impl(edges: edge_list, grads: list[Any], format_error: Callable[[str], str]) -> None:
    if len(grads) != len(edges):
        TORCH_CHECK(
            False,
            format_error(f"invalid number of gradients - expected {len(edges)}, but got {len(grads)}"),
        )
    for i, (function, input_nr) in enumerate(edges):
        if function is None:
            continue
        grad = grads[i]
        if grad is None:
            continue
        metadata = function._input_metadata_[input_nr]
        if grad._sizes != metadata.shape:
            grad = grads[i] = maybe_reduce(metadata, i, grad, format_error)
        dtype = metadata.dtype
        if grad._dtype is not dtype and dtype is not None:
            TORCH_CHECK(
                grad._dtype.is_floating_point or dtype.is_complex == grad._dtype.is_complex,
                "Expected isFloatingType(grad.scalar_type()) || (input_is_complex == grad_is_complex) to be true, but "
                "got false.  (Could this error message be improved?  If so, please report an enhancement request to "
                "PyTorch.)",
            )
            from engine.aten import at

            grad = grads[i] = at.to_dtype.call(grad, dtype, False, False, None)
        if grad._device != metadata.device:
            if not grad._sizes:
                from engine.aten import at

                grads[i] = at.to_dtype_layout.call(grad, None, None, metadata.device, None, False, False, None)
                continue
            TORCH_CHECK(
                False,
                format_error(
                    f"invalid gradient at index {i} - expected device {metadata.device} but got {grad._device}"
                ),
            )


def _call_tensor_pre_hooks(fn: Node, inputs: list[Any]) -> list[Any]:
    for hook in fn.tensor_pre_hooks():
        inputs = hook(inputs)
    hooks = fn._hooks
    if hooks is not None:
        for hook in hooks.retains_grad_hooks.values():
            inputs = hook(inputs)
    return inputs


call_tensor_pre_hooks = doors.frame("torch::autograd::call_tensor_pre_hooks", layer="engine", params=("fn", "inputs"))(
    _call_tensor_pre_hooks
)


def _call_function(graph_task: GraphTask, fn: Node, input_buffer: InputBuffer) -> list[Any]:
    """Hooks, the node, hooks."""
    if doors.listener is None:
        inputs = _call_tensor_pre_hooks(fn, input_buffer.variables())
    else:
        inputs = call_tensor_pre_hooks(fn, input_buffer.variables())
    hooks = fn._hooks
    if hooks is not None:
        for pre_hook in hooks.pre_hooks:
            inputs = pre_hook(inputs)
    if not graph_task.keep_graph_:
        fn.will_release_variables()
    if hooks is not None and hooks.post_hooks:
        outputs = fn.call_operator(list(inputs))
        validate_outputs(fn._next_edges, outputs, lambda msg: f"Function {fn.name()} returned an {msg}")
        for post_hook in hooks.post_hooks:
            outputs = post_hook(outputs, inputs)
        return outputs
    outputs = fn.call_operator(inputs)
    # moved into the node, in C++; nothing may hold them when they are counted further on
    inputs.clear()
    validate_outputs(fn._next_edges, outputs, lambda msg: f"Function {fn.name()} returned an {msg}")
    return outputs


def _capture(graph_task: GraphTask, fn: Node, inputs: InputBuffer) -> bool:
    """Store what was asked for of ``fn``'s inputs; whether ``fn`` has to run."""
    info = graph_task.exec_info_[fn]
    if not info.needed_:
        # on those that run they are called later, after what is captured here
        inputs.buffer = call_tensor_pre_hooks(fn, inputs.variables())
    if info.captures_ is not None:
        for capture in info.captures_:
            graph_task.captured_vars_[capture.output_idx_] = inputs.buffer[capture.input_idx_]
    return info.needed_


def _evaluate_function(graph_task: GraphTask, fn: Node, inputs: InputBuffer) -> None:
    exec_info = graph_task.exec_info_
    if exec_info and not _capture(graph_task, fn, inputs):
        return
    outputs = _call_function(graph_task, fn, inputs)
    if not graph_task.keep_graph_:
        fn.release_variables()
    if not outputs:
        return
    if tls_anomaly.enabled and tls_anomaly.check_nan:
        _check_nan(fn, outputs)
    dependencies = graph_task.dependencies_
    not_ready = graph_task.not_ready_
    edges = fn._next_edges
    for i in range(len(outputs)):
        next_fn, input_nr = edges[i]
        if next_fn is None:
            continue
        left = dependencies.get(next_fn)
        if left is None:
            raise RuntimeError(f"dependency not found for {next_fn.name()}")
        is_ready = left == 1
        if is_ready:
            del dependencies[next_fn]
        else:
            dependencies[next_fn] = left - 1
        buffer = not_ready.get(next_fn)
        if buffer is None:
            if exec_info:
                info = exec_info.get(next_fn)
                if info is None or not info.should_execute():
                    continue
            buffer = InputBuffer(len(next_fn._input_metadata_))
            # moved out of the outputs, so that the buffer alone holds it
            buffer.add(input_nr, _take(outputs, i))
            if is_ready:
                graph_task.cpu_ready_queue_.push(NodeTask(graph_task, next_fn, buffer))
            else:
                not_ready[next_fn] = buffer
        else:
            buffer.add(input_nr, _take(outputs, i))
            if is_ready:
                del not_ready[next_fn]
                graph_task.cpu_ready_queue_.push(NodeTask(graph_task, next_fn, buffer))


evaluate_function = doors.frame("torch::autograd::Engine::evaluate_function", layer="engine")(_evaluate_function)


def _take(outputs: list[Any], i: int) -> Any:
    output = outputs[i]
    outputs[i] = None
    return output


def _check_nan(fn: Node, outputs: list[Any]) -> None:
    for i, output in enumerate(outputs):
        if output is not None and output._device.type != "meta" and bool(np.isnan(output.array).any()):
            raise RuntimeError(f"Function '{fn.name()}' returned nan values in its {i}th output.")


class Engine:
    """One per process: ``Engine.get_default_engine()``. Python's binding puts its own in the place."""

    _default: Engine | None = None
    _base: Engine | None = None

    @classmethod
    def get_default_engine(cls) -> Engine:
        if Engine._default is None:
            Engine._default = Engine.get_base_engine()
        return Engine._default

    @classmethod
    def get_base_engine(cls) -> Engine:
        """The engine of a program without Python."""
        if Engine._base is None:
            Engine._base = Engine()
        return Engine._base

    @classmethod
    def set_default_engine_stub(cls, engine: Engine) -> None:
        Engine._default = engine

    def __init__(self) -> None:
        self.max_recursion_depth_ = MAX_DEPTH

    def compute_dependencies(self, root: Node, task: GraphTask, min_topo_nr: int) -> None:
        dependencies = task.dependencies_
        seen = task.nodes_in_graph_
        queue = [root]
        while queue:
            fn = queue.pop()
            if fn._topological_nr < min_topo_nr:
                continue
            for next_fn, _ in fn._next_edges:
                if next_fn is not None:
                    dependencies[next_fn] = dependencies.get(next_fn, 0) + 1
                    if next_fn not in seen:
                        seen.add(next_fn)
                        queue.append(next_fn)

    @doors.frame("torch::autograd::Engine::execute", layer="engine")
    def execute(
        self,
        roots: edge_list,
        inputs: list[Any],
        keep_graph: bool,
        create_graph: bool,
        accumulate_grad: bool,
        outputs: edge_list,
    ) -> list[Any]:
        """Run backward from ``roots`` with the gradients ``inputs``.

        ``outputs`` names the edges whose gradients are wanted: returned, or accumulated when ``accumulate_grad``;
        empty means every leaf.
        """
        validate_outputs(roots, inputs, lambda msg: msg)
        if accumulate_grad and create_graph:
            TORCH_WARN_ONCE(
                "Using backward() with create_graph=True will create a reference cycle between the parameter and its "
                "gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to "
                "avoid this. If you have to use this function, make sure to reset the .grad fields of your parameters "
                "to None after use to break the cycle and avoid the leak."
            )
        if worker.local_ready_queue is None:
            worker.local_ready_queue = ReadyQueue()
        depth = 0 if worker.device == NO_DEVICE else worker.total_depth + 1
        graph_roots = [function for function, _ in roots if function is not None]
        task = GraphTask(keep_graph, create_graph, depth, worker.local_ready_queue, graph_roots)
        graph_root: Node
        if len(roots) == 1:
            root = roots[0].function
            assert root is not None
            graph_root = root
        else:
            graph_root = GraphRoot(roots, inputs)
        min_topo_nr = min((function._topological_nr for function, _ in outputs if function is not None), default=0)
        self.compute_dependencies(graph_root, task, min_topo_nr)
        if outputs:
            task.init_to_execute(graph_root, outputs, accumulate_grad, min_topo_nr)
        if len(roots) == 1:
            buffer = InputBuffer(len(graph_root._input_metadata_))
            buffer.add(roots[0].input_nr, inputs[0])
        else:
            buffer = InputBuffer([])
        self.execute_with_graph_task(task, graph_root, buffer)
        if task.exception_ is not None:
            error, task.exception_ = task.exception_, None
            raise error
        return task.captured_vars_

    @doors.frame("torch::autograd::Engine::execute_with_graph_task", layer="engine")
    def execute_with_graph_task(self, graph_task: GraphTask, graph_root: Node, input_buffer: InputBuffer) -> None:
        reentrant = worker.device != NO_DEVICE
        if not reentrant:
            worker.device = CPU_DEVICE
        graph_task.owner_ = worker.device
        graph_task.cpu_ready_queue_.push(NodeTask(graph_task, graph_root, input_buffer))
        if not reentrant:
            try:
                self.thread_main(graph_task)
            finally:
                worker.device = NO_DEVICE
                # what an error left behind
                graph_task.cpu_ready_queue_.heap_.clear()
        elif worker.current_depth >= self.max_recursion_depth_:
            self.add_thread_pool_task(graph_task)
        else:
            worker.total_depth += 1
            worker.current_depth += 1
            try:
                self.thread_main(graph_task)
            finally:
                worker.current_depth -= 1
                worker.total_depth -= 1

    def add_thread_pool_task(self, graph_task: GraphTask) -> None:
        """Run the task on a thread of its own, with this thread's queue, and wait for it."""

        def reentrant_thread_init() -> None:
            worker.device = CPU_DEVICE
            worker.local_ready_queue = graph_task.cpu_ready_queue_
            worker.total_depth = graph_task.reentrant_depth_
            self.thread_main(graph_task)

        thread = threading.Thread(target=reentrant_thread_init, name="pt_autograd", daemon=True)
        thread.start()
        thread.join()

    @doors.frame("torch::autograd::Engine::thread_main", layer="engine")
    def thread_main(self, graph_task: GraphTask) -> None:
        """Run what is ready until ``graph_task`` is done; tasks of outer calls share the queue and may run too."""
        queue = graph_task.cpu_ready_queue_
        outer = current.graph_task
        saved = (tls.included, tls.excluded, tls.grad_mode, tls.inference_mode)
        try:
            while not graph_task.future_completed_:
                task = queue.pop()
                local = task.base_
                fn = task.fn_
                inputs = task.inputs_
                del task
                if fn is not None and not local.has_error_:
                    tls.included, tls.excluded, tls.grad_mode, tls.inference_mode = local.thread_locals_
                    current.graph_task = local
                    evaluating, sequence_number.current_node = sequence_number.current_node, fn
                    try:
                        if doors.listener is None:
                            _evaluate_function(local, fn, inputs)
                        else:
                            evaluate_function(local, fn, inputs)
                    except BaseException as error:
                        self.thread_on_exception(local, fn, error)
                    finally:
                        sequence_number.current_node = evaluating
                del inputs, fn
                local.outstanding_tasks_ -= 1
                if local.completed():
                    local.mark_as_completed_and_run_post_processing()
        finally:
            current.graph_task = outer
            tls.included, tls.excluded, tls.grad_mode, tls.inference_mode = saved

    def thread_on_exception(self, graph_task: GraphTask, fn: Node, error: BaseException) -> None:
        """Keeps the first error for the caller; in anomaly mode says where forward made the node."""
        if not graph_task.has_error_ and tls_anomaly.enabled:
            AnomalyMetadata.print_stack(fn, fn.name())
        graph_task.set_exception(error)

    def queue_callback(self, callback: Callable[[], None]) -> None:
        """Run ``callback`` when the running backward is done."""
        task = current.graph_task
        if task is None:
            raise Error("Final callbacks can only be installed during backward pass.")
        task.final_callbacks_.append(callback)
