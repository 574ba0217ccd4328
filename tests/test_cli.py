import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import sedil
from sedil.cli import app


@pytest.fixture
def pictures(tmp_path):
    folder = tmp_path / "pictures"
    folder.mkdir()
    rng = np.random.default_rng(0)
    for name in ("a.png", "b.png"):
        Image.fromarray(rng.integers(0, 255, (40, 50), dtype=np.uint8)).save(folder / name)
    return folder


def run(*arguments):
    return CliRunner().invoke(app, [str(argument) for argument in arguments])


def learn(pictures, output, *more):
    return run("learn", pictures, "-o", output, "-p", "4x4", "-a", "5x6", "-n", 200, "--iterations", 8, *more)


def test_learn_saves_what_it_says(pictures, tmp_path):
    result = learn(pictures, tmp_path / "dict.npz")
    assert result.exit_code == 0, result.output
    for words in ("reading 2 images", "200 patches of 4x4", "8, ", "stopped", "max_iterations reached"):
        assert words in result.output
    dictionary = sedil.load_dictionary(tmp_path / "dict.npz")
    assert (dictionary.patch_shape, dictionary.n_atoms) == ((4, 4), (5, 6))
    assert dictionary.info["images"] == ["a.png", "b.png"]
    with Image.open(tmp_path / "dict.png") as picture:
        assert picture.mode == "L"


def test_learn_is_repeatable(pictures, tmp_path):
    for name in ("one", "two"):
        assert learn(pictures, tmp_path / name).exit_code == 0
    one, two = (sedil.load_dictionary(tmp_path / f"{name}.npz") for name in ("one", "two"))
    np.testing.assert_array_equal(one.as_matrix(), two.as_matrix())


def test_unstructured_atoms_are_drawn_as_patches(pictures, tmp_path):
    result = run(
        "learn", pictures / "a.png", "-o", tmp_path / "u.npz", "-p", "4x4", "--unstructured", "-n", 100,
        "--iterations", 3,
    )  # fmt: skip
    assert result.exit_code == 0, result.output
    dictionary = sedil.load_dictionary(tmp_path / "u.npz")
    assert dictionary.n_atoms == (64,)
    assert dictionary.signal_shape == (4, 4)


def test_nothing_is_overwritten_without_force(pictures, tmp_path):
    learn(pictures, tmp_path / "d.npz")
    before = (tmp_path / "d.npz").read_bytes()
    refused = learn(pictures, tmp_path / "d.npz", "--seed", 1)
    assert refused.exit_code == 1
    assert "exists already: choose another name or add --force" in refused.stderr
    assert (tmp_path / "d.npz").read_bytes() == before
    assert learn(pictures, tmp_path / "d.npz", "--seed", 1, "--force").exit_code == 0
    assert (tmp_path / "d.npz").read_bytes() != before


def test_checkpoint_is_written_and_resumed(pictures, tmp_path):
    learn(pictures, tmp_path / "whole.npz")
    checkpoint = ("--checkpoint", tmp_path / "run.npz")
    assert learn(pictures, tmp_path / "first.npz", *checkpoint).exit_code == 0
    resumed = learn(pictures, tmp_path / "again.npz", *checkpoint)
    assert resumed.exit_code == 0, resumed.output
    whole, again = (sedil.load_dictionary(tmp_path / f"{name}.npz") for name in ("whole", "again"))
    np.testing.assert_array_equal(whole.as_matrix(), again.as_matrix())


def learn_in_batches(pictures, output, *more):
    sizes = ("-p", "4x4", "-a", "5x6", "-n", 200, "--batch-size", 40, "--epochs", 2)
    return run("learn", pictures, "-o", output, "--minibatch", *sizes, *more)


def test_minibatch_learns_from_a_folder_and_is_repeatable(pictures, tmp_path):
    result = learn_in_batches(pictures, tmp_path / "a.npz")
    assert result.exit_code == 0, result.output
    for words in ("200 patches from 2 images, read while learning", "10, ", "all data has been seen"):
        assert words in result.output
    learn_in_batches(pictures, tmp_path / "b.npz")
    one, other = (sedil.load_dictionary(tmp_path / f"{name}.npz") for name in "ab")
    np.testing.assert_array_equal(one.as_matrix(), other.as_matrix())
    assert one.info["images"] == ["a.png", "b.png"]


