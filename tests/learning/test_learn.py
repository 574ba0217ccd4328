import time
from math import prod

import numpy as np
import pytest

import sedil
from random_things import (
    SHAPES,
    dense_cost_terms,
    dense_mutual_coherence,
    planted,
    random_dictionary,
    random_factors,
    share_found,
    training_patches,
)
from sedil.arrays import pack, to_numpy
from sedil.dictionary import SeparableDictionary
from sedil.engines.portable.training import PortableTrainingSet
from sedil.learning import joint
from sedil.learning.defaults import smallest_coefficient
from sedil.learning.result import StopReason

PATCHES = training_patches(40, (3, 4))


def learn(patches=PATCHES, n_atoms=(4, 5), **settings):
    """In float64, unless another precision is asked for: most tests are about what is computed, not how."""
    defaults = {"max_iterations": 15, "random_state": 0, "dtype": "float64"}
    return sedil.learn(patches, n_atoms, **(defaults | settings))


def assert_same(one, other, tolerance=0.0):
    arrays = zip((one.codes, *one.dictionary.factors), (other.codes, *other.dictionary.factors), strict=True)
    for a, b in arrays:
        np.testing.assert_allclose(to_numpy(a), to_numpy(b), rtol=0, atol=tolerance)


# What it returns


@pytest.mark.parametrize("initial", ["random", "odct", "data"])
@pytest.mark.parametrize("n_axes", [1, 2, 3, 4])
def test_result_has_the_promised_shapes_and_unit_columns(n_axes, initial):
    patch_shape, n_atoms = (3, 4, 3, 3)[:n_axes], (4, 5, 3, 2)[:n_axes]
    patches = training_patches(12, patch_shape)
    result = learn(patches, n_atoms, initial=initial, max_iterations=8)
    assert result.dictionary.patch_shape == patch_shape
    assert result.dictionary.n_atoms == n_atoms
    assert result.codes.shape == (12, *n_atoms)
    assert result.objective < result.history[0].objective
    for factor in result.dictionary.factors:
        np.testing.assert_allclose((factor**2).sum(axis=0), 1, atol=1e-12)


@pytest.mark.parametrize("settings", [{}, {"warm_up": 0}, {"preset": "paper"}, {"metric": "paper"}])
def test_last_record_is_the_cost_of_what_is_returned(settings):
    result = learn(**settings)
    last = result.history[-1]
    terms = dense_cost_terms(result.dictionary.factors, pack(result.codes), pack(PATCHES), result.weights)
    np.testing.assert_allclose([last.data, last.sparsity, last.coherence], terms, rtol=1e-10)
    assert last.sparsity_scale == result.weights.sparsity_scale
    coherence = dense_mutual_coherence(result.dictionary.as_matrix())
    assert last.mutual_coherence == pytest.approx(coherence, rel=1e-10)


def test_terms_of_every_record_sum_to_its_objective():
    history = learn().history
    total = history["data"] + history["sparsity"] + history["coherence"]
    np.testing.assert_allclose(history["objective"], total, rtol=1e-14)


def test_first_record_is_the_start_with_the_codes_of_the_analysis():
    result = learn(max_iterations=0)
    codes = result.dictionary.analyze(PATCHES)
    np.testing.assert_allclose(result.codes, codes, atol=1e-12)
    terms = dense_cost_terms(result.dictionary.factors, pack(codes), pack(PATCHES), result.weights)
    assert result.objective == pytest.approx(sum(terms), rel=1e-10)
    assert len(result.history) == 1


def test_given_dictionary_starts_with_sparse_codes(rng):
    dictionary = random_dictionary(2, rng)
    result = learn(n_atoms=dictionary.n_atoms, initial=dictionary, max_iterations=0)
    penalty = smallest_coefficient(result.weights)
    codes = sedil.sparse_code(
        dictionary, PATCHES, penalty, tolerance=1e-2, max_iterations=50, dtype="float64"
    )
    np.testing.assert_allclose(result.codes, codes, atol=1e-12)
    assert 0 < (result.codes == 0).mean() < 1


