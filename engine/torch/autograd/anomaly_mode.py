"""torch/autograd/anomaly_mode.py: find the forward call whose backward fails."""

from __future__ import annotations

import warnings

from engine.torch.csrc.autograd.anomaly_mode import AnomalyMode

__all__ = ["detect_anomaly", "set_detect_anomaly"]


class detect_anomaly:
    """Inside, nodes keep the traceback of their forward call, and nan in backward raises."""

    def __init__(self, check_nan: bool = True) -> None:
        self.prev = AnomalyMode.is_enabled()
        self.check_nan = check_nan
        self.prev_check_nan = AnomalyMode.should_check_nan()
        warnings.warn(
            "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for "
            "debugging.",
            stacklevel=2,
        )

    def __enter__(self) -> None:
        AnomalyMode.set_enabled(True, self.check_nan)

    def __exit__(self, *exc: object) -> None:
        AnomalyMode.set_enabled(self.prev, self.prev_check_nan)


class set_detect_anomaly:
    """Sets anomaly mode at once; as a context manager it puts the old one back."""

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.prev = AnomalyMode.is_enabled()
        self.prev_check_nan = AnomalyMode.should_check_nan()
        AnomalyMode.set_enabled(mode, check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        AnomalyMode.set_enabled(self.prev, self.prev_check_nan)


for _cls in (detect_anomaly, set_detect_anomaly):
    _cls.__module__ = "torch.autograd.anomaly_mode"
