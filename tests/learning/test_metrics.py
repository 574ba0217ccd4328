import pytest
from hypothesis import given
from hypothesis import strategies as st

from sedil.learning.defaults import METRICS, CostSettings


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
