from math import log

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sedil.learning.defaults import (
    METRICS,
    CostSettings,
    choose_atoms,
    choose_warm_up,
    default_atoms,
    smallest_coefficient,
    smoothed,
)
from sedil.objective import Weights

SIZES = ((8, 8), (16, 16))


def choose_weights(preset, *sizes, energy, **given):
    return CostSettings(preset, **given).weights(*sizes, energy)


def test_paper_preset_has_the_numbers_of_section_5():
    assert choose_weights("paper", *SIZES, energy=123.0) == pytest.approx((100, 0.1 / 256, 0.1 / 256))


def test_data_preset_on_hand_numbers():
    """rho = 3 n / E, lambda = 1 / rho, kappa = 0.01 E / pairs, with 2 * 16 * 15 / 2 pairs."""
    assert choose_weights("data", *SIZES, energy=2.0) == pytest.approx((96, 1 / 96, 0.02 / 240))


def test_single_atoms_have_no_pairs_and_no_division_by_zero():
    assert choose_weights("data", (8, 8), (1, 1), energy=2.0).coherence_weight == pytest.approx(0.02)


@given(scale=st.floats(1e-6, 1e6))
def test_data_preset_leaves_the_learned_dictionary_unchanged_by_scale(scale):
    """With patches and codes times c, every term of the cost must grow by c^2."""
    plain = choose_weights("data", *SIZES, energy=1.3)
    scaled = choose_weights("data", *SIZES, energy=1.3 * scale**2)
    assert scaled.sparsity_scale * scale**2 == pytest.approx(plain.sparsity_scale)
    assert scaled.sparsity_weight == pytest.approx(plain.sparsity_weight * scale**2)
    assert scaled.coherence_weight == pytest.approx(plain.coherence_weight * scale**2)


@pytest.mark.parametrize("name", Weights._fields)
@pytest.mark.parametrize("preset", ["data", "paper"])
def test_given_weight_replaces_that_of_the_preset_and_no_other(preset, name):
    plain = choose_weights(preset, *SIZES, energy=1.0)
    given_one = choose_weights(preset, *SIZES, energy=1.0, **{name: 7})
    assert given_one == plain._replace(**{name: 7.0})
    assert type(getattr(given_one, name)) is float


def test_missing_weights_are_those_of_the_preset():
    nothing = dict.fromkeys(Weights._fields)
    assert choose_weights("data", *SIZES, energy=1.0, **nothing) == choose_weights("data", *SIZES, energy=1.0)


@pytest.mark.parametrize("name", ["sparsity_weight", "coherence_weight"])
def test_weights_may_be_zero_but_not_negative(name):
    assert getattr(choose_weights("data", *SIZES, energy=1.0, **{name: 0}), name) == 0
    with pytest.raises(ValueError, match=f"{name} must be a finite non-negative number, got -1"):
        choose_weights("data", *SIZES, energy=1.0, **{name: -1})


@pytest.mark.parametrize("value", [0, -1.0, float("nan"), float("inf"), "1", True])
def test_sparsity_scale_must_be_positive(value):
    with pytest.raises(ValueError, match="sparsity_scale must be a finite positive number, got"):
        choose_weights("data", *SIZES, energy=1.0, sparsity_scale=value)


@pytest.mark.parametrize("preset", ["Data", "", None])
def test_unknown_preset_lists_the_known_ones(preset):
    with pytest.raises(ValueError, match="preset must be one of 'data', 'paper', got"):
        choose_weights(preset, *SIZES, energy=1.0)


def test_smoothed_weights_keep_the_curvature_at_zero():
    weights = Weights(90.0, 0.01, 0.5)
    soft = smoothed(weights)
    assert soft.sparsity_scale < weights.sparsity_scale
    assert soft.sparsity_scale * soft.sparsity_weight == pytest.approx(90.0 * 0.01)
    assert soft.coherence_weight == 0.5


@pytest.mark.parametrize(
    "weights", [Weights(3.0, 0.5, 0.0), Weights(100.0, 0.02, 0.0), Weights(1e6, 1e-5, 0.0)]
)
def test_smallest_coefficient_costs_as_much_as_the_error_of_dropping_it(weights):
    size = smallest_coefficient(weights)
    kept = weights.sparsity_weight * log(1 + weights.sparsity_scale * size**2)
    assert kept == pytest.approx(size**2 / 2, rel=1e-6)


