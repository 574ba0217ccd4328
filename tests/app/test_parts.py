"""What lies behind the page, without a browser."""

import re
import socket
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import sedil
from sedil.app import fill_tab, limits, samples, serving
from sedil.app.denoise_tab import OWN, begin, settings
from sedil.app.denoised_file import as_facts, denoise_upload
from sedil.app.learn_tab import curve, learn_from
from sedil.app.views import View, shrunk
from sedil.app.work import Stopped, Work, as_bar, errors_on_page
from sedil.cli import app
from sedil.errors import ImageFileError
from sedil.file_jobs.denoise_files import DenoiseSettings
from sedil.learning.result import StopReason
from sedil.progress import Progress


def nothing(progress):
    """Progress that nobody looks at."""


# The command


def test_without_gradio_the_command_says_what_to_install(monkeypatch):
    monkeypatch.setattr(serving, "find_spec", lambda name: None)
    result = CliRunner().invoke(app, ["app"])
    assert result.exit_code == 1
    assert 'Gradio is not installed: pip install "sedil[app]".' in " ".join(result.output.split())


def test_a_port_in_use_is_told():
    pytest.importorskip("gradio", reason="Gradio is not installed: sedil app was not tested")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        words = [sys.executable, "-m", "sedil", "app", "--no-browser", "--port", port]
        done = subprocess.run(words, capture_output=True, text=True, timeout=60)
    assert done.returncode == 1
    assert done.stderr == f"error: Cannot listen at 127.0.0.1, port {port}: give another --port or --host.\n"


@pytest.mark.parametrize(
    ("host", "expected"),
    [("127.0.0.1", True), ("localhost", True), ("::1", True), ("0.0.0.0", False), ("example", False)],
)
def test_addresses_of_this_machine_are_known(host, expected):
    assert serving.is_this_machine(host) is expected


# Limits


def test_pictures_are_refused_by_the_head_of_their_file(tmp_path):
    Image.new("L", (5000, 4000)).save(tmp_path / "a.png")
    with pytest.raises(ImageFileError, match="has 4000x5000 pixels, and this page takes at most 16 million"):
        limits.require_picture(tmp_path / "a.png")
    Image.new("L", (2001, 2000)).save(tmp_path / "b.png")
    with pytest.raises(ImageFileError, match="at most 4 million"):
        limits.require_picture(tmp_path / "b.png", limits.PAINTED_PIXELS)
    limits.require_picture(tmp_path / "b.png")


def test_volumes_are_refused_by_the_head_of_their_file(tmp_path):
    for shape, words in [
        ((201, 200, 200), "has 201x200x200 voxels, and this page takes at most 8 million"),
        ((20, 30), "holds no volume: its shape is 20x30"),
        ((20, 30, 3), "holds no volume: its shape is 20x30x3"),
    ]:
        np.save(tmp_path / "a.npy", np.zeros(shape, np.uint8))
        with pytest.raises(ImageFileError, match=words):
            limits.require_volume(tmp_path / "a.npy")


def test_a_volume_among_pictures_is_sent_elsewhere(tmp_path):
    np.save(tmp_path / "a.npy", np.zeros((5, 6, 7)))
    with pytest.raises(ImageFileError, match=r"a\.npy is a volume or an array: drop it under Volume"):
        limits.require_pictures([tmp_path / "a.npy"])


def test_so_many_pictures_are_too_many(tmp_path):
    with pytest.raises(ValueError, match="21 pictures are more than the 20 that this page learns from"):
        limits.require_pictures([tmp_path / "a.png"] * 21)


# Work


def counting(report):
    for number in range(1000):
        report(Progress(number, 1000, "steps"))
        time.sleep(0.01)
    return "done"


def test_work_that_nobody_follows_any_more_ends():
    work = Work(counting)
    following = work.steps()
    next(following)
    following.close()
    with pytest.raises(Stopped):
        work.result()


def test_work_that_keeps_what_is_done_returns_it():
    def learning(report):
        n_steps = 0
        while not report(Progress(n_steps, None, "steps")):
            n_steps += 1
            time.sleep(0.01)
        return n_steps

    work = Work(learning, keeps_what_is_done=True)
    next(work.steps())
    work.stop()
    assert 0 < work.result() < 1000


def test_work_is_followed_to_its_end():
    def adding(report):
        report(Progress(1, 4, "steps"))
        time.sleep(0.6)
        return 7

    work = Work(adding)
    assert [*work.steps()][-1] == Progress(1, 4, "steps")
    assert work.result() == 7


def test_how_far_work_is_in_words():
    assert "compiles" in as_bar("denoising", None, 0)
    assert as_bar("denoising", Progress(1, 4, "patches"), 2.4).endswith("denoising: 25%, 2 s")


def test_errors_name_files_without_our_folders():
    gradio = pytest.importorskip("gradio", reason="Gradio is not installed: sedil app was not tested")
    with pytest.raises(gradio.Error) as caught, errors_on_page():
        raise ValueError("/tmp/sedil-app-x/0f3a/my cat.png is <b>no</b> picture, 3/4 of it.")
    assert caught.value.message == "my cat.png is &lt;b&gt;no&lt;/b&gt; picture, 3/4 of it."


