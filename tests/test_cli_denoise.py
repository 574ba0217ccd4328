"""`sedil denoise` with several files, and with files of all kinds."""

import os
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import tifffile
from PIL import Image
from typer.testing import CliRunner

from full_disk import no_space, stop_writes
from pseudo_terminal import on_a_terminal
from sedil.cli import app

RAMP = np.linspace(60, 180, 40)[:, None] + np.zeros(48)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    """A working folder with noisy pictures in ``photos``."""
    monkeypatch.chdir(tmp_path)
    Path("photos").mkdir()
    for seed, name in enumerate(("a.png", "b.jpg", "c.tif")):
        Image.fromarray(noisy(seed)).save(f"photos/{name}", **({"quality": 95} if name == "b.jpg" else {}))
    return tmp_path


def noisy(seed=0, dtype=np.uint8, scale=1.0, channels=None):
    rng = np.random.default_rng(seed)
    ramp = RAMP if channels is None else np.stack([RAMP] * channels, axis=-1)
    pixels = scale * (ramp + 15 * rng.standard_normal(ramp.shape))
    return (
        pixels.clip(0, np.iinfo(dtype).max).astype(dtype)
        if np.dtype(dtype).kind == "u"
        else pixels.astype(dtype)
    )


def denoise(*arguments):
    return CliRunner().invoke(app, ["denoise", *map(str, arguments), "--stride", "5"])


def cleaner(name, original, scale=1.0):
    """How much of the squared error is left."""
    pixels = tifffile.imread(name) if name.endswith(".tif") else np.asarray(Image.open(name))
    clean = scale * RAMP.reshape(*RAMP.shape, *[1] * (original.ndim - 2))
    return np.mean((pixels.astype(float) - clean) ** 2) / np.mean((original.astype(float) - clean) ** 2)


def leftovers(folder):
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())


PHOTOS = ["photos/a.png", "photos/b.jpg", "photos/c.tif"]


# Several files


@pytest.mark.parametrize("places", [["photos"], PHOTOS])
def test_several_pictures_go_into_a_folder(folder, places):
    result = denoise(*places, "clean")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == "denoising 3 pictures into clean"
    for line, name in zip(lines[1:4], ("a.png", "b.jpg", "c.tif"), strict=True):
        assert line.startswith(f"{name}  sigma 1")
        assert " (estimated)  " in line
        assert line.endswith(" s")
    assert lines[-1].startswith("denoised     3 of 3 in ")
    assert leftovers(folder / "clean") == ["a.png", "b.jpg", "c.tif"]
    assert cleaner("clean/a.png", noisy(0)) < 0.3
    assert cleaner("clean/c.tif", noisy(2)) < 0.3


def test_lines_stay_off_the_bar_in_a_terminal(folder):
    """A line that is printed over the bar begins with what is left of it, or is wiped out by it."""
    screen, _ = on_a_terminal("-m", "sedil", "denoise", "photos", "gone.png", "clean", "--stride", "5")
    for line in ("\ra.png     sigma 1", "\rgone.png  ", "\rdenoised     3 of 4 in "):
        assert line in re.sub(r"\x1b\[[?0-9;]*[a-zA-Z]", "", screen).replace("\n", "\r")
    assert "100%" in screen


def test_bar_is_not_redirected_with_the_results(folder):
    arguments = ("-m", "sedil", "denoise", "photos", "clean", "--stride", "5")
    screen, redirected = on_a_terminal(*arguments, stdout_redirected=True)
    assert "100%" in screen
    assert "\x1b" not in redirected
    assert [line.split()[0] for line in redirected.splitlines()] == [
        "denoising", "a.png", "b.jpg", "c.tif", "denoised",
    ]  # fmt: skip


def test_given_noise_is_told(folder):
    assert "a.png  sigma 15 (given)  " in denoise(*PHOTOS, "clean", "--sigma", 15).stdout


def test_comparisons_go_into_their_own_folder(folder):
    assert denoise("photos", "clean", "--compare", "both").exit_code == 0
    with Image.open("both/a.png") as picture:
        assert picture.size == (96, 40)
        np.testing.assert_array_equal(np.asarray(picture)[:, :48], noisy(0))
    assert leftovers(folder / "both") == leftovers(folder / "clean")