@pytest.mark.parametrize("eta", [0.0, 0.85, 1.0])
def test_cost_never_exceeds_the_running_mean_of_algorithm_1(eta):
    objectives = learn(warm_up=0, eta=eta, max_iterations=60).history["objective"]
    mean, weight = objectives[0], 1.0
    for new in objectives[1:]:
        assert new <= mean
        weight, old_weight = eta * weight + 1, weight
        mean = (eta * old_weight * mean + new) / weight


def test_cost_never_exceeds_all_before_it_in_the_warm_up_and_after_it():
    history = learn(warm_up=10, max_iterations=40).history
    for scale in np.unique(history["sparsity_scale"]):
        costs = history["objective"][history["sparsity_scale"] == scale]
        assert (costs[1:] <= np.maximum.accumulate(costs)[:-1]).all()


def test_columns_of_the_history_are_sound():
    history = learn().history
    # The end of the warm-up, after a fifth of the iterations, is recorded with both costs.
    np.testing.assert_array_equal(history["iteration"], [*range(4), *range(3, 16)])
    assert (np.diff(history["seconds"]) > 0).all()
    assert (np.diff(history["n_evaluations"]) >= 1).all()
    np.testing.assert_array_equal(np.flatnonzero(history["step_size"] == 0), [0, 4])
    assert (history["gradient_norm"] > 0).all()
    assert ((history["mutual_coherence"] > 0) & (history["mutual_coherence"] < 1)).all()
    assert all(type(value) in (int, float) for value in history[-1])


def test_warm_up_ends_after_its_iterations():
    scales = learn(warm_up=6).history["sparsity_scale"]
    assert (scales[:7] == scales[0]).all()
    assert (scales[7:] == scales[-1]).all()
    assert scales[0] < scales[-1]


@pytest.mark.parametrize(
    "settings",
    [{}, {"warm_up": 0}, {"c1": 0.999, "c2": 0.49, "eta": 0, "warm_up": 0}, {"max_iterations": 0}],
    ids=["warm-up", "plain", "no progress", "no iterations"],
)
def test_evaluations_are_counted_for_real(settings, monkeypatch):
    count = 0

    def counted(name):
        original = getattr(PortableTrainingSet, name)

        def counting(self, *arguments):
            nonlocal count
            count += 1
            return original(self, *arguments)

        monkeypatch.setattr(PortableTrainingSet, name, counting)

    counted("cost_along")
    counted("cost_and_gradient")
    result = learn(**settings)
    assert result.n_evaluations == count


def test_info_says_how_the_dictionary_was_learned():
    result = learn()
    info = result.dictionary.info
    assert info["method"] == "separable dictionary learning"
    assert (info["preset"], info["metric"], info["n_patches"]) == ("data", "balanced", 40)
    assert info["n_iterations"] == 15
    assert info["stop_reason"] == "max_iterations reached"
    assert info["sparsity_scale"] == result.weights.sparsity_scale


def test_learned_dictionary_is_saved_with_its_info(tmp_path):
    result = learn()
    result.dictionary.save(tmp_path / "d.npz")
    loaded = sedil.load_dictionary(tmp_path / "d.npz")
    assert loaded.info == result.dictionary.info
    np.testing.assert_array_equal(loaded.factors[1], result.dictionary.factors[1])


# Why it stops


@pytest.mark.parametrize(
    ("reason", "settings"),
    [
        (StopReason.ITERATIONS, {"max_iterations": 3}),
        (StopReason.ITERATIONS, {"max_iterations": 0}),
        (StopReason.GRADIENT, {"max_iterations": 200, "gradient_tolerance": 0.1}),
        (StopReason.STALLED, {"max_iterations": 300, "tolerance": 0.2}),
        (StopReason.NO_PROGRESS, {"c1": 0.999, "c2": 0.49, "eta": 0, "warm_up": 0, "max_iterations": 300}),
        (StopReason.PROGRESS, {"progress": lambda progress: progress.done == 3}),
    ],
)
def test_every_reason_to_stop_is_reached(reason, settings):
    result = learn(**settings)
    assert result.stop_reason == reason
    assert result.dictionary.info["stop_reason"] == str(reason)


