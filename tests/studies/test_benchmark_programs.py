"""The programs in benchmarks/ find what they import: a study that moves takes them along."""

from importlib import import_module
from pathlib import Path

import pytest

PROGRAMS = sorted(path.stem for path in (Path(__file__).parents[2] / "benchmarks").glob("*.py"))
NEEDS = {"gpu": "torch", "app_pictures": "selenium", "app_start": "selenium", "chromium": "selenium"}
PARTS = ("chromium", "rows")  # of programs


@pytest.mark.parametrize("name", PROGRAMS)
def test_program_can_be_imported(name):
    if package := NEEDS.get(name):
        pytest.importorskip(package, reason=f"{package} is not installed: {name}.py was not imported")
    module = import_module(name)
    assert name in PARTS or callable(module.main)