def test_bad_files_do_not_stop_the_others(folder):
    Path("photos/aa.png").write_bytes(b"not a picture")
    Path("photos/b0.png").write_bytes(Path("photos/a.png").read_bytes()[:-900])
    Image.fromarray(np.arange(15, dtype=np.uint8).reshape(3, 5) * 10).save("photos/tiny.png")
    result = denoise("photos", "clean")
    assert result.exit_code == 1
    complaints = result.stderr.splitlines()
    assert complaints[0].startswith(
        "aa.png    failed: photos/aa.png cannot be read as an image: it is no pict"
    )
    assert "b0.png    failed: photos/b0.png cannot be read as an image: it is damaged" in complaints[1]
    assert "tiny.png  failed: The noise of an image of shape (3, 5) cannot be estimated" in complaints[2]
    assert complaints[-1] == "error: 3 pictures failed: aa.png, b0.png, tiny.png."
    assert "denoised     3 of 6 in " in result.stdout
    assert leftovers(folder / "clean") == ["a.png", "b.jpg", "c.tif"]


def test_one_picture_in_a_folder_and_one_failure_are_singular(folder):
    Path("one").mkdir()
    Path("one/bad.png").touch()
    result = denoise("one", "clean")
    assert "denoising 1 picture into clean" in result.stdout
    assert "error: 1 picture failed: bad.png." in result.stderr


def test_existing_results_are_refused_before_any_work(folder):
    Path("clean").mkdir()
    Path("clean/b.jpg").write_bytes(b"precious")
    result = denoise("photos", "clean")
    assert result.exit_code == 1
    assert result.stderr == "error: clean/b.jpg exists already: choose another name or add --force.\n"
    assert leftovers(folder / "clean") == ["b.jpg"]
    assert denoise("photos", "clean", "--force").exit_code == 0
    assert Path("clean/b.jpg").read_bytes() != b"precious"


def test_one_picture_goes_into_a_folder_that_exists(folder):
    Path("clean").mkdir()
    result = denoise("photos/a.png", "clean")
    assert result.exit_code == 0, result.output
    assert "saved        clean/a.png" in result.stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["photos", "no/clean"], "Cannot make the folder no/clean: the folder no does not exist."),
        (PHOTOS, "photos/c.tif is a file: several pictures go into a folder, which comes last."),
        (["photos/a.png", "photos/b.jpg", "old.txt"], "old.txt is a file: several pictures go into"),
        (["photos", "photos", "--force"], "photos/a.png is the noisy picture itself: choose another name"),
        (["photos", "clean", "--compare", "old.txt"], "old.txt is a file: comparisons of several pictures"),
        (["photos", "clean", "--compare", "clean"], "would be both the result and the comparison"),
        (["photos", "clean", "--sigma", "-1"], "sigma must be a finite positive number, got -1"),
        (
            ["photos", "clean", "-d", "gone.npz"],
            "There is no file gone.npz, nor a shipped dictionary of that name: these are separable-8x8,",
        ),
        (["photos/a.png", "no/a.png"], "Cannot write no/a.png: the folder no does not exist."),
        (["photos/a.png", "new"], "Cannot write a picture to new: it has no suffix: use .png."),
        (
            ["photos/a.png", "photos/b.jpg", "x.png"],
            "x.png looks like a file: several pictures go into a fold",
        ),
        (["empty", "clean"], "The folder empty holds no images"),
    ],
)
def test_mistakes_are_answered_before_any_work(folder, arguments, message):
    Path("old.txt").touch()
    Path("empty").mkdir()
    before = leftovers(folder)
    result = denoise(*arguments)
    assert result.exit_code == 1
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert leftovers(folder) == before


def test_help_shows_how_it_is_called():
    words = " ".join(CliRunner().invoke(app, ["denoise", "--help"]).output.replace("│", " ").split())
    for part in (
        "sedil denoise photos/ clean/ --method quick",
        "for several a folder, not OUT",
        "65535 with 16",
    ):
        assert part in words


@pytest.mark.parametrize("arguments", [["noisy.png"], ["photos"]])
def test_output_that_is_missing_is_named(arguments):
    result = denoise(*arguments)
    assert result.exit_code == 2
    words = " ".join(result.stderr.replace("│", " ").split())
    assert f"Missing argument 'OUT': where does the clean picture of {arguments[0]} go?" in words
    assert "denoise [OPTIONS] IN... OUT" in words


