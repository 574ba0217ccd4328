"""The engine that is chosen by default is faster than the portable one: a ratio, so that any machine will do.

The bar is generous: the ratio is above four on a quiet machine, and one if the fused engine were not used.
"""

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import sedil
from sedil_studies.bench.timing import Contestant, race

BAR = 2
REPEATS = 3


@pytest.fixture(scope="module")
def noisy():
    from skimage.data import camera

    clean = camera()[200:256, 200:256].astype(np.float32)
    return clean + 20 * np.random.default_rng(0).standard_normal(clean.shape, dtype=np.float32)


def gain(default, portable):
    """How many times faster the first is, one thread each."""
    contestants = [
        Contestant(name, "", run, repeats=REPEATS) for name, run in (("d", default), ("p", portable))
    ]
    with threadpool_limits(1):
        ours, theirs = race(contestants, lambda words: None)
    return theirs.median / ours.median


def test_coding(noisy):
    windows = np.lib.stride_tricks.sliding_window_view(noisy, (8, 8)).reshape(-1, 8, 8)
    patches = windows - windows.mean(axis=(1, 2), keepdims=True)
    dictionary = sedil.odct((8, 8), (16, 16)).like(patches)

    def code(engine):
        return lambda: sedil.sparse_code(dictionary, patches, 40.0, tolerance=1e-3, engine=engine, threads=1)

    assert gain(code(None), code("portable")) > BAR


def test_denoising(noisy):
    dictionary = sedil.odct((8, 8), (16, 16))

    def denoise(engine):
        return lambda: sedil.denoise(noisy, 20.0, dictionary, engine=engine, threads=1)

    assert gain(denoise(None), denoise("portable")) > BAR