@pytest.mark.parametrize(
    "weights", [Weights(3.0, 0.1, 0.0), Weights(3.0, 0.0, 0.0), Weights(1e-3, 1e-3, 0.0)]
)
def test_smallest_coefficient_is_positive_where_every_one_is_worth_keeping(weights):
    assert 0 < smallest_coefficient(weights) < 1


@given(scale=st.floats(1e-3, 1e3))
def test_smallest_coefficient_has_the_units_of_the_patches(scale):
    plain = choose_weights("data", *SIZES, energy=1.3)
    scaled = choose_weights("data", *SIZES, energy=1.3 * scale**2)
    assert smallest_coefficient(scaled) == pytest.approx(scale * smallest_coefficient(plain), rel=1e-9)


@pytest.mark.parametrize("warm_up", [0, 7, 1000])
def test_given_warm_up_is_kept(warm_up):
    assert choose_warm_up(warm_up, "data", False, 500) == warm_up


def test_no_warm_up_for_the_paper_or_a_given_dictionary():
    assert choose_warm_up(None, "paper", False, 500) == 0
    assert choose_warm_up(None, "data", True, 500) == 0
    assert choose_warm_up(None, "data", False, 500) > 0


@pytest.mark.parametrize("warm_up", [-1, 2.5, True])
def test_bad_warm_up_is_refused(warm_up):
    with pytest.raises(ValueError, match="warm_up must be a whole number of at least 0, got"):
        choose_warm_up(warm_up, "data", False, 500)


@pytest.mark.parametrize(
    ("patch_shape", "expected"),
    [((8, 8), (16, 16)), ((64,), (256,)), ((8, 8, 8), (16, 16, 16)), ((5, 1), (10, 1)), ((1,), (1,))],
)
def test_default_atoms_are_the_paper_s_for_one_axis_and_for_two(patch_shape, expected):
    assert default_atoms(patch_shape) == choose_atoms(None, patch_shape) == expected


def test_given_atoms_are_taken():
    assert choose_atoms(5, (3, 4)) == (5, 5)
    assert choose_atoms((5, 7), (3, 4)) == (5, 7)


def manifold_with_metric(name, *sizes):
    return CostSettings(metric=name).manifold(*sizes)


def test_paper_metric_has_all_weights_one():
    assert manifold_with_metric("paper", (8, 8), (16, 16), 40_000, 3.7) == (1.0, (1.0, 1.0))


@pytest.mark.parametrize(
    ("patch_shape", "n_atoms", "n", "energy", "expected"),
    [
        ((8, 8), (16, 16), 100, 2.0, (4 / 100, (2 / 16, 2 / 16))),
        ((4, 6), (2, 3), 10, 5.0, (1 / 10, (5 / 2, 5 / 3))),
        ((5,), (10,), 4, 3.0, (2 / 4, (3 / 10,))),
        ((2, 2, 2), (4, 2, 2), 8, 1.0, (2 / 8, (1 / 4, 1 / 2, 1 / 2))),
    ],
    ids=["overcomplete", "undercomplete", "one axis", "three axes"],
)
def test_balanced_metric_on_hand_numbers(patch_shape, n_atoms, n, energy, expected):
    codes_weight, factor_weights = manifold_with_metric("balanced", patch_shape, n_atoms, n, energy)
    assert codes_weight == pytest.approx(expected[0])
    assert factor_weights == pytest.approx(expected[1])


@given(scale=st.floats(1e-6, 1e6))
def test_balanced_weights_scale_as_the_cost_over_the_squared_unknowns(scale):
    """With patches times c the cost grows by c^2, codes by c, factors not at all."""
    plain = manifold_with_metric("balanced", (4, 4), (6, 6), 50, 2.0)
    scaled = manifold_with_metric("balanced", (4, 4), (6, 6), 50, 2.0 * scale**2)
    assert scaled.codes_weight == plain.codes_weight
    assert scaled.factor_weights == pytest.approx([w * scale**2 for w in plain.factor_weights])


@pytest.mark.parametrize("name", ["euclidean", "", None, 3])
def test_unknown_metric_lists_the_known_ones(name):
    with pytest.raises(ValueError, match="metric must be one of 'balanced', 'paper', got"):
        manifold_with_metric(name, (8,), (8,), 10, 1.0)


def test_every_metric_has_one_positive_weight_per_block():
    for name in METRICS:
        for n_axes in (1, 2, 3, 4):
            geometry = manifold_with_metric(name, (3,) * n_axes, (4,) * n_axes, 10, 1.0)
            assert geometry.codes_weight > 0
            assert len(geometry.factor_weights) == n_axes
            assert all(weight > 0 for weight in geometry.factor_weights)