def test_perfect_start_stops_at_once():
    eyes = SeparableDictionary([np.eye(3), np.eye(4)])
    result = learn(n_atoms=(3, 4), initial=eyes, sparsity_weight=0.0)
    assert (result.stop_reason, result.n_iterations) == (StopReason.GRADIENT, 0)


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"tolerance": 1e-2, "max_iterations": 3000}, StopReason.STALLED),
        ({"gradient_tolerance": 0.05, "max_iterations": 3000}, StopReason.GRADIENT),
    ],
)
def test_what_ends_the_warm_up_does_not_end_the_run(settings, reason):
    """The dictionary must still be learned with the weights asked for."""
    result = learn(warm_up=2000, **settings)
    scales = result.history["sparsity_scale"]
    assert result.stop_reason == reason
    assert scales[0] < scales[-1] == result.weights.sparsity_scale


def test_warm_up_without_progress_gives_way_to_the_cost_proper(monkeypatch):
    proper = learn(max_iterations=0).weights
    original = joint.advance

    def advance(cost, *arguments):
        return original(cost, *arguments) if cost.weights == proper else None

    monkeypatch.setattr(joint, "advance", advance)
    result = learn(warm_up=5)
    assert (result.stop_reason, result.n_iterations) == (StopReason.ITERATIONS, 15)
    assert (result.history["sparsity_scale"][1:] == proper.sparsity_scale).all()


def test_run_that_is_too_short_for_its_warm_up_ends_in_it():
    result = learn(warm_up=20, max_iterations=10)
    assert (result.stop_reason, result.n_iterations) == (StopReason.ITERATIONS, 10)


def test_zero_tolerances_run_on():
    result = learn(max_iterations=120, tolerance=0, gradient_tolerance=0)
    assert result.stop_reason == StopReason.ITERATIONS


@pytest.mark.parametrize("seed", [8, 9, 16, 18, 22, 29])
def test_small_tolerance_does_not_stop_far_from_the_end(seed):
    """Early on the cost goes up and down, which must not be taken for standing still."""
    patches = np.random.default_rng(seed).standard_normal((6, 3, 3))
    settings = {"sparsity_scale": 0.3, "sparsity_weight": 0.5, "coherence_weight": 1.0, "warm_up": 0}
    settings |= {"random_state": seed, "max_iterations": 400}
    stopped, full = (learn(patches, (4, 4), tolerance=tolerance, **settings) for tolerance in (1e-7, 0))
    assert stopped.objective <= 1.01 * full.objective


def test_progress_is_told_of_each_iteration_and_none_of_its_time_counts():
    seen = []

    def slow(progress):
        seen.append(progress)
        time.sleep(0.03)

    result = learn(progress=slow, max_iterations=10, warm_up=0)
    assert [progress.record for progress in seen] == list(result.history)[1:]
    assert [progress.done for progress in seen] == list(range(1, 11))
    assert {(progress.total, progress.unit) for progress in seen} == {(10, "iterations")}
    np.testing.assert_array_equal(seen[-1].factors[0], result.dictionary.factors[0])
    assert not np.array_equal(seen[0].factors[0], result.dictionary.factors[0])
    assert result.seconds < 0.2


def test_progress_function_stops_the_run_only_when_it_says_so():
    assert learn(progress=lambda progress: None).n_iterations == 15
    assert learn(progress=lambda progress: False).n_iterations == 15
    assert learn(progress=lambda progress: True).n_iterations == 1


def test_progress_that_is_neither_word_nor_function_is_refused():
    with pytest.raises(TypeError, match="progress must be True, False or a function"):
        learn(progress="yes")


# Units, seeds, starts, weights, metrics


@pytest.mark.parametrize("settings", [{}, {"warm_up": 0, "initial": "data"}])
@pytest.mark.parametrize("scale", [255.0, 1e-4])
def test_units_of_the_patches_do_not_matter(scale, settings):
    plain, scaled = (learn(factor * PATCHES, max_iterations=30, **settings) for factor in (1.0, scale))
    for a, b in zip(plain.dictionary.factors, scaled.dictionary.factors, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-6)
    np.testing.assert_allclose(scaled.codes / scale, plain.codes, atol=1e-6)
    assert scaled.objective == pytest.approx(scale**2 * plain.objective, rel=1e-9)


