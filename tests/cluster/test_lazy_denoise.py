"""Chunks of a denoised Dask array are parts of the whole result, to the bit."""

from functools import cache

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from skimage import data

import sedil

da = pytest.importorskip("dask.array", reason="Dask is not installed: Dask arrays were not tested")

pytestmark = pytest.mark.usefixtures("small_chunks")
SIGMA = 20.0


def noisy(image, sigma=SIGMA):
    rng = np.random.default_rng(0)
    return (image + sigma * rng.standard_normal(image.shape)).astype(np.float32)


PICTURE = noisy(data.camera()[100:250, 180:310])
VOLUME = noisy(data.camera()[100:148, 200:240, None] * np.linspace(0.5, 1, 36))
IMAGES = {
    "signal": PICTURE[:6].ravel(),
    "picture": PICTURE,
    "volume": VOLUME,
}


@cache
def whole(name, method, sigma=SIGMA):
    return sedil.denoise(IMAGES[name], sigma, method=method)


def chunk_sizes(side):
    """Random cuts of an axis."""
    return st.lists(st.integers(1, side - 1), max_size=4, unique=True).map(
        lambda cuts: tuple(np.diff([0, *sorted(cuts), side]).tolist())
    )


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
@pytest.mark.parametrize(
    ("name", "method"),
    [("signal", "groups"), ("picture", "groups"), ("picture", "quick"), ("volume", "quick")],
)
def test_random_chunks_are_parts_of_the_whole_to_the_bit(name, method, data):
    image = IMAGES[name]
    chunks = tuple(data.draw(chunk_sizes(side)) for side in image.shape)
    lazy = sedil.denoise(da.from_array(image, chunks=chunks), SIGMA, method=method)
    assert lazy.chunks == chunks
    np.testing.assert_array_equal(lazy.compute(), whole(name, method))


@pytest.mark.slow
@pytest.mark.parametrize("chunks", [(24, 20, 36), (48, 14, 15)])
def test_groups_in_volumes_are_equal_to_the_bit(chunks):
    lazy = sedil.denoise(da.from_array(VOLUME, chunks=chunks), SIGMA)
    np.testing.assert_array_equal(lazy.compute(), whole("volume", "groups"))


@pytest.mark.parametrize(
    "how",
    [
        {"method": "l1"},
        {"sigma": 4.0},
        {"sigma": 4.0, "method": "quick"},  # cosines
        {"sigma": 12.4, "method": "quick"},  # both, mixed
        {"dictionary": "separable-8x8", "method": "quick", "stride": 3},
        {"dictionary": "separable-8x8", "method": "groups"},
        {"dtype": "float64"},
    ],
    ids=str,
)
def test_every_way_to_denoise_gives_the_same(how):
    image = PICTURE[:110, :100] if how.get("dtype") else PICTURE
    how = {"sigma": SIGMA} | how
    lazy = sedil.denoise(da.from_array(image, chunks=(60, 70)), **how).compute()
    np.testing.assert_allclose(lazy, sedil.denoise(image, **how), rtol=0, atol=1e-3)


def test_portable_codes_are_nearly_equal():
    """BLAS rounds products of other sizes otherwise, and an atom may come into use for it or not."""
    how = {"engine": "portable", "stride": 4, "dictionary": "separable-8x8"}
    lazy = sedil.denoise(da.from_array(PICTURE, chunks=(60, 70)), SIGMA, **how).compute()
    np.testing.assert_allclose(lazy, sedil.denoise(PICTURE, SIGMA, **how), rtol=0, atol=0.005 * SIGMA)


def test_pursuit_is_equal_to_rounding():
    lazy = sedil.denoise(da.from_array(PICTURE, chunks=(60, 70)), SIGMA, method="pursuit").compute()
    np.testing.assert_allclose(lazy, sedil.denoise(PICTURE, SIGMA, method="pursuit"), rtol=0, atol=2e-3)


@pytest.mark.parametrize("method", ["groups", "quick"])
def test_colours_are_denoised_together(method):
    image = noisy(data.cat()[100:180, 100:210])
    lazy = sedil.denoise(da.from_array(image, chunks=(50, 60, 2)), SIGMA, method=method, channel_axis=-1)
    assert lazy.chunks == ((50, 30), (60, 50), (2, 1))
    expected = sedil.denoise(image, SIGMA, method=method, channel_axis=-1)
    np.testing.assert_allclose(lazy.compute(), expected, rtol=0, atol=1e-3)


def test_clips_have_an_axis_of_time():
    clip = VOLUME[:14, :34, :34]
    lazy = sedil.denoise(da.from_array(clip, chunks=(14, 17, 34)), SIGMA, time_axis=0)
    np.testing.assert_array_equal(lazy.compute(), sedil.denoise(clip, SIGMA, time_axis=0))


