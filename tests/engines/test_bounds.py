"""No kernel reads or writes beyond its arrays: its arguments are looked at, guard pages see the rest."""

import importlib
import os
import pkgutil
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sedil.engines.fused.kernels as package
from fuzz.guard_pages import SIDES, GuardPages, guarded_copy
from random_things import unit_columns
from sedil.engines.fused.kernels.blocks import Operator
from sedil.engines.fused.kernels.compilation import Kernel
from sedil.engines.fused.kernels.nonzeros import take_nonzeros
from sedil.engines.fused.kernels.support import Support, refit_codes
from sedil.engines.fused.training import FusedTrainingSet

ROOT = Path(__file__).parents[2]

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="guard pages are made by calls of Linux")


def kernels():
    modules = (module.name for module in pkgutil.iter_modules(package.__path__))
    values = [vars(importlib.import_module(f"{package.__name__}.{name}")).values() for name in modules]
    return {value for module in values for value in module if isinstance(value, Kernel)}


def test_every_kernel_says_what_it_takes():
    assert len(kernels()) > 10
    for kernel in kernels():
        assert kernel.entrance is not None, kernel.py_func.__name__


def refit_arguments(**changes):
    operator = Operator.create([unit_columns((3, 5), np.random.default_rng(0))])
    arrays = {"patches": np.ones((4, 3), np.float32), "known": np.ones((4, 3), np.float32)}
    arrays |= {"codes": np.ones((4, 5), np.float32)} | changes
    return operator, Support.create(operator), *arrays.values(), 2


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"codes": np.ones((3, 5), np.float32)}, r"codes .* shape \(n = 4, atoms = 5\), .* shape \(3, 5\)"),
        ({"codes": np.ones((4, 4), np.float32)}, r"codes .* \(n = 4, atoms = 5\), .* shape \(4, 4\)"),
        ({"codes": np.ones((4, 5))}, r"codes in float32 .* got float64 of shape \(4, 5\)"),
        ({"codes": np.ones((4, 10), np.float32)[:, ::2]}, r"without gaps.* got float32 with gaps of"),
        ({"codes": np.ones(4, np.float32)}, r"got float32 of shape \(4,\)"),
        ({"patches": np.ones((4, 2), np.float32)}, r"refit_codes takes patches .* entries = 3"),
        ({"known": np.ones((3, 3), np.float32)}, r"known .* shape \(n_or_none = 4, entries = 3\)"),
    ],
)
def test_arrays_that_do_not_fit_are_refused(changes, message):
    refit_codes(*refit_arguments())  # that these have passed must not let others in
    with pytest.raises(RuntimeError, match=f"{message}.*: this is a mistake in sedil, please report it"):
        refit_codes(*refit_arguments(**changes))


def test_arrays_that_fit_another_dictionary_are_refused():
    operator, *arrays = refit_arguments()
    refit_codes(operator, *arrays)
    larger = Operator.create([unit_columns((3, 6), np.random.default_rng(0))])
    with pytest.raises(RuntimeError, match=r"atoms = 6\), and got int64 of shape \(5,\)"):
        refit_codes(larger, *arrays)


def test_arrays_that_fit_are_taken():
    refit_codes(*refit_arguments())
    refit_codes(*refit_arguments(known=np.ones((0, 3), np.float32)))
    with pytest.raises(
        RuntimeError, match=r"counts in int64 .* shape \(n = 4\), and got int64 of shape \(3,\)"
    ):
        take_nonzeros(np.ones((4, 2), np.float32), np.zeros(3, np.int64))


def test_factors_of_another_shape_are_refused_before_they_reach_the_workspaces(rng):
    training_set = FusedTrainingSet(rng.standard_normal((5, 4, 4)), (6, 6), 1)
    with pytest.raises(
        RuntimeError, match=r"for factors of the shapes .*, and got \[\(16, 36\)\]: this is a"
    ):
        training_set.correlations([unit_columns((16, 36), rng)])


def test_guarded_copies_are_handed_out_once_and_copied_back():
    pages = GuardPages("after")
    array = np.arange(6.0).reshape(2, 3)
    one, (other, number) = pages.replace((array, (array, 4)))
    assert one is other
    assert number == 4
    np.testing.assert_array_equal(one, array)
    one[:] = 1
    pages.copy_back()
    assert (array == 1).all()


TOUCH = """
import numpy as np
from fuzz.guard_pages import guarded
from sedil.engines.fused.kernels.compilation import kernel

@kernel
def entry(array, place):
    return array[0, place]

array = np.zeros((1, 10), np.float32)
with guarded("{side}"):
    entry(array, np.int64({inside}))
    print("inside", flush=True)
    entry(array, np.int64({outside}))
"""


@pytest.mark.parametrize(("side", "inside", "outside"), [("before", 0, -11), ("after", 9, 10)])
def test_one_entry_too_far_is_a_segmentation_fault(side, inside, outside):
    script = TOUCH.format(side=side, inside=inside, outside=outside)
    paths = os.pathsep.join([str(ROOT), *filter(None, [os.environ.get("PYTHONPATH")])])
    ended = subprocess.run(
        [sys.executable, "-c", script], env=os.environ | {"PYTHONPATH": paths}, capture_output=True, text=True
    )
    assert ended.stdout == "inside\n", ended.stderr
    assert ended.returncode == -signal.SIGSEGV


@pytest.mark.parametrize("side", SIDES)
def test_copies_lie_where_they_should(side):
    copy, pages = guarded_copy(np.arange(5, dtype=np.float32), side)
    address = np.frombuffer(pages, np.uint8).ctypes.data
    begin = copy.ctypes.data - address
    assert (begin == 4096) if side == "before" else (begin + copy.nbytes == 4096)


@pytest.mark.slow
@pytest.mark.parametrize("side", SIDES)
def test_engines_agree_beside_guard_pages(side):
    """The differential tests once more; a crash ends their process, not this one."""
    command = [
        sys.executable,
        "-m",
        "pytest",
        "-q",
        "-p",
        "no:cacheprovider",
        "-n",
        "0",
        "-k",
        "agree or descent",
    ]
    ended = subprocess.run(
        [*command, "tests/engines/test_fused.py"],
        cwd=ROOT,
        env=os.environ | {"SEDIL_GUARD_PAGES": side},
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ended.returncode == 0, ended.stdout[-3000:]
