"""Scenes of autograd in the engine and in PyTorch: the same results, flags and error texts."""

from __future__ import annotations

import warnings

import pytest

import engine.torch as ours
from tests.conformance.autograd_scenarios import SCENES

theirs = pytest.importorskip("torch")


@pytest.mark.parametrize("name", SCENES)
def test_scene(name: str) -> None:
    found = []
    for torch in (theirs, ours):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found.append(SCENES[name](torch))
    assert found[1] == found[0]
