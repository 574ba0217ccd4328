"""Blocks of stages that overlap: in what order they are done, what is kept meanwhile, and that bytes stay."""

import time
from functools import cache, partial

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import sedil

REASON = "Dask is not installed: blocks of files were not tested"
da = pytest.importorskip("dask.array", reason=REASON)
pytest.importorskip("distributed", reason=REASON)

from sedil.cluster.facts import channels_first  # noqa: E402
from sedil.cluster.lazy_denoise import lazy_facts  # noqa: E402
from sedil.cluster.stored_arrays import open_stored  # noqa: E402
from sedil.cluster.stored_steps import StoredDenoising, StoredImage  # noqa: E402
from sedil.file_jobs.block_queue import BlockQueue, name_of, run_blocks  # noqa: E402
from sedil.file_jobs.chunk_stages import Stage  # noqa: E402
from sedil.imaging.denoise import how_to_denoise  # noqa: E402

N_BLOCKS, N_STAGES = 5, 4
LAST = (N_BLOCKS - 1,)


def driven(stages, finished, pick, n_running=4):
    """Do blocks in this process as if several workers did; `pick` says which of those that run ends next."""
    queue, running = BlockQueue(stages, finished), []
    while True:
        while len(running) < n_running and (begun := queue.next()) is not None:
            running.append(begun)
        if not running:
            return
        number, index = block = running.pop(pick(running))
        stages[number].do(index)
        yield block
        queue.end(block)


def oldest(running):
    return 0


def others_than(is_slow):
    """The oldest of those that run, but for slow ones as long as there are others."""
    return lambda running: next((at for at, block in enumerate(running) if not is_slow(block)), 0)


# Blocks in a row, each of which reads a block of the stage before and its neighbours


def neighbours(index):
    return [(at,) for at in range(max(index[0] - 1, 0), min(index[0] + 2, N_BLOCKS))]


def needed(folders, index):
    return [(folder, each) for folder in folders for each in neighbours(index)]


def work(index, reads, fills, waits_for=None):
    for folder, each in needed(reads, index):
        assert (folder / str(each[0])).read_bytes() == b"whole"
    deadline = time.monotonic() + 20
    while waits_for is not None and index == LAST and not waits_for.exists():
        assert time.monotonic() < deadline, f"{waits_for} does not come"
        time.sleep(0.01)
    (fills / str(index[0])).write_bytes(b"whole")


def stages_in(folder, waits_for=None):
    """Each stage reads the one before, and the third the first too; the last block of the first may wait."""
    stages = []
    for number in range(N_STAGES):
        fills = folder / f"stage-{number}"
        before = {number - 1, *([0] if number == 2 else [])} - {-1}
        reads = [folder / f"stage-{each}" for each in sorted(before)]
        do = partial(work, reads=reads, fills=fills, waits_for=None if number else waits_for)
        indices = [(at,) for at in range(N_BLOCKS)]
        stages.append(Stage(indices, do, partial(needed, reads), [fills], reads))
    return stages


def names(folder):
    return {each.name for each in folder.iterdir()}


def test_a_block_begins_as_soon_as_what_it_reads_is_there(client, tmp_path):
    stages = stages_in(tmp_path, tmp_path / "stage-1" / "1")  # never, if stages wait for each other
    done = list(run_blocks(stages, set(), client))
    assert sorted(done) == [(number, (at,)) for number in range(N_STAGES) for at in range(N_BLOCKS)]
    assert done.index((1, (0,))) < done.index((0, LAST))
    assert names(tmp_path) == {f"stage-{N_STAGES - 1}"}  # all others are used up


def test_no_more_than_one_stage_goes_ahead_of_a_slow_block(tmp_path):
    """Or more and more would have to be kept."""
    done = list(driven(stages_in(tmp_path), set(), others_than(lambda block: block == (0, LAST))))
    before = done[: done.index((0, LAST))]
    assert before == [(0, (0,)), (0, (1,)), (0, (2,)), (0, (3,)), (1, (0,)), (1, (1,)), (1, (2,))]


