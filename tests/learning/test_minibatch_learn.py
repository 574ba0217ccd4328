import os
import signal
import subprocess
import sys
import textwrap

import numpy as np
import pytest

import sedil
from random_things import training_patches
from sedil.files import read_archive, write_archive
from sedil.learning.checkpoint import CHECKPOINT
from sedil.learning.result import Record, StopReason

PATCHES = training_patches(90, (3, 4))
SETTINGS = {"n_atoms": (4, 5), "random_state": 3, "batch_size": 10, "batch_iterations": 4}


def learn(patches=PATCHES, **settings):
    return sedil.learn_minibatch(patches, **(SETTINGS | settings))


def assert_equal_to_the_bit(one, other):
    for a, b in zip(one.dictionary.factors, other.dictionary.factors, strict=True):
        np.testing.assert_array_equal(a, b)
    for name in Record._fields:
        if name != "seconds":
            np.testing.assert_array_equal(one.history[name], other.history[name], err_msg=name)
    assert one.dictionary.info == other.dictionary.info
    assert one.stop_reason == other.stop_reason


def stop_after(n):
    return lambda progress: progress.record.iteration == n


def test_result_is_like_that_of_learn_without_codes():
    result = learn()
    assert result.codes is None
    assert result.stop_reason == StopReason.DATA == "all data has been seen"
    assert result.n_iterations == len(result.history) == 9
    assert result.dictionary.info["n_patches"] == 90
    assert np.isfinite(result.objective)
    assert "batches      9," in repr(result)


def test_same_seed_gives_the_same_result_and_another_seed_another():
    assert_equal_to_the_bit(learn(), learn())
    assert not np.array_equal(learn().dictionary.factors[0], learn(random_state=4).dictionary.factors[0])


def test_generator_as_random_state_is_the_caller_s():
    one, other = (learn(random_state=np.random.default_rng(5)) for _ in range(2))
    assert_equal_to_the_bit(one, other)


def test_file_and_pieces_give_what_the_array_gives(tmp_path):
    np.save(tmp_path / "p.npy", PATCHES)
    for data in (
        tmp_path / "p.npy",
        np.load(tmp_path / "p.npy", mmap_mode="r"),
        [PATCHES[:31], PATCHES[31:]],
    ):
        assert_equal_to_the_bit(learn(data), learn())


def test_max_batches_ends_the_run():
    result = learn(max_batches=4)
    assert (result.n_iterations, result.stop_reason) == (4, StopReason.BATCHES)


def test_iterator_that_ends_early_is_fine_and_said():
    result = learn(iter([PATCHES[:10], PATCHES[10:25]]), max_batches=100)
    assert (result.n_iterations, result.stop_reason) == (3, StopReason.DATA)
    assert result.dictionary.info["n_patches"] == 25


def test_endless_iterator_ends_with_max_batches():
    def endless():
        while True:
            yield PATCHES

    assert learn(endless(), max_batches=12).n_iterations == 12


def test_function_that_makes_iterators_serves_every_epoch():
    result = learn(lambda: iter([PATCHES[:30]]), n_epochs=2)
    assert result.n_iterations == 6


def test_batch_larger_than_the_data_is_one_batch():
    result = learn(batch_size=10**6)
    assert (result.n_iterations, result.dictionary.info["n_patches"]) == (1, 90)


def test_integers_are_learned_from():
    assert learn((10 * PATCHES).astype(np.int16)).dictionary.factors[0].dtype == np.float32


def test_missing_entries_by_mask_and_by_nan_are_the_same(rng, tmp_path):
    mask = rng.random(PATCHES.shape) < 0.2
    np.save(tmp_path / "mask.npy", mask)
    by_nan = learn(np.where(mask, np.nan, PATCHES))
    for given in (mask, tmp_path / "mask.npy"):
        by_mask = learn(PATCHES, mask=given)
        np.testing.assert_array_equal(by_mask.dictionary.factors[0], by_nan.dictionary.factors[0])


def test_every_batch_is_told_of_and_how_many_there_will_be():
    told = []
    learn(n_epochs=2, progress=lambda p: told.append((p.record.iteration, p.total)) or False)
    assert told == [(n, 18) for n in range(1, 19)]
    told.clear()
    learn(iter([PATCHES]), max_batches=5, progress=lambda p: told.append(p.total))
    assert told == [5] * 5
    told.clear()
    learn(iter([PATCHES]), progress=lambda p: told.append(p.total))
    assert told == [None] * 9


