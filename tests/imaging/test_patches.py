import numpy as np
import pytest

import sedil
from sedil.arrays import to_numpy


def numbered(shape, first=0):
    """An image whose every pixel has its own value, which says where a patch came from."""
    return first + np.arange(np.prod(shape), dtype=float).reshape(shape)


@pytest.mark.parametrize(
    ("shape", "patch_shape"),
    [((30,), (4,)), ((9, 11), (3, 4)), ((5, 6, 7), (2, 3, 2)), ((4, 4, 4, 4), (2, 1, 3, 2))],
)
def test_patches_are_windows_of_the_image(shape, patch_shape):
    image = numbered(shape)
    patches = sedil.sample_patches([image], patch_shape, 50, random_state=0)
    assert patches.shape == (50, *patch_shape)
    for patch in patches:
        corner = np.unravel_index(int(patch.flat[0]), shape)
        window = image[tuple(slice(c, c + side) for c, side in zip(corner, patch_shape, strict=True))]
        np.testing.assert_array_equal(patch, window)


def test_every_position_of_every_image_is_equally_likely():
    small, large = numbered((4, 4)), numbered((6, 7), first=1000)
    patches = sedil.sample_patches([small, large], (3, 3), 34_000, random_state=1)
    _, counts = np.unique(patches[:, 0, 0], return_counts=True)
    assert counts.size == 2 * 2 + 4 * 5
    expected = 34_000 / counts.size
    chi_squared = ((counts - expected) ** 2 / expected).sum()
    assert chi_squared < 49.7  # 99.9 % point for 23 degrees of freedom


def test_image_as_large_as_the_patch_has_one_position():
    image = numbered((3, 3))
    patches = sedil.sample_patches([image], (3, 3), 4, random_state=0)
    np.testing.assert_array_equal(patches, np.stack([image] * 4))