def test_order_of_the_patches_does_not_matter(rng):
    order = rng.permutation(40)
    plain, mixed = learn(warm_up=0), learn(PATCHES[order], warm_up=0)
    np.testing.assert_allclose(mixed.dictionary.factors[0], plain.dictionary.factors[0], atol=1e-8)
    np.testing.assert_allclose(mixed.codes, plain.codes[order], atol=1e-8)


def test_same_seed_gives_the_same_result_to_the_bit():
    assert_same(learn(random_state=5), learn(random_state=5))
    assert_same(learn(random_state=5), learn(random_state=np.random.default_rng(5)))
    assert not np.allclose(learn(random_state=5).codes, learn(random_state=6).codes)


def test_global_random_state_is_left_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    learn(random_state=None)
    np.testing.assert_array_equal(np.random.get_state()[1], before)  # noqa: NPY002


def test_starts_differ_and_a_given_dictionary_is_continued(rng):
    first = [
        learn(initial=start, max_iterations=0).dictionary.factors[0] for start in ("random", "odct", "data")
    ]
    assert not any(np.allclose(a, b) for a, b in zip(first, first[1:] + first[:1], strict=True))
    halfway = learn(max_iterations=10).dictionary
    again = learn(initial=halfway, max_iterations=0).dictionary
    np.testing.assert_allclose(again.factors[0], halfway.factors[0], atol=1e-14)


def test_paper_preset_uses_the_numbers_of_the_paper():
    assert learn(preset="paper").weights == pytest.approx((100, 0.1 / 20, 0.1 / 20))


def test_given_weights_are_used():
    result = learn(sparsity_scale=9, sparsity_weight=0.25, coherence_weight=0)
    assert result.weights == (9, 0.25, 0)
    assert (result.history["coherence"] == 0).all()


def test_larger_sparsity_weight_gives_sparser_codes():
    small, large = (
        learn(sparsity_scale=20.0, sparsity_weight=weight, max_iterations=100).codes for weight in (1e-3, 0.3)
    )
    assert (abs(large) > 0.05).sum() < 0.5 * (abs(small) > 0.05).sum()


def test_larger_coherence_weight_gives_less_similar_atoms():
    small, large = (learn(coherence_weight=w, max_iterations=60).dictionary for w in (1e-4, 10.0))
    assert large.mutual_coherence() < small.mutual_coherence()


def test_metrics_take_different_ways():
    balanced, paper = learn(metric="balanced", warm_up=0), learn(metric="paper", warm_up=0)
    assert balanced.history[0].objective == paper.history[0].objective
    assert not np.allclose(balanced.codes, paper.codes)


def test_codes_hardly_move_in_the_metric_of_the_paper():
    patches = training_patches(400, (3, 4))
    moved = {}
    for metric in ("balanced", "paper"):
        start, end = (learn(patches, metric=metric, warm_up=0, max_iterations=k).codes for k in (0, 10))
        moved[metric] = np.linalg.norm(end - start)
    assert moved["balanced"] > 2 * moved["paper"]


# It learns


@pytest.mark.parametrize("seed", [0, 2, 3])
def test_planted_atoms_are_found(seed):
    dictionary, patches = planted(600, (5, 5), (7, 7), 2, np.random.default_rng(seed))
    result = sedil.learn(patches, (7, 7), random_state=seed)
    assert share_found(dictionary.factors, result.dictionary.factors) >= 0.85
    sparse = (abs(result.codes) > 0.05).sum(axis=(1, 2)).mean()
    assert sparse < 6
    random = random_factors((5, 5), (7, 7), np.random.default_rng(99))
    assert share_found(dictionary.factors, random) < 0.2


def test_planted_atoms_are_not_found_where_the_codes_stand_still(monkeypatch):
    original = PortableTrainingSet.cost_along

    def frozen(self, factors, codes, direction, step, penalty):
        return original(self, factors, codes, direction, 0.0, penalty)

    monkeypatch.setattr(PortableTrainingSet, "cost_along", frozen)
    dictionary, patches = planted(600, (5, 5), (7, 7), 2, np.random.default_rng(0))
    result = sedil.learn(patches, (7, 7), random_state=0, engine="portable")
    assert share_found(dictionary.factors, result.dictionary.factors) < 0.5


