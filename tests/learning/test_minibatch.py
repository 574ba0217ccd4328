import pickle

import numpy as np
import pytest

import sedil
from random_things import planted, share_found, training_patches
from sedil.arrays import to_numpy
from sedil.learning.minibatch import FULL_STEPS, MiniBatchLearner
from sedil_studies.measures.held_out_cost import held_out_terms

PATCHES = training_patches(60, (3, 4))


def learner(**settings):
    return MiniBatchLearner(
        **({"n_atoms": (4, 5), "random_state": 3, "batch_iterations": 5, "dtype": "float64"} | settings)
    )


def assert_same_factors(one, other):
    for a, b in zip(one.factors, other.factors, strict=True):
        np.testing.assert_array_equal(to_numpy(a), to_numpy(b))


def test_planted_atoms_are_found_batch_by_batch():
    rng = np.random.default_rng(1)
    true, patches = planted(6000, (6, 6), (8, 8), 3, rng)
    ours = MiniBatchLearner((8, 8), random_state=1)
    for batch in np.array_split(patches.astype(np.float32), 20):
        ours.partial_fit(batch)
    assert share_found(true.factors, ours.factors) > 0.9


def test_held_out_cost_is_that_of_the_joint_learner():
    """On small data; benchmarks/minibatch.py shows it for photographs."""
    rng = np.random.default_rng(0)
    _, patches = planted(2500, (5, 5), (7, 7), 3, rng)
    patches = (patches + 0.05 * rng.standard_normal(patches.shape)).astype(np.float32)
    joint = sedil.learn(patches[:2000], (7, 7), random_state=0)
    ours = sedil.learn_minibatch(patches[:2000], (7, 7), batch_size=200, n_epochs=3, random_state=0)
    costs = [
        held_out_terms(result.dictionary, patches[2000:], joint.weights).total for result in (ours, joint)
    ]
    assert costs[0] < 1.02 * costs[1]


def test_steps_are_full_at_first_and_then_fall_as_one_over_the_samples_seen():
    ours = learner()
    for _ in range(FULL_STEPS + 3):
        ours.partial_fit(PATCHES[:20])
    ours.partial_fit(PATCHES[:4])
    n = 20 * (FULL_STEPS + 3) + 4
    later = [FULL_STEPS * 20 / (20 * t) for t in range(FULL_STEPS + 1, FULL_STEPS + 4)]
    assert ours.n_samples == n
    np.testing.assert_allclose(ours.history["step_size"], [1.0] * FULL_STEPS + later + [FULL_STEPS * 4 / n])


def test_first_batch_is_a_short_run_of_the_joint_learner_from_sparse_codes():
    start = sedil.odct((3, 4), (4, 5))
    ours = learner(initial=start, batch_iterations=7).partial_fit(PATCHES)
    joint = sedil.learn(PATCHES, (4, 5), initial=start, max_iterations=7, dtype="float64")
    for a, b in zip(ours.factors, joint.dictionary.factors, strict=True):
        np.testing.assert_allclose(a, b, atol=1e-10)
    assert ours.history[-1].objective == pytest.approx(joint.objective)
    assert ours.weights == joint.weights


def test_state_is_small_and_goes_on_after_pickling():
    straight = learner().partial_fit(PATCHES[:30])
    copied = pickle.loads(pickle.dumps(straight))
    assert len(pickle.dumps(straight)) < 5000
    assert_same_factors(straight.partial_fit(PATCHES[30:]), copied.partial_fit(PATCHES[30:]))


def test_every_library_and_precision_is_kept(arrays):
    ours, numpys = (
        learner(batch_iterations=3, engine="portable", dtype=arrays.precision),
        learner(batch_iterations=3),
    )
    for part in (slice(30), slice(30, 60)):
        ours.partial_fit(arrays.make(PATCHES[part]))
        numpys.partial_fit(PATCHES[part])
    for factor, expected in zip(ours.factors, numpys.factors, strict=True):
        arrays.check(factor, expected, tolerance=2e-3 if arrays.precision == "float32" else 1e-10)


def test_result_does_not_depend_on_the_number_of_threads():
    patches = training_patches(5000, (3, 4)).astype(np.float32)  # enough for several parts
    assert_same_factors(*(learner(threads=n, dtype=None).partial_fit(patches) for n in (1, 3)))


@pytest.mark.parametrize("n_axes", [1, 2, 3, 4])
def test_any_number_of_axes(n_axes):
    patches = training_patches(30, (2, 3, 2, 3)[:n_axes])
    ours = learner(n_atoms=4).partial_fit(patches)
    assert ours.dictionary.n_atoms == (4,) * n_axes


# Missing entries


def test_what_missing_entries_hold_does_not_matter(rng):
    mask = rng.random(PATCHES.shape) < 0.3
    by_nan = learner().partial_fit(np.where(mask, np.nan, PATCHES))
    by_mask = learner().partial_fit(np.where(mask, 1e30, PATCHES), mask)
    by_both = learner().partial_fit(np.where(mask & (PATCHES > 0), np.nan, PATCHES), mask)
    assert_same_factors(by_nan, by_mask)
    assert_same_factors(by_nan, by_both)


def test_mask_without_missing_entries_changes_nothing():
    assert_same_factors(
        learner().partial_fit(PATCHES, np.zeros(PATCHES.shape, bool)), learner().partial_fit(PATCHES)
    )


def test_planted_atoms_are_found_though_a_quarter_of_the_entries_is_missing():
    rng = np.random.default_rng(1)
    true, patches = planted(6000, (6, 6), (8, 8), 2, rng)
    patches[rng.random(patches.shape) < 0.25] = np.nan
    found = sedil.learn_minibatch(patches.astype(np.float32), (8, 8), batch_size=300, random_state=1)
    assert share_found(true.factors, found.dictionary.factors) > 0.9


