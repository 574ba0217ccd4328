"""Patches of arrays in chunks: Dask, Zarr and HDF5, some blocks of which are read."""

import numpy as np
import pytest
from typer.testing import CliRunner

import sedil
from sedil.cli import app

dask = pytest.importorskip("dask", reason="Dask is not installed: its arrays were not tested")
da = pytest.importorskip("dask.array", reason="Dask is not installed: its arrays were not tested")
zarr = pytest.importorskip("zarr", reason="Zarr is not installed: its stores were not tested")
h5py = pytest.importorskip("h5py", reason="h5py is not installed: HDF5 was not tested")


def places(shape):
    """A volume whose values tell where they are."""
    return np.arange(np.prod(shape), dtype=np.float32).reshape(shape) ** 1.5


def are_patches_of(volume, patches):
    """Whether normalised patches are those of some place each."""
    shape = patches.shape[1:]
    windows = np.lib.stride_tricks.sliding_window_view(volume, shape)
    known = sedil.normalize_patches(windows.reshape(-1, *shape))
    known = known.reshape(len(known), -1)
    flat = patches.reshape(len(patches), -1)
    return all(np.abs(known - patch).max(axis=1).min() < 1e-5 for patch in flat)


@pytest.mark.parametrize("kind", ["dask", "zarr", "path", "hdf5"])
def test_patches_come_from_the_chunks_of_any_kind_of_array(kind, tmp_path):
    volume = places((12, 14, 10))
    store = zarr.create_array(tmp_path / "v.zarr", data=volume, chunks=(4, 7, 5))
    with h5py.File(tmp_path / "v.h5", "w") as file:
        file.create_dataset("raw", data=volume, chunks=(4, 7, 5))
    arrays = {"dask": da.from_array(volume, chunks=(4, 7, 5)), "zarr": store, "path": tmp_path / "v.zarr"}
    stream = sedil.stream_patches(arrays.get(kind, tmp_path / "v.h5"), (3, 3, 3), 200, random_state=0)
    patches = np.concatenate(list(stream))
    assert patches.shape == (200, 3, 3, 3)
    assert stream.n_images == 4
    assert are_patches_of(volume, patches)
    np.testing.assert_array_equal(patches, np.concatenate(list(stream)))


def test_few_patches_read_few_chunks():
    read = []

    def load(block, block_id=None):
        read.append(block_id)
        return block

    lazy = da.from_array(places((64, 64)), chunks=8).map_blocks(load, dtype=np.float32, meta=np.empty((0, 0)))
    stream = sedil.stream_patches(lazy, (8, 8), 65, random_state=0)
    with dask.config.set(scheduler="synchronous"):  # in this process, where reading is counted
        assert sum(map(len, stream)) == 65
        assert stream.n_images == 2
        assert len(read) == 8  # a block is two chunks long and wide, so that patches begin anywhere
        assert len(list(sedil.stream_patches(lazy, (8, 8), 10**4, random_state=0))) > 2
    assert len(set(read)) == 64  # all of them where many patches are wanted


@pytest.mark.parametrize(("shape", "chunk", "patch"), [((9,), 4, 6), ((5, 9), 2, 3), ((4, 3, 5, 3), 2, 2)])
def test_chunks_smaller_than_a_patch_are_read_together(shape, chunk, patch):
    lazy = da.from_array(places(shape), chunks=chunk)
    patches = np.concatenate(list(sedil.stream_patches(lazy, (patch,) * len(shape), 50, random_state=0)))
    assert patches.shape == (50, *(patch,) * len(shape))


def test_chunks_as_long_as_patches_give_other_patches_too():
    lazy = da.from_array(np.random.default_rng(0).random((64, 64)), chunks=8)
    patches = np.concatenate(list(sedil.stream_patches(lazy, (8, 8), 500, random_state=0)))
    assert len(np.unique(patches, axis=0)) > 300


def test_a_file_without_chunks_is_read_in_parts(tmp_path):
    with h5py.File(tmp_path / "v.h5", "w") as file:
        file["raw"] = np.random.default_rng(0).random((200, 150)).astype(np.float32)
    stream = sedil.stream_patches(tmp_path / "v.h5", (8, 8), 100, random_state=0)
    assert stream.n_images == 2
    assert sum(map(len, stream)) == 100


def test_a_dictionary_is_learned_from_a_store(tmp_path):
    zarr.create_array(tmp_path / "v.zarr", data=places((20, 20, 20)), chunks=(10, 10, 10))
    arguments = ["learn", str(tmp_path / "v.zarr"), "-o", str(tmp_path / "d"), "-p", "4x4x4", "-n", "500"]
    result = CliRunner().invoke(app, [*arguments, "--minibatch"])
    assert result.exit_code == 0, result.output
    assert "500 patches from 8 blocks" in result.output
    assert sedil.SeparableDictionary.load(tmp_path / "d.npz").patch_shape == (4, 4, 4)
    result = CliRunner().invoke(app, arguments)
    assert "is read in parts: add --minibatch" in " ".join(result.output.split())
    result = CliRunner().invoke(app, [*arguments, str(tmp_path / "b.png"), "--minibatch"])
    assert "is learned from alone" in " ".join(result.output.split())


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (lambda: da.ones((9, 9, 9)), ValueError, "does not have the 2 axes of a patch"),
        (lambda: da.ones((3, 9)), ValueError, "is smaller than a patch .*: choose smaller patches"),
        (lambda: da.ones((9, 9), dtype=complex), TypeError, "real numbers, got dtype complex128"),
        (lambda: da.ones((9, 9))[da.ones(9) > 0], ValueError, "chunks of unknown size"),
        (lambda: da.full((9, 9), np.nan), ValueError, "must be finite"),
        (lambda: da.ones((9, 9)), ValueError, "Every patch is flat"),
        (lambda: da.ones((0, 9)), ValueError, "The array is empty"),
    ],
)
def test_bad_arrays_are_refused_in_words(make, error, words):
    with pytest.raises(error, match=words):
        list(sedil.stream_patches(make(), (4, 4), 10, random_state=0))