def test_nothing_at_all_is_a_mistake():
    result = CliRunner().invoke(app, ["denoise"])
    assert result.exit_code == 2
    assert "Missing argument 'IN... OUT'" in result.stderr


def test_subfolders_are_searched_and_mirrored_and_what_fails_is_named_with_them(folder):
    Path("photos/trip/day").mkdir(parents=True)
    Path("photos/.trash").mkdir()
    Path("photos/bad").mkdir()
    Image.fromarray(noisy(3)).save("photos/trip/day/a.png")
    Image.fromarray(noisy(3)).save("photos/.trash/t.png")
    Path("photos/bad/a.png").write_bytes(b"not a picture")
    result = denoise("photos", "clean", "--compare", "both")
    assert result.exit_code == 1
    assert leftovers(folder / "clean") == ["a.png", "b.jpg", "c.tif", "trip/day/a.png"]
    assert leftovers(folder / "both") == ["a.png", "b.jpg", "c.tif", "trip/day/a.png"]
    assert not Path("clean/bad").exists()
    assert "trip/day/a.png  sigma 1" in result.stdout
    assert "error: 1 picture failed: bad/a.png." in result.stderr


def test_file_that_is_not_there_does_not_stop_the_others(folder):
    result = denoise("photos/a.png", "photos/gone.png", "clean")
    assert result.exit_code == 1
    assert "gone.png  failed: photos/gone.png cannot be read as an image: No such file" in result.stderr
    assert leftovers(folder / "clean") == ["a.png"]


@pytest.mark.parametrize("threads", [1, 2])
def test_threads_do_not_matter_for_the_result(folder, threads):
    assert denoise("photos/a.png", "default.png").exit_code == 0
    result = denoise("photos/a.png", "clean.png", "--threads", threads)
    assert result.exit_code == 0, result.output
    assert Path("clean.png").read_bytes() == Path("default.png").read_bytes()
    assert "Invalid value for '--threads'" in denoise("photos/a.png", "b.png", "--threads", "0").stderr


# Files of all kinds


def test_deep_colours_stay_deep(folder):
    for name in ("deep.tif", "deep.png"):
        original = noisy(0, np.uint16, 257, channels=3)
        tifffile.imwrite("deep.tif", original, photometric="rgb")
        if name == "deep.png":
            assert denoise("deep.tif", "deep.png", "--sigma", 10).exit_code == 0
        result = denoise(name, f"clean_{name}")
        assert result.exit_code == 0, result.output
        assert "note" not in result.stdout
    clean = tifffile.imread("clean_deep.tif")
    assert clean.dtype == np.uint16
    assert len(np.unique(clean & 255)) > 100  # the lower bytes hold something
    assert cleaner("clean_deep.tif", original, 257) < 0.3


def test_floats_stay_floats(folder):
    original = noisy(0, np.float32, 1 / 255)
    tifffile.imwrite("float.tif", original)
    assert denoise("float.tif", "clean.tif").exit_code == 0
    assert tifffile.imread("clean.tif").dtype == np.float32
    assert cleaner("clean.tif", original, 1 / 255) < 0.3
    refused = denoise("float.tif", "clean.png")
    assert refused.stderr == "error: Cannot write clean.png: PNG cannot hold float32 pixels: use .tif.\n"


def test_what_the_result_cannot_hold_is_said_before_the_work(folder):
    tifffile.imwrite("deep.tif", noisy(0, np.uint16, 257, channels=3), photometric="rgb")
    result = denoise("deep.tif", "clean.jpg")
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0] == (
        "note: clean.jpg is written with 8 bits per channel instead of 16, as JPEG holds no more: "
        ".png and .tif keep all."
    )
    assert lines[1].startswith("estimated noise: sigma 3")
    assert cleaner("clean.jpg", noisy(0, channels=3)) < 0.3


def test_transparency_that_is_lost_is_said(folder):
    Image.fromarray(np.dstack([noisy(0, channels=3), noisy(1)])).save("rgba.png")
    result = denoise("rgba.png", "clean.jpg")
    assert "note: clean.jpg is written without transparency, which JPEG cannot hold" in result.stdout
    assert result.exit_code == 0, result.output


