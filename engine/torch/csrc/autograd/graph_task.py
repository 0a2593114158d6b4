"""torch/csrc/autograd/graph_task.h: one run of backward: what waits for what, and what was asked for."""

from __future__ import annotations

import heapq
import itertools
import threading
from collections.abc import Callable
from typing import Any

from engine.c10.local_dispatch_key_set import tls
from engine.torch.csrc.autograd.edge import edge_list
from engine.torch.csrc.autograd.function import Node
from engine.torch.csrc.autograd.input_buffer import InputBuffer

__all__ = [
    "CPU_DEVICE",
    "NO_DEVICE",
    "Capture",
    "ExecInfo",
    "GraphTask",
    "NodeTask",
    "ReadyQueue",
    "current_graph_task",
    "task_needs",
]

NO_DEVICE = -2
CPU_DEVICE = -1

_ids = itertools.count()


class Capture:
    """Input ``input_idx_`` of a node is result ``output_idx_`` of the task."""

    __slots__ = ("input_idx_", "output_idx_")

    def __init__(self, input_idx: int, output_idx: int) -> None:
        self.input_idx_ = input_idx
        self.output_idx_ = output_idx


class ExecInfo:
    """Whether a node must run, and which of its inputs are asked for; only kept when inputs were named."""

    __slots__ = ("captures_", "needed_")

    def __init__(self) -> None:
        self.needed_ = False
        self.captures_: list[Capture] | None = None

    def should_execute(self) -> bool:
        return self.needed_ or self.captures_ is not None


class NodeTask:
    """A node that is ready to run with its inputs; without a node it only wakes the queue's owner."""

    __slots__ = ("base_", "fn_", "inputs_")

    def __init__(self, base: GraphTask, fn: Node | None, inputs: InputBuffer) -> None:
        self.base_ = base
        self.fn_ = fn
        self.inputs_ = inputs

    def __lt__(self, other: object) -> bool:
        # of equal priority; the heap's own order decides, as in C++
        return False


class ReadyQueue:
    """A thread's heap of tasks: deepest reentrant call first, then the node created last."""

    __slots__ = ("heap_",)

    def __init__(self) -> None:
        self.heap_: list[tuple[int, int, NodeTask]] = []

    def push(self, item: NodeTask) -> None:
        item.base_.outstanding_tasks_ += 1
        fn = item.fn_
        assert fn is not None
        heapq.heappush(self.heap_, (-item.base_.reentrant_depth_, -fn._sequence_nr_, item))

    def pop(self) -> NodeTask:
        return heapq.heappop(self.heap_)[2]

    def empty(self) -> bool:
        return not self.heap_

    def size(self) -> int:
        return len(self.heap_)


class GraphTask:
    """The state of one backward call.

    dependencies_: how many gradients a node still waits for. not_ready_: the buffers of nodes that wait.
    exec_info_: empty when everything runs and accumulates.
    """

    __slots__ = (
        "captured_vars_",
        "cpu_ready_queue_",
        "dependencies_",
        "exception_",
        "exec_info_",
        "final_callbacks_",
        "future_completed_",
        "graph_roots_",
        "has_error_",
        "id_",
        "keep_graph_",
        "nodes_in_graph_",
        "not_ready_",
        "outstanding_tasks_",
        "owner_",
        "reentrant_depth_",
        "thread_locals_",
    )

    def __init__(
        self,
        keep_graph: bool,
        grad_mode: bool,
        reentrant_depth: int,
        cpu_ready_queue: ReadyQueue,
        graph_roots: list[Node],
    ) -> None:
        self.keep_graph_ = keep_graph
        self.reentrant_depth_ = reentrant_depth
        self.cpu_ready_queue_ = cpu_ready_queue
        self.graph_roots_ = graph_roots
        self.id_ = next(_ids)
        self.owner_ = NO_DEVICE
        self.outstanding_tasks_ = 0
        self.has_error_ = False
        self.exception_: BaseException | None = None
        self.future_completed_ = False
        self.not_ready_: dict[Node, InputBuffer] = {}
        self.dependencies_: dict[Node, int] = {}
        self.nodes_in_graph_: set[Node] = set()
        self.exec_info_: dict[Node, ExecInfo] = {}
        self.captured_vars_: list[Any] = []
        self.final_callbacks_: list[Callable[[], None]] = []
        # the thread's state that nodes run with; grad mode is what create_graph says
        self.thread_locals_ = (tls.included, tls.excluded, grad_mode, tls.inference_mode)

    def completed(self) -> bool:
        return self.outstanding_tasks_ == 0 or self.has_error_

    def init_to_execute(self, graph_root: Node, outputs: edge_list, accumulate_grad: bool, min_topo_nr: int) -> None:
        """Mark the nodes on a path from the root to one of ``outputs``."""
        exec_info = self.exec_info_
        index = 0
        for function, input_nr in outputs:
            assert function is not None
            info = exec_info.setdefault(function, ExecInfo())
            if accumulate_grad:
                info.needed_ = True
            else:
                if info.captures_ is None:
                    info.captures_ = []
                info.captures_.append(Capture(input_nr, index))
                index += 1
        self.captured_vars_ = [None] * index

        def should_execute(fn: Node) -> bool:
            info = exec_info.get(fn)
            return info is not None and info.should_execute()

        exec_info.setdefault(graph_root, ExecInfo())
        seen = {graph_root}
        stack = [(graph_root, iter(graph_root._next_edges))]
        while stack:
            fn, edges = stack[-1]
            for child, _ in edges:
                if child is None:
                    continue
                if child in seen:
                    if should_execute(child):
                        exec_info[fn].needed_ = True
                    continue
                seen.add(child)
                exec_info.setdefault(child, ExecInfo())
                if child._topological_nr < min_topo_nr:
                    # cannot lead to any of the outputs
                    continue
                stack.append((child, iter(child._next_edges)))
                break
            else:
                stack.pop()
                if stack and should_execute(fn):
                    exec_info[stack[-1][0]].needed_ = True

    def mark_as_completed_and_run_post_processing(self) -> None:
        if self.future_completed_:
            return
        self.future_completed_ = True
        if self.has_error_:
            return
        try:
            if self.not_ready_:
                raise RuntimeError("could not compute gradients for some functions")
            previous = current.graph_task
            current.graph_task = self
            try:
                # callbacks may add callbacks
                for callback in _growing(self.final_callbacks_):
                    callback()
            finally:
                current.graph_task = previous
        except BaseException as error:
            self.set_exception(error)

    def set_exception(self, error: BaseException) -> None:
        self.has_error_ = True
        self.future_completed_ = True
        if self.exception_ is None:
            self.exception_ = error


def _growing(callbacks: list[Callable[[], None]]) -> Any:
    index = 0
    while index < len(callbacks):
        yield callbacks[index]
        index += 1


class _Current(threading.local):
    def __init__(self) -> None:
        self.graph_task: GraphTask | None = None


current = _Current()


def current_graph_task() -> GraphTask | None:
    """The task whose node this thread runs."""
    return current.graph_task


def task_needs(node: Node) -> list[bool]:
    """Node::task_should_compute_output of each output: it leads somewhere, and the running task wants it."""
    task = current.graph_task
    if task is None or not task.exec_info_:
        return [edge[0] is not None for edge in node._next_edges]
    exec_info = task.exec_info_
    needs = []
    for function, _ in node._next_edges:
        info = exec_info.get(function) if function is not None else None
        needs.append(info is not None and info.should_execute())
    return needs
