"""l1 codes of all patches of a noisy picture, every patch to the same duality gap."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import sedil
from sedil.engines.portable.l1 import LassoProblem
from sedil_studies.bench.results import Bar, Findings, Measurement, named, speed_bar
from sedil_studies.bench.setting import PORTABLE, SIGMA, Setting, all_patches, noisy_scene, some
from sedil_studies.bench.timing import Contestant, race
from sedil_studies.peers.packages import SCIKIT_LEARN, SPAMS, make_installed
from sedil_studies.peers.sklearn_calls import sklearn_descent, sklearn_lars
from sedil_studies.peers.spams_calls import spams_lasso

TOLERANCE = 1e-3
_SIDE, _ATOMS = 8, 16
# Penalties in multiples of sigma: 2 is the best for denoising by plain l1, 1 leaves several times as
# many coefficients, for which a homotopy method such as that of SPAMS takes as many steps.
_PENALTIES = (1.0, 2.0)
_ROUNDING = 1.01  # a gap in float32 may exceed the tolerance by a little when measured in float64
_JUDGED_AT_A_TIME = 20_000
_SPARSE = "sedil, descent, sparse result"  # as that of SPAMS
OURS = (_SPARSE, "sedil, descent", "sedil, ADMM", "sedil, FISTA")
_SPAMS, _SPAMS_DOUBLE = "spams.lasso", "spams.lasso, float64"
_LARS, _DESCENT = "scikit-learn sparse_encode", "scikit-learn Lasso, same gap"


class Task(NamedTuple):
    """What all contestants are given.

    Attributes
    ----------
    patches : (n, side, side)
    dictionary : of float32 factors
    multiple : the penalty in multiples of sigma
    threads, repeats : see `Contestant`
    """

    patches: np.ndarray
    dictionary: sedil.SeparableDictionary
    multiple: float
    threads: int
    repeats: int

    @property
    def penalty(self) -> float:
        """In the units of the patches."""
        return self.multiple * SIGMA

    @property
    def flat(self) -> np.ndarray:
        """Patches as rows."""
        return self.patches.reshape(len(self.patches), -1)

    @property
    def atoms(self) -> np.ndarray:
        """Atoms as columns."""
        return self.dictionary.as_matrix()

    def part(self, count: int) -> tuple[Task, float]:
        """The task with some of the patches, and their share."""
        patches = some(self.patches, count)
        return self._replace(patches=patches), len(patches) / len(self.patches)


def run(setting: Setting) -> Findings:
    """Time our three solvers, the portable engine, SPAMS and scikit-learn, for each penalty."""
    scene = noisy_scene(setting)
    patches = all_patches(scene.noisy, _SIDE)
    dictionary = sedil.odct((_SIDE, _SIDE), (_ATOMS, _ATOMS)).like(patches)
    found: list[Measurement] = []
    notes: list[str] = []
    for multiple in _PENALTIES:
        task = Task(patches, dictionary, multiple, setting.threads, setting.choose(5, 2))
        contestants, notes = make_installed(_makers(task, setting))
        found += race(list(contestants.values()), setting.tell)
    return Findings(
        f"{scene.words}: {len(patches):,} patches of {_SIDE}x{_SIDE}, ODCT of {_ATOMS}x{_ATOMS} atoms, "
        f"gap {TOLERANCE:g}",
        found,
        [bar for multiple in _PENALTIES for bar in _bars(found, multiple)],
        [*notes, *extrapolated(found)],
    )


def _makers(task: Task, setting: Setting) -> dict[str, Callable[[], Contestant]]:
    part, slow = setting.choose(20_000, 500), setting.choose(2000, 200)  # patches of those that take minutes
    descent = partial(sklearn_descent, tolerance=TOLERANCE)
    return {
        _SPARSE: partial(_ours, task, _SPARSE, solver="descent", sparse=True),
        "sedil, descent": partial(_ours, task, "sedil, descent", solver="descent"),
        "sedil, ADMM": partial(_ours, task, "sedil, ADMM", solver="admm"),
        "sedil, FISTA": partial(_ours, task, "sedil, FISTA", solver="fista"),
        PORTABLE: partial(_our_part, task, part, PORTABLE, engine="portable"),
        _SPAMS: partial(_spams, task, _SPAMS, "float32"),
        _SPAMS_DOUBLE: partial(_spams, task, _SPAMS_DOUBLE, "float64"),  # float32 leaves some unsolved
        _LARS: partial(_sklearn, task, slow, _LARS, sklearn_lars),
        _DESCENT: partial(_sklearn, task, slow, _DESCENT, descent),
    }


def extrapolated(measurements: list[Measurement]) -> list[str]:
    """A sentence for each contestant that was timed on a part."""
    shares = {each.contestant: each.share for each in measurements if each.share < 1}
    return [
        f"{name}: timed on {share:.2%} of the patches and extrapolated linearly."
        for name, share in shares.items()
    ]


def _bars(found: list[Measurement], multiple: float) -> list[Bar]:
    found = [each for each in found if each.size == multiple]
    solved = [each for each in named(found, *OURS) if not each.figures["unsolved patches"]]
    bounds = {_SPAMS: 3, _SPAMS_DOUBLE: 3, _LARS: 50, _DESCENT: 50}
    return [
        bar
        for name, bound in bounds.items()
        for bar in speed_bar(
            f"times faster than {name}, penalty {multiple:g} sigma", solved, named(found, name), bound
        )
    ]


def _ours(task: Task, name: str, **options: Any) -> Contestant:
    def code() -> np.ndarray:
        return sedil.sparse_code(
            task.dictionary, task.patches, task.penalty, tolerance=TOLERANCE, threads=task.threads, **options
        )

    package = f"sedil {sedil.__version__}"
    return Contestant(name, package, code, partial(_judge, task), task.repeats, task.multiple)


def _our_part(task: Task, count: int, name: str, **options: Any) -> Contestant:
    part, share = task.part(count)
    return _ours(part, name, **options)._replace(share=share)


def _spams(task: Task, name: str, precision: str) -> Contestant:
    package = SPAMS.version()
    flat, atoms = task.flat.astype(precision), task.atoms.astype(precision)
    code = partial(spams_lasso, flat, atoms, task.penalty, task.threads)

    def judge(codes: Any) -> dict[str, float]:
        return _judge(task, codes.T)

    return Contestant(name, package, code, judge, task.repeats, task.multiple)


def _sklearn(task: Task, count: int, name: str, solve: Callable[..., np.ndarray]) -> Contestant:
    part, share = task.part(count)
    code = partial(solve, part.flat, part.atoms, task.penalty, threads=task.threads)
    package, repeats = SCIKIT_LEARN.version(), min(task.repeats, 3)
    return Contestant(name, package, code, partial(_judge, part), repeats, task.multiple, share)


def _judge(task: Task, codes: Any) -> dict[str, float]:
    """Duality gaps, by the same formula in float64 for all, and how many coefficients are in use."""
    atoms = task.atoms.astype(np.float64)
    largest, unsolved, used = 0.0, 0, 0
    for start in range(0, len(task.patches), _JUDGED_AT_A_TIME):
        part = slice(start, start + _JUDGED_AT_A_TIME)
        mine = codes[part].toarray() if hasattr(codes, "toarray") else codes[part]
        mine = np.asarray(mine, np.float64).reshape(len(mine), -1).T
        problem = LassoProblem([atoms], task.flat[part].T.astype(np.float64), task.penalty)
        gaps = problem.relative_gap(mine)
        largest = max(largest, float(gaps.max()))
        unsolved += int(np.count_nonzero(gaps > _ROUNDING * TOLERANCE))
        used += int(np.count_nonzero(mine))
    return {
        "largest gap": largest,
        "unsolved patches": unsolved,
        "coefficients per patch": used / len(task.patches),
    }
