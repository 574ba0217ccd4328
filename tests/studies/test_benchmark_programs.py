"""The programs in benchmarks/ find what they import: a study that moves takes them along."""

from importlib import import_module
from pathlib import Path

import pytest

PROGRAMS = sorted(path.stem for path in (Path(__file__).parents[2] / "benchmarks").glob("*.py"))


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_can_be_imported(name):
    if name == "gpu":
        pytest.importorskip("torch", reason="torch is not installed: benchmarks/gpu.py was not imported")
    module = import_module(name)
    assert name == "rows" or callable(module.main)
