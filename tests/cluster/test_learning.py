"""Learning from arrays in chunks, and by several workers."""

import os
import signal
import threading
import time

import numpy as np
import pytest

import sedil
from random_things import training_patches
from sedil.learning.batches import open_batches

da = pytest.importorskip("dask.array", reason="Dask is not installed: learning from chunks was not tested")
zarr = pytest.importorskip("zarr")
h5py = pytest.importorskip("h5py")

PATCHES = training_patches(3000, (4, 4)).astype(np.float32)
HOW = {"n_atoms": 6, "batch_size": 1000, "batch_iterations": 8, "random_state": 0}


@pytest.fixture
def store(tmp_path):
    zarr.create_array(tmp_path / "patches.zarr", data=PATCHES, chunks=(170, 4, 4))
    with h5py.File(tmp_path / "patches.h5", "w") as file:
        file.create_dataset("patches", data=PATCHES, chunks=(170, 4, 4))
    return tmp_path


def cost(result):
    return result.history[-1].objective


def test_dask_zarr_and_hdf5_give_the_same(store):
    expected = cost(sedil.learn_minibatch(da.from_array(PATCHES, chunks=(170, 4, 4)), **HOW))
    for data in (zarr.open_array(store / "patches.zarr"), store / "patches.zarr", store / "patches.h5"):
        assert cost(sedil.learn_minibatch(data, **HOW)) == expected
    in_memory = cost(sedil.learn_minibatch(PATCHES, **HOW))  # in another order
    assert expected == pytest.approx(in_memory, rel=0.2)


def test_each_row_comes_once_an_epoch_and_each_chunk_is_read_once(tmp_path):
    rows = np.arange(3000.0)[:, None] * np.ones(2)
    reads = []

    class Source:
        shape, dtype, ndim, chunks = rows.shape, rows.dtype, 2, (170, 2)

        def __getitem__(self, key):
            reads.append(key)
            return rows[key]

    source = open_batches(Source(), None, 300, 2, 0)
    batches = [batch.patches[:, 0] for batch in source.after(0)]
    assert len(batches) == source.n_batches == 20
    for epoch in (batches[:10], batches[10:]):
        np.testing.assert_array_equal(np.sort(np.concatenate(epoch)), rows[:, 0])
    assert len(reads) == 2 * 18
    assert not np.array_equal(batches[0], batches[10])
    for first, second in zip(batches[13:], source.after(13), strict=True):
        np.testing.assert_array_equal(first, second.patches[:, 0])


def test_chunks_larger_than_a_shelf_are_cut(monkeypatch):
    from sedil.learning import chunked_rows

    monkeypatch.setattr(chunked_rows, "_BATCHES_PER_SHELF", 2)
    rows = da.from_array(np.arange(1000.0)[:, None] * np.ones(3), chunks=(1000, 2))
    batches = [batch.patches[:, 0] for batch in open_batches(rows, None, 100, 1, 0).after(0)]
    np.testing.assert_array_equal(np.sort(np.concatenate(batches)), np.arange(1000.0))


def test_masks_come_in_chunks_too():
    mask = np.random.default_rng(0).random(PATCHES.shape) < 0.2
    lazy = [da.from_array(each, chunks=(500, 4, 4)) for each in (PATCHES, mask)]
    result = sedil.learn_minibatch(lazy[0], mask=lazy[1], **HOW)
    spoiled = da.from_array(np.where(mask, np.nan, PATCHES), chunks=(500, 4, 4))
    assert cost(result) == pytest.approx(cost(sedil.learn_minibatch(spoiled, **HOW)), rel=1e-6)
    with pytest.raises(ValueError, match="mask must be a boolean array in chunks"):
        sedil.learn_minibatch(lazy[0], mask=mask[:5], **HOW)


@pytest.mark.parametrize(
    ("data", "error", "words"),
    [
        (da.from_array(PATCHES)[da.from_array(PATCHES) > 0], ValueError, "chunks of unknown size"),
        (da.zeros((5,)), ValueError, r"must have shape \(n, \*patch_shape\)"),
        (da.zeros((5, 4, 4), chunks=5, dtype=object), TypeError, "real numbers, got dtype object"),
    ],
)
def test_bad_data_is_refused(data, error, words):
    with pytest.raises(error, match=words):
        sedil.learn_minibatch(data, **HOW)


def test_all_in_memory_where_that_is_the_method():
    lazy = da.from_array(PATCHES[:200], chunks=(70, 4, 2))
    how = {"n_atoms": 6, "max_iterations": 3, "random_state": 0}
    assert cost(sedil.learn(lazy, **how)) == cost(sedil.learn(PATCHES[:200], **how))