def test_deep_transparency_is_kept_as_it_is(folder):
    alpha = noisy(1, np.uint16, 257)
    original = np.dstack([noisy(0, np.uint16, 257, channels=3), alpha])
    tifffile.imwrite("deep.tif", original, photometric="rgb", extrasamples=["unassalpha"])
    assert denoise("deep.tif", "clean.tif").exit_code == 0
    np.testing.assert_array_equal(tifffile.imread("clean.tif")[..., 3], alpha)


def test_rotated_photograph_is_written_upright_with_its_facts(folder):
    exif = Image.Exif()
    exif[274], exif[271] = 6, "maker"
    Image.fromarray(noisy(0)).save("photo.jpg", exif=exif, quality=95, dpi=(300, 300))
    assert denoise("photo.jpg", "clean.jpg").exit_code == 0
    with Image.open("clean.jpg") as picture:
        assert picture.size == (40, 48)
        assert picture.getexif().get(274, 1) == 1
        assert picture.getexif()[271] == "maker"
        assert picture.info["dpi"] == (300, 300)
        columns = np.asarray(picture).mean(axis=0)
    assert columns[0] > columns[-1] + 80  # the ramp runs from right to left once turned


def test_picture_without_noise_is_left_as_it_is(folder):
    Image.new("L", (30, 30), 7).save("flat.png")
    result = denoise("flat.png", "clean.png")
    assert result.exit_code == 0, result.output
    assert "estimated noise: none found, the picture stays as it is" in result.stdout


def test_film_is_refused_in_one_sentence(folder):
    Image.fromarray(noisy(0)).save("film.gif", save_all=True, append_images=[Image.fromarray(noisy(1))])
    result = denoise("film.gif", "clean.gif")
    assert result.stderr == "error: film.gif has 2 frames: split it into files of one frame each.\n"


def test_pictures_beyond_the_limit_of_pillow_are_denoised(folder, monkeypatch):
    monkeypatch.setattr(Image, "MAX_IMAGE_PIXELS", 50)
    result = denoise("photos/a.png", "clean.png")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""


def test_memory_that_runs_out_is_told(folder, monkeypatch):
    def run_out(*arguments, **named):
        raise MemoryError

    monkeypatch.setattr("sedil.file_jobs.denoise_files.denoise", run_out)
    assert denoise("photos/a.png", "clean.png").stderr == "error: There is not enough memory.\n"


def test_forbidden_file_does_not_stop_the_others(folder, monkeypatch):
    plain_open = Path.open

    def forbid(path, *arguments, **named):
        if path.name == "b.jpg" and "photos" in path.parts:
            raise PermissionError(13, "Permission denied", str(path))
        return plain_open(path, *arguments, **named)

    monkeypatch.setattr(Path, "open", forbid)
    monkeypatch.setattr(os, "access", lambda path, mode, **named: "b.jpg" not in os.fspath(path))
    result = denoise(*PHOTOS, "clean")
    assert result.exit_code == 1
    assert "b.jpg  failed: photos/b.jpg cannot be read as an image: Permission denied." in result.stderr
    assert leftovers(folder / "clean") == ["a.png", "c.tif"]


# The disk is full, or the user presses Ctrl-C


@pytest.mark.parametrize(("full", "left"), [("out.", []), ("both.", ["out.tif"])])
@pytest.mark.parametrize("error", [no_space, KeyboardInterrupt])
def test_no_half_written_picture_is_left(folder, monkeypatch, full, left, error):
    before = leftovers(folder)
    stop_writes(monkeypatch, full, error)
    result = denoise("photos/c.tif", "out.tif", "--compare", "both.bmp")
    assert result.exit_code != 0
    if error is no_space:
        assert f"error: Cannot write {full}" in result.stderr
        assert ": No space left on device." in result.stderr
    else:
        assert (result.exit_code, result.stderr) == (130, "interrupted\n")
    assert leftovers(folder) == sorted(before + left)


