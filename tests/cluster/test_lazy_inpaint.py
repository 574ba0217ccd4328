"""Filling of a Dask array: known pixels stay, and what is filled is nearly that of the whole."""

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from skimage import data

import sedil

da = pytest.importorskip("dask.array", reason="Dask is not installed: Dask arrays were not tested")

pytestmark = pytest.mark.usefixtures("small_chunks")
PICTURE = data.camera()[100:260, 180:350].astype(np.float32)
VOLUME = (data.camera()[100:128, 200:232, None] * np.linspace(0.5, 1, 40)).astype(np.float32)
SIGNAL = PICTURE[:4].ravel()
# In standard deviations of the image; measured over many chunkings: 0.002 to 0.01, and 0.05 to 0.15.
MEAN, LARGEST = 0.02, 0.4


def holes(shape, share=0.4, seed=0):
    return np.random.default_rng(seed).random(shape) < share


def assert_near(lazy, whole, image, mask):
    np.testing.assert_array_equal(lazy[~mask], image[~mask])
    difference = np.abs(lazy.astype(float) - whole)[mask] / image.std()
    assert np.sqrt(np.mean(difference**2)) < MEAN
    assert difference.max() < LARGEST


@settings(max_examples=4, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1000), share=st.floats(0.05, 0.7), cuts=st.integers(50, 120))
@pytest.mark.parametrize("image", [SIGNAL, PICTURE, VOLUME], ids=["signal", "picture", "volume"])
def test_what_is_filled_is_near_the_whole(image, seed, share, cuts):
    mask = holes(image.shape, share, seed)
    how = {"passes": 6} if image.ndim == 1 else {"method": "quick"}
    chunks = min(cuts, 16) if image.ndim == 3 else cuts
    lazy = sedil.inpaint(da.from_array(image, chunks=chunks), da.from_array(mask, chunks=37), **how)
    assert lazy.chunks == da.from_array(image, chunks=chunks).chunks
    assert_near(lazy.compute(), sedil.inpaint(image, mask, **how), image, mask)


@pytest.mark.slow
def test_groups_fill_nearly_the_same():
    image = data.camera()[:250, 100:400].astype(np.float32)
    mask = holes(image.shape, 0.5)
    lazy = sedil.inpaint(da.from_array(image, chunks=(125, 150)), mask).compute()
    assert_near(lazy, sedil.inpaint(image, mask), image, mask)


def test_colours_may_share_their_mask_or_not():
    image = data.cat()[:90, :100]
    shared, own = holes(image.shape[:2]), holes(image.shape)
    for mask in (shared, own):
        how = {"method": "quick", "passes": 4, "channel_axis": -1}
        lazy = sedil.inpaint(da.from_array(image, chunks=(90, 50, 2)), mask, **how).compute()
        assert lazy.dtype == np.uint8
        everywhere = np.broadcast_to(mask[..., None], image.shape) if mask.ndim == 2 else mask
        assert_near(lazy, sedil.inpaint(image, mask, **how), image, everywhere)


def test_what_lies_at_missing_pixels_does_not_matter():
    mask = holes(PICTURE.shape)
    spoiled = np.where(mask, np.nan, PICTURE)
    how = {"method": "quick", "passes": 2}
    lazy, plain = (sedil.inpaint(da.from_array(each, chunks=80), mask, **how) for each in (spoiled, PICTURE))
    np.testing.assert_array_equal(lazy.compute(), plain.compute())


def test_nothing_missing_is_nothing_changed():
    image = da.from_array(PICTURE, chunks=80)
    filled = sedil.inpaint(image, da.zeros(PICTURE.shape, dtype=bool, chunks=80), method="quick")
    np.testing.assert_array_equal(filled.compute(), PICTURE)


BAD = [
    ({"mask": None}, TypeError, "inpaint needs mask"),
    ({"mask": np.zeros((3, 3), bool)}, ValueError, "mask must have the shape of the image"),
    ({"mask": np.zeros(PICTURE.shape)}, TypeError, "mask must be boolean"),
    ({"mask": PICTURE > 0, "sigma": da.ones(PICTURE.shape)}, ValueError, "a map is for an image in memory"),
    ({"mask": PICTURE > 0, "method": "whole"}, ValueError, 'method="whole" is for an image in memory'),
    (
        {"mask": PICTURE > 0, "dictionary": sedil.odct(4, 5)},
        ValueError,
        "for patches of 1 axes .* image has 2",
    ),
]


@pytest.mark.parametrize(("how", "error", "words"), BAD, ids=[case[2] for case in BAD])
def test_bad_input_is_refused_at_once(how, error, words):
    with pytest.raises(error, match=words):
        sedil.inpaint(da.from_array(PICTURE, chunks=80), **how)


def test_holes_that_are_too_wide_are_told():
    image, mask = da.from_array(np.tile(PICTURE, (1, 4)), chunks=(160, 80)), np.zeros((160, 680), bool)
    mask[:, :400] = True
    with pytest.raises(ValueError, match="A hole is wider than a chunk with its halo"):
        sedil.inpaint(image, mask, method="quick").compute()
    with pytest.raises(ValueError, match="Every pixel is missing"):
        sedil.inpaint(image, np.ones(mask.shape, bool), method="quick").compute()
