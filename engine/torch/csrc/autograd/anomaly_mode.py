"""torch/csrc/autograd/anomaly_mode.h, python_anomaly_mode.cpp: errors in backward show the forward call."""

from __future__ import annotations

import traceback
import warnings
from typing import TYPE_CHECKING, Any

from engine.torch.csrc.autograd.function import tls_anomaly

if TYPE_CHECKING:
    from engine.torch.csrc.autograd.function import Node

__all__ = ["AnomalyMetadata", "AnomalyMode"]

ANOMALY_TRACE_KEY = "traceback_"
ANOMALY_PARENT_KEY = "parent_"


class AnomalyMode:
    """The process-wide switch."""

    @staticmethod
    def is_enabled() -> bool:
        return tls_anomaly.enabled

    @staticmethod
    def should_check_nan() -> bool:
        return tls_anomaly.check_nan

    @staticmethod
    def set_enabled(enabled: bool, check_nan: bool = True) -> None:
        tls_anomaly.enabled = enabled
        tls_anomaly.check_nan = check_nan


class AnomalyMetadata:
    """What a node keeps in its ``metadata`` in anomaly mode: a traceback, and the node whose backward made it."""

    @staticmethod
    def store_stack(node: Node) -> None:
        node.metadata[ANOMALY_TRACE_KEY] = traceback.format_stack()[:-2]

    @staticmethod
    def assign_parent(node: Node, parent: Node) -> None:
        node.metadata[ANOMALY_PARENT_KEY] = parent

    @staticmethod
    def print_stack(node: Node, current_node_name: str) -> None:
        stack = node.metadata.get(ANOMALY_TRACE_KEY)
        text = f"Error detected in {current_node_name}. "
        if stack is None:
            text += (
                "No forward pass information available. Enable detect anomaly during forward pass for more information."
            )
        else:
            text += "Traceback of forward call that caused the error:\n" + "".join(stack)
        warnings.warn(text, UserWarning, stacklevel=2)
        parent: Any = node.metadata.get(ANOMALY_PARENT_KEY)
        while parent is not None:
            stack = parent.metadata.get(ANOMALY_TRACE_KEY)
            text = f"\n\nPrevious calculation was induced by {parent.name()}. "
            if stack is None:
                text += "No forward pass information available."
            else:
                text += "Traceback of forward call that induced the previous calculation:\n" + "".join(stack)
            warnings.warn(text, UserWarning, stacklevel=2)
            parent = parent.metadata.get(ANOMALY_PARENT_KEY)