@pytest.mark.parametrize("initial", ["random", "data"])
def test_planted_atoms_of_one_axis_are_found(initial):
    dictionary, patches = planted(1000, (12,), (16,), 2, np.random.default_rng(1))
    result = sedil.learn(patches, 16, random_state=1, initial=initial)
    assert share_found(dictionary.factors, result.dictionary.factors) >= 0.9


# Array libraries


@pytest.mark.parametrize("n_axes", SHAPES)
def test_every_library_and_precision_agrees_with_numpy(n_axes, arrays):
    patch_shape, n_atoms = SHAPES[n_axes]
    patches = training_patches(15, patch_shape)
    own = learn(arrays.make(patches), n_atoms, max_iterations=8, engine="portable", dtype=arrays.precision)
    reference = learn(patches, n_atoms, max_iterations=8)
    tolerance = 1e-9 if arrays.precision == "float64" else 2e-3
    arrays.check(own.codes, reference.codes, tolerance)
    for factor, expected in zip(own.dictionary.factors, reference.dictionary.factors, strict=True):
        arrays.check(factor, expected, tolerance)
    np.testing.assert_allclose(own.history["objective"], reference.history["objective"], rtol=tolerance)


def test_float32_keeps_unit_columns_and_ends_where_float64_does():
    wide, narrow = (learn(max_iterations=300, dtype=dtype) for dtype in ("float64", "float32"))
    assert narrow.objective == pytest.approx(wide.objective, rel=0.05)
    for factor in narrow.dictionary.factors:
        np.testing.assert_allclose((factor**2).sum(axis=0), 1, atol=1e-12)


def test_tensor_that_records_gradients_works(torch):
    result = learn(torch.asarray(PATCHES).requires_grad_(), max_iterations=2)
    assert not result.codes.requires_grad


@pytest.mark.parametrize("kind", ["half", "bfloat16", "int", "bool"])
def test_other_types_of_torch_become_floats(torch, kind):
    patches = getattr(torch.asarray(10 * PATCHES), kind)()
    assert learn(patches, max_iterations=2, dtype=None).codes.dtype == torch.float32


# Unusual but good input


@pytest.mark.parametrize(
    "variant",
    [
        lambda p: p.tolist(),
        np.asfortranarray,
        lambda p: np.repeat(p, 2, axis=0)[::2],
        lambda p: p[:, ::-1, ::-1].copy()[:, ::-1, ::-1],
        lambda p: np.ascontiguousarray(p.transpose(2, 1, 0)).transpose(2, 1, 0),
        lambda p: p.astype(">f8"),
        lambda p: p.astype(np.longdouble),
    ],
    ids=["nested list", "fortran", "strided", "reversed", "transposed", "big endian", "long double"],
)
def test_layout_of_the_input_does_not_matter(variant):
    """But for rounding: sums are taken in the order of the memory."""
    assert_same(learn(variant(PATCHES)), learn(), tolerance=1e-10)


# Precision


def test_numpy_arrays_are_computed_on_in_float32_and_results_have_the_precision_of_the_input():
    wide, narrow = (learn(PATCHES.astype(dtype), dtype=None) for dtype in (np.float64, np.float32))
    np.testing.assert_array_equal(wide.history["objective"], narrow.history["objective"])
    assert wide.dictionary.info["engine"] == "fused"
    assert {wide.codes.dtype, *(factor.dtype for factor in wide.dictionary.factors)} == {np.dtype("float64")}
    assert {narrow.codes.dtype, *(factor.dtype for factor in narrow.dictionary.factors)} == {
        np.dtype("float32")
    }
    np.testing.assert_array_equal(wide.codes, narrow.codes)
    for factor in wide.dictionary.factors:
        np.testing.assert_allclose((factor**2).sum(axis=0), 1, atol=1e-14)


def test_float64_can_be_insisted_on():
    insisted = learn(PATCHES.astype(np.float32), dtype="float64")
    assert insisted.dictionary.info["engine"] == "portable"
    assert insisted.codes.dtype == insisted.dictionary.factors[0].dtype == np.float32
    wide = learn(PATCHES.astype(np.float32).astype(np.float64), dtype="float64")
    np.testing.assert_array_equal(insisted.history["objective"], wide.history["objective"])


