"""The methods of the face table, by name: each takes faces and masks and returns whole faces.

No method sees the missing pixels, and no setting was chosen on test faces: penalties, noise levels and
numbers of components were chosen on faces of other persons (docs/faces.md).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from typing import NamedTuple

import numpy as np

import sedil
from sedil.imaging.whole_inpainting import fill_whole
from sedil.learning.prior_learning import learn_gaussian_prior, learn_laplace_prior
from sedil_studies import face_baselines
from sedil_studies.face_baselines import Filler
from sedil_studies.methods import fingerprint

_PENALTY = {"learned": 0.01, "odct": 0.06}  # of the known pixels' deviation
_SCALES_NOISE = {"learned": 0.5, "odct": 6.0}  # grey levels
_ITERATIONS = {"learned": 100, "odct": 300}  # of FISTA; over the ODCT it is slower
_COVARIANCE_NOISE = 3.0  # while the variances are learned
_FILLING_NOISE = {"learned": 7.5, "odct": 7.5}  # while faces are filled
_GAUSSIAN_NOISE = 4.5
_GAPPY_COMPONENTS = 10
_COMPONENTS = 200
_CODED = 1000  # faces on which scales are measured
_EM_ITERATIONS = 20


class Ready(NamedTuple):
    """A method that is ready to fill, and how many numbers it stores."""

    fill: Filler
    n_numbers: int


class Method(NamedTuple):
    """One column of the table.

    Attributes
    ----------
    settings : all that decides the result besides versions, in words
    prepare : what takes long and is done once, off the clock, whoever asks
    """

    settings: str
    prepare: Callable[[], Ready]


class Workshop:
    """What methods are made from: training faces, and the learned dictionary.

    All statistics are learned from the training faces and their mirror images.
    """

    def __init__(self, training: np.ndarray, dictionary: sedil.SeparableDictionary, threads: int) -> None:
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
        return "ODCT" if name == "odct" else f"learned ({fingerprint(self.dictionaries[name])})"


def _mean(shop: Workshop) -> Method:
    def prepare() -> Ready:
        return Ready(face_baselines.mean_face(shop.training), shop.training[0].size)

    return Method("mean of the training faces", cache(prepare))


def _biharmonic(shop: Workshop) -> Method:
    return Method("scikit-image", lambda: Ready(face_baselines.biharmonic(), 0))


def _gappy_pca(shop: Workshop) -> Method:
    count = shop.n_components(_GAPPY_COMPONENTS)

    def prepare() -> Ready:
        return Ready(face_baselines.gappy_pca(shop.training, count), (count + 1) * shop.training[0].size)

    return Method(f"{count} components, least squares", cache(prepare))


def _gaussian(shop: Workshop) -> Method:
    def prepare() -> Ready:
        filler = face_baselines.GaussianFiller(shop.training, _GAUSSIAN_NOISE)
        return Ready(filler, filler.n_numbers)

    return Method(f"full covariance, noise {_GAUSSIAN_NOISE:g}", cache(prepare))


def _sparse(name: str, shop: Workshop) -> Method:
    dictionary, limit = shop.dictionaries[name], _ITERATIONS[name]

    def prepare() -> Ready:
        fill = partial(
            fill_whole, dictionary, penalty=_PENALTY[name], max_iterations=limit, threads=shop.threads
        )
        return Ready(fill, _n_entries(dictionary))

    settings = f"{shop.describe(name)}, l1, penalty {_PENALTY[name]:g} deviations, {limit} iterations"
    return Method(settings, cache(prepare))


def _scales(name: str, shop: Workshop) -> Method:
    dictionary, noise, limit = shop.dictionaries[name], _SCALES_NOISE[name], _ITERATIONS[name]

    def prepare() -> Ready:
        prior = learn_laplace_prior(dictionary, shop.training, noise, n_coded=_CODED, threads=shop.threads)
        fill = partial(fill_whole, dictionary, prior=prior, max_iterations=limit, threads=shop.threads)
        return Ready(fill, _n_entries(dictionary) + prior.n_numbers)

    scales = f"mean face, l1 with learned scales of {_CODED} faces, noise {noise:g}"
    return Method(f"{shop.describe(name)}, {scales}, {limit} iterations", cache(prepare))


def _covariance(name: str, shop: Workshop) -> Method:
    dictionary, count = shop.dictionaries[name], shop.n_components(_COMPONENTS)

    def prepare() -> Ready:
        prior = learn_gaussian_prior(
            dictionary,
            shop.training,
            _COVARIANCE_NOISE,
            n_components=count,
            n_iterations=_EM_ITERATIONS,
        )._replace(noise=_FILLING_NOISE[name])
        fill = partial(fill_whole, dictionary, prior=prior, threads=shop.threads)
        return Ready(fill, _n_entries(dictionary) + prior.n_numbers)

    settings = (
        f"{shop.describe(name)}, mean face, {count} components, learned variances "
        f"({_EM_ITERATIONS} iterations, noise {_COVARIANCE_NOISE:g}), noise {_FILLING_NOISE[name]:g}"
    )
    return Method(settings, cache(prepare))


def _n_entries(dictionary: sedil.SeparableDictionary) -> int:
    return sum(factor.size for factor in dictionary.factors)


# In the order of the report.
METHODS: dict[str, Callable[[Workshop], Method]] = {
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