def test_random_state_makes_the_draw_repeatable():
    image = numbered((20, 20))
    first, again, other = (sedil.sample_patches([image], (3, 3), 30, random_state=s) for s in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


def test_generator_is_used_and_moves_on():
    image, generator = numbered((20, 20)), np.random.default_rng(0)
    first = sedil.sample_patches([image], (3, 3), 30, random_state=generator)
    second = sedil.sample_patches([image], (3, 3), 30, random_state=generator)
    np.testing.assert_array_equal(first, sedil.sample_patches([image], (3, 3), 30, random_state=0))
    assert not np.array_equal(first, second)


def test_patches_are_a_copy():
    image = numbered((8, 8))
    sedil.sample_patches([image], (3, 3), 5, random_state=0)[:] = -1
    np.testing.assert_array_equal(image, numbered((8, 8)))


@pytest.mark.parametrize(
    ("dtypes", "expected"),
    [
        ([np.uint8], np.float32),
        ([bool], np.float32),
        ([np.float16], np.float32),
        ([np.float32], np.float32),
        ([np.float64], np.float64),
        ([np.uint8, np.float64], np.float64),
    ],
)
def test_patches_have_the_common_floating_type(dtypes, expected):
    images = [np.ones((4, 4), dtype) for dtype in dtypes]
    assert sedil.sample_patches(images, (2, 2), 3, random_state=0).dtype == expected


@pytest.mark.parametrize(
    ("images", "patch_shape", "n_patches", "message"),
    [
        ([], (2, 2), 3, "There are no images to take patches from"),
        (
            [np.ones((4, 4))],
            (2, 5),
            3,
            r"image of shape \(4, 4\) is smaller than a patch of shape \(2, 5",
        ),
        (
            [np.ones((9, 9)), np.ones((1, 9))],
            (2, 2),
            3,
            r"An image of shape \(1, 9\) is smaller than",
        ),
        (
            [np.ones((4, 4, 3))],
            (2, 2),
            3,
            r"image of shape \(4, 4, 3\) does not have the 2 axes of a patch",
        ),
        (np.ones((4, 4)), (2, 2), 3, r"An image of shape \(4,\) does not have the 2 axes of a patch"),
        ([np.ones((4, 4))], (2, 0), 3, "patch_shape must be a whole number of at least 1, got 0"),
        ([np.ones((4, 4))], (2, 2.5), 3, "patch_shape must be a whole number of at least 1, got 2.5"),
        ([np.ones((4, 4))], (2, 2), 0, "n_patches must be a whole number of at least 1, got 0"),
        ([np.ones((4, 4))], (2, 2), 2.5, "n_patches must be a whole number of at least 1, got 2.5"),
        ([np.ones((4, 4))], (2, 2), True, "n_patches must be a whole number of at least 1, got True"),
    ],
)
def test_bad_requests_for_patches_are_refused(images, patch_shape, n_patches, message):
    with pytest.raises(ValueError, match=message):
        sedil.sample_patches(images, patch_shape, n_patches)


@pytest.mark.parametrize("image", [np.ones((4, 4), complex), np.full((4, 4), "x")], ids=["complex", "text"])
def test_images_must_hold_real_numbers(image):
    with pytest.raises(TypeError, match="must hold real numbers, got dtype"):
        sedil.sample_patches([image], (2, 2), 3)


# Normalising


@pytest.mark.parametrize("shape", [(9, 5), (9, 3, 4), (9, 2, 3, 2), (9, 2, 2, 2, 3)])
def test_normalised_patches_have_zero_mean_and_unit_length(shape, arrays, rng):
    patches = 100 + 20 * rng.standard_normal(shape)
    normalised = sedil.normalize_patches(arrays.make(patches))
    rows = (patches.reshape(9, -1).T - patches.reshape(9, -1).mean(axis=1)).T
    expected = (rows.T / np.linalg.norm(rows, axis=1)).T.reshape(shape)
    arrays.check(normalised, expected)
    flat = to_numpy(normalised).reshape(9, -1)
    np.testing.assert_allclose(flat.mean(axis=1), 0, atol=arrays.tolerance)
    np.testing.assert_allclose((flat**2).sum(axis=1), 1, atol=arrays.tolerance)


@pytest.mark.parametrize("level", [0.0, 1.0, 0.1, 255.0, 1e15, -3.3])
def test_flat_patches_are_dropped_at_any_level(level, arrays, rng):
    patches = rng.standard_normal((4, 8, 8)) * max(abs(level), 1)
    patches[[0, 2]] = level
    kept = sedil.normalize_patches(arrays.make(patches))
    assert tuple(kept.shape) == (2, 8, 8)
    arrays.check(kept, sedil.normalize_patches(patches[[1, 3]]))


def test_faint_patches_are_kept(rng):
    faint = 1e-200 * rng.standard_normal((3, 4, 4))
    assert sedil.normalize_patches(faint * 1e60).shape == (3, 4, 4)


def test_lengths_can_be_kept(rng):
    patches = 5 + 3 * rng.standard_normal((6, 4, 4))
    expected = patches - patches.mean(axis=(1, 2), keepdims=True)
    np.testing.assert_allclose(sedil.normalize_patches(patches, unit_length=False), expected, rtol=1e-12)


@pytest.mark.parametrize("dtype", [np.uint8, np.int16, bool, np.float16])
def test_other_types_become_floats_and_stay_untouched(dtype):
    patches = (np.arange(32).reshape(2, 4, 4) % 5).astype(dtype)
    patches.flags.writeable = False
    expected = np.float32 if dtype == np.float16 else np.float64
    assert sedil.normalize_patches(patches).dtype == expected


@pytest.mark.parametrize(
    ("patches", "error", "message"),
    [
        (
            np.ones((3, 4, 4)),
            ValueError,
            "Every patch is flat: without its mean nothing is left",
        ),
        (np.ones((3, 1)), ValueError, "Every patch is flat"),
        (np.ones((0, 4, 4)), ValueError, r"patches are empty: got shape \(0, 4, 4\)"),
        (np.ones(4), ValueError, r"1 to 4 patch axes, got 1 axes in all, shape \(4,\)"),
        (np.ones((2,) * 6), ValueError, "1 to 4 patch axes, got 6 axes in all"),
        (
            np.array([[1.0, np.nan]]),
            ValueError,
            r"patches must be finite, got 1 NaN or infinite value \(the first at index \(0, 1",
        ),
        (np.ones((2, 2), complex), TypeError, "patches must hold real numbers, got dtype complex128"),
    ],
)
def test_bad_patches_are_refused_with_the_reason(patches, error, message):
    with pytest.raises(error, match=message):
        sedil.normalize_patches(patches)