def test_full_disk_stops_the_work_and_is_told(folder, monkeypatch):
    stop_writes(monkeypatch, "b.jpg", no_space)
    result = denoise("photos", "clean")
    assert result.exit_code == 1
    assert "b.jpg  failed: Cannot write clean/b.jpg: No space left on device." in result.stderr
    assert "error: The disk is full: 1 picture not tried." in result.stderr
    assert "denoised     1 of 3 in " in result.stdout
    assert leftovers(folder / "clean") == ["a.png"]


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT to a process, which Windows does not have")
def test_ctrl_c_keeps_what_is_done_and_leaves_no_rest(folder):
    Path("two").mkdir()
    Image.fromarray(noisy(0)).save("two/a.png")
    Image.fromarray(np.tile(noisy(1), (20, 20))).save("two/b.png")
    command = [sys.executable, "-m", "sedil", "denoise", "two", "clean"]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not Path("clean/a.png").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    time.sleep(1)
    process.send_signal(signal.SIGINT)
    output, complaints = process.communicate(timeout=60)
    assert process.returncode != 0
    assert "denoised     1 of 2 in " in output
    assert complaints.endswith("interrupted\n")
    assert "Traceback" not in complaints
    assert leftovers(folder / "clean") == ["a.png"]


def test_shipped_dictionaries_go_by_name():
    for name in ("separable-8x8", "unstructured-8x8"):
        result = denoise("photos/a.png", f"{name}.png", "--dictionary", name)
        assert result.exit_code == 0, result.output
        assert cleaner(f"{name}.png", noisy(0)) < 0.5
    unknown = denoise("photos/a.png", "no.png", "--dictionary", "separable-9x9")
    assert unknown.exit_code == 1
    known = "these are separable-8x8, separable-12x12, separable-16x16, unstructured-8x8, separable-8x8x8."
    assert unknown.stderr.endswith(f"no file separable-9x9, nor a shipped dictionary of that name: {known}\n")


def test_noise_by_a_map_and_of_photons():
    shape = np.asarray(Image.open(PHOTOS[0])).shape[:2]
    np.save("levels.npy", np.where(np.arange(shape[1]) < 4, 0.0, 15.0) * np.ones((shape[0], 1)))
    assert denoise(PHOTOS[0], "map.png", "--sigma-map", "levels.npy").exit_code == 0
    before, after = (np.asarray(Image.open(name)) for name in (PHOTOS[0], "map.png"))
    np.testing.assert_array_equal(after[:, :4], before[:, :4])
    assert not np.array_equal(after, before)
    counted = denoise(PHOTOS[0], "light.png", "--noise", "poisson-gaussian", "--gain", 2)
    assert counted.exit_code == 0, counted.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--sigma-map", "wide.npy"], "a map that fits the image of shape"),
        (["--sigma-map", "wide.npy", "--sigma", "3"], "--sigma and --sigma-map exclude each other"),
        (["--gain", "2"], 'are for noise="poisson-gaussian": add it'),
        (["--noise", "auto", "--sigma", "3"], "sigma is for white noise: leave it out, or noise"),
        (["--noise", "poisson-gaussian", "--gain", "-1"], "gain must be a finite positive number, got -1"),
    ],
)
def test_bad_noise_is_refused_in_words(arguments, words):
    np.save("wide.npy", np.ones((3, 500)))
    result = denoise(PHOTOS[0], "out.png", *arguments)
    assert result.exit_code == 1
    assert words in " ".join(result.stderr.split())
    assert result.stdout == ""  # nothing was begun


def test_noise_that_does_not_look_white_is_told():
    rng = np.random.default_rng(0)
    white = rng.standard_normal((130, 130))
    smooth = sum(white[y : y + 128, x : x + 128] for y in range(3) for x in range(3)) / 3
    for name, noise in (("white.png", white[:128, :128]), ("smooth.png", smooth)):
        Image.fromarray((120 + 8 * noise).clip(0, 255).astype(np.uint8)).save(name)
    note = "note: this may be noise that a camera or JPEG has smoothed, or fine texture"
    assert note in " ".join(denoise("smooth.png", "a.png").output.split())
    assert "note:" not in denoise("white.png", "b.png").output
    assert note in " ".join(denoise("smooth.png", "white.png", "both").output.split())


def camera_facts(iso, size):
    facts = Image.Exif()
    facts[271] = "maker"
    facts.get_ifd(0x8769).update({0x8827: iso, 0xA002: size[0], 0xA003: size[1]})
    return facts