def test_tensors_keep_their_own_precision_unless_told(torch):
    tensor = torch.asarray(PATCHES)
    assert learn(tensor, dtype=None).objective == learn(tensor, dtype="float64").objective
    narrow = learn(tensor, dtype="float32")
    assert narrow.codes.dtype == torch.float64
    assert narrow.objective != learn(tensor, dtype="float64").objective
    assert narrow.objective == pytest.approx(learn(tensor, dtype="float64").objective, rel=1e-2)


def test_codes_that_float32_cannot_hold_stay_float64():
    patches = np.full((1, 4, 4), 3.4e38, np.float32)
    patches[0, ::2] *= -1
    codes = sedil.learn(patches, max_iterations=1, dtype="float64", random_state=0).codes
    assert codes.dtype == np.float64
    assert np.isfinite(codes).all()


@pytest.mark.parametrize("learner", [sedil.learn, sedil.learn_minibatch])
def test_fused_engine_is_refused_where_float64_is_insisted_on(learner):
    message = 'engine="fused" computes in float32, not in float64: leave engine or dtype out'
    with pytest.raises(ValueError, match=message):
        learner(PATCHES, (4, 5), engine="fused", dtype="float64")


@pytest.mark.parametrize("learner", [sedil.learn, sedil.learn_minibatch])
def test_unknown_precision_lists_the_known_ones(learner):
    with pytest.raises(ValueError, match="dtype must be one of 'float32', 'float64', got 'half'"):
        learner(PATCHES, (4, 5), dtype="half")


def test_values_that_float32_cannot_hold_are_refused_with_what_to_do():
    message = 'patches reaches 1e\\+200, too large for float32: rescale it, or compute with dtype="float64"'
    with pytest.raises(ValueError, match=message):
        learn(np.full((5, 3, 4), 1e200), dtype=None)


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.int64, bool])
def test_whole_numbers_are_learned_from_as_float32(dtype):
    patches = np.random.default_rng(0).integers(0, 100, (40, 3, 4)).astype(dtype)
    result = learn(patches, dtype=None)
    assert result.codes.dtype == np.float32
    assert_same(result, learn(patches.astype(np.float32), dtype=None))


def test_half_precision_is_learned_from_as_float32():
    patches = PATCHES.astype(np.float16)
    result = learn(patches, dtype=None)
    assert result.codes.dtype == np.float32
    assert_same(result, learn(patches.astype(np.float32), dtype=None))


def test_number_of_atoms_may_be_left_out():
    assert learn(n_atoms=None, max_iterations=1).dictionary.n_atoms == (6, 8)
    assert sedil.learn_minibatch(PATCHES.reshape(40, 12)).dictionary.n_atoms == (48,)


def test_masked_array_is_refused_by_the_joint_learner():
    with pytest.raises(TypeError, match="patches is a masked array: fill or drop the masked values first"):
        learn(np.ma.masked_greater(PATCHES, 1))


def test_input_is_never_modified():
    patches, dictionary = (
        PATCHES.copy(),
        SeparableDictionary(random_factors((3, 4), (4, 5), np.random.default_rng(0))),
    )
    patches.flags.writeable = False
    for factor in dictionary.factors:
        factor.flags.writeable = False
    learn(patches, initial=dictionary)
    np.testing.assert_array_equal(patches, PATCHES)