def test_minibatch_resumes_from_its_checkpoint(pictures, tmp_path):
    learn_in_batches(pictures, tmp_path / "whole.npz")
    checkpoint = ("--checkpoint", tmp_path / "run.npz")
    assert learn_in_batches(pictures, tmp_path / "first.npz", "--epochs", 1, *checkpoint).exit_code == 0
    resumed = learn_in_batches(pictures, tmp_path / "again.npz", *checkpoint)
    assert resumed.exit_code == 0, resumed.output
    whole, again = (sedil.load_dictionary(tmp_path / f"{name}.npz") for name in ("whole", "again"))
    np.testing.assert_array_equal(whole.as_matrix(), again.as_matrix())


def test_minibatch_learns_unstructured_dictionaries(pictures, tmp_path):
    result = learn_in_batches(pictures, tmp_path / "u.npz", "--unstructured", "-a", 20)
    assert result.exit_code == 0, result.output
    assert sedil.load_dictionary(tmp_path / "u.npz").patch_shape == (16,)


def test_show_tells_facts_and_draws(pictures, tmp_path):
    learn(pictures, tmp_path / "d.npz")
    (tmp_path / "d.png").unlink()
    result = run("show", tmp_path / "d.npz")
    assert result.exit_code == 0, result.output
    for words in ("4x4", "5x6 = 30", "mutual coherence", "stop reason", "a.png, b.png"):
        assert words in result.output
    assert (tmp_path / "d.png").exists()
    assert "was there already" in run("show", tmp_path / "d.npz").output


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            ["learn", "nowhere", "-o", "d.npz"],
            "nowhere cannot be read as an image: No such file or directory.",
        ),
        (["learn", "pictures", "-o", "d.npz", "--epochs", "2"], "--epochs goes with --minibatch: add it or"),
        (["learn", "pictures", "-o", "d.npz", "--batch-size", "9"], "--batch-size goes with --minibatch"),
        (
            ["learn", "pictures", "-o", "d.npz", "--minibatch", "--iterations", "9"],
            "--iterations does not go with --minibatch: use --batch-size and --epochs.",
        ),
        (
            ["learn", "pictures", "-o", "d.npz", "--minibatch", "-p", "64x64"],
            "a.png of shape (40, 50) is smaller than a patch",
        ),
        (
            ["learn", "pictures", "-o", "d.npz", "--unstructured", "-p", "64x64"],
            "A factor of 4096 x 16384 takes about 10 GiB of memory to work with: keep the axes",
        ),
        (["learn", "pictures", "-o", "no/d.npz"], "the folder no does not exist"),
        (
            ["learn", "pictures", "-o", "d.txt"],
            "d.txt is not the name of a dictionary, which is an .npz file: use d.npz.",
        ),
        (
            ["learn", "pictures", "-o", "d.npz", "-p", "64x64"],
            "a.png of shape (40, 50) is smaller than a patch of shape (64, 64): leave it out",
        ),
        (
            ["learn", "pictures", "-o", "d.npz", "-p", "0x8"],
            "'0x8' is not two or three sides of at least 1 such as 8x8",
        ),
        (["learn", "pictures", "-o", "d.npz", "-p", "eight"], "'eight' is not a list of lengths such as 8x8"),
        (["learn", "pictures", "-o", "d.npz", "-a", "3x3x3"], "n_atoms must have one number per patch axis"),
        (["learn", "pictures", "-o", "d.npz", "-p", "8"], "'8' is not two or three sides of at least 1"),
        (["learn", "pictures", "-o", "d.npz", "-a", "0"], "n_atoms must be positive whole numbers"),
        (["learn", "pictures", "-o", "d.npz", "--initial", "best"], "'best' is not one of 'random', 'odct'"),
        (["learn", "pictures", "-o", "d.npz", "--preset", "best"], "'best' is not one of 'data', 'paper'"),
        (["learn", "pictures", "-o", "d.npz", "--seed", "-1"], "Invalid value for '--seed'"),
        (["learn", "pictures", "-o", "d.npz", "--iterations", "-1"], "Invalid value for '--iterations'"),
        (["learn", "pictures", "-o", "d.npz", "-n", "0"], "Invalid value for '--patches'"),
        (["learn", "pictures", "-o", "."], ". is a folder: give the name of a file."),
        (["learn", "pictures", "-o", "empty"], "empty is a folder: give the name of a file."),
        (["learn", "pictures", "-o", "d.npz", "--picture", "empty"], "empty is a folder: give the name of"),
        (
            ["learn", "pictures", "-o", "d.npz", "--picture", "d.foo"],
            "to d.foo: .foo is not a picture format",
        ),
        (["learn", "pictures", "-o", "d.npz", "--picture", "d"], "to d: it has no suffix: use .png."),
        (["learn", "pictures", "-o", "d" * 252 + ".npz"], ".npz: File name too long."),
        (["learn", "pictures", "-o", "d.npz", "--checkpoint", "empty"], "empty is a folder: give the name"),
        (
            ["learn", "pictures", "-o", "d.npz", "--checkpoint", "pictures/a.png"],
            "a.png is one of the training images: choose another --checkpoint.",
        ),
        (
            ["learn", "pictures", "-o", "d", "--checkpoint", "./d.npz"],
            "d.npz is where the result goes: choose",
        ),
        (["learn", "no[/x].png", "-o", "d.npz"], "no[/x].png cannot be read as an image: No such"),
        (["learn", "no[b].png", "-o", "d.npz"], "no[b].png cannot be read as an image: No such"),
        (["learn", ":cat:.png", "-o", "d.npz"], ":cat:.png cannot be read as an image: No such"),
        (["demo", "-o", "broken.png"], "broken.png is a file: give the name of a folder."),
        (["demo", "-o", "broken.png/d"], "Cannot make the folder broken.png/d: Not a directory."),
        (["learn", "empty", "-o", "d.npz"], "The folder empty holds no images"),
        (["learn", "broken.png", "-o", "d.npz"], "broken.png cannot be read as an image"),
        (
            ["show", "nowhere.npz"],
            "There is no file nowhere.npz, nor a shipped dictionary of that name: these are separable-8x8,",
        ),
        (["show", "broken.png"], "broken.png is not a dictionary file of sedil, or it is damaged"),
    ],
)
def test_mistakes_are_answered_with_one_sentence(pictures, tmp_path, monkeypatch, arguments, message):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    (tmp_path / "broken.png").write_bytes(b"not a picture")
    result = run(*arguments)
    assert result.exit_code != 0
    words = " ".join(result.stderr.replace("│", " ").split())
    assert message in words
    assert "Traceback" not in words
    assert not list(tmp_path.glob("d.*"))