@pytest.mark.parametrize(
    "image",
    [
        np.clip(PICTURE, 0, 255).astype(np.uint8),
        PICTURE.astype(np.float64) * 1e-30,
        PICTURE.astype(np.float64) + 1e9,
        (PICTURE * 1000).astype(np.int64) + 2**60,
        np.full((60, 60), 7.5),
        np.add.outer(np.arange(60), np.arange(60)),
        PICTURE > 100,
    ],
    ids=["bytes", "tiny", "offset", "64 bits", "flat", "without noise", "flags"],
)
def test_type_and_units_are_those_of_the_image(image):
    image = image[:90, :90]
    lazy = sedil.denoise(da.from_array(image, chunks=50))
    assert lazy.dtype == image.dtype
    assert lazy._meta.dtype == image.dtype
    result = lazy.compute()
    assert result.dtype == image.dtype
    level = sedil.estimate_noise(image)  # in memory a picture is looked at more closely, docs/noise.md
    expected = sedil.denoise(image, level) if level else image
    if image.dtype.kind == "f":
        # the last digits of the level tell other atoms of the guide from noise
        np.testing.assert_allclose(result, expected, rtol=0, atol=0.02 * level)
    else:
        np.testing.assert_array_equal(result, expected)


class CountedSource:
    """The picture, with a line in a file for each part that is read: Dask works on copies of it."""

    shape, dtype, ndim = PICTURE.shape, PICTURE.dtype, PICTURE.ndim

    def __init__(self, record):
        self.record = record

    def __getitem__(self, key):
        if key[0].stop:  # Dask looks at an empty part first
            with self.record.open("a") as lines:
                lines.write(f"{key}\n")
        return PICTURE[key]

    def counts(self):
        lines = self.record.read_text().splitlines() if self.record.exists() else []
        return {line: lines.count(line) for line in lines}


@pytest.fixture
def source(tmp_path):
    return CountedSource(tmp_path / "record")


def test_the_result_is_lazy_and_goes_on_in_a_chain(source):
    clean = sedil.denoise(da.from_array(source, chunks=(75, 65), asarray=False), SIGMA)
    sedil.estimate_noise(da.from_array(source, chunks=(75, 65), asarray=False))
    doubled = clean.map_blocks(lambda block: 2 * block, dtype=np.float32)
    assert not source.counts()
    np.testing.assert_array_equal(doubled.compute(), 2 * whole("picture", "groups"))
    assert source.counts()


@pytest.mark.parametrize(
    ("how", "times"),
    [
        ({"sigma": SIGMA}, 2),  # for its range, and for the work
        ({"sigma": SIGMA, "method": "quick"}, 3),  # for its contrast too
        ({}, 5),  # three times for the median of its details
    ],
)
def test_how_often_a_chunk_is_read(source, how, times):
    sedil.denoise(da.from_array(source, chunks=(75, 65), asarray=False), **how).compute()
    assert len(source.counts()) == 4
    assert set(source.counts().values()) == {times}


def test_it_goes_into_a_zarr_store(tmp_path):
    zarr = pytest.importorskip("zarr")
    clean = sedil.denoise(da.from_array(PICTURE, chunks=(40, 50)), SIGMA)
    clean.to_zarr(tmp_path / "clean.zarr")
    np.testing.assert_array_equal(zarr.open_array(tmp_path / "clean.zarr")[:], whole("picture", "groups"))


@pytest.mark.parametrize("chunks", [(150, 130), (31, 130), (10, 9)])
def test_noise_is_that_of_the_whole(chunks):
    lazy = sedil.estimate_noise(da.from_array(PICTURE, chunks=chunks))
    assert lazy.shape == ()
    assert float(lazy) == pytest.approx(sedil.estimate_noise(PICTURE), rel=1e-12)


@pytest.mark.parametrize("n", [101, 102])  # an odd and an even number of details
def test_the_median_is_exact_for_any_number_of_details(n):
    signal = np.random.default_rng(1).standard_normal(n)
    lazy = sedil.estimate_noise(da.from_array(signal, chunks=30))
    assert float(lazy) == pytest.approx(sedil.estimate_noise(signal), rel=1e-14)


def test_noise_of_colours_and_of_none():
    photo = data.cat()[:60, :70].astype(np.float64)
    lazy = sedil.estimate_noise(da.from_array(photo, chunks=(30, 30, 1)), channel_axis=-1)
    assert float(lazy) == pytest.approx(sedil.estimate_noise(photo, -1), rel=1e-12)
    assert float(sedil.estimate_noise(da.ones((50, 50), chunks=20))) == 0


def test_noise_may_be_given_as_what_was_estimated():
    image = da.from_array(PICTURE, chunks=(75, 65))
    clean = sedil.denoise(image, sedil.estimate_noise(image), method="l1", stride=4).compute()
    expected = sedil.denoise(PICTURE, sedil.estimate_noise(PICTURE), method="l1", stride=4)
    np.testing.assert_allclose(clean, expected, rtol=0, atol=1e-3)


