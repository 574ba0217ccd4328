"""The methods of the face table, by name: each takes faces and masks and returns whole faces.

No method sees the missing pixels, and no setting was chosen on test faces: penalties, noise levels and
numbers of components were chosen on faces of other persons (docs/faces.md).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

import sedil
from sedil.imaging.whole_inpainting import fill_whole
from sedil.learning.prior_learning import learn_gaussian_prior, learn_laplace_prior
from sedil_studies.faces import statistical
from sedil_studies.faces.dictionaries import Amount
from sedil_studies.harness.learned import fingerprint_of_atoms
from sedil_studies.harness.meter import Show
from sedil_studies.harness.method import Filler, Method
from sedil_studies.peers.biharmonic import biharmonic_fill_stack

_PENALTY = {"learned": 0.01, "odct": 0.06}  # of the known pixels' deviation
_SCALES_NOISE = {"learned": 0.5, "odct": 6.0}  # grey levels
_ITERATIONS = {"learned": 100, "odct": 300}  # of FISTA; over the ODCT it is slower
_COVARIANCE_NOISE = 3.0  # while the variances are learned
_FILLING_NOISE = {"learned": 7.5, "odct": 7.5}  # while faces are filled
_GAUSSIAN_NOISE = 4.5
_GAPPY_COMPONENTS = 10
_COMPONENTS = 200


class Ready(NamedTuple):
    """A method that is ready to fill, and how many numbers it stores."""

    fill: Filler
    n_numbers: int


class Materials:
    """What methods are made from: training faces, and the learned dictionary.

    All statistics are learned from the training faces and their mirror images.
    """

    def __init__(
        self,
        training: np.ndarray,
        dictionary: sedil.SeparableDictionary,
        amount: Amount,
        threads: int,
    ) -> None:
        self.amount = amount
        self.training = np.concatenate([training, training[:, :, ::-1]])
        self.threads = threads
        side = training.shape[1]
        odct = sedil.odct((side, side), (2 * side, 2 * side)).like(training)
        self.dictionaries = {"learned": dictionary, "odct": odct}

    def n_components(self, wanted: int) -> int:
        """As many as wanted, or as tiny data allows."""
        return min(wanted, len(self.training) // 4)

    def describe(self, name: str) -> str:
        """The dictionary in words."""
        return "ODCT" if name == "odct" else f"learned ({fingerprint_of_atoms(self.dictionaries[name])})"


def _mean(materials: Materials) -> Method[Ready]:
    fill = statistical.mean_face(materials.training)
    return Method.at_hand("mean of the training faces", Ready(fill, materials.training[0].size))


def _biharmonic(materials: Materials) -> Method[Ready]:
    return Method.at_hand("scikit-image", Ready(biharmonic_fill_stack, 0))


def _gappy_pca(materials: Materials) -> Method[Ready]:
    count = materials.n_components(_GAPPY_COMPONENTS)

    def prepare(show: Show) -> Ready:
        fill = statistical.gappy_pca(materials.training, count)
        return Ready(fill, (count + 1) * materials.training[0].size)

    return Method(f"{count} components, least squares", prepare)


def _gaussian(materials: Materials) -> Method[Ready]:
    def prepare(show: Show) -> Ready:
        filler = statistical.GaussianFiller(materials.training, _GAUSSIAN_NOISE)
        return Ready(filler, filler.n_numbers)

    return Method(f"full covariance, noise {_GAUSSIAN_NOISE:g}", prepare)


def _sparse(name: str, materials: Materials) -> Method[Ready]:
    dictionary, limit = materials.dictionaries[name], _ITERATIONS[name]
    fill = partial(
        fill_whole, dictionary, penalty=_PENALTY[name], max_iterations=limit, threads=materials.threads
    )
    settings = f"{materials.describe(name)}, l1, penalty {_PENALTY[name]:g} deviations, {limit} iterations"
    return Method.at_hand(settings, Ready(fill, _n_entries(dictionary)))


def _scales(name: str, materials: Materials) -> Method[Ready]:
    dictionary, noise, limit = materials.dictionaries[name], _SCALES_NOISE[name], _ITERATIONS[name]

    def prepare(show: Show) -> Ready:
        prior = learn_laplace_prior(
            dictionary, materials.training, noise, n_coded=materials.amount.n_coded, threads=materials.threads
        )
        fill = partial(fill_whole, dictionary, prior=prior, max_iterations=limit, threads=materials.threads)
        return Ready(fill, _n_entries(dictionary) + prior.n_numbers)

    scales = f"mean face, l1 with learned scales of {materials.amount.n_coded} faces, noise {noise:g}"
    return Method(f"{materials.describe(name)}, {scales}, {limit} iterations", prepare)


def _covariance(name: str, materials: Materials) -> Method[Ready]:
    dictionary, count = materials.dictionaries[name], materials.n_components(_COMPONENTS)

    def prepare(show: Show) -> Ready:
        prior = learn_gaussian_prior(
            dictionary,
            materials.training,
            _COVARIANCE_NOISE,
            n_components=count,
            n_iterations=materials.amount.prior_iterations,
        )._replace(noise=_FILLING_NOISE[name])
        fill = partial(fill_whole, dictionary, prior=prior, threads=materials.threads)
        return Ready(fill, _n_entries(dictionary) + prior.n_numbers)

    how = f"{materials.amount.prior_iterations} iterations, noise {_COVARIANCE_NOISE:g}"
    settings = (
        f"{materials.describe(name)}, mean face, {count} components, learned variances ({how}), "
        f"noise {_FILLING_NOISE[name]:g}"
    )
    return Method(settings, prepare)


def _n_entries(dictionary: sedil.SeparableDictionary) -> int:
    return sum(factor.size for factor in dictionary.factors)


# In the order of the report.
METHODS: dict[str, Callable[[Materials], Method[Ready]]] = {
    "mean face": _mean,
    "biharmonic": _biharmonic,
    "gappy PCA": _gappy_pca,
    "Gaussian": _gaussian,
    "ODCT": partial(_sparse, "odct"),
    "ODCT + scales": partial(_scales, "odct"),
    "ODCT + covariance": partial(_covariance, "odct"),
    "separable": partial(_sparse, "learned"),
    "separable + scales": partial(_scales, "learned"),
    "separable + covariance": partial(_covariance, "learned"),
}
