"""`sedil denoise` and `sedil inpaint` on Zarr, OME-Zarr, HDF5 and mapped files."""

import errno
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
import tifffile
from typer.testing import CliRunner

import sedil
from sedil.cli import app

REASON = "Dask is not installed: files in chunks were not tested"
pytest.importorskip("dask.array", reason=REASON)
pytest.importorskip("distributed", reason=REASON)
zarr = pytest.importorskip("zarr", reason=REASON)
h5py = pytest.importorskip("h5py", reason=REASON)

from sedil.cluster import block_sizes, stored_arrays  # noqa: E402
from sedil.cluster.journal import Journal  # noqa: E402
from sedil.cluster.multiscale import open_multiscale  # noqa: E402
from sedil.cluster.stored_arrays import blocks_of, open_stored  # noqa: E402
from sedil.file_jobs import chunk_runs  # noqa: E402
from sedil.file_jobs.chunk_jobs import ChunkSettings, open_job  # noqa: E402
from sedil.file_jobs.chunk_runs import run_job  # noqa: E402

SIGMA = 15.0
Z, Y, X = np.ogrid[:24, :40, :44]
CLEAN = 120 + 60 * np.sin(X / 9) * np.cos(Y / 7) * np.cos(Z / 11)
NOISY = (CLEAN + SIGMA * np.random.default_rng(0).standard_normal(CLEAN.shape)).astype(np.float32)
CHUNKS = (12, 20, 44)
QUICK = ChunkSettings(SIGMA, None, "quick", 4)


