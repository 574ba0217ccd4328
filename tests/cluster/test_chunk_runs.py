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
from full_disk import no_space, stop_writes
from sedil.cli import app

REASON = "Dask is not installed: files in chunks were not tested"
pytest.importorskip("dask.array", reason=REASON)
pytest.importorskip("distributed", reason=REASON)
zarr = pytest.importorskip("zarr", reason=REASON)
h5py = pytest.importorskip("h5py", reason=REASON)

from sedil.cluster import block_sizes, stored_arrays  # noqa: E402
from sedil.cluster.journal import Journal  # noqa: E402
from sedil.cluster.kept_blocks import KeptBlocks  # noqa: E402
from sedil.cluster.multiscale import open_multiscale  # noqa: E402
from sedil.cluster.parts import halo_of_width  # noqa: E402
from sedil.cluster.stored_arrays import blocks_of, create_stored, open_stored  # noqa: E402
from sedil.errors import ImageFileError  # noqa: E402
from sedil.file_jobs.chunk_jobs import ChunkSettings, open_job  # noqa: E402
from sedil.file_jobs.chunk_runs import _found_facts, _Here, _OnCluster, run_job  # noqa: E402

SIGMA = 15.0
Z, Y, X = np.ogrid[:24, :40, :44]
CLEAN = 120 + 60 * np.sin(X / 9) * np.cos(Y / 7) * np.cos(Z / 11)
NOISY = (CLEAN + SIGMA * np.random.default_rng(0).standard_normal(CLEAN.shape)).astype(np.float32)
CHUNKS = (12, 20, 44)
BYTES = {"quick": 1.3e6, "groups": 2e6}  # of a block: four of them, and two
QUICK = ChunkSettings(SIGMA, None, "quick", 4)