def test_version_and_help():
    assert run("--version").output.strip() == f"sedil {sedil.__version__}"
    assert "learn" in run("--help").output


@pytest.mark.skipif(os.name == "nt", reason="sends SIGINT to a process, which Windows does not have")
def test_ctrl_c_keeps_what_is_learned(pictures, tmp_path):
    command = [sys.executable, "-m", "sedil", "learn", str(pictures), "-o", str(tmp_path / "d.npz")]
    command += ["-p", "8x8", "-n", "3000", "--iterations", "100000", "--checkpoint", str(tmp_path / "c.npz")]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    deadline = time.monotonic() + 60
    while not (tmp_path / "c.npz").exists() and time.monotonic() < deadline:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    output, complaints = process.communicate(timeout=60)
    assert process.returncode == 0, complaints
    assert "interrupted by the user" in output
    assert sedil.load_dictionary(tmp_path / "d.npz").n_atoms == (16, 16)


@pytest.mark.parametrize("option", ["--output", "--picture"])
def test_training_images_are_never_overwritten(pictures, tmp_path, option):
    photo = pictures / "a.png"
    (tmp_path / "link.png").symlink_to(photo)
    before = photo.read_bytes()
    places = {"--output": [pictures / "a"], "--picture": [tmp_path / "d", "--picture", tmp_path / "link.png"]}
    result = learn(pictures, *places[option], "--force")
    assert result.exit_code == 1
    assert ".png is one of the training images: choose another --output or --picture." in result.stderr
    assert photo.read_bytes() == before
    assert not list(tmp_path.rglob("*.npz"))


