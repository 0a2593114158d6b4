"""Recording changes nothing: the same outputs, tensors, gradients, versions and warnings with and without it."""

from __future__ import annotations

import contextlib
import io
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from engine import torch
from engine.importer import install_torch
from tests.tracer.running import ROOT
from tracer.record import record

SCRIPTS = sorted((ROOT / "tests" / "truth").glob("*.py"))


@pytest.fixture(autouse=True)
def engine_torch() -> Iterator[None]:
    undo = install_torch()
    yield
    undo()


def facts(value: Any, elements: bool) -> Any:
    """What of a tensor could be changed by somebody who looks at it."""
    if not isinstance(value, torch.Tensor):
        return repr(value) if isinstance(value, int | float | str | bool | tuple | list) else type(value).__name__
    meta = value._autograd_meta
    return (
        value.detach().array.tobytes() if elements and value.device.type != "meta" else None,
        tuple(value.shape),
        value.stride(),
        str(value.dtype),
        value._version if not value.is_inference() else None,
        value.requires_grad,
        value.is_leaf,
        type(value.grad_fn).__name__,
        value._ks,
        None if meta is None or meta.grad_ is None else facts(meta.grad_, elements),
    )


def run(path: Path) -> Any:
    namespace: dict[str, Any] = {"__name__": "script"}
    torch.manual_seed(0)
    out = io.StringIO()
    with warnings.catch_warnings(record=True) as told, contextlib.redirect_stdout(out):
        warnings.simplefilter("always")
        source = path.read_text()
        exec(compile(source, str(path), "exec"), namespace)
        elements = "empty" not in source  # whose memory holds whatever was there
        found = {name: facts(value, elements) for name, value in namespace.items() if not name.startswith("__")}
    return out.getvalue(), found, [(str(one.message), one.filename, one.lineno) for one in told]


@pytest.mark.parametrize("script", SCRIPTS, ids=lambda path: path.stem)
def test_a_recorded_run_is_the_same_run(script: Path, tmp_path: Path) -> None:
    plain = run(script)
    with record(path=tmp_path / "once.trace") as trace:
        recorded = run(script)
    with record(), record():
        twice = run(script)
    assert recorded == plain
    assert twice == plain
    assert trace.hops