@pytest.mark.parametrize(
    ("facts", "kind"),
    [
        (camera_facts(3200, (128, 120)), "correlated"),
        (camera_facts(3200, (120, 128)), "correlated"),  # turned
        (camera_facts(400, (128, 120)), "white"),
        (camera_facts(3200, (4000, 3000)), "white"),  # made smaller
        (camera_facts("much", (128, 120)), "white"),
        (Image.Exif(), "white"),
    ],
)
def test_a_shot_in_little_light_is_cleaned_as_a_camera_leaves_it(facts, kind):
    white = np.random.default_rng(0).standard_normal((122, 130))
    smooth = sum(white[y : y + 120, x : x + 128] for y in range(3) for x in range(3)) / 3
    Image.fromarray((120 + 8 * smooth).clip(0, 255).astype(np.uint8)).save("shot.png", exif=facts)
    result = denoise("shot.png", "clean.png")
    assert result.exit_code == 0, result.output
    assert (", correlated (" in result.output) == (kind == "correlated")
    assert ("try --noise auto" in result.output) == (kind == "white")


def test_photons_are_found_and_told():
    light = np.linspace(20, 220, 160) * np.ones((160, 1))
    np.save("counts.npy", np.random.default_rng(0).poisson(light / 2) * 2.0)
    result = denoise("counts.npy", "clean.npy")
    assert result.exit_code == 0, result.output
    assert " on average, of photons (gain " in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("name", "begin"), [("fit.png", b"\x89PNG"), ("fit.svg", b"<?xml"), ("fit.pdf", b"%PDF")]
)
def test_the_noise_is_drawn(name, begin):
    result = denoise(PHOTOS[0], "clean.png", "--noise-plot", name)
    assert result.exit_code == 0, result.output
    assert Path(name).read_bytes().startswith(begin)
    assert f"noise drawn  {name}\n" in result.output


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--noise-plot", "fit.txt"], "--noise-plot writes .png, .svg, .pdf files, got fit.txt"),
        (["--noise-plot", "fit.png", "--sigma", "3"], "shows estimated noise: leave it out"),
        (["--noise-plot", "out.png"], "out.png is another file of this run"),
        (["--noise-plot", "fit.png", "--scheduler", "local"], "are for files that are read as a whole"),
    ],
)
def test_a_drawing_that_cannot_be_is_refused_before_the_work(arguments, words):
    result = denoise(PHOTOS[0], "out.png", *arguments)
    assert result.exit_code == 1
    assert words in " ".join(result.stderr.split())
    assert not Path("out.png").exists()


def test_a_drawing_is_of_one_picture_and_replaces_none():
    several = denoise(PHOTOS[0], PHOTOS[1], "both", "--noise-plot", "fit.png")
    assert "--noise-plot is for one picture" in several.stderr
    Path("fit.png").write_bytes(b"mine")
    there = denoise(PHOTOS[0], "out.png", "--noise-plot", "fit.png")
    assert "fit.png exists already" in " ".join(there.stderr.split())
    assert Path("fit.png").read_bytes() == b"mine"


def test_a_picture_that_is_clipped_nearly_everywhere_is_denoised():
    pixels = np.zeros((64, 64), np.uint8)
    pixels[16:40, 16:40] = 255
    Image.fromarray(pixels).save("clipped.png")
    result = denoise("clipped.png", "out.png")
    assert result.exit_code == 0, result.output


def test_the_noise_is_not_drawn_over_the_picture():
    Image.fromarray(np.random.default_rng(0).integers(0, 255, (40, 40), np.uint8)).save("noisy.png")
    before = Path("noisy.png").read_bytes()
    result = denoise("noisy.png", "out.png", "--noise-plot", str(Path("noisy.png").absolute()), "--force")
    assert "is another file of this run" in " ".join(result.stderr.split())
    assert Path("noisy.png").read_bytes() == before


def test_where_there_is_no_noise_to_draw_the_work_is_done():
    Image.fromarray(np.full((40, 40), 90, np.uint8)).save("flat.png")
    result = denoise("flat.png", "clean.png", "--noise-plot", "fit.png")
    assert result.exit_code == 0, result.output
    assert "--noise-plot has nothing to draw" in " ".join(result.output.split())
    assert Path("clean.png").exists()
    assert not Path("fit.png").exists()