def test_progress_function_can_stop_the_run():
    result = learn(progress=stop_after(3))
    assert (result.n_iterations, result.stop_reason) == (3, StopReason.PROGRESS)


def test_ctrl_c_keeps_what_is_learned():
    def press(progress):
        if progress.record.iteration == 2:
            os.kill(os.getpid(), signal.SIGINT)

    result = learn(progress=press)
    assert (result.n_iterations, result.stop_reason) == (2, StopReason.INTERRUPTED)


# Checkpoints


@pytest.mark.parametrize("interrupted_after", [1, 4, 9, 10, 17])
@pytest.mark.parametrize("kind", ["array", "function", "missing"])
def test_resumed_run_ends_as_the_uninterrupted_one_to_the_bit(interrupted_after, kind, tmp_path):
    holed = np.where(PATCHES > 1.5, np.nan, PATCHES)
    data = {"array": PATCHES, "function": lambda: iter([PATCHES]), "missing": holed}[kind]
    straight = learn(data, n_epochs=2)
    learn(data, n_epochs=2, checkpoint=tmp_path / "c.npz", progress=stop_after(interrupted_after))
    resumed = learn(data, n_epochs=2, checkpoint=tmp_path / "c.npz", resume=True)
    assert_equal_to_the_bit(resumed, straight)


def test_iterator_given_anew_resumes(tmp_path):
    learn(iter([PATCHES]), checkpoint=tmp_path / "c.npz", progress=stop_after(4))
    resumed = learn(iter([PATCHES]), checkpoint=tmp_path / "c.npz", resume=True)
    assert_equal_to_the_bit(resumed, learn(iter([PATCHES])))


def test_run_without_a_seed_resumes_with_the_order_it_had(tmp_path):
    settings = {"random_state": None, "checkpoint": tmp_path / "c.npz"}
    first = learn(progress=stop_after(4), **settings)
    resumed = learn(resume=True, **settings)
    assert resumed.n_iterations == 9
    np.testing.assert_array_equal(resumed.history["objective"][:4], first.history["objective"])


def test_every_library_resumes_to_the_bit(arrays, tmp_path):
    data = arrays.make(PATCHES)
    straight = learn(data)
    learn(data, checkpoint=tmp_path / "c.npz", progress=stop_after(4))
    resumed = learn(data, checkpoint=tmp_path / "c.npz", resume=True)
    assert_equal_to_the_bit(resumed, straight)
    assert type(resumed.dictionary.factors[0]) is type(data)


def test_finished_run_is_returned_as_it_ended(tmp_path):
    first = learn(checkpoint=tmp_path / "c.npz")
    assert_equal_to_the_bit(learn(checkpoint=tmp_path / "c.npz", resume=True), first)
    more = learn(checkpoint=tmp_path / "c.npz", resume=True, n_epochs=2)
    assert more.n_iterations == 18
    full = learn(checkpoint=tmp_path / "c.npz", resume=True, n_epochs=2, max_batches=5)
    assert full.stop_reason == StopReason.BATCHES


CHILD = """
    import os, signal, sys
    import numpy as np
    import sedil
    from random_things import training_patches

    def die(progress):
        if progress.record.iteration == 7:
            os.kill(os.getpid(), signal.SIGKILL)

    sedil.learn_minibatch(
        training_patches(90, (3, 4)), n_atoms=(4, 5), random_state=3, batch_size=10, batch_iterations=4,
        progress=die, checkpoint=sys.argv[1], checkpoint_every=3,
    )
"""


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_killed_process_resumes_from_its_last_checkpoint_to_the_bit(tmp_path):
    place = tmp_path / "c.npz"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    command = [sys.executable, "-c", textwrap.dedent(CHILD), str(place)]
    done = subprocess.run(command, env=environment, capture_output=True, timeout=120)
    assert done.returncode == -signal.SIGKILL, done.stderr.decode()
    told = []
    resumed = learn(checkpoint=place, resume=True, progress=lambda p: told.append(p.record.iteration))
    assert told == [7, 8, 9]  # the checkpoint after six batches is the last one
    assert_equal_to_the_bit(resumed, learn())