@pytest.mark.parametrize(
    ("patches", "n_atoms"),
    [
        (PATCHES, (2, 2)),
        (PATCHES, (1, 1)),
        (PATCHES, (1, 5)),
        (PATCHES, 4),
        (PATCHES, np.array([4, 5])),
        (PATCHES, [np.int64(4), 5]),
        (PATCHES[:1], (4, 5)),
        (PATCHES.reshape(40, 12), 20),
        (PATCHES.reshape(40, 12), (20,)),
        (PATCHES.reshape(40, 12, 1), (20, 1)),
        (np.ones((10, 3, 4)), (4, 5)),
        (np.concatenate([np.zeros((1, 3, 4)), PATCHES]), (4, 5)),
        (np.repeat(PATCHES[:1], 9, axis=0), (4, 5)),
        (PATCHES[:, :1, :1], (1, 1)),
        (np.eye(12).reshape(12, 3, 4), (3, 4)),
    ],
    ids=[
        "undercomplete",
        "one atom",
        "one atom along an axis",
        "one number",
        "array of numbers",
        "numpy integers",
        "one patch",
        "unstructured",
        "unstructured, tuple",
        "axis of length one",
        "constant patches",
        "zero patch among others",
        "equal patches",
        "single entries",
        "unit patches",
    ],
)
@pytest.mark.parametrize("initial", ["random", "odct", "data"])
def test_unusual_sizes_and_contents_are_learned_from(patches, n_atoms, initial):
    result = learn(patches, n_atoms, initial=initial, max_iterations=25)
    assert prod(result.codes.shape[1:]) == prod(result.dictionary.n_atoms)
    assert result.objective <= result.history[0].objective
    assert np.isfinite(result.history["objective"]).all()
    for factor in result.dictionary.factors:
        np.testing.assert_allclose((factor**2).sum(axis=0), 1, atol=1e-12)


@pytest.mark.parametrize("metric", ["balanced", "paper"])
def test_no_sparsity_and_no_coherence_is_a_plain_fit(metric):
    result = learn(n_atoms=(3, 4), sparsity_weight=0, coherence_weight=0, metric=metric, max_iterations=200)
    assert result.objective < 1e-4 * result.history[0].objective


EQUAL_ATOMS = SeparableDictionary([np.eye(3)[:, [0, 0, 1, 2]], np.eye(4)[:, [0, 1, 2, 3, 3]]])


def test_start_with_equal_atoms_is_refused_where_their_coherence_is_infinite():
    with pytest.raises(ValueError, match=r"initial.*coincide"):
        learn(initial=EQUAL_ATOMS)


def test_start_with_equal_atoms_is_allowed_where_coherence_has_no_weight():
    result = learn(initial=EQUAL_ATOMS, coherence_weight=0)
    assert result.objective < result.history[0].objective


def test_cosine_start_on_an_axis_of_two_entries_says_what_is_wrong():
    """All cosines without their mean coincide there."""
    with pytest.raises(ValueError, match="coincide"):
        learn(training_patches(10, (2, 2)), (4, 4), initial="odct")


# Bad input


@pytest.mark.parametrize(
    ("patches", "error", "message"),
    [
        (np.ones((0, 3, 4)), ValueError, r"patches are empty: got shape \(0, 3, 4\), at least one patch"),
        (np.ones((5, 0, 4)), ValueError, r"patches are empty: got shape \(5, 0, 4\)"),
        ([], ValueError, r"1 to 4 patch axes, got 1 axes in all, shape \(0,\): stack the patches"),
        (3.0, ValueError, r"1 to 4 patch axes, got 0 axes in all, shape \(\)"),
        (np.ones(5), ValueError, r"patches must have shape \(n, \*patch_shape\) .* got 1 axes in all"),
        (np.ones((2,) * 6), ValueError, "1 to 4 patch axes, got 6 axes in all"),
        (np.zeros((5, 3, 4)), ValueError, "Every patch is zero: there is nothing to learn from"),
        (
            np.full((5, 3, 4), 1e200),
            ValueError,
            "largest entry of the patches is 1e\\+200, too large or too small to square",
        ),
        (np.ones((5, 3, 4), complex), TypeError, "patches must hold real numbers, got dtype complex128"),
        (np.full((5, 3, 4), "a"), TypeError, "patches must hold real numbers, got dtype <U1"),
        (np.full((5, 3, 4), None), TypeError, "patches must hold real numbers, got dtype object"),
        (np.zeros((5, 3, 4), "M8[s]"), TypeError, "patches must hold real numbers, got dtype datetime64"),
        ([[1.0, 2.0], [3.0]], ValueError, "patches must be one rectangular array of numbers"),
        (None, TypeError, "patches must hold real numbers, got None"),
    ],
)
def test_bad_patches_are_refused_with_the_reason(patches, error, message):
    with pytest.raises(error, match=message), np.errstate(over="ignore"):
        learn(patches)


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_first_bad_value_is_located(bad, arrays):
    patches = PATCHES.copy()
    patches[7, 2, 1] = patches[9, 0, 0] = bad
    message = r"patches must be finite, got 2 NaN or infinite values \(the first at index \(7, 2, 1\)\)"
    with pytest.raises(ValueError, match=message):
        learn(arrays.make(patches))


