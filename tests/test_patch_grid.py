import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from sedil.patch_grid import PatchGrid

AXES = st.lists(st.tuples(st.integers(1, 4), st.integers(0, 6)), min_size=1, max_size=3)


def grid_of(axes, stride):
    patch_shape = [length for length, _ in axes]
    image_shape = [length + extra for length, extra in axes]
    return PatchGrid(image_shape, patch_shape, min(stride, *patch_shape))


@given(axes=AXES, stride=st.integers(1, 4), room=st.integers(1, 50))
def test_every_pixel_is_covered_and_every_patch_comes_once(axes, stride, room):
    grid = grid_of(axes, stride)
    image = np.zeros(grid.image_shape)
    n_patches = 0
    for box in grid.boxes(room):
        patches = grid.extract(image, box)
        assert len(patches) <= max(room, 1)
        n_patches += len(patches)
        covered = np.zeros(grid.image_shape)
        grid.add(covered, np.ones_like(patches), box)
        image = image + covered
    assert n_patches == grid.n_patches
    assert image.min() >= 1
    assert image.sum() == n_patches * np.prod(grid.patch_shape)


@given(axes=AXES, stride=st.integers(1, 4), seed=st.integers(0, 99))
def test_add_is_the_adjoint_of_extract(axes, stride, seed):
    grid = grid_of(axes, stride)
    rng = np.random.default_rng(seed)
    image = rng.standard_normal(grid.image_shape)
    for box in grid.boxes(7):
        patches = grid.extract(image, box)
        other = rng.standard_normal(patches.shape)
        spread = np.zeros(grid.image_shape)
        grid.add(spread, other, box)
        assert_allclose(np.vdot(patches, other), np.vdot(image, spread), atol=1e-10)


def test_patches_are_windows_in_row_major_order():
    image = np.arange(20.0).reshape(4, 5)
    grid = PatchGrid((4, 5), (2, 3))
    (box,) = grid.boxes(100)
    patches = grid.extract(image, box)
    assert_array_equal(patches[0], image[:2, :3])
    assert_array_equal(patches[1], image[:2, 1:4])
    assert_array_equal(patches[-1], image[2:, 2:])


def test_last_position_is_taken_at_any_stride():
    assert_array_equal(PatchGrid((11,), (4,), 3).corners[0], [0, 3, 6, 7])


def test_stride_that_leaves_gaps_is_refused():
    with pytest.raises(
        ValueError, match=r"stride 5 leaves gaps between patches of shape \(4, 6\): use at most 4"
    ):
        PatchGrid((20, 20), (4, 6), 5)


@given(axes=AXES, stride=st.integers(1, 4), seed=st.integers(0, 99))
def test_shifted_grid_covers_every_pixel_too(axes, stride, seed):
    plain = grid_of(axes, stride)
    stride = min(stride, *plain.patch_shape)
    shift = np.random.default_rng(seed).integers(stride, size=len(axes)).tolist()
    grid = PatchGrid(plain.image_shape, plain.patch_shape, stride, shift)
    (box,) = grid.boxes(10**6)
    covered = np.zeros(grid.image_shape)
    grid.add(covered, np.ones((grid.n_patches, *grid.patch_shape)), box)
    assert covered.min() >= 1


def test_shift_is_where_the_second_patch_begins():
    assert_array_equal(PatchGrid((12,), (4,), 3, [1]).corners[0], [0, 1, 4, 7, 8])


def test_patches_that_touch_a_pixel_are_found():
    wanted = np.zeros((6, 6), bool)
    wanted[2, 3] = True
    grid = PatchGrid((6, 6), (2, 2), 2)
    (box,) = grid.boxes(100)
    assert_array_equal(grid.touching(wanted, box).reshape(3, 3), [[0, 0, 0], [0, 1, 0], [0, 0, 0]])
