"""Arguments of the wrong kind are refused in words of ours, whichever function they are given to."""

from pathlib import Path

import numpy as np
import pytest

import sedil
from random_things import training_patches
from sedil.checks import short

DICTIONARY = sedil.odct((4, 4), 6)
IMAGE = training_patches(1, (12, 12))[0]
MASK = IMAGE > 1
PATCHES = training_patches(9, (4, 4))


def inpaint(**how):
    return sedil.inpaint(IMAGE, **({"mask": MASK, "dictionary": DICTIONARY} | how))


def denoise(**how):
    return sedil.denoise(**({"image": IMAGE, "sigma": 1.0, "dictionary": DICTIONARY} | how))


def learn(**how):
    return sedil.learn(PATCHES, 5, **({"max_iterations": 1} | how))


def minibatch(patches=PATCHES, **how):
    return sedil.learn_minibatch(patches, 5, batch_iterations=1, **how)


def code(**how):
    return sedil.sparse_code(DICTIONARY, PATCHES, 1.0, **how)


def stream(images=".", **how):
    return sedil.stream_patches(images, (4, 4), 10, **how)


def estimate(X, **how):
    return sedil.SeparableDictionaryLearning((4, 4), 5, max_iterations=1, **how).fit(X).transform(X)


CASES = [
    (lambda: inpaint(mask=[[True]]), ValueError, r"mask must have the shape of the data, \(12, 12\)"),
    (
        lambda: denoise(threshold=1e-39),
        ValueError,
        "threshold is in multiples of sigma and at least 1e-06, got 1e-39",
    ),
    (lambda: inpaint(sigma=1e39), ValueError, r"sigma 1e\+39 is larger than the values of the image"),
    (lambda: inpaint(method="groups", time_axis=(4, 4)), TypeError, "time_axis must be a whole number"),
    (lambda: inpaint(method="groups", time_axis=0), ValueError, "time_axis is for clips of three axes"),
    (lambda: inpaint(stride=10**20), ValueError, "stride must be at most"),
    (lambda: inpaint(stride=10**10), ValueError, "stride 10000000000 leaves gaps between patches"),
    (lambda: inpaint(passes=10**9), ValueError, "passes must be at most 10,000, got 1000000000"),
    (lambda: denoise(threads=100_000), ValueError, "threads must be at most 1,024, got 100000"),
    (lambda: learn(threads=2**63), ValueError, "threads must be at most 1,024"),
    (lambda: denoise(channel_axis="a"), TypeError, "channel_axis must be a whole number or None, got 'a'"),
    (lambda: denoise(channel_axis=np.zeros(3)), TypeError, "channel_axis must be .* got an ndarray of shape"),
    (lambda: denoise(stride=np.timedelta64(1, "s")), ValueError, "stride must be a whole number"),
    (lambda: denoise(dtype=np.zeros(0)), ValueError, "dtype must be one of 'float32', 'float64', got"),
    (
        lambda: denoise(sigma=np.zeros(9)),
        ValueError,
        r"sigma must be a number, one for each channel, or a map that fits the image of shape \(12, 12\)",
    ),
    (lambda: denoise(sigma=10**400), ValueError, "sigma must be a finite positive number, got an int"),
    (lambda: denoise(engine="x" * 5000), ValueError, "engine must be one of .* or None, got a str"),
    (lambda: sedil.estimate_noise(IMAGE + 1j), TypeError, "image must hold real numbers, got dtype complex"),
    (lambda: sedil.estimate_noise(np.array(3.0)), ValueError, "image must have 1 to 4 axes besides colour"),
    (lambda: sedil.plot_atoms(3), TypeError, "dictionary must be .* got 3"),
    (lambda: sedil.plot_atoms(DICTIONARY, ax=3), TypeError, "ax must be Axes of matplotlib, .* got 3"),
    (lambda: sedil.plot_atoms(DICTIONARY, signal_shape=0.5), TypeError, "signal_shape must be whole numbers"),
    (lambda: sedil.plot_atoms(DICTIONARY, order="size"), ValueError, "order must be one of .* got 'size'"),
    (lambda: sedil.SeparableDictionary(5), TypeError, "factors must be a list of matrices, .* got 5"),
    (
        lambda: sedil.SeparableDictionary([np.eye(3)], info="abc"),
        TypeError,
        "info must be a dict, got 'abc'",
    ),
    (
        lambda: sedil.SeparableDictionary([np.eye(3)], normalize="yes"),
        TypeError,
        "normalize must be True or False",
    ),
    (lambda: DICTIONARY.like("abc"), TypeError, "array must be an array whose kind is wanted, got 'abc'"),
    (lambda: DICTIONARY.save(""), ValueError, "path must be the path of a file, got ''"),
    (lambda: DICTIONARY.save(b"abc"), TypeError, "path must be a path, .* got a bytes"),
    (lambda: sedil.load_dictionary("a\0b"), ValueError, "dictionary must be the path of a file"),
    (lambda: sedil.load_dictionary("x" * 5000), ValueError, "a path of 5000 characters, longer than systems"),
    (lambda: sedil.odct(b"ab", 5), TypeError, "patch_shape must be whole numbers .* got a bytes"),
    (lambda: sedil.odct(np.array(4.0), 5), TypeError, "patch_shape must be whole numbers"),
    (lambda: sedil.odct((), 5), ValueError, "patch_shape must have 1 to 4 numbers, got 0"),
    (lambda: sedil.odct(4, 10**10), ValueError, "A factor of 4 x 10000000000 takes about"),
    (lambda: sedil.sample_patches(5, (4, 4), 3), TypeError, "images must be a list of arrays, got 5"),
    (lambda: sedil.sample_patches(np.zeros((0, 9, 9)), (4, 4), 3), ValueError, "There are no images"),
    (
        lambda: sedil.sample_patches([np.full((9, 9), np.nan)], (4, 4), 3),
        ValueError,
        "An image must be finite, got 81 NaN",
    ),
    (
        lambda: sedil.sample_patches([IMAGE], (4, 4), 10**14),
        ValueError,
        "The patches would take .* of memory",
    ),
    (lambda: sedil.sample_patches([IMAGE], 4, 3, "a"), ValueError, "random_state must be None, a whole"),
    (
        lambda: sedil.sample_patches([IMAGE], 4, 3, np.eye(3).view(np.matrix)),
        ValueError,
        r"random_state must be .* got a matrix of shape \(3, 3\)",
    ),
    (lambda: sedil.normalize_patches(PATCHES, unit_length=3), TypeError, "unit_length must be True or False"),
    (lambda: stream(3), TypeError, "images must be paths of files and folders, got 3"),
    (lambda: stream([b"a"]), TypeError, "An image must be a path, .* got a bytes"),
    (lambda: stream(on_error=3), TypeError, "on_error must be a function of a path and an error, got 3"),
    (lambda: stream(flatten=np.zeros(3)), TypeError, "flatten must be True or False, got an ndarray"),
    (lambda: code(sparse=np.zeros(3)), TypeError, "sparse must be True or False, got an ndarray"),
    (lambda: learn(resume="no"), TypeError, "resume must be True or False, got 'no'"),
    (lambda: learn(checkpoint=3), TypeError, "checkpoint must be a path, .* got 3"),
    (lambda: minibatch(sparsity_scale=""), ValueError, "sparsity_scale must be a finite positive number"),
    (lambda: minibatch(dtype=MASK), ValueError, "dtype must be one of .* got an ndarray"),
    (lambda: minibatch(int), TypeError, "The function for patches must return an iterable, got 0"),
    (
        lambda: minibatch(iter([PATCHES.astype("M8[s]")])),
        TypeError,
        "patches must hold real numbers, got dtype",
    ),
    (lambda: sedil.MiniBatchLearner("abc"), ValueError, "n_atoms must be positive whole numbers, got 'abc'"),
    (lambda: sedil.MiniBatchLearner(engine=3), ValueError, "engine must be one of .* or None, got 3"),
    (lambda: sedil.MiniBatchLearner(random_state={}), ValueError, "random_state must be .* got a dict"),
    (lambda: estimate(np.zeros((0, 4, 4))), ValueError, r"Found array with 0 sample\(s\)"),
    (
        lambda: estimate(PATCHES, random_state=-1),
        ValueError,
        "random_state must be a whole number of at least 0",
    ),
]


