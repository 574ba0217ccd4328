"""Groups of alike patches: matching, shrinkage, averages, denoising and inpainting by them."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal

import sedil
from sedil.arrays import window_sums
from sedil.engines.contract import Shrinkage
from sedil.engines.fused import ENGINE as FUSED
from sedil.engines.portable import ENGINE as PORTABLE
from sedil.engines.portable.grouping import shrink
from sedil.imaging.group_denoising import GroupDenoising
from sedil.imaging.groups import find_groups, group_settings, mean_over_groups
from sedil.imaging.patch_averages import CleaningOptions, PatchCounter
from sedil.imaging.pixels import split_channels
from sedil.match_grid import MatchGrid
from sedil.patch_grid import PatchGrid

SIGMA = 20.0
SHRINKAGE = Shrinkage(0.58, 1.0, 2)

# Channels, shape, shape of a patch, stride, window, members: fewer and more of these than entries.
CASES = [
    (1, (40,), (8,), 3, (31,), 12),
    (1, (30, 27), (6, 6), 4, (15, 13), 20),
    (1, (30, 27), (5, 5), 3, (15, 13), 50),
    (3, (20, 21), (4, 4), 3, (9, 11), 60),
    (1, (12, 13, 14), (4, 4, 4), 2, (5, 5, 7), 32),
    (2, (9, 10, 11), (2, 3, 3), 2, (3, 5, 5), 9),
    (1, (7, 7, 6, 8), (3, 3, 3, 3), 2, (3, 3, 3, 3), 16),
    (1, (5, 6), (1, 1), 1, (5, 5), 1),
    (1, (6, 6), (6, 6), 4, (9, 9), 1),
]


def options(engine=None, threads=1):
    return CleaningOptions(engine, 512e6, threads, PatchCounter(lambda progress: None, 1))


def grid_of(shape, patch_shape, stride, window):
    strides = [min(stride, length) for length in patch_shape]
    return MatchGrid(PatchGrid(shape, patch_shape, strides), window)


def image_of(n_channels, shape, rng):
    return rng.integers(0, 12, (n_channels, *shape)).astype(np.float32)  # many patches are equally far


def nearest_by_hand(grid, image, n_members, box):
    """Sets of nearest candidates of each patch, and their distances in order."""
    reach = grid.reach(box)
    pixels = image[(slice(None), *reach)].astype(np.float64)
    shape = pixels.shape[1:]
    found = []
    for corner in np.ndindex(*(len(side) for side in box)):
        at = [side[k] for side, k in zip(box, corner, strict=True)]
        first = [side[k] for side, k in zip(grid.begins(box), corner, strict=True)]
        patch = [
            slice(a - r.start, a - r.start + n)
            for a, r, n in zip(at, reach, grid.grid.patch_shape, strict=True)
        ]
        rows = []
        for step in np.ndindex(*grid.window):
            begin = [f + s - r.start for f, s, r in zip(first, step, reach, strict=True)]
            other = [slice(b, b + n) for b, n in zip(begin, grid.grid.patch_shape, strict=True)]
            distance = ((pixels[(slice(None), *patch)] - pixels[(slice(None), *other)]) ** 2).sum()
            itself = all(a.start == b.start for a, b in zip(patch, other, strict=True))
            rows.append((-1 if itself else distance, np.ravel_multi_index(begin, shape)))
        found.append(sorted(rows, key=lambda row: row[0])[:n_members])
    return found


@pytest.mark.parametrize("engine", [FUSED, PORTABLE], ids=["fused", "portable"])
@pytest.mark.parametrize("case", CASES, ids=str)
def test_nearest_patches_are_found_ties_in_order(case, engine, rng):
    n_channels, shape, patch_shape, stride, window, n_members = case
    grid, image = grid_of(shape, patch_shape, stride, window), image_of(n_channels, shape, rng)
    for box in list(grid.grid.boxes(12))[::3]:
        groups = engine.match_box(grid, image, n_members, box, None)
        for members, distances, expected in zip(
            groups.members, groups.distances, nearest_by_hand(grid, image, n_members, box), strict=True
        ):
            assert set(members.tolist()) == {int(at) for _, at in expected}
            assert_array_equal(np.sort(distances), [max(distance, 0) for distance, _ in expected])


@pytest.mark.parametrize("case", CASES, ids=str)
def test_engines_clean_groups_alike(case, rng):
    n_channels, shape, patch_shape, stride, window, n_members = case
    grid, image = grid_of(shape, patch_shape, stride, window), image_of(n_channels, shape, rng)
    noise = (30 * rng.random(shape)).astype(np.float32)
    for box in list(grid.grid.boxes(12))[::3]:
        groups = FUSED.match_box(grid, image, n_members, box, None)
        ours, theirs = (engine.clean_groups(groups, image, noise, SHRINKAGE) for engine in (FUSED, PORTABLE))
        assert_array_equal(ours.weight, theirs.weight)
        assert_allclose(ours.total, theirs.total, atol=2e-4 * np.abs(theirs.total).max())


@pytest.mark.parametrize("n_channels", [1, 3])
@pytest.mark.parametrize(("n_members", "n_entries"), [(7, 12), (12, 7), (9, 9), (1, 4), (33, 5), (5, 70)])
def test_shrinkage_is_that_of_eigenvalues(n_members, n_entries, n_channels, rng):
    groups = rng.standard_normal((3, n_members, n_channels, n_entries))
    variance = np.array([0.5, 1.0, 2.0])
    cleaned = shrink(groups, variance, SHRINKAGE)
    n_all = n_channels * n_entries
    for group, level, result in zip(groups, variance, cleaned, strict=True):
        mean = group.mean(axis=0)
        left, values, right = np.linalg.svd((group - mean).reshape(n_members, n_all), full_matrices=False)
        kept = kept_share(values**2, SHRINKAGE.strength * (np.sqrt(n_members) + np.sqrt(n_all)) ** 2 * level)
        beside = mean - mean.mean(axis=1, keepdims=True)
        kept_mean = kept_share(n_members * np.sum(beside**2), SHRINKAGE.mean_strength * n_all * level)
        expected = mean - (1 - kept_mean) * beside + ((left * (kept * values)) @ right).reshape(group.shape)
        assert_allclose(result, expected, atol=1e-9)


def kept_share(energy, threshold):
    share = energy / (energy + threshold)
    for _ in range(SHRINKAGE.smooth_steps):
        share = 3 * share**2 - 2 * share**3
    return share


def test_flat_regions_hold_no_fine_stripes(rng):
    noisy = (100 + 50 * rng.standard_normal((160, 160))).astype(np.float32)
    clean = sedil.denoise(noisy, 50)
    steps = np.diff(clean, axis=1)
    assert np.sqrt(np.mean(steps**2)) < 2.0  # 2.4 to 2.7 where mean members are kept as they are


@pytest.mark.parametrize("sigma", [1e-12, 1e-3, 0.5])
def test_groups_of_equal_members_stay_what_they_are(sigma):
    image = np.tile(np.arange(6, dtype=np.float32), (40, 7))
    clean = sedil.denoise(image, sigma, method="groups")
    # Contrast that nothing took away is raised by a little.
    assert_allclose(clean, image, atol=1e-3 + 0.02 * sigma)


@pytest.mark.parametrize("sigma", [1e-7, 1e-4, 0.01, 0.1])
def test_noise_that_is_very_weak_is_not_made_worse(sigma, rng):
    steps = np.kron(rng.integers(0, 255, (12, 12)), np.ones((4, 4)))
    noisy = (steps + sigma * rng.standard_normal(steps.shape)).astype(np.float32)
    clean = sedil.denoise(noisy, sigma, method="groups")
    assert np.sqrt(np.mean((clean - steps) ** 2)) < 1.05 * sigma + 1e-5


def test_window_sums_are_an_adjoint_pair(rng):
    left, right = rng.standard_normal((2, 7, 8, 5))
    sums = [window_sums(each, (3, 1, 5), forwards=way) for each, way in ((left, True), (right, False))]
    assert (sums[0] * right).sum() == pytest.approx((left * sums[1]).sum())
    assert window_sums(left, (3, 1, 5), forwards=False)[0, 0, 0] == pytest.approx(left[:3, 0, :5].sum())


@pytest.mark.parametrize("engine", ["fused", "portable"])
def test_groups_are_made_where_they_are_wanted_only(engine, rng):
    image = image_of(1, (24, 24), rng)
    wanted = np.zeros((24, 24), bool)
    wanted[9, 9] = True
    groups = find_groups(image, group_settings((24, 24)), options(engine), wanted)
    assert sum(len(some.members) for some in groups) == 4
    noise = np.full((24, 24), 400, np.float32)
    clean = mean_over_groups(image, groups, noise, SHRINKAGE, options(engine))
    assert np.isfinite(clean).all()
    assert clean[0, 9, 9] != image[0, 9, 9]


@pytest.mark.parametrize(
    ("shape", "how"),
    [
        ((100,), {}),
        ((40, 37), {}),
        ((30, 31, 3), {"channel_axis": -1}),
        ((2, 30, 31), {"channel_axis": 0}),
        ((12, 13, 14), {}),
        ((6, 20, 21), {"time_axis": 0}),
        ((20, 21, 6), {"time_axis": -1}),
        ((6, 7, 6, 7), {}),
    ],
    ids=str,
)
def test_noise_falls_and_engines_agree(shape, how, rng):
    smooth = 100 + 60 * np.sin(sum(0.35 * axis for axis in np.indices(shape)))
    noisy = smooth + SIGMA * rng.standard_normal(shape)
    fused, portable = (sedil.denoise(noisy, SIGMA, engine=engine, **how) for engine in ("fused", "portable"))
    assert np.mean((fused - smooth) ** 2) < 0.4 * SIGMA**2
    assert np.sqrt(np.mean((fused - portable) ** 2)) < 0.1  # a few patches that are nearly as near may differ
    reference = sedil.denoise(noisy, SIGMA, dtype="float64", **how)
    assert np.sqrt(np.mean((reference - portable) ** 2)) < 0.1


def test_threads_never_change_a_bit(rng):
    noisy = (100 + SIGMA * rng.standard_normal((150, 140))).astype(np.float32)
    one, two, five = (sedil.denoise(noisy, SIGMA, threads=threads) for threads in (1, 2, 5))
    assert_array_equal(one, two)
    assert_array_equal(one, five)


@pytest.mark.parametrize(
    "shape", [(1, 1), (1, 50), (3, 3), (7, 5), (6, 6), (2,), (2, 3, 4), (1, 9, 9), (2, 2, 2, 2)]
)
@pytest.mark.parametrize("sigma", [1e-6, 1.0, 400.0])
def test_small_images_and_any_noise(shape, sigma, rng):
    image = 400 + 600 * rng.random(shape)
    for engine in ("fused", "portable"):
        clean = sedil.denoise(image, sigma, engine=engine)
        assert clean.shape == shape
        assert np.isfinite(clean).all()


def test_flat_images_stay_flat():
    flat = np.full((40, 40), 7.0)
    assert_array_equal(sedil.denoise(flat, 3.0), flat)


def test_groups_fill_stripes_better_than_patches(rng):
    stripes = 100 + 50 * np.sin(np.add.outer(1.1 * np.arange(64), 0.6 * np.arange(64)))
    mask = rng.random(stripes.shape) < 0.8
    errors = [
        np.mean((sedil.inpaint(np.where(mask, np.nan, stripes), mask, method=method) - stripes)[mask] ** 2)
        for method in ("groups", "quick")
    ]
    assert errors[0] < 0.7 * errors[1]


@pytest.mark.parametrize("method", ["groups", "quick"])
def test_more_known_pixels_are_never_worse(method, rng):
    # Stripes that become finer, up to two pixels each: if the first level is low, few passes lose them.
    x = np.arange(96.0)
    stripes = 100 + 50 * np.sin(np.add.outer(0.5 * x + 0.012 * x**2, 0.3 * x + 0.006 * x**2))
    order = rng.random(stripes.shape)
    errors = []
    for share in (0.9, 0.8, 0.65, 0.5, 0.3):
        mask = order < share
        filled = sedil.inpaint(np.where(mask, 0, stripes), mask, method=method)
        errors.append(np.mean((filled - stripes)[mask] ** 2))
    assert errors == sorted(errors, reverse=True)


@pytest.mark.parametrize("shape", [(60,), (30, 31), (3, 20), (1, 5), (9, 10, 11), (5, 6, 5, 6)])
def test_known_pixels_stay_in_all_numbers_of_axes(shape, rng):
    image = 100 * rng.random(shape)
    mask = rng.random(shape) < 0.4
    filled = sedil.inpaint(np.where(mask, np.nan, image), mask)
    assert_array_equal(filled[~mask], image[~mask])
    assert np.isfinite(filled).all()


def test_colours_that_miss_different_pixels_are_filled_together(rng):
    image = np.stack([100 + 50 * np.sin(np.add.outer(0.5 * np.arange(32), 0.3 * np.arange(32)))] * 3, axis=-1)
    mask = rng.random(image.shape) < 0.5
    filled = sedil.inpaint(np.where(mask, np.nan, image), mask, channel_axis=-1)
    assert_array_equal(filled[~mask], image[~mask])
    assert np.abs(filled - image).mean() < 3


def test_progress_ends_where_it_said(rng):
    image = 100 * rng.random((40, 40, 3))
    hole = np.zeros((40, 40), bool)
    hole[10:12, 5:9] = True  # most patches get no group
    for work in (
        lambda tell: sedil.denoise(image[..., 0], 30.0, progress=tell),
        lambda tell: sedil.denoise(image, 30.0, channel_axis=-1, progress=tell),
        lambda tell: sedil.denoise(image[:12, :12], 30.0, channel_axis=-1, progress=tell),
        lambda tell: sedil.inpaint(image[..., 0], hole, passes=3, progress=tell),
        lambda tell: sedil.match_patches(image, 4, channel_axis=-1, progress=tell),
    ):
        seen = []
        work(seen.append)
        assert seen[-1].done == seen[-1].total


def test_an_axis_of_time_is_for_groups(rng):
    clip = 100 * rng.random((8, 20, 20))
    with pytest.raises(ValueError, match=r'time_axis is for method="groups", got method=.quick.'):
        sedil.denoise(clip, 20.0, method="quick", time_axis=0)
    with pytest.raises(ValueError, match=r'time_axis is for method="groups", got method=.quick.'):
        sedil.inpaint(clip, clip > 90, sedil.odct((4, 4, 4), 6), time_axis=0)


def test_luminance_is_the_mean_of_two_estimates(rng):
    colours = 100 + 20 * rng.standard_normal((40, 42, 3))
    channels = split_channels(colours.astype(np.float32), -1)
    plan, grey = (
        GroupDenoising.plan(some, SIGMA, None, None, None, False)._replace(contrast=None)
        for some in (channels, channels[:1])
    )
    both = plan.clean(channels, options())
    together = plan._replace(luminance=None).clean(channels, options())
    alone = grey.clean(channels[:1], options())
    assert_allclose(both[0], (together[0] + alone[0]) / 2, atol=1e-4)
    assert_array_equal(both[1], together[1])


def test_a_dictionary_of_any_patches_makes_the_guess(rng):
    noisy = 100 + 20 * rng.standard_normal((30, 30))
    for dictionary in (sedil.SeparableDictionary([np.ones((1, 1))] * 2), sedil.odct((7, 7), 9)):
        assert np.std(sedil.denoise(noisy, SIGMA, dictionary, method="groups")) < 10


@pytest.mark.parametrize("engine", ["fused", "portable"])
@pytest.mark.parametrize("scale", [1.0, 1e-30])
def test_matches_are_the_nearest_in_order(engine, scale, rng):
    image = scale * rng.integers(0, 9, (21, 17, 2)).astype(np.float32)
    found = sedil.match_patches(image, (3, 4), 6, window=7, stride=(2, 3), channel_axis=-1, engine=engine)
    assert_array_equal(found.corners, found.matches[:, 0])
    assert_array_equal(found.corners, sorted(found.corners.tolist()))
    for corner, matches, distances in list(zip(*found, strict=True))[::7]:
        patches = [image[y : y + 3, x : x + 4].astype(np.float64) for y, x in matches]
        assert_allclose(distances, [np.linalg.norm(patch - patches[0]) for patch in patches], rtol=1e-5)
        assert np.all(np.diff(distances) >= 0)
        begin = np.clip(corner - 3, 0, [19 - 7, 14 - 7])
        every = [(y, x) for y in range(begin[0], begin[0] + 7) for x in range(begin[1], begin[1] + 7)]
        others = sorted(np.linalg.norm(image[y : y + 3, x : x + 4] - patches[0]) for y, x in every)
        assert_allclose(distances, others[:6], rtol=1e-5)


@pytest.mark.parametrize("engine", ["fused", "portable"])
def test_a_patch_is_its_own_first_match_also_among_equals(engine):
    found = sedil.match_patches(np.zeros((9, 8)), 3, 4, window=5, engine=engine)
    assert_array_equal(found.corners, found.matches[:, 0])


@pytest.mark.parametrize(
    ("how", "error", "message"),
    [
        ({"n_matches": 10, "window": 3}, ValueError, "n_matches 10 is more than the 9 patches of a window"),
        ({"patch_shape": 30}, ValueError, "smaller than a patch of shape"),
        ({"patch_shape": (3, 3, 3)}, ValueError, "patch_shape must be one number, or 2 for this image"),
        ({"window": 0}, ValueError, "window must be a whole number of at least 1, got 0"),
        ({"stride": 9}, ValueError, "stride 9 leaves gaps"),
        ({"n_matches": 1.5}, ValueError, "n_matches must be a whole number of at least 1, got 1.5"),
    ],
)
def test_mistakes_in_matching_are_named(how, error, message):
    with pytest.raises(error, match=message):
        sedil.match_patches(np.zeros((20, 20)), **how)
