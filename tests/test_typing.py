"""What a type checker says to those who call sedil."""

import os
import subprocess
import sys
from pathlib import Path
from typing import get_args

import pytest

import sedil
from sedil import choices
from sedil.learning.defaults import METRICS, PRESETS
from sedil.learning.initial import STARTS

PROGRAM = """\
from typing import assert_type
import numpy as np
from numpy.typing import NDArray
import sedil
from sedil.learning.result import Record
from sedil.progress import Progress

def stop(progress: Progress) -> bool:
    return progress.record is not None and progress.record.objective < 1

def use(bytes_: NDArray[np.uint8], patches: NDArray[np.float32], mask: NDArray[np.bool]) -> None:
    dictionary = sedil.shipped_dictionary("separable-8x8")
    assert_type(sedil.denoise(bytes_, dictionary=dictionary), NDArray[np.uint8])
    assert_type(sedil.inpaint(patches, mask, "separable-8x8", method="whole"), NDArray[np.float32])
    assert_type(sedil.normalize_patches(patches), NDArray[np.float32])
    assert_type(dictionary.analyze(patches), NDArray[np.float32])
    assert_type(sedil.learn(patches, engine="fused", progress=stop).history[-1], Record)
    sedil.denoise(bytes_, method="refitt")  # wrong
    sedil.denoise([[1.0]])  # wrong
    sedil.inpaint(patches, method="all")  # wrong
    sedil.learn(patches, initial="odct", preset="papers")  # wrong
    sedil.learn(patches, metric="euclidean")  # wrong
    sedil.learn(patches, progress=print("done"))  # wrong
    sedil.sparse_code(dictionary, patches, 0.1, solver="lars")  # wrong
    sedil.sparse_code(dictionary, patches, 0.1, engine="cuda")  # wrong
    sedil.sparse_code(dictionary, patches, 0.1, dtype="float16")  # wrong
    sedil.shipped_dictionary("separable-9x9")  # wrong
"""


@pytest.mark.slow
def test_numpy_comes_back_as_numpy_and_unknown_words_are_errors(tmp_path):
    file = tmp_path / "user.py"
    file.write_text(PROGRAM)
    source = Path(sedil.__file__).parents[1]
    found = subprocess.run(
        [sys.executable, "-m", "mypy", "--no-error-summary", file],
        cwd=source.parent,  # for the settings there
        env={**os.environ, "MYPYPATH": str(source)},
        capture_output=True,
        text=True,
    )
    wrong = [number for number, line in enumerate(PROGRAM.splitlines(), 1) if line.endswith("# wrong")]
    errors = [line for line in found.stdout.splitlines() if ": error:" in line]
    assert [int(line.split(":")[1]) for line in errors] == wrong, found.stdout + found.stderr


def test_every_choice_is_there():
    assert tuple(STARTS) == get_args(choices.StartName)
    assert tuple(PRESETS) == get_args(choices.PresetName)
    assert tuple(METRICS) == get_args(choices.MetricName)
