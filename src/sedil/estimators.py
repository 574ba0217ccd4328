"""The scikit-learn face of the package; the mathematics is elsewhere."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from math import ldexp, prod, sqrt
from numbers import Integral
from typing import Any

import numpy as np
from array_api_compat import is_dask_array
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, check_random_state, validate_data

from sedil.arrays import exponent_to_work_in, largest_size, times_power_of_two
from sedil.checks import (
    as_real_array,
    patch_lengths,
    require_count,
    require_flag,
    require_positive,
    require_unmasked,
)
from sedil.choices import MetricName, Precision, PresetName, StartName
from sedil.cluster.dask_arrays import in_memory, require_known_chunks
from sedil.coding import sparse_code
from sedil.dictionary import SeparableDictionary
from sedil.engines import EngineName
from sedil.learning.defaults import choose_atoms, smallest_coefficient
from sedil.learning.learn import learn
from sedil.learning.minibatch import MiniBatchLearner
from sedil.learning.result import History
from sedil.objective import Weights
from sedil.pretrained import DictionaryLike
from sedil.progress import ProgressOption

_COST_AND_ENGINE = (
    "preset",
    "sparsity_scale",
    "sparsity_weight",
    "coherence_weight",
    "metric",
    "engine",
    "threads",
    "dtype",
)


class SeparableDictionaryLearning(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Learn a separable dictionary and code data over it.

    `fit` is `sedil.learn`, `partial_fit` learns from one batch as `sedil.learn_minibatch` does.
    `transform` solves ``1/2 ||D x - s||^2 + penalty ||x||_1`` for each sample.

    Parameters
    ----------
    patch_shape : tuple of int, optional
        Shape of one sample, 1 to 4 axes, with as many entries as X has features. None, the default,
        is the unstructured case: one factor over all features.
    n_atoms : int or tuple of int, optional
        Atoms of each factor. Default: as in `sedil.learn`.
    initial, preset, sparsity_scale, sparsity_weight, coherence_weight, metric, warm_up
        As in `sedil.learn`.
    max_iterations, tolerance
        As in `sedil.learn`.
    penalty : float, optional
        l1 penalty of `transform`. Default: the smallest coefficient that the learned cost prefers to zero.
    transform_tolerance : float, default 1e-5
        Relative duality gap to which each sample is coded.
    transform_max_iterations : int, default 2000
    warm_start : bool, default False
        Start `fit` from the dictionary of the last one, if it has the same shape.
    random_state : int, numpy.random.RandomState or None
        None, the default, is other numbers each time; those that all programs share stay as they are.
    progress : bool or callable, default False
        Of `fit`, as in `sedil.learn`.
    engine, threads, dtype
        As in `sedil.learn`.

    Attributes
    ----------
    dictionary_ : SeparableDictionary
    factors_ : tuple of ndarray
    components_ : ndarray of shape (n_components, n_features)
        All atoms as rows, built when first asked for.
    penalty_ : float
        l1 penalty that `transform` uses.
    n_iter_ : int
    history_ : History
    stop_reason_ : StopReason, after `fit`
    n_features_in_ : int
    feature_names_in_ : ndarray, only if X had string column names

    See Also
    --------
    sedil.learn, sedil.sparse_code

    Examples
    --------
    >>> import numpy as np
    >>> from sedil import SeparableDictionaryLearning
    >>> X = np.random.default_rng(0).standard_normal((100, 16))
    >>> model = SeparableDictionaryLearning((4, 4), (6, 6), max_iterations=20, random_state=0)
    >>> model.fit_transform(X).shape
    (100, 36)
    """

    _learner: MiniBatchLearner | None  # of `partial_fit`; none after `fit`

    def __init__(
        self,
        patch_shape: Sequence[int] | None = None,
        n_atoms: int | Sequence[int] | None = None,
        *,
        initial: StartName | DictionaryLike = "random",
        preset: PresetName = "data",
        sparsity_scale: float | None = None,
        sparsity_weight: float | None = None,
        coherence_weight: float | None = None,
        metric: MetricName = "balanced",
        warm_up: int | None = None,
        max_iterations: int = 500,
        tolerance: float = 1e-5,
        penalty: float | None = None,
        transform_tolerance: float = 1e-5,
        transform_max_iterations: int = 2000,
        warm_start: bool = False,
        random_state: int | np.random.RandomState | None = None,
        progress: ProgressOption = False,
        engine: EngineName | None = None,
        threads: int | None = None,
        dtype: Precision | None = None,
    ) -> None:
        self.patch_shape = patch_shape
        self.n_atoms = n_atoms
        self.initial = initial
        self.preset = preset
        self.sparsity_scale = sparsity_scale
        self.sparsity_weight = sparsity_weight
        self.coherence_weight = coherence_weight
        self.metric = metric
        self.warm_up = warm_up
        self.max_iterations = max_iterations
        self.tolerance = tolerance
        self.penalty = penalty
        self.transform_tolerance = transform_tolerance
        self.transform_max_iterations = transform_max_iterations
        self.warm_start = warm_start
        self.random_state = random_state
        self.progress = progress
        self.engine = engine
        self.threads = threads
        self.dtype = dtype

    def fit(self, X: Any, y: Any = None) -> SeparableDictionaryLearning:
        """Learn the dictionary.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, *patch_shape)
        y : ignored

        Returns
        -------
        self
        """
        self._check_parameters()
        X = in_memory(X, "X", "go through it by partial_fit")
        sample_shape = _sample_shape(X)
        X = self._validated(X, reset=True)
        patch_shape, n_atoms = self._sizes(X.shape[1], sample_shape)
        result = learn(
            X.reshape(-1, *patch_shape),
            n_atoms,
            initial=self._initial(patch_shape, n_atoms),
            **self._cost_and_engine(),
            warm_up=self.warm_up,
            max_iterations=self.max_iterations,
            tolerance=self.tolerance,
            random_state=self._rng(),
            progress=self.progress,
        )
        self._adopt(result.dictionary, result.weights, result.history)
        self.stop_reason_ = result.stop_reason
        self._sample_shape = sample_shape or (self.n_features_in_,)
        self._n_samples_fitted = len(X)
        self._learner = None
        return self

    def partial_fit(self, X: Any, y: Any = None) -> SeparableDictionaryLearning:
        """Go on learning from one more batch, a few hundred to a few thousand samples.

        Of a Dask array each chunk of rows is a batch.

        After `fit` it starts from the dictionary found there, which then counts as much as its samples. The
        weights of the cost are those of the first batch. `warm_up`, `max_iterations`, `tolerance` and
        `progress` are not used.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, *patch_shape)
        y : ignored

        Returns
        -------
        self
        """
        if is_dask_array(X):
            require_known_chunks(X, "X")
            for rows in X.rechunk(dict.fromkeys(range(1, X.ndim), -1)).blocks:
                self.partial_fit(rows.compute())
            return self
        self._check_parameters()
        is_first = not self.__sklearn_is_fitted__()
        sample_shape = _sample_shape(X)
        if not is_first:
            self._require_sample_shape(X)
        X = self._validated(X, reset=is_first)
        patch_shape, n_atoms = self._sizes(X.shape[1], sample_shape if is_first else None)
        if is_first:
            self._learner = self._new_learner(n_atoms, self.initial)
        elif self._learner is None:
            self._learner = self._new_learner(n_atoms, self.dictionary_)
            self._learner.n_samples = self._n_samples_fitted
        learner = self._learner.partial_fit(X.reshape(-1, *patch_shape))
        assert learner.weights is not None  # since the first batch
        self._adopt(learner.dictionary, learner.weights, learner.history)
        if is_first:
            self._sample_shape = sample_shape or (self.n_features_in_,)
        return self

    def transform(self, X: Any) -> np.ndarray:
        """Code samples over the learned dictionary.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features) or (n_samples, *patch_shape)

        Returns
        -------
        ndarray of shape (n_samples, n_components)
            Of a Dask array a Dask array, not yet computed.
        """
        check_is_fitted(self)
        self._require_sample_shape(X)
        if is_dask_array(X):
            rows = X.rechunk(dict.fromkeys(range(1, X.ndim), -1))
            return rows.map_blocks(
                self.transform,
                dtype=X.dtype if X.dtype == np.float32 else np.float64,
                chunks=(rows.chunks[0], self._n_features_out),
                drop_axis=tuple(range(2, X.ndim)),
                meta=np.empty((0, 0), X.dtype if X.dtype == np.float32 else np.float64),
            )
        X = self._validated(X, reset=False)
        codes = sparse_code(
            self.dictionary_.like(X),
            X.reshape(-1, *self.dictionary_.patch_shape),
            self.penalty_,
            tolerance=self.transform_tolerance,
            max_iterations=self.transform_max_iterations,
            dtype=self.dtype,
            engine=self.engine,
            threads=self.threads,
        )
        return codes.reshape(len(codes), -1)

    def inverse_transform(self, X: Any) -> np.ndarray:
        """Samples from codes, in the shape of the samples that `fit` saw.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_components)

        Returns
        -------
        ndarray of shape (n_samples, n_features) or (n_samples, *patch_shape)
        """
        check_is_fitted(self)
        codes = as_real_array(X, "X")
        if codes.ndim != 2 or codes.shape[1] != self._n_features_out:
            raise ValueError(
                f"X must hold codes of shape (n_samples, {self._n_features_out}), got shape {codes.shape}."
            )
        dictionary = self.dictionary_.like(codes)
        patches = dictionary.synthesize(codes.reshape(-1, *dictionary.n_atoms))
        return patches.reshape(len(codes), *self._sample_shape)

    def score(self, X: Any, y: Any = None) -> float:
        """How much coding saves: 1 minus the l1 cost of `transform`'s codes over that of zero codes.

        Between 0 (nothing can be coded) and 1 (perfect for free). Counts accuracy and sparsity, does not
        depend on units; compare models at the same `penalty`.
        """
        codes = np.asarray(self.transform(X))  # which `set_output` may have made a data frame
        X = self._validated(X, reset=False)
        residual = self.inverse_transform(codes).reshape(X.shape) - X
        price = self.penalty_ * float(np.sum(np.abs(codes), dtype=np.float64))
        zero_cost = _half_energy(X)
        return 1 - (_half_energy(residual) + price) / zero_cost if zero_cost else 0.0

    @cached_property
    def components_(self) -> np.ndarray:
        """All atoms as rows, shape (n_components, n_features)."""
        check_is_fitted(self, "dictionary_")
        return self.dictionary_.as_matrix().T

    @property
    def _n_features_out(self) -> int:
        return prod(self.dictionary_.n_atoms)

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "dictionary_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    def _cost_and_engine(self) -> dict[str, Any]:
        """What decides the cost and who computes it, as `learn` and `MiniBatchLearner` take it."""
        return {name: getattr(self, name) for name in _COST_AND_ENGINE}

    def _new_learner(self, n_atoms: tuple[int, ...], initial: StartName | DictionaryLike) -> MiniBatchLearner:
        return MiniBatchLearner(n_atoms, initial=initial, **self._cost_and_engine(), random_state=self._rng())

    def _adopt(self, dictionary: SeparableDictionary, weights: Weights, history: History) -> None:
        """Take what has been learned."""
        self.dictionary_ = dictionary
        self.factors_ = dictionary.factors
        self.penalty_ = _default_penalty(weights) if self.penalty is None else self.penalty
        self.history_ = history
        self.n_iter_ = max(history[-1].iteration, 1)
        self.__dict__.pop("components_", None)

    def _check_parameters(self) -> None:
        if self.penalty is not None:
            require_positive(self.penalty, "penalty")
        require_positive(self.transform_tolerance, "transform_tolerance")
        require_count(self.transform_max_iterations, "transform_max_iterations", minimum=1)

    def _sizes(
        self, n_features: int, sample_shape: tuple[int, ...] | None
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Shape of a patch and atoms per axis."""
        patch_shape = self._patch_shape(n_features, sample_shape)
        return patch_shape, choose_atoms(self.n_atoms, patch_shape)

    def _rng(self) -> np.random.Generator:
        if isinstance(self.random_state, Integral):
            require_count(self.random_state, "random_state", maximum=2**32 - 1)
        if self.random_state is None:  # and the numbers that all share stay as they are
            return np.random.default_rng()
        return np.random.default_rng(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _validated(self, X: Any, reset: bool) -> np.ndarray:
        require_unmasked(X, "X")
        if _sample_shape(X) is not None:
            X = np.asarray(X).reshape(X.shape[0], prod(X.shape[1:]))
        with np.errstate(invalid="ignore"):  # scikit-learn adds up X to look for NaN
            return validate_data(self, X, reset=reset, dtype=[np.float64, np.float32])

    def _require_sample_shape(self, X: Any) -> None:
        """Blocks must have the shape of those in `fit`, or of a patch; rows are checked by scikit-learn."""
        shape = _sample_shape(X)
        if shape is not None and shape not in (self._sample_shape, self.dictionary_.patch_shape):
            expected = self._sample_shape if len(self._sample_shape) > 1 else self.dictionary_.patch_shape
            raise ValueError(f"X has samples of shape {shape}, but the model was fitted to {expected}.")

    def _patch_shape(self, n_features: int, sample_shape: tuple[int, ...] | None) -> tuple[int, ...]:
        if self.patch_shape is None:
            return (n_features,)
        patch_shape = patch_lengths(self.patch_shape)
        if sample_shape not in (None, patch_shape):
            raise ValueError(f"X has samples of shape {sample_shape}, but patch_shape is {patch_shape}.")
        if prod(patch_shape) != n_features:
            raise ValueError(
                f"patch_shape {patch_shape} holds {prod(patch_shape)} values, "
                f"but X has {n_features} features."
            )
        return patch_shape

    def _initial(self, patch_shape: tuple[int, ...], n_atoms: tuple[int, ...]) -> StartName | DictionaryLike:
        last = getattr(self, "dictionary_", None)
        if last is None or not require_flag(self.warm_start, "warm_start"):
            return self.initial
        return last if (last.patch_shape, last.n_atoms) == (patch_shape, n_atoms) else self.initial


def _sample_shape(X: Any) -> tuple[int, ...] | None:
    """Shape of one sample where X holds blocks, None where it holds rows."""
    shape = getattr(X, "shape", ())
    return tuple(shape[1:]) if isinstance(shape, tuple) and len(shape) > 2 else None


def _default_penalty(weights: Weights) -> float:
    """The smallest coefficient worth keeping; where all are, one that float32 can still tell from nothing."""
    return max(smallest_coefficient(weights), 2.0**-50 / sqrt(weights.sparsity_scale))


def _half_energy(array: np.ndarray) -> float:
    exponent = exponent_to_work_in(largest_size(array))
    squares = times_power_of_two(array, exponent) ** 2
    return ldexp(0.5 * float(np.sum(squares, dtype=np.float64)), -2 * exponent)
