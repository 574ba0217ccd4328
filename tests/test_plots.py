import matplotlib
import numpy as np
import pytest
from matplotlib import pyplot
from matplotlib.axes import Axes

import sedil
from random_things import random_dictionary, training_patches
from sedil import mosaic


@pytest.fixture(autouse=True)
def headless():
    matplotlib.use("Agg")
    yield
    pyplot.close("all")


@pytest.fixture(scope="module")
def result():
    return sedil.learn(training_patches(20, (3, 3)), (4, 4), max_iterations=5, random_state=0)


def test_plot_atoms_draws_the_mosaic(rng):
    dictionary = random_dictionary(2, rng)
    ax = sedil.plot_atoms(dictionary)
    assert isinstance(ax, Axes)
    np.testing.assert_array_equal(ax.images[0].get_array(), mosaic.draw(dictionary, zoom=1))
    assert not ax.axison


def test_plot_atoms_gives_the_atoms_the_signal_shape(rng):
    dictionary = sedil.odct((4,), (6,))
    shown = sedil.plot_atoms(dictionary, signal_shape=(2, 2)).images[0].get_array()
    np.testing.assert_array_equal(shown, mosaic.draw(dictionary, (2, 2), zoom=1))


def test_atoms_are_ordered_as_asked(result):
    used = mosaic.by_use(result.codes)
    for order, columns in (("use", used), ("stored", [np.arange(4)] * 2), ("frequency", None)):
        shown = sedil.plot_atoms(result, order=order).images[0].get_array()
        np.testing.assert_array_equal(shown, mosaic.draw(result.dictionary, zoom=1, order=columns))


def test_order_by_use_needs_codes(result):
    with pytest.raises(
        ValueError, match=r'order="use" needs codes, which the LearningResult of sedil.learn has'
    ):
        sedil.plot_atoms(result.dictionary, order="use")


def test_titles_say_what_is_drawn():
    assert sedil.plot_atoms(sedil.odct((4, 3), (6, 5))).get_title() == "6x5 = 30 atoms of 4x3"
    words = "12x12x12 = 1728 atoms of 8x8x8\nabove: the factors; below: 24 atoms, slice by slice"
    assert sedil.plot_atoms("separable-8x8x8").get_title() == words
    assert sedil.plot_atoms(sedil.odct(8, 9), signal_shape=(2, 2, 2)).get_title() == (
        "9 atoms of 2x2x2\n9 atoms, slice by slice"
    )


def test_plot_history_draws_the_cost_and_its_terms_on_a_logarithmic_scale(result):
    ax = sedil.plot_history(result.history)
    assert isinstance(ax, Axes)
    assert ax.get_yscale() == "log"
    lines = {line.get_label(): line.get_ydata() for line in ax.lines}
    for name in ("objective", "data", "sparsity", "coherence"):
        np.testing.assert_array_equal(lines[name], result.history[name])


@pytest.mark.parametrize(
    "draw",
    [lambda r, ax: sedil.plot_atoms(r.dictionary, ax=ax), lambda r, ax: sedil.plot_history(r.history, ax=ax)],
)
def test_given_axes_are_drawn_into_and_returned(draw, result):
    ax = pyplot.figure().add_subplot()
    assert draw(result, ax) is ax
    assert ax.has_data()


@pytest.fixture(scope="module")
def estimator():
    return sedil.SeparableDictionaryLearning((3, 3), 4, max_iterations=3, random_state=0).fit(
        np.reshape(training_patches(20, (3, 3)), (20, 9))
    )


def test_results_and_fitted_estimators_are_drawn_as_they_are(result, estimator):
    for given, dictionary, history in (
        (result, result.dictionary, result.history),
        (estimator, estimator.dictionary_, estimator.history_),
    ):
        shown = sedil.plot_atoms(given).images[0].get_array()
        np.testing.assert_array_equal(shown, mosaic.draw(dictionary, zoom=1))
        np.testing.assert_array_equal(sedil.plot_history(given).lines[0].get_ydata(), history["objective"])


def test_axis_says_what_is_counted(result):
    batches = sedil.learn_minibatch(training_patches(60, (3, 3)), 4, batch_size=30, random_state=0)
    for given, unit in ((result, "iterations"), (batches, "batches"), (batches.history, "batches")):
        assert sedil.plot_history(given).get_xlabel() == unit


def test_atoms_of_a_file_and_of_a_shipped_dictionary(result, tmp_path):
    result.dictionary.save(tmp_path / "own.npz")
    shipped = sedil.shipped_dictionary("separable-8x8")
    for given, dictionary in ((tmp_path / "own.npz", result.dictionary), ("separable-8x8", shipped)):
        shown = sedil.plot_atoms(given).images[0].get_array()
        np.testing.assert_array_equal(shown, mosaic.draw(dictionary, zoom=1))


@pytest.mark.parametrize(
    ("draw", "given", "message"),
    [
        (
            sedil.plot_atoms,
            np.eye(3),
            "must be a SeparableDictionary, a path, a shipped name, a Learn.* got an? ndarray of shape",
        ),
        (
            sedil.plot_history,
            [1.0],
            "history must be a History, a LearningResult or a fitted .* got \\[1.0\\]",
        ),
        (
            sedil.plot_atoms,
            sedil.SeparableDictionaryLearning((3, 3), 4),
            "got a SeparableDictionaryLearning: fit it first",
        ),
    ],
)
def test_what_cannot_be_drawn_is_refused_with_what_is_wanted(draw, given, message):
    with pytest.raises(TypeError, match=message):
        draw(given)


def test_figures_can_be_saved(result, tmp_path):
    for k, ax in enumerate([sedil.plot_atoms(result.dictionary), sedil.plot_history(result.history)]):
        ax.figure.savefig(tmp_path / f"{k}.png")
        assert (tmp_path / f"{k}.png").stat().st_size > 1000


def measured(n_channels=1):
    light = np.linspace(10, 200, 120) * np.ones((120, 1))
    photons = np.random.default_rng(0).poisson(np.dstack([light] * n_channels)) * 3.0
    return sedil.measure_noise(photons if n_channels > 1 else photons[..., 0], -1 if n_channels > 1 else None)


@pytest.mark.parametrize("n_channels", [1, 2, 3])
def test_plot_noise_draws_variances_and_their_line(n_channels):
    found = measured(n_channels)
    ax = sedil.plot_noise(found)
    assert len(ax.lines) == 2 * n_channels
    dots, line = ax.lines[-2:]
    np.testing.assert_array_equal(dots.get_xdata(), found.brightness[:, -1])
    np.testing.assert_array_equal(dots.get_ydata(), found.variances[:, -1])
    slope = np.diff(line.get_ydata()) / np.diff(line.get_xdata())
    assert slope[0] == pytest.approx(found.gain[-1])
    assert np.median(np.abs(np.interp(dots.get_xdata(), *line.get_data()) / dots.get_ydata() - 1)) < 0.2
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("brightness", "variance of the noise")
    assert ax.get_title().startswith("poisson-gaussian noise, sigma ")
    assert f"gain {found.gain[-1]:.3g}, read noise " in ax.get_legend().get_texts()[-1].get_text()


def test_plot_noise_says_what_it_needs():
    with pytest.raises(TypeError, match=r"noise must be a NoiseEstimate of sedil\.measure_noise, got 3"):
        sedil.plot_noise(3)
    with pytest.raises(ValueError, match="noise holds no flat parts by brightness: there is nothing to draw"):
        sedil.plot_noise(sedil.measure_noise(np.ones((20, 20))))
