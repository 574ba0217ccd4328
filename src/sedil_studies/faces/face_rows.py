"""Rows of the results on faces: one method on all faces with one kind of hole; one learner."""

from __future__ import annotations

from math import sqrt
from typing import NamedTuple

import numpy as np

from sedil_studies.harness.row_kind import RowKind

_NORMAL = 1.96  # standard errors on both sides of the mean hold it in 95 of 100 cases


class FaceRow(NamedTuple):
    """One method on one kind of hole.

    Attributes
    ----------
    part : "test" or "validation"
    hole, method : what was run
    psnr, ssim : means over the faces, the PSNR inside the hole alone, the SSIM of whole faces
    psnr_margin, ssim_margin : half the width of their 95 % confidence intervals
    n_faces, n_persons : over which they are taken
    seconds : per face
    n_numbers : that have to be stored to fill a face
    threads : the method was given
    settings : of the method
    sedil, numpy : versions
    commit : of the code that made it
    """

    part: str
    hole: str
    method: str
    psnr: float
    psnr_margin: float
    ssim: float
    ssim_margin: float
    n_faces: int
    n_persons: int
    seconds: float
    n_numbers: int
    threads: int
    settings: str
    sedil: str
    numpy: str
    commit: str = ""


class LearningRow(NamedTuple):
    """How a dictionary was learned, and what it does for faces held out from learning.

    Attributes
    ----------
    learner : "joint" or "minibatch"
    n_faces, n_iterations : it was given and took
    seconds, processor_seconds : it took, by the clock and of all threads together
    peak_gb : largest memory of the process until then
    centre16, centre24, centre32 : mean PSNR inside the hole over validation faces, plain l1
    settings, sedil : of the learner, and version
    commit : of the code that made it
    """

    learner: str
    n_faces: int
    n_iterations: int
    seconds: float
    processor_seconds: float
    peak_gb: float
    centre16: float
    centre24: float
    centre32: float
    settings: str
    sedil: str
    commit: str = ""


FACES = RowKind(FaceRow, cell=("part", "hole", "method"), made_with=("n_faces", "settings", "sedil", "numpy"))
LEARNING = RowKind(LearningRow, cell=("learner",), made_with=("settings", "sedil"))


def margin(values: np.ndarray, persons: np.ndarray) -> float:
    """Half the width of the 95 % confidence interval of the mean; faces of a person count as dependent."""
    deviations = values - values.mean()
    _, person = np.unique(persons, return_inverse=True)
    sums = np.bincount(person, deviations)
    return _NORMAL * sqrt(float((sums**2).sum())) / len(values)