@pytest.mark.parametrize(
    ("n_atoms", "message"),
    [
        ((4,), r"one number per patch axis: patches have 2 \(shape \(3, 4\)\), got n_atoms=\(4,\)"),
        ((4, 5, 6), "n_atoms must have one number per patch axis"),
        ((), "n_atoms must have one number per patch axis"),
        (0, "n_atoms must be positive whole numbers, got 0"),
        ((4, 0), r"n_atoms must be positive whole numbers, got \(4, 0\)"),
        ((4, -1), "n_atoms must be positive whole numbers"),
        ((4.0, 5), "n_atoms must be positive whole numbers"),
        ("45", "n_atoms must be positive whole numbers"),
        (4.5, "n_atoms must be positive whole numbers, got 4.5"),
        (True, "n_atoms must be positive whole numbers, got True"),
        ((True, 5), "n_atoms must be positive whole numbers"),
    ],
)
def test_bad_numbers_of_atoms_are_refused(n_atoms, message):
    with pytest.raises(ValueError, match=message):
        learn(n_atoms=n_atoms)


def test_more_atoms_than_directions_are_refused():
    message = r"Patch axis 1 has length 1, where all atoms are equal: n_atoms must be 1 there, got 3"
    with pytest.raises(ValueError, match=message):
        learn(PATCHES[:, :, :1], (4, 3))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (
            {"initial": "zeros"},
            "initial must be one of 'random', 'odct', 'data' or a dictionary. There is no file zeros",
        ),
        ({"preset": "mine"}, "preset must be one of 'data', 'paper', got 'mine'"),
        ({"metric": "l2"}, "metric must be one of 'balanced', 'paper', got 'l2'"),
        ({"sparsity_scale": 0}, "sparsity_scale must be a finite positive number, got 0"),
        ({"sparsity_scale": -1}, "sparsity_scale must be a finite positive number, got -1"),
        ({"sparsity_weight": -1}, "sparsity_weight must be a finite non-negative number, got -1"),
        ({"coherence_weight": np.nan}, "coherence_weight must be a finite non-negative number, got nan"),
        ({"max_iterations": -1}, "max_iterations must be a whole number of at least 0, got -1"),
        ({"max_iterations": 2.5}, "max_iterations must be a whole number of at least 0, got 2.5"),
        ({"max_iterations": None}, "max_iterations must be a whole number of at least 0, got None"),
        ({"tolerance": -1e-3}, "tolerance must be a finite non-negative number, got -0.001"),
        ({"tolerance": "small"}, "tolerance must be a finite non-negative number, got 'small'"),
        ({"gradient_tolerance": -1}, "gradient_tolerance must be a finite non-negative number, got -1"),
        ({"warm_up": -1}, "warm_up must be a whole number of at least 0, got -1"),
        ({"c1": 1}, "c1 must be strictly between 0 and 1, got 1"),
        ({"c2": 0.5}, "c2 must be strictly between 0 and 0.5, got 0.5"),
        ({"eta": 2}, r"eta must be from 0 to 1 \(ends included\), got 2"),
        (
            {"initial": SeparableDictionary([np.eye(3)])},
            r"initial dictionary has patches \(3,\) and atoms \(3,\)",
        ),
    ],
)
def test_bad_settings_are_refused_with_what_is_allowed(settings, message):
    with pytest.raises(ValueError, match=message):
        learn(**settings)


@pytest.mark.parametrize("call", [sedil.learn, sedil.learn_minibatch])
def test_a_weight_beyond_all_measure_ends_without_a_warning(call, rng):
    """Gradients of 1e20 and more have a length that float32 cannot hold."""
    patches = rng.choice(np.array([0.0, 300.0, 65535.0]), (7, 4, 4))
    for seed in range(5):
        result = call(patches, n_atoms=(8, 8), coherence_weight=1e25, metric="paper", random_state=seed)
        assert np.isfinite(result.dictionary.factors[0]).all()