@pytest.mark.parametrize(
    ("data", "settings", "different"),
    [
        (PATCHES + 1, {}, "data"),
        (PATCHES[:20], {}, "data"),
        (iter([PATCHES[:20]]), {}, "data"),
        (PATCHES, {"random_state": 4}, "start"),
        (PATCHES, {"batch_size": 11}, "batch_size"),
        (PATCHES, {"batch_iterations": 5}, "batch_iterations"),
        (PATCHES, {"sparsity_weight": 1.0}, "sparsity_weight"),
        (PATCHES, {"n_atoms": (5, 5)}, "n_atoms"),
    ],
)  # fmt: skip
def test_checkpoint_of_another_run_is_refused(data, settings, different, tmp_path):
    learn(checkpoint=tmp_path / "c.npz", progress=stop_after(4))
    with pytest.raises(ValueError, match=f"belongs to another run \\(different {different}\\): use the same"):
        learn(data, checkpoint=tmp_path / "c.npz", resume=True, **settings)


def test_checkpoint_of_a_run_with_another_mask_is_refused(tmp_path):
    learn(checkpoint=tmp_path / "c.npz", mask=PATCHES > 1, progress=stop_after(4))
    with pytest.raises(ValueError, match="different data"):
        learn(checkpoint=tmp_path / "c.npz", mask=PATCHES > 2, resume=True)


def test_new_run_replaces_no_file_but_a_checkpoint(tmp_path):
    sedil.odct((3, 4), (4, 5)).save(tmp_path / "d.npz")
    with pytest.raises(FileExistsError, match=f"exists already and is not a {CHECKPOINT}: choose another"):
        learn(checkpoint=tmp_path / "d.npz")
    learn(checkpoint=tmp_path / "c.npz", max_batches=1)
    learn(checkpoint=tmp_path / "c.npz", max_batches=2)


def test_checkpoints_of_the_two_learners_are_not_mixed_up(tmp_path):
    sedil.learn(PATCHES, (4, 5), max_iterations=1, checkpoint=tmp_path / "joint.npz")
    with pytest.raises(ValueError, match=r"joint\.npz belongs to another run \(different learner"):
        learn(checkpoint=tmp_path / "joint.npz", resume=True)
    learn(checkpoint=tmp_path / "batches.npz", max_batches=1)
    with pytest.raises(ValueError, match=r"batches\.npz belongs to another run \(different .*learner"):
        sedil.learn(PATCHES, (4, 5), checkpoint=tmp_path / "batches.npz", resume=True)


@pytest.mark.parametrize("lost", ["identity", "history", "numbers", "factor0"])
def test_incomplete_checkpoint_is_called_damaged(lost, tmp_path):
    learn(checkpoint=tmp_path / "c.npz", max_batches=1)
    arrays, facts = read_archive(tmp_path / "c.npz", CHECKPOINT)
    (arrays if lost in arrays else facts).pop(lost)
    write_archive(tmp_path / "c.npz", CHECKPOINT, arrays, facts)
    with pytest.raises(sedil.DictionaryFileError, match=f"c.npz is damaged: it lacks '{lost}'"):
        learn(checkpoint=tmp_path / "c.npz", resume=True)


def test_numbers_of_numpy_are_as_good_as_python_s(tmp_path):
    numbers = {"batch_size": np.int64(10), "sparsity_scale": np.float32(2), "checkpoint_every": np.int64(2)}
    dictionary = learn(checkpoint=tmp_path / "c.npz", **numbers).dictionary
    dictionary.save(tmp_path / "d.npz")  # its settings are written as JSON, which knows no numbers of NumPy
    plain = learn(batch_size=10, sparsity_scale=2.0).dictionary
    for ours, expected in zip(dictionary.factors, plain.factors, strict=True):
        np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize(
    ("data", "settings", "message"),
    [
        (iter([]), {}, "The data is empty: not one batch came."),
        (iter([PATCHES, PATCHES[:, :2]]), {}, r"Batch 1 of the data has patches of shape \(2, 4\)"),
        (PATCHES, {"batch_size": 0}, "batch_size must be a whole number of at least 1"),
        (PATCHES, {"n_epochs": 0}, "n_epochs must be a whole number of at least 1"),
        (PATCHES, {"max_batches": 0}, "max_batches must be a whole number of at least 1"),
        (PATCHES, {"checkpoint_every": 0}, "checkpoint_every must be a whole number of at least 1"),
        (PATCHES, {"random_state": -1}, "random_state must be .*a whole number of at least 0"),
        (PATCHES, {"resume": True}, "resume=True needs checkpoint="),
    ],
)  # fmt: skip
def test_bad_input_is_refused_with_a_sentence(data, settings, message):
    with pytest.raises(ValueError, match=message):
        learn(data, **settings)