def test_dictionary_is_saved_and_told_before_the_picture_fails(pictures, tmp_path):
    result = learn(pictures, tmp_path / "d.npz", "--picture", tmp_path / "d.xbm")
    assert result.exit_code == 1
    assert "d.xbm: cannot write mode L as XBM." in result.stderr
    assert "stopped" in result.stdout
    assert "saved        " in result.stdout
    assert sorted(path.name for path in tmp_path.glob("*d.*")) == ["d.npz"]
    assert sedil.load_dictionary(tmp_path / "d.npz").n_atoms == (5, 6)


def test_names_are_shown_as_they_are(pictures, tmp_path):
    name = "d[b]:cat:" + "long" * 30
    result = learn(pictures, tmp_path / f"{name}.npz")
    assert result.exit_code == 0, result.output
    assert f"{name}.npz\n" in result.stdout
    assert f"{name}.png\n" in result.stdout
    shown = run("show", tmp_path / f"{name}.npz", "--picture", tmp_path / "x.png")
    assert "d[b]:cat:" in shown.stdout


def test_markup_in_info_is_shown_as_it_is(tmp_path):
    sedil.SeparableDictionary([np.eye(2)], info={"a[/x]": "b[/y]"}).save(tmp_path / "d[z].npz")
    result = run("show", tmp_path / "d[z].npz")
    assert result.exit_code == 0, result.output
    for words in ("d[z].npz", "a[/x]", "b[/y]"):
        assert words in result.stdout


def test_escape_sequences_in_info_do_not_reach_the_terminal(tmp_path):
    info = {"note": "a\x1b[2Jb", "k\x1b]0;ey\x07": ["c\x9bd"], "deep": {"\x1bc": "\r"}}
    sedil.SeparableDictionary([np.eye(4)] * 2, info=info).save(tmp_path / "d\x1b[31m.npz")
    result = run("show", tmp_path / "d\x1b[31m.npz")
    assert result.exit_code == 0
    assert r"a\x1b[2Jb" in result.output
    assert r"d\x1b[31m.npz" in result.output
    assert not set("\x1b\x07\x9b\r") & set(result.output)
    failed = run("show", tmp_path / "none\x1b[31m.npz")
    assert failed.exit_code == 1
    assert "\x1b" not in failed.output


def test_patches_with_one_side_of_one_are_learned(pictures, tmp_path):
    result = run("learn", pictures, "-o", tmp_path / "d", "-p", "4x1", "-n", 50, "--iterations", 2)
    assert result.exit_code == 0, result.output
    assert sedil.load_dictionary(tmp_path / "d.npz").n_atoms == (8, 1)


def test_wrong_atoms_are_refused_before_images_are_read(tmp_path):
    (tmp_path / "broken.png").write_bytes(b"not a picture")
    result = run("learn", tmp_path / "broken.png", "-o", tmp_path / "d", "-a", "1x2x3")
    assert "n_atoms must have one number per patch axis" in result.stderr


def test_one_of_a_kind_is_singular(pictures, tmp_path):
    result = run(
        "learn", pictures / "a.png", "-o", tmp_path / "d", "-p", "4x4", "-n", 1, "--iterations", 1
    )  # fmt: skip
    assert "reading 1 image\n" in result.output
    assert "1 patch of 4x4" in result.output


def test_show_refuses_the_picture_before_it_prints(pictures, tmp_path):
    learn(pictures, tmp_path / "d.npz")
    result = run("show", tmp_path / "d.npz", "--picture", tmp_path / "d.png")
    assert result.exit_code == 1
    assert "exists already: choose another name or add --force" in result.stderr
    assert result.stdout == ""