@given(st.lists(st.integers(0, 3), max_size=60), st.integers(0, N_BLOCKS * N_STAGES))
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_blocks_in_any_order_and_a_run_that_is_stopped(tmp_path_factory, choices, n_done):
    folder = tmp_path_factory.mktemp("run")
    stages, left = stages_in(folder), iter(choices)

    def pick(running):
        return min(next(left, 0), len(running) - 1)

    finished = []
    for block in driven(stages, set(), pick):
        finished.append(block)
        if len(finished) == n_done:
            break  # it is noted, and what it has used up is still there
    finished += driven(stages, {name_of(block) for block in finished}, pick)
    assert sorted(finished) == [(number, (at,)) for number in range(N_STAGES) for at in range(N_BLOCKS)]
    assert names(folder) == {f"stage-{N_STAGES - 1}"}


def test_what_a_later_stage_still_reads_is_kept(tmp_path):
    there = {}
    for block in driven(stages_in(tmp_path), set(), oldest):
        there[block] = names(tmp_path)
    assert there[1, LAST] >= {"stage-0", "stage-1"}  # the third stage reads both
    assert there[3, (2,)] == {"stage-2", "stage-3"}


# The steps of `denoise`

Z, Y, X = np.ogrid[:72, :12, :14]
CLEAN = 120 + 60 * np.sin(X / 9) * np.cos(Y / 7) * np.cos(Z / 11)
SIZES = ((18,) * 4, (12,), (14,))
CASES = [("quick", 15.0), ("quick", 3.5), ("groups", 15.0)]  # the second has weak noise, and more steps


@cache
def noisy_and_clean(method, sigma):
    noisy = (CLEAN + sigma * np.random.default_rng(0).standard_normal(CLEAN.shape)).astype(np.float32)
    return noisy, sedil.denoise(noisy, sigma, method=method, stride=2)


@pytest.fixture(params=CASES, ids=str)
def denoising(request, tmp_path):
    method, sigma = request.param
    noisy, _ = noisy_and_clean(method, sigma)
    np.save(tmp_path / "noisy.npy", noisy)
    lazy = da.from_array(noisy, chunks=36)
    how = how_to_denoise(lazy, None, method, stride=2)
    facts = lazy_facts(channels_first(lazy, None), sigma, how)
    found = {name: each.to_delayed().item().compute() for name, each in facts.items()}
    image = StoredImage(open_stored(tmp_path / "noisy.npy"), (None,) * 3, has_colour=False)
    return StoredDenoising(image, how, found, SIZES, tmp_path / "kept"), noisy_and_clean(method, sigma)[1]


@pytest.mark.parametrize("n_before", [0, 7, 11])
@pytest.mark.parametrize("slow", [1, 3])
def test_steps_that_overlap_give_the_same_bytes(denoising, slow, n_before):
    image, expected = denoising
    indices = [(at, 0, 0) for at in range(len(SIZES[0]))]
    stages = [Stage(indices, step, step.needs, step.fills, step.reads) for step in image.steps()]
    pick, finished = others_than(lambda block: block[1][0] == slow), []
    for block in driven(stages, set(), pick):
        finished.append(block)
        if len(finished) == n_before:
            break
    finished += driven(stages, {name_of(block) for block in finished}, pick)
    assert len(finished) == len(stages) * len(indices)
    by_stage = [number for number, _ in finished]
    assert by_stage != sorted(by_stage) or slow == 1  # whose neighbours all wait for it
    np.testing.assert_array_equal(image.finished([slice(0, side) for side in CLEAN.shape]), expected)
    assert len(list(image.folder.iterdir())) == 1


def test_blocks_that_nobody_makes_are_an_error(client, tmp_path):
    """Or an unfinished result would take the place of a finished one."""
    stages = stages_in(tmp_path)[1:]
    with pytest.raises(AssertionError, match="wait for others that nobody makes"):
        list(run_blocks(stages, set(), client))