def test_chunks_of_length_zero_do_no_harm():
    image = da.from_array(PICTURE, chunks=((75, 0, 75), (130,)))
    assert 0 in image.chunks[0]
    np.testing.assert_array_equal(sedil.denoise(image, SIGMA).compute(), whole("picture", "groups"))


BAD = [
    (lambda: PICTURE[PICTURE > 3], {}, ValueError, "chunks of unknown size"),
    (lambda: da.zeros((0, 5)), {}, ValueError, "image is empty"),
    (lambda: da.zeros((9, 9), chunks=9, dtype=object), {}, TypeError, "real numbers, got dtype object"),
    (lambda: da.ones((20, 20), dtype=complex), {}, TypeError, "real numbers, got dtype complex"),
    (lambda: da.ones((2,) * 5), {}, ValueError, "1 to 4 axes besides colour"),
    (lambda: da.ones((20, 20)), {"channel_axis": 5}, ValueError, "channel_axis 5 does not exist"),
    (lambda: da.ones((20, 20)), {"sigma": -1}, ValueError, "sigma must be a finite positive number"),
    (lambda: da.ones((20, 20)), {"engine": "x"}, ValueError, "engine must be one of"),
    (lambda: da.ones((20, 20, 3)), {}, ValueError, "looks like colour"),
    (lambda: da.ones((3, 20)), {}, ValueError, "cannot be estimated: give sigma"),
    (lambda: da.ones((20, 20)), {"noise": "auto"}, ValueError, "noise is for an image in memory"),
    (lambda: da.ones((20, 20)), {"sigma": np.ones((20, 20))}, ValueError, "Dask array must be one number"),
    (lambda: da.ones((20, 20)), {"sigma": da.ones((20, 20))}, ValueError, "a map is for an image in memory"),
]


@pytest.mark.parametrize(("make", "how", "error", "words"), BAD, ids=[case[3] for case in BAD])
def test_bad_input_is_refused_at_once(make, how, error, words):
    image = make()
    if isinstance(image, np.ndarray):
        lazy = da.from_array(PICTURE, chunks=50)
        image = lazy[lazy > 3]
    with pytest.raises(error, match=words):
        sedil.denoise(image, **how)


def test_numbers_that_are_not_finite_are_told_when_they_are_read():
    image = PICTURE.copy()
    image[3, 5] = np.nan
    with pytest.raises(ValueError, match="A chunk of image must be finite, got 1 NaN"):
        sedil.denoise(da.from_array(image, chunks=75), SIGMA).compute()


def test_noise_larger_than_the_image_is_told_when_that_is_known():
    with pytest.raises(ValueError, match="sigma 5000 is larger than the values of the image"):
        sedil.denoise(da.from_array(PICTURE, chunks=75), 5000.0).compute()


@pytest.mark.parametrize(
    "use",
    [
        lambda patches: sedil.sparse_code(sedil.odct((4, 4), 5), patches, 0.1),
        lambda patches: sedil.match_patches(patches[0], 2, 2),
        sedil.normalize_patches,
        lambda patches: sedil.measure_noise(patches[0]),
        lambda patches: sedil.odct((4, 4), 5).analyze(patches),
    ],
)
def test_functions_for_arrays_in_memory_refuse_others(use):
    with pytest.raises(
        TypeError, match=r"must be in memory here, got a Dask array: call \w+.compute\(\) first"
    ):
        use(da.from_array(PICTURE[:4, :32].reshape(8, 4, 4), chunks=2))


@pytest.mark.parametrize("sigma", [0.1, 1e-300])
def test_an_image_with_nothing_to_be_done_to_it_may_have_any_numbers(sigma):
    image = PICTURE[:12, :12].astype(float)
    image[3, 4] = 1e300
    lazy = sedil.denoise(da.from_array(image, chunks=5), sigma, sedil.odct((4, 4), 5))
    np.testing.assert_array_equal(lazy.compute(scheduler="synchronous"), image)


def test_a_lazy_sigma_must_be_a_number():
    with pytest.raises(TypeError, match="sigma must be a real number, got a Dask array of dtype object"):
        sedil.denoise(da.from_array(PICTURE), da.from_array(np.array(None)))


@pytest.mark.parametrize("kind", [np.matrix, np.memmap])
def test_blocks_of_other_classes_are_taken_for_plain_ones(kind):
    image = (PICTURE[:40, :32] * 1e16).astype(np.int64).view(kind)
    lazy = da.from_array(image, chunks=20, asarray=False)
    found = sedil.estimate_noise(lazy).compute(scheduler="synchronous")
    np.testing.assert_allclose(found, sedil.estimate_noise(np.asarray(image)))
    clean = sedil.denoise(lazy, 20e16, method="quick").compute(scheduler="synchronous")
    np.testing.assert_array_equal(clean, sedil.denoise(np.asarray(image), 20e16, method="quick"))