def test_float32_batches_with_and_without_missing_entries_take_turns(rng):
    patches = PATCHES.astype(np.float32)
    holed = np.where(rng.random(patches.shape) < 0.2, np.float32(np.nan), patches)
    ours = learner(dtype=None).partial_fit(patches).partial_fit(holed).partial_fit(patches)
    assert all(factor.dtype == np.float32 for factor in ours.factors)


def test_masked_array_of_numpy_is_missing_where_it_is_masked(rng):
    mask = rng.random(PATCHES.shape) < 0.2
    masked = np.ma.MaskedArray(PATCHES, mask)
    by_mask = learner().partial_fit(PATCHES, mask)
    assert_same_factors(learner().partial_fit(masked), by_mask)
    settings = {"n_atoms": (4, 5), "batch_size": 20, "batch_iterations": 3, "random_state": 0}
    expected = sedil.learn_minibatch(PATCHES, mask=mask, **settings).dictionary
    assert_same_factors(sedil.learn_minibatch(masked, **settings).dictionary, expected)
    assert_same_factors(sedil.learn_minibatch([masked[:25], masked[25:]], **settings).dictionary, expected)
    whole = (10 * PATCHES).astype(np.int64)
    pieces = (np.ma.MaskedArray(whole, mask)[part] for part in (slice(25), slice(25, 60)))
    expected = sedil.learn_minibatch(iter([np.where(mask, np.nan, whole)]), **settings).dictionary
    assert_same_factors(sedil.learn_minibatch(pieces, **settings).dictionary, expected)


# Precision


def test_numpy_batches_are_computed_on_in_float32_and_the_dictionary_has_their_precision():
    wide, narrow = (learner(dtype=None).partial_fit(PATCHES.astype(dtype)) for dtype in (float, np.float32))
    assert_same_factors(wide, narrow)
    assert wide.factors[0].dtype == narrow.dictionary.factors[0].dtype == np.float32
    assert wide.dictionary.factors[0].dtype == np.float64
    result = sedil.learn_minibatch(PATCHES, (4, 5), max_batches=1)
    assert result.dictionary.factors[0].dtype == np.float64


# Bad input


@pytest.mark.parametrize(
    ("second", "message"),
    [
        ((PATCHES[:, :2],), r"A batch has patches of shape \(2, 4\), the ones before had \(3, 4\)"),
        ((np.full_like(PATCHES, np.nan),), "Every entry of a batch is missing"),
        ((np.full_like(PATCHES, np.inf),), "patches must be finite"),
        ((np.zeros_like(PATCHES),), "Every patch is zero"),
        ((PATCHES[:0],), "patches are empty"),
        ((PATCHES, PATCHES[1:] > 0), r"mask must have the shape of the data, \(60, 3, 4\), got \(59"),
    ],
)  # fmt: skip
def test_bad_batch_is_refused_and_the_learner_stays_as_it_is(second, message):
    ours = learner().partial_fit(PATCHES)
    before = pickle.dumps(ours)
    with pytest.raises(ValueError, match=message):
        ours.partial_fit(*second)
    assert pickle.dumps(ours) == before


def test_mask_must_be_boolean():
    with pytest.raises(TypeError, match=r"mask must be boolean, True where data is missing, got dtype int64"):
        learner().partial_fit(PATCHES, np.zeros(PATCHES.shape, np.int64))


def test_fused_engine_is_refused_where_entries_are_missing():
    with pytest.raises(
        ValueError, match=r'engine="fused" cannot learn from missing entries: leave engine out'
    ):
        learner(engine="fused", dtype=None).partial_fit(PATCHES.astype(np.float32), PATCHES > 2)


def test_mixing_libraries_is_refused(torch):
    with pytest.raises(TypeError, match="A batch is a torch array on cpu but the first one is a numpy array"):
        learner().partial_fit(PATCHES).partial_fit(torch.asarray(PATCHES))


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"batch_iterations": 0}, "batch_iterations must be a whole number of at least 1"),
        ({"threads": 0}, "threads must be a whole number of at least 1"),
        ({"n_atoms": (4, 5, 6)}, "n_atoms must have one number per patch axis"),
        ({"initial": "best"}, "initial must be one of"),
        ({"preset": "best"}, "preset must be one of"),
        ({"metric": "best"}, "metric must be one of"),
        ({"sparsity_scale": -1.0}, "sparsity_scale must be a finite positive number"),
        ({"engine": "best"}, "engine must be one of"),
    ],
)  # fmt: skip
def test_bad_settings_are_refused(settings, message):
    with pytest.raises(ValueError, match=message):
        learner(**settings).partial_fit(PATCHES)


def test_there_is_no_dictionary_before_the_first_batch():
    with pytest.raises(ValueError, match="no dictionary before the first batch: call partial_fit"):
        _ = learner().dictionary


def test_absurd_unstructured_dictionary_is_refused_with_its_memory():
    patches = np.ones((2, 4096), np.float32)
    for start in (sedil.learn, sedil.learn_minibatch):
        with pytest.raises(ValueError, match=r"4096 x 16384 takes about 10 GiB .* keep the axes .* apart"):
            start(patches, 16384)


def test_no_price_of_sparsity_is_no_division_by_zero():
    learner = MiniBatchLearner(5, sparsity_weight=0.0, engine="portable", batch_iterations=1, random_state=0)
    patches = np.random.default_rng(0).standard_normal((30, 4, 4))
    learner.partial_fit(patches, patches > 2)
    assert np.isfinite(learner.history[-1].objective)
