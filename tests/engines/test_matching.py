"""The nearest patches are as many as wanted, and lie in the window, also where pixels are not numbers."""

import numpy as np
import pytest

from sedil.engines.fused.kernels.matching import Windows, distance_rows, find_nearest
from sedil.engines.fused.kernels.vectors import LANES


@pytest.mark.parametrize("value", [np.nan, -np.nan, np.inf, 3e38])
def test_members_lie_in_the_window(value):
    pixels = np.zeros(20 + LANES, np.float32)
    pixels[3:20:2] = value
    windows = Windows(np.array([0]), 9, np.arange(4))
    corners, begins = np.array([2, 5]), np.array([0, 3])
    members, found = np.full((2, 6), -99, np.int32), np.zeros((2, 6), np.float32)
    find_nearest(pixels, windows, corners, begins, distance_rows(windows), members, found)
    assert ((members >= begins[:, None]) & (members < begins[:, None] + 9)).all()