def test_the_estimator_takes_dask_arrays():
    lazy = da.from_array(PATCHES[:300], chunks=(120, 4, 2))
    model, plain = (
        sedil.SeparableDictionaryLearning((4, 4), 6, max_iterations=3, random_state=0) for _ in "ab"
    )
    model.fit(lazy)
    codes = model.transform(lazy)
    assert isinstance(codes, da.Array)
    assert codes.shape == (300, 36)
    assert codes.dtype == np.float32
    np.testing.assert_allclose(codes.compute(), plain.fit(PATCHES[:300]).transform(PATCHES[:300]), atol=1e-5)
    rows = da.from_array(PATCHES[:300].reshape(300, 16), chunks=(120, 16))
    np.testing.assert_array_equal(model.transform(rows).compute(), codes.compute())
    learner = sedil.SeparableDictionaryLearning((4, 4), 6, random_state=0).partial_fit(lazy)
    assert learner.n_iter_ == 3  # a batch a chunk


# By workers


class HolderHere:
    """A holder of shards in this process, which answers as an actor does."""

    def __init__(self, shards):
        self._holder = shards.ShardHolder()

    def __getattr__(self, name):
        def call(*arguments):
            answer = getattr(self._holder, name)(*arguments)
            return type("Answer", (), {"result": lambda self: answer})()

        return call


def learner(n_holders, **how):
    from sedil.cluster import shards

    found = sedil.MiniBatchLearner(6, random_state=0, **({"batch_iterations": 12} | how))
    if n_holders:
        found.workers = shards.Workers(None)
        holders = [HolderHere(shards) for _ in range(n_holders)]
        found.workers._present = lambda: holders
    return found


@pytest.mark.parametrize(("how", "rounding"), [({}, 1e-4), ({"dtype": "float64"}, 1e-10)])
@pytest.mark.parametrize("masked", [False, True])
def test_shards_give_what_one_machine_gives(how, rounding, masked):
    mask = np.random.default_rng(0).random(PATCHES.shape) < 0.2 if masked else None
    alone = learner(0, **how).partial_fit(PATCHES, mask)
    spread = [learner(n, **how).partial_fit(PATCHES, mask) for n in (1, 2, 4)]
    for factors in zip(alone.factors, *(each.factors for each in spread), strict=True):
        np.testing.assert_allclose(factors[1], factors[0], rtol=0, atol=rounding)
        for other in factors[2:]:
            np.testing.assert_array_equal(other, factors[1])  # whatever the number of workers
    assert spread[0].history[-1].n_evaluations == alone.history[-1].n_evaluations


@pytest.mark.slow
def test_a_cluster_gives_what_shards_give_and_loses_a_worker(client):
    expected = learner(1).partial_fit(PATCHES).partial_fit(PATCHES[:1500])
    found = learner(0)
    from sedil.cluster.shards import Workers

    found.workers = Workers(client)
    found.partial_fit(PATCHES)
    victim = sorted(client.run(os.getpid).values())[0]
    killer = threading.Timer(0.05, os.kill, (victim, signal.SIGKILL))
    killer.start()
    found.partial_fit(PATCHES[:1500])
    killer.join()
    for factor, other in zip(found.factors, expected.factors, strict=True):
        np.testing.assert_array_equal(factor, other)
    deadline = time.monotonic() + 30
    while len(client.scheduler_info(n_workers=-1)["workers"]) < 2 and time.monotonic() < deadline:
        time.sleep(0.1)  # the worker is started anew


def test_learning_takes_a_client_or_an_address(client):
    alone = sedil.learn_minibatch(PATCHES, **HOW)
    for scheduler in (client, client.scheduler.address):
        spread = sedil.learn_minibatch(
            da.from_array(PATCHES, chunks=(3000, 4, 4)), **HOW, scheduler=scheduler
        )
        assert spread.n_iterations == alone.n_iterations
        assert np.isfinite(cost(spread))
    with pytest.raises(TypeError, match=r"scheduler must be a distributed.Client or the address"):
        sedil.learn_minibatch(PATCHES, **HOW, scheduler=3)


def test_a_scheduler_that_is_not_there_is_told(monkeypatch):
    from sedil.cluster import clusters

    monkeypatch.setattr(clusters, "_SECONDS_TO_ANSWER", 0.5)
    with pytest.raises(OSError, match=r"No scheduler answers at 'tcp://127.0.0.1:9'"):
        sedil.learn_minibatch(PATCHES, **HOW, scheduler="tcp://127.0.0.1:9")
    with pytest.raises(OSError, match="No scheduler answers at a str:"):
        sedil.learn_minibatch(PATCHES, **HOW, scheduler=5000 * "x")
