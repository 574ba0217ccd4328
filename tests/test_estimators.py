import pickle

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning, NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import sedil
from sedil import SeparableDictionaryLearning
from sedil.learning.defaults import smallest_coefficient


@parametrize_with_checks([SeparableDictionaryLearning(max_iterations=30)])
def test_scikit_learn_checks(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def patches():
    rng = np.random.default_rng(0)
    codes = rng.standard_normal((300, 6, 6)) * (rng.random((300, 6, 6)) < 0.1)
    factors = [rng.standard_normal((4, 6)) for _ in range(2)]
    return sedil.SeparableDictionary(factors, normalize=True).synthesize(codes)


@pytest.fixture(scope="module")
def model(patches):
    return SeparableDictionaryLearning((4, 4), (6, 6), max_iterations=60, random_state=0).fit(patches)


def test_patches_and_rows_give_the_same_model(patches, model):
    rows = patches.reshape(len(patches), -1)
    again = SeparableDictionaryLearning((4, 4), (6, 6), max_iterations=60, random_state=0).fit(rows)
    for mine, theirs in zip(model.factors_, again.factors_, strict=True):
        assert_array_equal(mine, theirs)
    assert_allclose(again.transform(rows), model.transform(patches), atol=1e-12)


def test_no_patch_shape_is_the_unstructured_case(patches):
    model = SeparableDictionaryLearning(max_iterations=5, random_state=0).fit(patches)
    assert [factor.shape for factor in model.factors_] == [(16, 64)]
    assert model.transform(patches).shape == (300, 64)


def test_components_are_the_atoms_and_follow_a_new_fit(patches, model):
    assert_allclose(model.components_, model.dictionary_.atoms().reshape(36, 16))
    other = SeparableDictionaryLearning((4, 4), (6, 6), max_iterations=3, random_state=0).fit(patches)
    first = other.components_
    other.set_params(random_state=1).fit(patches)
    assert not np.allclose(first, other.components_)


def test_inverse_transform_is_synthesis_in_the_shape_of_the_input(patches, model):
    codes = model.transform(patches)
    assert model.inverse_transform(codes).shape == patches.shape
    assert_allclose(model.inverse_transform(codes).reshape(300, -1), codes @ model.components_, atol=1e-10)


def test_transform_codes_to_the_tolerance_it_promises(patches, model):
    codes = model.transform(patches)
    correlation = (model.inverse_transform(codes) - patches).reshape(300, -1) @ model.components_.T
    used = codes != 0
    assert 0 < used.mean() < 0.5
    assert_allclose(correlation[used], -model.penalty_ * np.sign(codes[used]), atol=0.02 * model.penalty_)
    assert np.abs(correlation[~used]).max() <= 1.02 * model.penalty_


def test_score_rewards_learning_and_does_not_depend_on_units(patches, model):
    untrained = SeparableDictionaryLearning(
        (4, 4), (6, 6), max_iterations=0, penalty=model.penalty_, random_state=0
    ).fit(patches)
    assert 0 < untrained.score(patches) < model.score(patches) < 1
    scaled = SeparableDictionaryLearning((4, 4), (6, 6), max_iterations=60, random_state=0).fit(255 * patches)
    assert scaled.score(255 * patches) == pytest.approx(model.score(patches), abs=1e-3)


def test_warm_start_goes_on_from_the_last_dictionary(patches, model):
    warm = SeparableDictionaryLearning((4, 4), (6, 6), max_iterations=20, warm_start=True, random_state=0)
    first = warm.fit(patches).history_["objective"][-1]
    second = warm.fit(patches).history_["objective"][-1]
    assert second < first
    warm.set_params(n_atoms=(5, 5)).fit(patches)
    assert warm.dictionary_.n_atoms == (5, 5)


def test_history_and_names(model):
    assert model.n_iter_ == model.history_[-1].iteration
    assert model.get_feature_names_out()[-1] == "separabledictionarylearning35"
    assert isinstance(model.stop_reason_, sedil.StopReason)


def test_pipeline_with_pandas_output(patches):
    pytest.importorskip("pandas", reason="pandas is not installed: set_output(transform='pandas') not tried")
    rows = patches.reshape(len(patches), -1)
    pipeline = make_pipeline(StandardScaler(), SeparableDictionaryLearning((4, 4), 5, max_iterations=3))
    frame = pipeline.set_output(transform="pandas").fit_transform(rows)
    assert frame.shape == (300, 25)


def test_pickle_keeps_the_model(patches, model):
    copy = pickle.loads(pickle.dumps(model))
    assert_array_equal(copy.transform(patches[:5]), model.transform(patches[:5]))


def test_progress_is_that_of_learn(patches, capsys):
    SeparableDictionaryLearning((4, 4), 5, max_iterations=3, progress=True).fit(patches)
    assert capsys.readouterr() == ("", "")  # which is no terminal: tests/test_progress.py has one
    told = []
    SeparableDictionaryLearning((4, 4), 5, max_iterations=3, progress=told.append).fit(patches)
    assert [(each.done, each.total) for each in told] == [(1, 3), (2, 3), (3, 3)]


def test_engine_threads_and_precision_are_passed_on(patches):
    settings = {"max_iterations": 5, "random_state": 0}
    default = SeparableDictionaryLearning((4, 4), (6, 6), **settings).fit(patches)
    assert default.dictionary_.info["engine"] == "fused"
    assert default.factors_[0].dtype == default.transform(patches).dtype == np.float64
    portable = SeparableDictionaryLearning((4, 4), (6, 6), engine="portable", **settings).fit(patches)
    assert portable.dictionary_.info["engine"] == "portable"
    wide = SeparableDictionaryLearning((4, 4), (6, 6), dtype="float64", **settings).fit(patches)
    plain = sedil.learn(patches, (6, 6), dtype="float64", max_iterations=5, random_state=wide._rng())
    assert_array_equal(wide.factors_[0], plain.dictionary.factors[0])
    codes = wide.transform(patches)
    assert not np.array_equal(codes, codes.astype(np.float32))  # which were computed in float64
    with pytest.raises(ValueError, match="threads must be a whole number of at least 1"):
        SeparableDictionaryLearning((4, 4), threads=0).fit(patches)


def test_default_tolerance_of_codes_is_reached_in_float32(patches, model):
    """Warnings are errors here."""
    for scale in (1e-3, 1.0, 255.0):
        loud = SeparableDictionaryLearning((4, 4), max_iterations=30, random_state=0).fit(scale * patches)
        assert loud.transform(scale * patches).any()


@pytest.mark.parametrize(
    ("kwargs", "message"),
    [
        ({"patch_shape": (2, 8)}, r"X has samples of shape \(4, 4\), but patch_shape is \(2, 8\)"),
        ({"patch_shape": (-4, -4)}, "patch_shape must be a whole number of at least 1, got -4"),
        ({"n_atoms": 0}, "n_atoms must be positive whole numbers, got 0"),
        ({"transform_tolerance": -1}, "transform_tolerance must be a finite positive number, got -1"),
        ({"patch_shape": (4, 4), "n_atoms": (6,)}, "n_atoms must have one number per patch axis"),
        ({"preset": "best"}, "preset must be one of 'data', 'paper', got 'best'"),
        ({"penalty": -1.0}, "penalty must be a finite positive number, got -1.0"),
    ],
)
def test_wrong_parameters_are_named(patches, kwargs, message):
    with pytest.raises(ValueError, match=message):
        SeparableDictionaryLearning(max_iterations=2, **kwargs).fit(patches)


def test_rows_of_another_length_are_refused(patches):
    message = r"patch_shape \(4, 5\) holds 20 values, but X has 16 features"
    with pytest.raises(ValueError, match=message):
        SeparableDictionaryLearning((4, 5), max_iterations=2).fit(patches.reshape(300, 16))


def test_blocks_of_another_shape_are_refused_by_transform(patches, model):
    with pytest.raises(
        ValueError, match=r"X has samples of shape \(2, 8\), but the model was fitted to \(4, 4\)"
    ):
        model.transform(patches.reshape(300, 2, 8))


def test_unfinished_codes_are_said(patches, model):
    hasty = SeparableDictionaryLearning((4, 4), 6, max_iterations=3, transform_max_iterations=1).fit(patches)
    with pytest.warns(ConvergenceWarning, match=r"of 300 patches have a duality gap above 1e-05"):
        hasty.transform(patches)


@pytest.mark.parametrize("n_atoms", [6, np.int64(6), [6, 6], np.array([6, 6])])
def test_number_of_atoms_in_any_form(patches, n_atoms):
    model = SeparableDictionaryLearning((4, 4), n_atoms, max_iterations=1, warm_start=True)
    assert model.fit(patches).fit(patches).dictionary_.n_atoms == (6, 6)


def test_codes_of_another_size_are_refused(model):
    with pytest.raises(ValueError, match=r"codes of shape \(n_samples, 36\), got shape \(2, 35\)"):
        model.inverse_transform(np.zeros((2, 35)))


def test_components_of_an_unfitted_model():
    with pytest.raises(NotFittedError):
        SeparableDictionaryLearning().components_  # noqa: B018


def test_default_penalty_is_where_dropping_a_coefficient_costs_as_much_as_keeping_it(model):
    weights = sedil.learn(np.ones((1, 2)), 2, max_iterations=0).weights
    size = smallest_coefficient(weights)
    kept = weights.sparsity_weight * np.log1p(weights.sparsity_scale * size**2)
    assert kept == pytest.approx(size**2 / 2)


def test_partial_fit_is_the_mini_batch_learner(patches):
    model = SeparableDictionaryLearning((4, 4), (6, 6), random_state=0)
    learner = sedil.MiniBatchLearner((6, 6), random_state=model._rng())
    for batch in np.split(patches, 3):
        model.partial_fit(batch.reshape(100, -1))
        learner.partial_fit(batch)
    for mine, its in zip(model.factors_, learner.factors, strict=True):
        assert_allclose(mine, its, atol=1e-6)
    assert model.n_iter_ == 3
    assert model.transform(patches[:2]).shape == (2, 36)
    assert model.inverse_transform(model.transform(patches[:2])).shape == (2, 16)


def test_partial_fit_after_fit_starts_from_its_dictionary(patches):
    model = SeparableDictionaryLearning((4, 4), (6, 6), max_iterations=60, random_state=0).fit(patches)
    before = [factor.copy() for factor in model.factors_]
    model.partial_fit(patches[:3])
    for old, new in zip(before, model.factors_, strict=True):
        assert 0 < np.abs(old - new).max() < 0.5  # three samples against the three hundred of fit
    assert len(model.history_) == 1


def test_fit_after_partial_fit_forgets_it(patches, model):
    other = SeparableDictionaryLearning((4, 4), (6, 6), max_iterations=60, random_state=0)
    other.partial_fit(patches[:50]).fit(patches)
    for mine, theirs in zip(model.factors_, other.factors_, strict=True):
        assert_array_equal(mine, theirs)


def test_partial_fit_refuses_blocks_of_another_shape(patches):
    model = SeparableDictionaryLearning((4, 4), (6, 6), random_state=0).partial_fit(patches[:50])
    with pytest.raises(ValueError, match=r"samples of shape \(2, 8\), but the model was fitted to \(4, 4\)"):
        model.partial_fit(patches.reshape(300, 2, 8))


def test_score_does_not_depend_on_the_kind_of_output(patches, model):
    pytest.importorskip("pandas", reason="pandas is not installed: no data frames were tried")
    rows = patches.reshape(len(patches), -1)
    framed = clone(model).set_output(transform="pandas").fit(rows)
    assert framed.score(rows) == model.score(rows)


def test_models_without_a_price_of_sparsity_code_all_the_same():
    X = np.random.default_rng(0).standard_normal((12, 4, 4))
    model = sedil.SeparableDictionaryLearning(
        (4, 4), 5, sparsity_weight=0.0, max_iterations=1, random_state=0
    )
    assert 0 < model.fit(X).penalty_ < 1e-12
    assert np.isfinite(model.transform(X)).all()


def test_scores_of_large_numbers_are_those_of_small_ones():
    X = np.random.default_rng(0).standard_normal((12, 16)).astype(np.float32)
    model = sedil.SeparableDictionaryLearning((4, 4), 5, max_iterations=3, random_state=0).fit(X)
    small = model.score(X)
    model.penalty_ *= 1e30
    assert_allclose(model.score(np.float32(1e30) * X), small, rtol=1e-5)
