"""c10/core/GradMode.h, AutogradState.h: whether operations of this thread record a graph, and the guards that say so.

Hot code reads ``tls.grad_mode`` (engine/c10/local_dispatch_key_set.py); grad mode changes no key set.

Differs: AutogradState is a snapshot of flags that live on ``tls``; the execution group of a graph is left out.
"""

from __future__ import annotations

from dataclasses import dataclass

from engine.c10.local_dispatch_key_set import Guard, tls

__all__ = ["AutoFwGradMode", "AutoGradMode", "AutogradState", "GradMode", "NoGradGuard"]


@dataclass(frozen=True, slots=True)
class AutogradState:
    """The autograd flags of a thread; what a backward thread inherits from the one that started it."""

    grad_mode: bool
    inference_mode: bool
    fw_grad_mode: bool
    multithreading_enabled: bool
    view_replay_enabled: bool = False
    grad_layout_enforcement_enabled: bool = True

    @staticmethod
    def get_tls_state() -> AutogradState:
        return AutogradState(
            tls.grad_mode,
            tls.inference_mode,
            tls.fw_grad_mode,
            tls.multithreading_enabled,
            tls.view_replay_enabled,
            tls.grad_layout_enforcement_enabled,
        )

    @staticmethod
    def set_tls_state(state: AutogradState) -> None:
        tls.grad_mode = state.grad_mode
        tls.inference_mode = state.inference_mode
        tls.fw_grad_mode = state.fw_grad_mode
        tls.multithreading_enabled = state.multithreading_enabled
        tls.view_replay_enabled = state.view_replay_enabled
        tls.grad_layout_enforcement_enabled = state.grad_layout_enforcement_enabled


class GradMode:
    """The switch itself."""

    @staticmethod
    def is_enabled() -> bool:
        return tls.grad_mode

    @staticmethod
    def set_enabled(enabled: bool) -> None:
        tls.grad_mode = enabled


class AutoGradMode(Guard):
    """Sets grad mode, and puts it back."""

    __slots__ = ("enabled", "prev_mode")

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        super().__init__()

    def _acquire(self) -> None:
        self.prev_mode = tls.grad_mode
        tls.grad_mode = self.enabled

    def _restore(self) -> None:
        tls.grad_mode = self.prev_mode


class NoGradGuard(AutoGradMode):
    """Operations inside record no graph."""

    __slots__ = ()

    def __init__(self) -> None:
        super().__init__(False)


class AutoFwGradMode(Guard):
    """Sets forward-mode AD, and puts it back."""

    __slots__ = ("enabled", "prev_mode")

    def __init__(self, enabled: bool) -> None:
        self.enabled = enabled
        super().__init__()

    def _acquire(self) -> None:
        self.prev_mode = tls.fw_grad_mode
        tls.fw_grad_mode = self.enabled

    def _restore(self) -> None:
        tls.fw_grad_mode = self.prev_mode