def test_show_takes_shipped_names(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shown = run("show", "separable-8x8")
    assert shown.exit_code == 0
    assert "16x16 = 256" in shown.output
    assert (tmp_path / "separable-8x8.png").stat().st_size > 1000


def test_show_never_draws_over_the_dictionary(tmp_path):
    sedil.SeparableDictionary([np.eye(2)]).save(tmp_path / "d.png")
    result = run("show", tmp_path / "d.png", "--force")
    assert "d.png is the dictionary itself: choose another --picture." in result.stderr
    assert sedil.load_dictionary(tmp_path / "d.png").n_atoms == (2,)


def test_show_makes_info_readable(tmp_path):
    info = {
        "n_patches": 39671,
        "n_iterations": 500,
        "objective": 0.0681559872915092,
        "images": [f"{k}.png" for k in range(9)],
        "recipe": {"n_atoms": [16, 16], "engine": None, "scale": 8.0, "waves": 0.1},
        "engine": None,
    }
    settings = {"signal_shape": (2, 4), "threshold": 3.05}
    sedil.SeparableDictionary([np.eye(8)], **settings, info=info).save(tmp_path / "d.npz")
    words = " ".join(run("show", tmp_path / "d.npz").output.replace("│", " ").split())
    for part in (
        "patches 8 atoms 8 redundancy",
        "drawn as 2x4 threshold of denoising 3.05 sigma",
        "patches trained on 39671 iterations 500 objective 0.068156 images",
        "0.png, 1.png, 2.png, 3.png, 4.png and 4 more",
        "recipe atoms: 16x16; scale: 8; waves: 0.1",
    ):
        assert part in words
    assert "engine" not in words


# Folders, and files that cannot be read


def add_bad_files(pictures):
    (pictures / "sub").mkdir()
    (pictures / "sub" / "bad.png").write_bytes(b"not a picture")
    Image.new("L", (3, 3)).save(pictures / "tiny.png")


@pytest.mark.parametrize("way", [learn, learn_in_batches])
def test_files_that_cannot_be_read_are_named_and_the_others_learned_from(pictures, tmp_path, way):
    add_bad_files(pictures)
    result = way(pictures, tmp_path / "d.npz")
    assert result.exit_code == 1
    complaints = result.stderr.splitlines()
    bad, tiny = pictures / "sub/bad.png", pictures / "tiny.png"
    assert sorted(complaints[:-1]) == [
        f"failed: {bad} cannot be read as an image: it is no picture, damaged, or of another format than "
        f"PNG, JPEG, TIFF, BMP, WebP, PGM and PPM.",
        f"failed: {tiny} of shape (3, 3) is smaller than a patch of shape (4, 4): leave it out or choose "
        f"smaller patches.",
    ]
    assert complaints[-1].startswith("error: 2 images failed: ")
    assert "saved        " in result.stdout
    assert sedil.load_dictionary(tmp_path / "d.npz").info["images"] == ["a.png", "b.png"]


@pytest.mark.parametrize("way", [learn, learn_in_batches])
def test_nothing_is_learned_where_no_file_can_be_read(tmp_path, way):
    (tmp_path / "bad").mkdir()
    for name in "ab":
        (tmp_path / "bad" / f"{name}.png").write_bytes(b"not a picture")
    result = way(tmp_path / "bad", tmp_path / "d.npz")
    assert result.exit_code == 1
    assert result.stderr.splitlines()[-1] == "error: None of the 2 images can be learned from."
    assert not (tmp_path / "d.npz").exists()


def test_arrays_of_two_axes_are_learned_from(tmp_path, rng):
    np.save(tmp_path / "a.npy", rng.random((20, 30)))
    result = learn(tmp_path / "a.npy", tmp_path / "d.npz")
    assert result.exit_code == 0, result.output
    assert sedil.load_dictionary(tmp_path / "d.npz").info["images"] == ["a.npy"]


def test_threads_do_not_change_what_is_learned(pictures, tmp_path):
    for name, more in {"default": [], "one": ["--threads", 1]}.items():
        assert learn(pictures, tmp_path / f"{name}.npz", *more).exit_code == 0
    default, one = (sedil.load_dictionary(tmp_path / f"{name}.npz") for name in ("default", "one"))
    np.testing.assert_array_equal(default.as_matrix(), one.as_matrix())


# Help


def test_help_loads_few_modules_and_none_that_compute():
    program = (
        "import sys; from typer.testing import CliRunner; from sedil.cli import app\n"
        "shown = [CliRunner().invoke(app, words).output for words in (['--help'], ['denoise', '--help'])]\n"
        "assert 'reproduce' in shown[0] and '--stride' in shown[1]\n"
        "print(*sorted(name for name in sys.modules if name.startswith('sedil')))\n"
        "print(*{'numpy', 'scipy', 'numba', 'sklearn', 'skimage', 'PIL', 'gradio'} & set(sys.modules))"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    ours, heavy = found.stdout.split("\n")[:2]
    assert len(ours.split()) < 20
    assert "sedil_studies" not in ours
    assert heavy == ""


# denoise


@pytest.fixture
def noisy_file(tmp_path):
    rng = np.random.default_rng(0)
    ramp = np.linspace(60, 180, 40)[:, None] + np.zeros(48)
    Image.fromarray((ramp + 15 * rng.standard_normal(ramp.shape)).clip(0, 255).astype(np.uint8)).save(
        tmp_path / "noisy.png"
    )
    return tmp_path / "noisy.png"


def pixels_of(path):
    with Image.open(path) as picture:
        return np.asarray(picture).astype(float)


def test_denoise_cleans_a_picture(noisy_file, tmp_path):
    result = run("denoise", noisy_file, tmp_path / "clean.png", "--compare", tmp_path / "both.png")
    assert result.exit_code == 0, result.output
    for words in ("estimated noise: sigma 1", "denoised     40x48 in", "saved", "clean.png", "both.png"):
        assert words in result.output
    ramp = np.linspace(60, 180, 40)[:, None]
    errors = [np.mean((pixels_of(path) - ramp) ** 2) for path in (noisy_file, tmp_path / "clean.png")]
    assert errors[1] < 0.2 * errors[0]
    assert pixels_of(tmp_path / "both.png").shape == (40, 96)


def test_denoise_keeps_colour_transparency_and_sixteen_bits(tmp_path, noisy_file):
    grey = pixels_of(noisy_file)
    rgba = np.stack([grey, grey, grey, np.full_like(grey, 200)], axis=-1).astype(np.uint8)
    Image.fromarray(rgba).save(tmp_path / "rgba.png")
    Image.fromarray((grey * 257).astype(np.uint16)).save(tmp_path / "deep.png")
    for name in ("rgba", "deep"):
        result = run("denoise", tmp_path / f"{name}.png", tmp_path / f"{name}_clean.png", "--stride", 4)
        assert result.exit_code == 0, result.output
    with Image.open(tmp_path / "rgba_clean.png") as picture:
        assert picture.mode == "RGBA"
        assert (np.asarray(picture)[..., 3] == 200).all()
    with Image.open(tmp_path / "deep_clean.png") as picture:
        assert picture.mode.startswith("I")
        assert np.asarray(picture).max() > 10000


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere.png", "out.png"], "nowhere.png cannot be read as an image"),
        (["noisy.png", "no/out.png"], "the folder no does not exist"),
        (["noisy.png", "out.xyz"], "Cannot write a picture to out.xyz"),
        (["noisy.png", "noisy.png", "--force"], "noisy.png is the noisy picture itself"),
        (["noisy.png", "there.png"], "there.png exists already: choose another name or add --force"),
        (["noisy.png", "out.png", "--sigma", "0"], "sigma must be a finite positive number, got 0"),
        (["noisy.png", "out.png", "--sigma", "999"], "larger than the values of the image"),
        (["noisy.png", "out.png", "-d", "noisy.png"], "noisy.png is not a dictionary file of sedil"),
        (["tiny.png", "out.png", "--sigma", "9", "--method", "quick"], "is smaller than a patch of shape"),
        (["tiny.png", "out.png"], "cannot be estimated: give sigma"),
        (["noisy.png", "out.png", "--method", "best"], "is not one of"),
    ],
)
def test_mistakes_in_denoise_are_answered_with_one_sentence(
    noisy_file, tmp_path, monkeypatch, arguments, message
):
    monkeypatch.chdir(tmp_path)
    Image.fromarray(np.arange(15, dtype=np.uint8).reshape(3, 5) * 10).save("tiny.png")
    Image.fromarray(np.zeros((3, 3), np.uint8)).save("there.png")
    result = run("denoise", *arguments)
    assert result.exit_code != 0
    words = " ".join(result.stderr.replace("│", " ").split())
    assert message in words
    assert "Traceback" not in words
    assert not list(tmp_path.glob("out*"))
