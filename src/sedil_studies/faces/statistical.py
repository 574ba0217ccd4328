"""Faces filled by statistics of the training faces alone: each takes faces and masks, returns whole faces."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from sedil.learning.prior_learning import covariance_of, principal_components
from sedil_studies.harness.method import Filler


def mean_face(training: np.ndarray) -> Filler:
    """The mean of the training faces."""
    mean = training.mean(axis=0)
    return lambda faces, masks: np.where(masks, mean, faces)


def gappy_pca(training: np.ndarray, n_components: int) -> Filler:
    """The principal components fitted to the known pixels alone (Everson and Sirovich, 1995)."""
    mean = training.mean(axis=0).ravel()
    components = principal_components(training.reshape(len(training), -1) - mean, n_components)
    components /= np.linalg.norm(components, axis=1, keepdims=True)

    def fill(faces: np.ndarray, masks: np.ndarray) -> np.ndarray:
        filled = faces.copy()
        for which, mask in _groups(masks):
            known = components[:, ~mask.ravel()]
            rest = (faces[which].reshape(-1, mask.size) - mean)[:, ~mask.ravel()]
            weights = np.linalg.lstsq(known.T.astype(np.float64), rest.T.astype(np.float64), rcond=None)[0]
            whole = (mean + weights.T @ components).reshape(-1, *mask.shape)
            filled[which] = np.where(mask, whole, faces[which])
        return filled

    return fill


class GaussianFiller:
    """The expected pixels if faces were Gaussian with the covariance of the training faces plus noise.

    It is the best linear estimate, at the price of a full covariance matrix.
    """

    def __init__(self, training: np.ndarray, noise: float) -> None:
        flat = training.reshape(len(training), -1)
        self._mean = flat.mean(axis=0, dtype=np.float64).astype(np.float32)
        covariance = covariance_of(flat - self._mean)
        covariance[np.diag_indices_from(covariance)] += noise**2
        self._precision = np.linalg.inv(covariance).astype(np.float32)
        self._covariance = covariance.astype(np.float32)

    @property
    def n_numbers(self) -> int:
        """How many numbers have to be stored."""
        size = len(self._mean)
        return size + size * (size + 1) // 2

    def __call__(self, faces: np.ndarray, masks: np.ndarray) -> np.ndarray:
        """Whole faces."""
        filled = faces.copy()
        for which, mask in _groups(masks):
            missing, rest = mask.ravel(), faces[which].reshape(-1, mask.size) - self._mean
            whole = filled[which].reshape(rest.shape)
            whole[:, missing] = self._mean[missing] + self._expected(missing, rest[:, ~missing])
            filled[which] = whole.reshape(-1, *mask.shape)
        return filled

    def _expected(self, missing: np.ndarray, known_rest: np.ndarray) -> np.ndarray:
        """By the precision of the missing or the covariance of the known, whichever matrix is smaller."""
        from scipy.linalg import solve

        known = ~missing
        if missing.sum() < known.sum():
            right = -self._precision[np.ix_(missing, known)] @ known_rest.T
            return solve(self._precision[np.ix_(missing, missing)], right, assume_a="pos").T
        weights = solve(self._covariance[np.ix_(known, known)], known_rest.T, assume_a="pos")
        return weights.T @ self._covariance[np.ix_(known, missing)]


def _groups(masks: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """Indices of the faces that share a mask, and that mask."""
    packed = np.packbits(masks.reshape(len(masks), -1), axis=1)
    _, first, group = np.unique(packed, axis=0, return_index=True, return_inverse=True)
    for number, index in enumerate(first):
        yield np.flatnonzero(group.ravel() == number), masks[index]
