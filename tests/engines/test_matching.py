"""The nearest patches are as many as wanted, and lie in the window, also where pixels are not numbers."""

import numpy as np
import pytest

from sedil.engines.fused.kernels.matching import Windows, distance_rows, find_nearest
from sedil.engines.fused.kernels.vectors import LANES
from sedil.patch_grid import flat_offsets


@pytest.mark.parametrize("value", [np.nan, -np.nan, np.inf, 3e38])
def test_members_lie_in_the_window(value):
    pixels = np.zeros(20 + LANES, np.float32)
    pixels[3:20:2] = value
    windows = Windows(np.array([0]), 9, np.arange(4))
    corners, begins = np.array([2, 5]), np.array([0, 3])
    members, found = np.full((2, 6), -99, np.int32), np.zeros((2, 6), np.float32)
    find_nearest(pixels, windows, corners, begins, distance_rows(windows), members, found)
    assert ((members >= begins[:, None]) & (members < begins[:, None] + 9)).all()


@pytest.mark.parametrize("n_rows", [1, 5, 8, 9, 13, 16])
@pytest.mark.parametrize("n_members", [1, 2, 7, 40])
def test_nearest_first_of_equals_in_the_order_of_the_window(n_rows, n_members):
    rng = np.random.default_rng(n_rows)
    shape, width = (n_rows + 2, 60), 41
    image = rng.integers(0, 3, shape).astype(np.float32)  # so that many are equal
    windows = Windows(flat_offsets((n_rows,), shape), width, flat_offsets((3, 4), shape))
    corner = (n_rows // 2) * shape[1] + 20
    padded = np.concatenate([image.ravel(), np.zeros(LANES, np.float32)])
    members, found = np.zeros((1, n_members), np.int32), np.zeros((1, n_members), np.float32)
    find_nearest(padded, windows, np.array([corner]), np.array([0]), distance_rows(windows), members, found)
    candidates = np.concatenate([row + np.arange(width) for row in windows.rows])
    flat = image.ravel()
    patches = flat[candidates[:, None] + windows.entries]
    distances = ((patches - flat[corner + windows.entries]) ** 2).sum(axis=1)
    order = np.where(candidates == corner, -1, distances)  # a patch is nearest to itself
    nearest = np.sort(np.argsort(order, kind="stable")[:n_members])
    assert members[0].tolist() == candidates[nearest].tolist()
    assert found[0].tolist() == distances[nearest].tolist()