def expected(volume=NOISY):
    return sedil.denoise(volume, SIGMA, method="quick", stride=4)


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch, client):
    """Several small blocks, worked on by a cluster that is there already."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(stored_arrays, "_VALUES_AT_A_TIME", 2**12)
    monkeypatch.setattr(block_sizes, "BYTES_OF_A_BLOCK", BYTES["quick"])
    zarr.create_array("noisy.zarr", data=NOISY, chunks=CHUNKS, attributes={"unit": "micrometer"})
    return tmp_path


@pytest.fixture
def run(client):
    def run_(source, target, settings=QUICK, mask=None, force=False, report=lambda progress: None):
        told = []
        job = open_job(Path(source), Path(target), settings, mask and Path(mask), force)
        run_job(job, client.scheduler.address, None, report, told.append)
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


@pytest.mark.parametrize("name", ["b.zarr", "b.h5", "b.npy", "b.tif"])
def test_a_target_has_the_same_chunks_when_it_is_opened_again(client, name):
    # Blocks follow from them, and a run that goes on must cut the target as before.
    made = create_stored(Path(name), Path(name), open_stored(Path("noisy.zarr")), (12, 20, 22))
    assert made.chunks == open_stored(Path(name)).chunks


@pytest.mark.parametrize("name", ["b.zarr", "b.h5"])
def test_a_run_into_another_kind_of_file_goes_on_while_it_writes(run, stopped, name):
    with h5py.File("a.h5", "w") as file:
        file.create_dataset("raw", data=NOISY, chunks=(1, 40, 44))
    zarr.create_array("a.zarr", data=NOISY, chunks=(1, 40, 44))
    source = "a.h5" if name == "b.zarr" else "a.zarr"
    counts = []
    run(source, f"whole-{name}", report=lambda progress: counts.append(progress.total))
    stopped(name, counts[-1] - 1, KeyboardInterrupt(), source=source)
    run(source, name)
    np.testing.assert_array_equal(open_stored(Path(name))[...], expected())


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


@pytest.mark.parametrize("method", ["quick", "groups"])
def test_colours_and_integers_are_those_in_memory(run, monkeypatch, method):
    monkeypatch.setattr(block_sizes, "BYTES_OF_A_BLOCK", 1.5e6)
    picture = np.clip(np.stack([NOISY[:, :, k].repeat(3, 0) for k in (0, 9, 30)], -1), 0, 255).astype(
        np.uint8
    )
    zarr.create_array("a.zarr", data=picture, chunks=(30, 20, 2))  # luminance is that of all colours
    run("a.zarr", "b.zarr", QUICK._replace(method=method))
    whole = sedil.denoise(picture, SIGMA, method=method, stride=4, channel_axis=-1)
    np.testing.assert_array_equal(zarr.open_array("b.zarr")[:], whole)


def test_images_that_share_chunks_and_one_without_noise(run):
    """Two times in a chunk; the third image is flat, and stays as it is."""
    images = np.stack([NOISY, NOISY[::-1], np.full_like(NOISY, 7)])
    group = zarr.open_group("a.zarr", mode="w")
    group.create_array("0", data=images, chunks=(2, 12, 20, 44))
    facts = [{"axes": [AXES[0], *AXES[2:]], "datasets": [{"path": "0"}]}]
    group.attrs.update({"ome": {"multiscales": facts}})
    run("a.zarr", "b.zarr")
    result = zarr.open_group("b.zarr", mode="r")["0"][:]
    for own, image in zip(result[:2], images, strict=False):
        np.testing.assert_array_equal(own, expected(image))
    np.testing.assert_array_equal(result[2], images[2])


def test_noise_is_estimated_once_and_told(run):
    facts = run("noisy.zarr", "b.zarr", QUICK._replace(sigma=None))
    assert facts.sigmas == [pytest.approx(sedil.estimate_noise(NOISY), rel=1e-9)]
    assert facts.n_blocks == 16  # four each to read, of patches, of the second pass, and to write


@pytest.mark.parametrize("sigma", [None, SIGMA])
@pytest.mark.parametrize("method", ["quick", "groups"])
def test_the_leading_process_finds_the_same_facts_as_workers(client, monkeypatch, sigma, method):
    monkeypatch.setattr(block_sizes, "BYTES_OF_A_BLOCK", BYTES[method])
    job = open_job(Path("noisy.zarr"), Path("b.zarr"), QUICK._replace(sigma=sigma, method=method))
    here, there = (_found_facts(job, at) for at in (_Here(2), _OnCluster(client)))
    assert here == there
    assert len(here["images"]) == 1


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


@pytest.fixture
def stopped(client):
    """A run that raises an error once so many blocks are done; returns the lines of its journal."""

    def stopped_(target, n_blocks, error, settings=QUICK, source="noisy.zarr", raises=None):
        def report(progress):
            if progress.done == n_blocks:
                raise error

        job = open_job(Path(source), Path(target), settings)
        with pytest.raises(raises or type(error)) as raised:
            run_job(job, client.scheduler.address, None, report, lambda facts: None)
        assert not Path(target).exists()
        lines = Path(f"{target}.unfinished/finished.txt").read_text().split()
        assert len(lines) == n_blocks
        return lines, raised.value

    return stopped_


def kept(folder):
    """Blocks of steps that are kept, and when each was written."""
    files = Path(f"{folder}.unfinished/image-0").rglob("[0-9]*")
    return {str(file.relative_to(folder.parent)): file.stat().st_mtime_ns for file in files}


@pytest.mark.parametrize(("method", "n_blocks"), [("quick", 4), ("groups", 2)])
def test_a_run_goes_on_in_the_middle_of_an_inner_step(run, stopped, tmp_path, monkeypatch, method, n_blocks):
    monkeypatch.setattr(block_sizes, "BYTES_OF_A_BLOCK", BYTES[method])
    settings, n_done = QUICK._replace(method=method), 2 * n_blocks + n_blocks // 2
    lines, _ = stopped("b.zarr", n_done, KeyboardInterrupt(), settings)
    assert {line.split(":")[0] for line in lines} == {"0", "1", "2"}
    client_is_idle(tmp_path)
    before = kept(tmp_path / "b.zarr")
    done = {}

    def note(progress):
        done[progress.done] = kept(tmp_path / "b.zarr")

    facts = run("noisy.zarr", "b.zarr", settings, report=note)
    assert facts.n_done_before == n_done
    # Blocks that were noted are not written again while their folder is there.
    noted = {name for name in before if any(name_of(name, line, method) for line in lines)}
    assert len(noted) >= n_done - n_blocks  # the first ones may be used up
    assert all(done[n_done + 1][name] == before[name] for name in noted)
    np.testing.assert_array_equal(
        zarr.open_array("b.zarr")[:], sedil.denoise(NOISY, SIGMA, method=method, stride=4)
    )
    assert not Path("b.zarr.unfinished").exists()


def name_of(name, line, method):
    number, index = line.split(":")
    folders = {"quick": ("noisy", "patches", "second-pass"), "groups": ("noisy", "guess", "pass-0")}[method]
    return Path(name).parent.name.endswith(folders[int(number)]) and Path(name).stem == index


def client_is_idle(folder):
    """What workers had begun they end: until then blocks without a line may still come."""
    before = None
    while before != (before := sorted(folder.rglob("*"))):
        time.sleep(1)


def test_finished_blocks_are_not_done_again(run, stopped, tmp_path):
    lines, _ = stopped("b.zarr", 14, KeyboardInterrupt())
    client_is_idle(tmp_path)
    # A block that was finished is taken as it is, and one that was not is made anew, whatever lies there.
    index = {tuple(map(int, line[2:].split("."))) for line in lines if line.startswith("3:")}
    assert 2 <= len(index) < 4  # some may be written while the last step goes on
    half = zarr.open_array("b.zarr.unfinished/result.zarr")
    half[:] = -1
    facts = run("noisy.zarr", "b.zarr")
    assert facts.n_done_before == 14
    result = zarr.open_array("b.zarr")[:]
    for block in np.ndindex(2, 2, 1):
        part = tuple(slice(k * side, (k + 1) * side) for k, side in zip(block, CHUNKS, strict=True))
        np.testing.assert_array_equal(result[part], -1 if block in index else expected()[part])
    assert not Path("b.zarr.unfinished").exists()


def test_what_no_step_needs_any_more_is_removed(run, monkeypatch):
    monkeypatch.setattr(block_sizes, "BYTES_OF_A_BLOCK", BYTES["groups"])
    there = []

    def note(progress):
        folders = Path("b.zarr.unfinished/image-0").glob("*")
        there.append((progress.done, {folder.name for folder in folders}))

    run("noisy.zarr", "b.zarr", QUICK._replace(method="groups"), report=note)
    seen = dict(there)
    assert seen[6] == {"noisy", "guess", "pass-0"}  # two blocks a step
    assert seen[7] == {"noisy", "pass-0", "pass-1"}
    assert seen[9] == {"noisy", "pass-1", "pass-2"}
    assert seen[15] == {"pass-4", "contrast"}
    assert seen[17] == {"contrast"}
    assert not Path("b.zarr.unfinished").exists()


@pytest.mark.parametrize("damage", ["cut", "gone"])
def test_a_damaged_block_is_not_taken_for_a_whole_one(run, stopped, tmp_path, damage):
    stopped("b.zarr", 5, KeyboardInterrupt())
    client_is_idle(tmp_path)
    file = Path("b.zarr.unfinished/image-0/noisy/0.1.0.npy")
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:-100])
    else:
        file.unlink()
    with pytest.raises(ImageFileError, match=r"0\.1\.0\.npy is gone or damaged.*\.unfinished to begin anew"):
        run("noisy.zarr", "b.zarr")
    assert not Path("b.zarr").exists()


def test_a_half_written_block_has_no_name(run, stopped, tmp_path):
    stopped("b.zarr", 6, KeyboardInterrupt())
    client_is_idle(tmp_path)
    folder = Path("b.zarr.unfinished/image-0/patches")
    lines = Path("b.zarr.unfinished/finished.txt").read_text().split()
    for file in folder.glob("*.npy"):
        if f"1:{file.stem}" not in lines:
            file.unlink()
    (folder / ".1.1.0.npy.0123456789abcdef.part").write_bytes(b"half")
    run("noisy.zarr", "b.zarr")
    np.testing.assert_array_equal(zarr.open_array("b.zarr")[:], expected())


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


@pytest.mark.parametrize("force", [False, True])
def test_a_run_that_has_hardly_begun_is_not_removed_by_another(tmp_path, force):
    first, second = Journal(tmp_path / "b.zarr"), Journal(tmp_path / "b.zarr")
    with first.opened({"a": 1}, force=False):
        (first.folder / "image-0").mkdir()
        with (
            pytest.raises(FileExistsError, match="Another run is at work"),
            second.opened({"a": 2}, force=force),
        ):
            pass
        assert (first.folder / "image-0").is_dir()


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
    assert "No scheduler answers at 'tcp://127.0.0.1:9': start one" in words


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


def test_a_full_disk_is_told_with_where_to_go_on(run, stopped):
    _, error = stopped("b.zarr", 6, OSError(errno.ENOSPC, os.strerror(errno.ENOSPC)))
    assert "The disk is full: what is done stays in" in str(error)
    assert "b.zarr.unfinished, and the same command goes on from there" in str(error)
    assert run("noisy.zarr", "b.zarr").n_done_before == 6
    np.testing.assert_array_equal(zarr.open_array("b.zarr")[:], expected())


def test_a_cluster_that_went_away_is_told_with_where_to_go_on(run, stopped):
    from distributed.comm import CommClosedError  # which is an error of the system

    _, error = stopped("b.zarr", 6, CommClosedError("in <TCP>: Stream is closed"), raises=OSError)
    assert "The cluster went away (CommClosedError): what is done stays in" in str(error)
    assert run("noisy.zarr", "b.zarr").n_done_before == 6


def test_a_block_that_finds_no_room_says_so(tmp_path, monkeypatch):
    blocks = KeptBlocks(tmp_path, ((4, 4), (6,)))
    blocks.write((0, 0), np.ones((1, 4, 6), np.float32))
    with monkeypatch.context() as patch:
        stop_writes(patch, "1.0.npy", no_space, room=90)
        with pytest.raises(OSError, match="No space left") as raised:
            blocks.write((1, 0), np.ones((1, 4, 6), np.float32))
    assert raised.value.errno == errno.ENOSPC
    assert [file.name for file in tmp_path.glob("*.npy")] == ["0.0.npy"]
    assert not list(tmp_path.glob(".*"))


def test_blocks_are_read_across_their_seams(tmp_path, rng):
    blocks, whole = KeptBlocks(tmp_path, ((4, 3), (2, 5, 2))), rng.standard_normal((2, 7, 9))
    for index in np.ndindex(2, 3):
        rows, columns = (
            (slice(0, 4), slice(4, 7))[index[0]],
            (slice(0, 2), slice(2, 7), slice(7, 9))[index[1]],
        )
        blocks.write(index, whole[:, rows, columns])
    for rows, columns in [(slice(0, 7), slice(0, 9)), (slice(3, 5), slice(1, 8)), (slice(4, 7), slice(2, 3))]:
        np.testing.assert_array_equal(blocks.read((rows, columns)), whole[:, rows, columns])


@pytest.mark.parametrize(
    ("shape", "chunks"), [((512, 512, 256), (64, 64, 64)), ((5000,), None), ((100, 90), (7, 11))]
)
def test_blocks_are_whole_chunks(shape, chunks):
    sides = blocks_of(shape, chunks)
    for side, length, own in zip(sides, shape, chunks or (1,) * len(shape), strict=True):
        assert side % own == 0 or side == length
    assert np.prod(sides) <= max(2 * stored_arrays._VALUES_AT_A_TIME, np.prod(chunks or 1))


def halo(width, shape):
    return halo_of_width(shape, (width,) * len(shape), (width,) * len(shape))


@pytest.mark.parametrize("shape", [(512, 512, 256), (192, 192, 192), (4000, 5000), (10**9,), (2048,) * 3])
@pytest.mark.parametrize("n_workers", [1, 2, 64])
def test_a_block_with_its_halo_fits_into_the_memory_of_a_worker(monkeypatch, shape, n_workers):
    monkeypatch.setattr(block_sizes, "BYTES_OF_A_BLOCK", 330e6)
    sizes = block_sizes.sizes_of_blocks(shape, [halo(13, shape), halo(3, shape)], 73, n_workers)
    assert tuple(map(sum, sizes)) == shape
    held = np.prod([max(own) + 13 * min(len(own) - 1, 2) for own in sizes], dtype=float)
    assert held * 73 <= 330e6
    assert np.prod([len(own) for own in sizes], dtype=float) >= n_workers


def test_few_seams_are_cut_and_all_workers_have_a_block(monkeypatch):
    monkeypatch.setattr(block_sizes, "BYTES_OF_A_BLOCK", 330e6)
    shape = (192, 192, 192)
    two = block_sizes.sizes_of_blocks(shape, [halo(13, shape)], 73, 2)
    assert sorted(map(len, two)) == [1, 1, 2]  # slabs of 96
    eight = block_sizes.sizes_of_blocks(shape, [halo(13, shape)], 73, 8)
    assert [len(own) for own in eight] == [2, 2, 2]