def test_facts_are_text():
    assert "<i>" not in as_facts([("<i>.png", "a <i> b")])


# Pictures as they are shown


@pytest.mark.parametrize(
    ("pixels", "shown"),
    [
        (np.array([[0, 7, 255]], np.uint8), [0, 7, 255]),
        (np.array([[0, 257, 65535]], np.uint16), [0, 1, 255]),
        (np.array([[-1.0, 0.0, 1.0, np.nan]]), [0, 128, 255, 128]),
        (np.array([[3.0, 3.0]]), [0, 0]),
    ],
)
def test_any_numbers_become_eight_bits(pixels, shown):
    assert View(pixels)(pixels).tolist() == [shown]


def test_large_pictures_are_shown_smaller():
    assert shrunk(np.zeros((100, 200), np.uint8)).shape == (100, 200)
    assert shrunk(np.zeros((3000, 2000, 3), np.uint8)).shape == (1500, 1000, 3)


# Denoise


def noisy(shape, dtype=float):
    return (100 + 9 * np.random.default_rng(0).standard_normal(shape)).astype(dtype)


def test_files_keep_their_depth_and_format(tmp_path):
    Image.fromarray(noisy((30, 40), np.uint16)).save(tmp_path / "a.png")
    Image.fromarray(noisy((30, 40), np.float32)).save(tmp_path / "b.tif")
    np.save(tmp_path / "c.npy", noisy((8, 9, 10)))
    for name in ("a.png", "b.tif", "c.npy"):
        done = denoise_upload(tmp_path / name, DenoiseSettings(9.0), None, tmp_path, nothing)
        assert done.file.name == f"clean-{name}"
        assert done.file.is_file()
        assert done.after.dtype == done.before.dtype
        assert done.after.std() < done.before.std() / 2


def test_what_is_chosen_becomes_settings():
    dictionary = sedil.odct((4, 4), 6)
    assert settings("groups", 0, None) == DenoiseSettings(method="groups")
    assert settings("quick", 12, None) == DenoiseSettings(12.0, method="quick")
    assert settings(OWN, None, dictionary) == DenoiseSettings(dictionary=dictionary)
    with pytest.raises(ValueError, match="sigma must be a finite positive number"):
        settings("groups", -1, None)
    with pytest.raises(ValueError, match="You have no dictionary yet"):
        settings(OWN, None, None)
    with pytest.raises(ValueError, match="There is no picture yet"):
        begin(None, DenoiseSettings(), None)


# Fill


def test_paint_on_all_layers_is_the_mask(tmp_path):
    layers = np.zeros((2, 5, 6, 4), np.uint8)
    layers[0, 1, 2, 3] = layers[1, 3, 4, 3] = 9
    mask = fill_tab.painted_mask(layers, (5, 6))
    assert np.argwhere(mask).tolist() == [[1, 2], [3, 4]]
    with pytest.raises(ValueError, match="What is painted has 5x6 pixels, the picture 7x6"):
        fill_tab.painted_mask(layers, (7, 6))
    with pytest.raises(ValueError, match="Nothing is painted yet"):
        fill_tab.fill(np.zeros((5, 6)), np.zeros((5, 6), bool), "quick", tmp_path, nothing)


@pytest.mark.parametrize(("dtype", "suffix"), [(np.uint8, ".png"), (np.uint16, ".png"), (np.float32, ".tif")])
def test_filled_pictures_keep_their_depth(dtype, suffix, tmp_path):
    pixels = noisy((20, 24), dtype)
    mask = np.zeros(pixels.shape, bool)
    mask[8:10] = True
    done = fill_tab.fill(pixels, mask, "quick", tmp_path, nothing)
    assert done.file.suffix == suffix
    assert done.pixels.dtype == dtype
    np.testing.assert_array_equal(done.pixels[~mask], pixels[~mask])


def test_scratches_are_thin_and_go_across():
    mask = samples.scratches((300, 451, 3))
    assert mask.shape == (300, 451)
    assert 0.03 < mask.mean() < 0.15
    assert mask.any(axis=0).all()
    assert mask.any(axis=1).all()


# Learn


def test_learning_from_files_and_from_samples(tmp_path):
    Image.fromarray(noisy((40, 40), np.uint8)).save(tmp_path / "a.png")
    learned = learn_from([tmp_path / "a.png"], ["cat"], (8, 8), 300, 4, nothing)
    assert learned.dictionary.info["images"] == ["a.png"]
    stopped = learn_from([], ["cat"], (8, 8), 300, 9, lambda progress: progress.done >= 2)
    assert stopped.dictionary.info["images"] == ["cat"]
    assert stopped.stop_reason is StopReason.PROGRESS


def test_the_curve_is_of_costs_that_compare():
    records = [*sedil.learn(noisy((200, 4, 4)), 6, max_iterations=30, random_state=0).history]
    assert curve([]) == ""
    n_points = len(re.search(r'points="([^"]*)"', curve(records))[1].split())
    assert n_points == sum(record.sparsity_scale == records[-1].sparsity_scale for record in records)
    assert n_points < len(records)
