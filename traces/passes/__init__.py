"""Pure functions over a trace."""

from traces.passes.backtrace import Backtrace

__all__ = ["Backtrace"]
