"""c10/core/InferenceMode.h: grad mode off, autograd keys excluded, ADInplaceOrView no longer included.

ADInplaceOrView is not excluded: a normal tensor changed in place here still bumps its version, because its own key set
names that key; only tensors made here lack it.
"""

from __future__ import annotations

from engine.c10.dispatch_key_set import autograd_dispatch_keyset, inplace_or_view_ks
from engine.c10.grad_mode import AutogradState
from engine.c10.local_dispatch_key_set import (
    Guard,
    _force_tls_local_dispatch_key_set,
    tls,
    tls_local_dispatch_key_set,
)

__all__ = ["InferenceMode"]


class InferenceMode(Guard):
    """Enters inference mode (``enabled=False``: leaves it), and puts the old state back."""

    __slots__ = ("enabled", "prev_keyset", "prev_mode")

    def __init__(self, enabled: bool = True) -> None:
        self.enabled = enabled
        super().__init__()

    @staticmethod
    def is_enabled() -> bool:
        return tls.inference_mode

    def _acquire(self) -> None:
        self.prev_mode = AutogradState.get_tls_state()
        self.prev_keyset = tls_local_dispatch_key_set()
        enabled = self.enabled
        AutogradState.set_tls_state(
            AutogradState(
                grad_mode=not enabled,
                inference_mode=enabled,
                fw_grad_mode=not enabled,
                multithreading_enabled=not enabled,
            )
        )
        if enabled:
            tls.included &= ~inplace_or_view_ks
            tls.excluded |= autograd_dispatch_keyset
        else:
            tls.included |= inplace_or_view_ks
            tls.excluded &= ~autograd_dispatch_keyset

    def _restore(self) -> None:
        AutogradState.set_tls_state(self.prev_mode)
        _force_tls_local_dispatch_key_set(self.prev_keyset)