@pytest.mark.parametrize(("call", "error", "words"), CASES, ids=[case[2] for case in CASES])
def test_they_are_refused_in_words(call, error, words):
    with pytest.raises(error, match=words) as caught:
        call()
    assert len(str(caught.value)) < 300


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (3, "3"),
        (None, "None"),
        ((4, None), "(4, None)"),
        ("x" * 100, "a str"),
        (10**100, "an int"),
        (np.zeros((2, 3)), "an ndarray of shape (2, 3)"),
        (object(), "an object"),
        ([[1]], "a list"),
        (Path("a"), "a PosixPath"),
    ],
)
def test_values_in_messages_are_short(value, words):
    assert short(value) == words


@pytest.mark.parametrize("kind", [np.matrix, np.memmap])
def test_kinds_of_arrays_of_numpy_are_plain_ones_to_us(kind):
    image = IMAGE.copy().view(kind)
    for result, expected in (
        (denoise(image=image), denoise()),
        (sedil.inpaint(image, MASK, DICTIONARY), inpaint()),
        (DICTIONARY.analyze(image[:4, :4]), DICTIONARY.analyze(IMAGE[:4, :4])),
    ):
        assert type(result) is np.ndarray
        np.testing.assert_array_equal(result, expected)


def test_numbers_of_numpy_are_numbers():
    for work in (denoise, inpaint):
        np.testing.assert_array_equal(work(stride=np.int64(2)), work(stride=2))


@pytest.mark.parametrize("dtype", [">f8", ">f4"])
def test_bytes_may_lie_in_the_other_order(dtype):
    result = denoise(image=IMAGE.astype(dtype))
    np.testing.assert_array_equal(result, denoise(image=IMAGE.astype(dtype[1:])))


def test_the_estimator_leaves_the_random_numbers_of_all_alone():
    before = np.random.get_state()[1].copy()  # noqa: NPY002
    estimate(PATCHES)
    assert (np.random.get_state()[1] == before).all()  # noqa: NPY002


@pytest.mark.parametrize("path", [-0.0, 1j, b"abc", "x" * 5000])
def test_a_dictionary_is_loaded_from_a_path(path):
    with pytest.raises((TypeError, ValueError), match="path"):
        sedil.SeparableDictionary.load(path)