def expected(volume=NOISY):
    return sedil.denoise(volume, SIGMA, method="quick", stride=4)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, client):
    """Several small blocks, worked on by a cluster that is there already."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(stored_arrays, "_VALUES_AT_A_TIME", 2**12)
    monkeypatch.setattr(block_sizes, "BYTES_OF_A_BLOCK", 1.3e6)
    zarr.create_array("noisy.zarr", data=NOISY, chunks=CHUNKS, attributes={"unit": "micrometer"})
    return tmp_path


@pytest.fixture
def run(client):
    def run_(source, target, settings=QUICK, mask=None, force=False):
        told = []
        job = open_job(Path(source), Path(target), settings, mask and Path(mask), force)
        run_job(job, client.scheduler.address, None, lambda progress: None, told.append)
        return told[0]

    return run_


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_zarr_of_both_versions(run, zarr_format):
    zarr.create_array("a.zarr", data=NOISY, chunks=CHUNKS, zarr_format=zarr_format, attributes={"unit": "mm"})
    run("a.zarr", "b.zarr")
    result = zarr.open_array("b.zarr", mode="r")
    np.testing.assert_array_equal(result[:], expected())
    assert result.metadata.zarr_format == zarr_format
    assert result.chunks == CHUNKS
    assert dict(result.attrs) == {"unit": "mm"}
    assert sorted(os.listdir()) == ["a.zarr", "b.zarr", "noisy.zarr"]


def test_shards_are_written_whole(run):
    zarr.create_array("a.zarr", data=NOISY, chunks=(6, 10, 11), shards=(12, 20, 22))
    run("a.zarr", "b.zarr")
    result = zarr.open_array("b.zarr", mode="r")
    np.testing.assert_array_equal(result[:], expected())
    assert result.shards == (12, 20, 22)


def test_hdf5(run):
    with h5py.File("a.h5", "w") as file:
        dataset = file.create_dataset("scan/raw", data=NOISY, chunks=CHUNKS)
        dataset.attrs["element_size_um"] = [1.0, 0.5, 0.5]
        file.create_dataset("scan/other", data=np.zeros(3))
    run("a.h5/scan/raw", "b.h5")
    with h5py.File("b.h5") as file:
        np.testing.assert_array_equal(file["scan/raw"][:], expected())
        np.testing.assert_array_equal(file["scan/raw"].attrs["element_size_um"], [1.0, 0.5, 0.5])


def test_mapped_files(run):
    np.save("a.npy", NOISY)
    tifffile.imwrite("a.tif", NOISY, description="a stack", resolution=(30, 20))
    run("a.npy", "b.npy")
    run("a.tif", "b.tif")
    np.testing.assert_array_equal(np.load("b.npy"), expected())
    np.testing.assert_array_equal(tifffile.imread("b.tif"), expected())
    with tifffile.TiffFile("b.tif") as file:
        assert file.pages[0].description == "a stack"
    run("a.npy", "c.zarr")  # from one kind to another
    np.testing.assert_array_equal(zarr.open_array("c.zarr")[:], expected())


AXES = [{"name": n, "type": t} for n, t in zip("tczyx", ["time", "channel", *["space"] * 3], strict=True)]


@pytest.mark.parametrize("zarr_format", [2, 3])
def test_ome_zarr_is_denoised_at_its_finest_scale_and_made_coarser_anew(run, zarr_format):
    images = np.stack([NOISY, NOISY[::-1]])[None].astype(np.uint16)
    group = zarr.open_group("a.zarr", mode="w", zarr_format=zarr_format)
    half = images[..., ::2, ::2, ::2]
    for name, level in (("0", images), ("scale/1", half)):
        group.create_array(name, data=level, chunks=(1, 1, 12, 20, 22))
    group.create_array("labels/cells", data=np.arange(6))
    facts = [{"axes": AXES, "datasets": [{"path": "0"}, {"path": "scale/1"}], "name": "embryo"}]
    group.attrs.update(
        {"multiscales": facts, "omero": {"id": 1}} if zarr_format == 2 else {"ome": {"multiscales": facts}}
    )
    run("a.zarr", "b.zarr")
    result = zarr.open_group("b.zarr", mode="r")
    assert dict(result.attrs) == dict(group.attrs)
    np.testing.assert_array_equal(result["labels/cells"][:], np.arange(6))
    for channel in range(2):
        np.testing.assert_array_equal(result["0"][0, channel], expected(images[0, channel]))
    fine = result["0"][:].reshape(1, 2, 12, 2, 20, 2, 22, 2).mean(axis=(3, 5, 7))
    np.testing.assert_array_equal(result["scale/1"][:], np.rint(fine))
    assert open_multiscale(Path("b.zarr")).axes == ("time", "channel", "space", "space", "space")


def test_noise_is_estimated_once_and_told(run):
    facts = run("noisy.zarr", "b.zarr", QUICK._replace(sigma=None))
    assert facts.sigmas == [pytest.approx(sedil.estimate_noise(NOISY), rel=1e-9)]
    assert facts.n_blocks == 4


def test_missing_voxels_are_filled(run):
    picture = NOISY[0]
    mask = np.random.default_rng(0).random(picture.shape) < 0.2
    zarr.create_array("picture.zarr", data=picture, chunks=(20, 44))
    zarr.create_array("mask.zarr", data=(255 * mask).astype(np.uint8), chunks=(20, 44))
    run("picture.zarr", "b.zarr", ChunkSettings(method="quick"), "mask.zarr")
    filled = zarr.open_array("b.zarr")[:]
    np.testing.assert_array_equal(filled[~mask], picture[~mask])
    difference = (filled - sedil.inpaint(picture, mask, method="quick"))[mask]
    assert np.sqrt(np.mean(difference**2)) < 0.02 * picture.std()


# Runs that are stopped


def test_finished_blocks_are_not_done_again(run, monkeypatch):
    run("noisy.zarr", "whole.zarr")
    asked = []
    step = chunk_runs._run_step

    def stopping(step_, number, journal, client):
        for count, block in enumerate(step(step_, number, journal, client)):
            if count == 2 and not asked:
                asked.append("stopped")
                raise KeyboardInterrupt
            yield block

    monkeypatch.setattr(chunk_runs, "_run_step", stopping)
    with pytest.raises(KeyboardInterrupt):
        run("noisy.zarr", "b.zarr")
    assert not Path("b.zarr").exists()
    lines = Path("b.zarr.unfinished/finished.txt").read_text().split()
    assert len(lines) == 2
    # A block that was finished is taken as it is, and one that was not is made anew, whatever lies there.
    index = {tuple(map(int, line[2:].split("."))) for line in lines}
    half = zarr.open_array("b.zarr.unfinished/result.zarr")
    half[:] = -1
    facts = run("noisy.zarr", "b.zarr")
    assert facts.n_done_before == 2
    result = zarr.open_array("b.zarr")[:]
    for block in np.ndindex(2, 2, 1):
        part = tuple(slice(k * side, (k + 1) * side) for k, side in zip(block, CHUNKS, strict=True))
        np.testing.assert_array_equal(result[part], -1 if block in index else expected()[part])
    assert not Path("b.zarr.unfinished").exists()


def test_a_line_that_was_cut_off_is_none(tmp_path):
    journal = Journal(tmp_path / "b.zarr")
    with journal.opened({"a": 1}, force=False) as facts:
        assert facts is None
        journal.begin({"a": 1}, {"sigmas": [2.0]})
        journal.note("0:1.2")
    with (journal.folder / "finished.txt").open("a") as lines:
        lines.write("0:1.")
    again = Journal(tmp_path / "b.zarr")
    with again.opened({"a": 1}, force=False) as facts:
        assert facts == {"sigmas": [2.0]}
        assert again.finished == {"0:1.2"}
        again.note("0:1.3")
        third = Journal(tmp_path / "b.zarr").opened({"a": 1}, force=False)
        with pytest.raises(FileExistsError, match="Another run is at work"), third:
            pass
    with Journal(tmp_path / "b.zarr").opened({"a": 1}, force=False):
        pass
    lines = (journal.folder / "finished.txt").read_text().split()
    assert lines == ["0:1.2", "0:1.", "0:1.3"]  # of which the second names no block


def test_what_is_left_of_another_run_is_not_taken(run):
    Path("b.zarr.unfinished").mkdir()
    Path("b.zarr.unfinished/run.json").write_text(json.dumps({"identity": {"sigma": 3}, "facts": {}}))
    with pytest.raises(
        FileExistsError, match="is left of a run with other settings: remove it, or use --force"
    ):
        run("noisy.zarr", "b.zarr")
    run("noisy.zarr", "b.zarr", force=True)
    np.testing.assert_array_equal(zarr.open_array("b.zarr")[:], expected())


def test_an_existing_result_is_replaced_only_if_wanted(run):
    zarr.create_array("b.zarr", data=np.zeros(3))
    with pytest.raises(FileExistsError, match="exists"):
        run("noisy.zarr", "b.zarr")
    run("noisy.zarr", "b.zarr", force=True)
    assert zarr.open_array("b.zarr").shape == NOISY.shape


@pytest.mark.slow
def test_a_run_that_is_killed_goes_on_to_the_same_bytes():
    """With a cluster of its own, by the command."""
    command = [
        sys.executable,
        "-m",
        "sedil",
        "denoise",
        "noisy.zarr",
        "b.zarr",
        "--sigma",
        "15",
        "--method",
        "quick",
    ]
    process = subprocess.Popen(command, start_new_session=True, stdout=subprocess.DEVNULL)
    deadline = time.monotonic() + 60
    while not Path("b.zarr.unfinished/run.json").exists() and time.monotonic() < deadline:
        time.sleep(0.02)
    os.killpg(process.pid, signal.SIGKILL)
    process.wait()
    assert not Path("b.zarr").exists()
    assert subprocess.run(command, check=False, stdout=subprocess.DEVNULL).returncode == 0
    result = zarr.open_array("b.zarr")[:]
    np.testing.assert_array_equal(result, sedil.denoise(NOISY, SIGMA, method="quick"))


# What can go wrong


def invoke(*words):
    return CliRunner().invoke(app, [*map(str, words)])


def sentence(result):
    assert result.exit_code == 1, result.output
    assert "Traceback" not in result.output
    return " ".join(result.output.split())


def test_a_scheduler_that_is_not_there(monkeypatch):
    from sedil.cluster import clusters

    monkeypatch.setattr(clusters, "_SECONDS_TO_ANSWER", 0.5)
    words = sentence(invoke("denoise", "noisy.zarr", "b.zarr", "--scheduler", "tcp://127.0.0.1:9"))
    assert "No scheduler answers at tcp://127.0.0.1:9: start one" in words


def test_a_store_that_is_cut_off(client):
    chunk = next(
        file
        for file in sorted(Path("noisy.zarr").rglob("*"))
        if file.is_file() and file.suffix == "" and "c" in file.parts
    )
    chunk.write_bytes(chunk.read_bytes()[:50])
    words = sentence(
        invoke("denoise", "noisy.zarr", "b.zarr", "--sigma", 15, "--scheduler", client.scheduler.address)
    )
    assert "noisy.zarr cannot be read: it is damaged or cut off" in words
    assert not Path("b.zarr").exists()


def test_other_files():
    Path("empty.zarr").mkdir()
    zarr.open_group("group.zarr", mode="w").create_array("a", data=NOISY)
    np.save("text.npy", np.array(["a"]))
    for name, words in [
        ("none.zarr", "none.zarr."),
        ("none.h5/raw", "none.h5."),
        ("empty.zarr", "empty.zarr"),
        ("group.zarr", "group.zarr is a group of 1 arrays: give the path of one of them"),
        ("text.npy", "holds numbers of the type <U1"),
    ]:
        assert words in sentence(invoke("denoise", name, "b.zarr", "--scheduler", "local"))
    assert "is written as .zarr, .h5, .npy or .tif" in sentence(
        invoke("denoise", "noisy.zarr", "b.png", "--sigma", 15)
    )
    assert "come one at a time" in sentence(invoke("denoise", "noisy.zarr", "group.zarr", "out"))
    assert "is what is read itself" in sentence(invoke("denoise", "noisy.zarr", "noisy.zarr", "--force"))


def test_a_folder_may_be_called_like_a_file():
    Path("scan.h5").mkdir()
    assert not stored_arrays.is_stored("scan.h5/a.png")
    assert stored_arrays.is_stored("file.h5/raw")


def test_a_compressed_tiff_is_not_mapped():
    tifffile.imwrite("a.tif", NOISY, compression="deflate")
    with pytest.raises(ValueError, match=r"a.tif is compressed or lies in pieces"):
        open_stored("a.tif")


def test_a_read_only_folder_is_told(run):
    if os.geteuid() == 0:
        pytest.skip("the superuser may write anywhere")
    Path("closed").mkdir(mode=0o500)
    with pytest.raises(OSError, match="Permission denied"):
        run("noisy.zarr", "closed/b.zarr")


def test_a_full_disk_is_told_with_where_to_go_on(run, monkeypatch):
    step = chunk_runs._run_step

    def full(*arguments):
        yield next(step(*arguments))
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(chunk_runs, "_run_step", full)
    with pytest.raises(
        OSError, match=r"The disk is full: what is done stays in .*b.zarr.unfinished, and the same"
    ):
        run("noisy.zarr", "b.zarr")
    monkeypatch.setattr(chunk_runs, "_run_step", step)
    assert run("noisy.zarr", "b.zarr").n_done_before == 1


@pytest.mark.parametrize(
    ("shape", "chunks"), [((512, 512, 256), (64, 64, 64)), ((5000,), None), ((100, 90), (7, 11))]
)
def test_blocks_are_whole_chunks(shape, chunks):
    sides = blocks_of(shape, chunks)
    for side, length, own in zip(sides, shape, chunks or (1,) * len(shape), strict=True):
        assert side % own == 0 or side == length
    assert np.prod(sides) <= max(2 * stored_arrays._VALUES_AT_A_TIME, np.prod(chunks or 1))
