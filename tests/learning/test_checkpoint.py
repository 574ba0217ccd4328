import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import sedil
from full_disk import no_space, stop_writes
from random_things import training_patches
from sedil import files
from sedil.arrays import to_numpy
from sedil.errors import DictionaryFileError
from sedil.learning.checkpoint import CheckpointFile, fingerprint
from sedil.learning.result import Record, StopReason

PATCHES = training_patches(25, (3, 4))
SETTINGS = {"n_atoms": (4, 5), "random_state": 3, "warm_up": 4, "tolerance": 0, "gradient_tolerance": 0}
SETTINGS |= {"dtype": "float64"}


def learn(patches=PATCHES, **settings):
    return sedil.learn(patches, **(SETTINGS | settings))


def assert_equal_factors(one, other):
    for a, b in zip(one.dictionary.factors, other.dictionary.factors, strict=True):
        np.testing.assert_array_equal(a, b)


def assert_equal_to_the_bit(one, other):
    for a, b in zip(
        (one.codes, *one.dictionary.factors), (other.codes, *other.dictionary.factors), strict=True
    ):
        assert a.dtype == b.dtype
        np.testing.assert_array_equal(to_numpy(a), to_numpy(b))
    for name in Record._fields:
        if name != "seconds":
            np.testing.assert_array_equal(one.history[name], other.history[name], err_msg=name)
    assert one.dictionary.info == other.dictionary.info
    assert one.stop_reason == other.stop_reason
    assert one.weights == other.weights


@pytest.mark.parametrize("interrupted_after", [0, 1, 3, 4, 5, 11])
def test_resumed_run_ends_as_the_uninterrupted_one_to_the_bit(interrupted_after, tmp_path):
    """Before, at and after the end of the warm-up of 4 iterations."""
    straight = learn(max_iterations=15)
    learn(max_iterations=interrupted_after, checkpoint=tmp_path / "c.npz")
    resumed = learn(max_iterations=15, checkpoint=tmp_path / "c.npz", resume=True)
    assert_equal_to_the_bit(resumed, straight)


def test_every_library_and_precision_resumes_to_the_bit(arrays, tmp_path):
    patches, own = arrays.make(PATCHES), {"dtype": None}
    straight = learn(patches, max_iterations=12, **own)
    learn(patches, max_iterations=7, checkpoint=tmp_path / "c.npz", **own)
    resumed = learn(patches, max_iterations=12, checkpoint=tmp_path / "c.npz", resume=True, **own)
    assert_equal_to_the_bit(resumed, straight)
    assert type(resumed.codes) is type(patches)


@pytest.mark.parametrize(
    "settings", [{"metric": "paper"}, {"initial": "odct"}, {"preset": "paper"}, {"eta": 0.0}]
)
def test_resuming_works_with_other_settings_too(settings, tmp_path):
    straight = learn(max_iterations=12, **settings)
    learn(max_iterations=6, checkpoint=tmp_path / "c.npz", **settings)
    resumed = learn(max_iterations=12, checkpoint=tmp_path / "c.npz", resume=True, **settings)
    assert_equal_to_the_bit(resumed, straight)


def test_max_iterations_may_differ_with_the_default_warm_up(tmp_path):
    first = learn(max_iterations=10, warm_up=None, checkpoint=tmp_path / "c.npz")
    resumed = learn(max_iterations=20, warm_up=None, checkpoint=tmp_path / "c.npz", resume=True)
    assert resumed.n_iterations == 20
    n = len(first.history)
    np.testing.assert_array_equal(resumed.history["objective"][:n], first.history["objective"])


def test_run_stopped_by_its_progress_function_goes_on(tmp_path):
    stopped = learn(
        max_iterations=12,
        checkpoint=tmp_path / "c.npz",
        progress=lambda progress: progress.done == 5,
    )
    assert stopped.stop_reason == StopReason.PROGRESS
    resumed = learn(max_iterations=12, checkpoint=tmp_path / "c.npz", resume=True)
    assert_equal_to_the_bit(resumed, learn(max_iterations=12))


def test_every_iteration_is_told_of_once(tmp_path):
    told = []

    def note(progress):
        told.append(progress.record.iteration)

    learn(max_iterations=6, checkpoint=tmp_path / "c.npz", progress=note)
    learn(max_iterations=9, checkpoint=tmp_path / "c.npz", resume=True, progress=note)
    assert told == list(range(1, 10))


def test_seconds_go_on_from_the_checkpoint(tmp_path):
    first = learn(max_iterations=5, checkpoint=tmp_path / "c.npz")
    resumed = learn(max_iterations=8, checkpoint=tmp_path / "c.npz", resume=True)
    n = len(first.history)
    np.testing.assert_array_equal(resumed.history["seconds"][:n], first.history["seconds"])
    assert (np.diff(resumed.history["seconds"]) > 0).all()


def test_finished_run_is_returned_as_it_is(tmp_path):
    first = learn(max_iterations=5, checkpoint=tmp_path / "c.npz")
    again = learn(max_iterations=5, checkpoint=tmp_path / "c.npz", resume=True)
    assert_equal_to_the_bit(again, first)


def test_missing_checkpoint_starts_a_new_run(tmp_path):
    resumed = learn(max_iterations=5, checkpoint=tmp_path / "c.npz", resume=True)
    assert_equal_to_the_bit(resumed, learn(max_iterations=5))


def test_without_resume_an_old_checkpoint_is_replaced(tmp_path):
    learn(max_iterations=5, checkpoint=tmp_path / "c.npz", random_state=8)
    fresh = learn(max_iterations=5, checkpoint=tmp_path / "c.npz")
    assert_equal_to_the_bit(fresh, learn(max_iterations=5))


def test_checkpoints_are_written_every_so_often_and_at_the_end(tmp_path, monkeypatch):
    written = []
    monkeypatch.setattr(
        CheckpointFile, "save", lambda file, saved: written.append(saved.history[-1].iteration)
    )
    learn(max_iterations=7, checkpoint=tmp_path / "c.npz", checkpoint_every=3)
    assert written == [3, 6, 7]


def test_failed_write_leaves_the_old_checkpoint_whole(tmp_path, monkeypatch):
    path = tmp_path / "c.npz"
    learn(max_iterations=5, checkpoint=path)
    before = path.read_bytes()

    def half_a_write(stream, **content):
        stream.write(b"half")
        raise OSError("No space left on device")

    monkeypatch.setattr(files.np, "savez", half_a_write)
    with pytest.warns(
        UserWarning, match=r"no checkpoint of step 8\. Cannot write .*No space left on device\. Lear"
    ):
        unsaved = learn(max_iterations=8, checkpoint=path, resume=True)
    monkeypatch.undo()
    assert_equal_to_the_bit(unsaved, learn(max_iterations=8))
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["c.npz"]
    resumed = learn(max_iterations=8, checkpoint=path, resume=True)
    assert_equal_to_the_bit(resumed, learn(max_iterations=8))


@pytest.mark.parametrize("learner", [sedil.learn, sedil.learn_minibatch])
def test_full_disk_warns_at_every_checkpoint_and_the_result_is_not_lost(learner, tmp_path, monkeypatch):
    settings = {"n_atoms": (4, 5), "random_state": 3, "dtype": "float64"}
    settings |= (
        {"batch_size": 10, "n_epochs": 2} if learner is sedil.learn_minibatch else {"max_iterations": 6}
    )
    expected = learner(PATCHES, **settings)
    stop_writes(monkeypatch, "c.npz", no_space)
    with pytest.warns(UserWarning, match=r"c\.npz: No space left on device\. Learning goes on") as told:
        result = learner(PATCHES, **settings, checkpoint=tmp_path / "c.npz", checkpoint_every=2)
    assert [warning.filename for warning in told] == [__file__] * 4
    assert_equal_factors(result, expected)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.skipif(sys.platform == "win32", reason="limits on the size of files are those of POSIX")
def test_real_limit_on_the_size_of_files_is_survived(tmp_path):
    """The first checkpoint fits, later ones do not; the last whole one is left, and can be resumed."""
    code = """
import resource, signal, sys, warnings
import numpy as np, sedil
signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
patches = np.random.default_rng(0).standard_normal((200, 4, 4))
settings = {"n_atoms": (5, 5), "random_state": 0, "max_iterations": 12, "checkpoint_every": 4}
settings |= {"checkpoint": sys.argv[1], "dtype": "float64", "resume": True}

def limit(progress):
    if progress.done == 5:
        resource.setrlimit(resource.RLIMIT_FSIZE, (1000, resource.RLIM_INFINITY))

warnings.simplefilter("always")
full = sedil.learn(patches, **settings, progress=limit)
resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
seen = []
resumed = sedil.learn(patches, **settings, progress=lambda progress: seen.append(progress.done))
assert seen[0] == 5, seen
for one, other in zip(full.dictionary.factors, resumed.dictionary.factors):
    np.testing.assert_array_equal(one, other)
"""
    ended = subprocess.run(
        [sys.executable, "-c", code, str(tmp_path / "c.npz")], capture_output=True, text=True, timeout=120
    )
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr.count("File too large. Learning goes on") == 3  # at 8, at 12 and at the end
    assert [path.name for path in tmp_path.iterdir()] == ["c.npz"]


def test_place_where_no_checkpoint_can_be_written_is_refused_before_the_work(tmp_path, monkeypatch):
    def refuse(path, mode="r", *more, **named):
        raise PermissionError(13, "Permission denied")

    told = []
    monkeypatch.setattr(Path, "open", refuse)
    with pytest.raises(OSError, match=r"Cannot write .*c\.npz: Permission denied"):
        learn(max_iterations=2, checkpoint=tmp_path / "c.npz", progress=told.append)
    assert told == []


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"patches": PATCHES + 1e-12}, "patches"),
        ({"patches": PATCHES[:24]}, "patches"),
        ({"patches": PATCHES.astype(np.float32)}, "patches"),
        ({"n_atoms": (4, 6)}, "n_atoms"),
        ({"sparsity_weight": 0.123}, "weights"),
        ({"metric": "paper"}, "metric"),
        ({"c2": 0.2}, "line_search"),
        ({"warm_up": 2}, "warm_up"),
    ],
)
def test_checkpoint_of_another_run_is_refused_with_what_differs(changes, named, tmp_path):
    learn(max_iterations=3, checkpoint=tmp_path / "c.npz")
    message = rf"c\.npz belongs to another run \(different [^)]*{named}"
    with pytest.raises(ValueError, match=message):
        learn(max_iterations=6, checkpoint=tmp_path / "c.npz", resume=True, **changes)


def test_same_numbers_in_another_shape_are_another_run(tmp_path):
    learn(n_atoms=4, max_iterations=3, checkpoint=tmp_path / "c.npz")
    with pytest.raises(ValueError, match="belongs to another run"):
        learn(
            PATCHES.reshape(25, 4, 3), n_atoms=4, max_iterations=6, checkpoint=tmp_path / "c.npz", resume=True
        )


def test_damaged_checkpoint_is_named(tmp_path):
    path = tmp_path / "c.npz"
    learn(max_iterations=3, checkpoint=path)
    path.write_bytes(path.read_bytes()[:-200])
    with pytest.raises(
        DictionaryFileError, match=r"c\.npz is not a checkpoint file of sedil, or it is damaged"
    ):
        learn(checkpoint=path, resume=True)


def test_dictionary_file_is_no_checkpoint(tmp_path):
    sedil.odct((3, 4), (4, 5)).save(tmp_path / "d.npz")
    with pytest.raises(DictionaryFileError, match=r"d\.npz holds a dictionary, not a checkpoint"):
        learn(checkpoint=tmp_path / "d.npz", resume=True)


def test_checkpoint_is_no_dictionary(tmp_path):
    learn(max_iterations=2, checkpoint=tmp_path / "c.npz")
    with pytest.raises(DictionaryFileError, match=r"c\.npz holds a checkpoint, not a dictionary"):
        sedil.load_dictionary(tmp_path / "c.npz")


@pytest.mark.parametrize("lost", ["point_codes", "gradient_factor1", "numbers", "identity", "history"])
def test_incomplete_checkpoint_is_called_damaged(lost, tmp_path):
    path = tmp_path / "c.npz"
    learn(max_iterations=2, checkpoint=path)
    arrays, facts = files.read_archive(path, "checkpoint")
    (arrays if lost in arrays else facts).pop(lost)
    files.write_archive(path, "checkpoint", arrays, facts)
    with pytest.raises(DictionaryFileError, match=r"c\.npz .*damaged"):
        learn(max_iterations=4, checkpoint=path, resume=True)


EDITS = {
    "cut": (lambda array: array[:-1], "has shape"),
    "turned": (lambda array: array.T, "has shape"),
    "not a number": (lambda array: np.nan * array, "must hold finite numbers"),
    "text": (lambda array: array.astype(str), "must hold finite numbers"),
}


@pytest.mark.parametrize("edit", EDITS)
@pytest.mark.parametrize("engine", ["fused", "portable"])
@pytest.mark.parametrize("name", ["point_codes", "point_factor0", "gradient_codes", "direction_factor1"])
def test_edited_arrays_never_reach_a_kernel(name, engine, edit, tmp_path):
    """Kernels do not look at sizes again: a cut gradient ended the process."""
    path, settings = tmp_path / "c.npz", {"dtype": "float32", "engine": engine}
    learn(max_iterations=2, checkpoint=path, **settings)
    arrays, facts = files.read_archive(path, "checkpoint")
    change, complaint = EDITS[edit]
    arrays[name] = change(arrays[name])
    files.write_archive(path, "checkpoint", arrays, facts)
    with pytest.raises(DictionaryFileError, match=rf"c\.npz is damaged: {name} {complaint}"):
        learn(max_iterations=4, checkpoint=path, resume=True, **settings)


def test_factors_of_a_checkpoint_have_unit_columns(tmp_path):
    path = tmp_path / "c.npz"
    learn(max_iterations=2, checkpoint=path)
    arrays, facts = files.read_archive(path, "checkpoint")
    arrays["point_factor1"] = 2 * arrays["point_factor1"]
    files.write_archive(path, "checkpoint", arrays, facts)
    with pytest.raises(DictionaryFileError, match="point_factor1 must have unit columns, but column"):
        learn(max_iterations=4, checkpoint=path, resume=True)


@pytest.mark.parametrize("edit", EDITS)
def test_edited_factors_of_mini_batches_are_refused(edit, tmp_path):
    path, settings = tmp_path / "c.npz", {"batch_size": 10, "batch_iterations": 2, "random_state": 0}
    sedil.learn_minibatch(PATCHES, (4, 5), checkpoint=path, max_batches=1, **settings)
    arrays, facts = files.read_archive(path, "checkpoint")
    change, complaint = EDITS[edit]
    arrays["factor0"] = change(arrays["factor0"])
    files.write_archive(path, "checkpoint", arrays, facts)
    with pytest.raises(DictionaryFileError, match=rf"c\.npz is damaged: factor0 {complaint}"):
        sedil.learn_minibatch(PATCHES, (4, 5), checkpoint=path, resume=True, **settings)


@pytest.mark.parametrize("name", ["slope", "gradient_norm", "step_size"])
def test_numbers_of_a_checkpoint_are_finite(name, tmp_path):
    path = tmp_path / "c.npz"
    learn(max_iterations=2, checkpoint=path)
    arrays, facts = files.read_archive(path, "checkpoint")
    facts["numbers"][name] = float("nan")
    files.write_archive(path, "checkpoint", arrays, facts)
    with pytest.raises(DictionaryFileError, match=r"c\.npz is damaged: its numbers must be finite"):
        learn(max_iterations=4, checkpoint=path, resume=True)


def test_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"the folder .*nowhere does not exist"):
        learn(max_iterations=2, checkpoint=tmp_path / "nowhere" / "c.npz")


def test_missing_folder_is_noticed_before_the_work(tmp_path):
    told = []
    with pytest.raises(FileNotFoundError, match="does not exist"):
        learn(max_iterations=2, checkpoint=tmp_path / "nowhere" / "c.npz", progress=told.append)
    assert told == []


def test_resume_without_a_file_name_is_refused():
    with pytest.raises(ValueError, match=r"resume=True needs checkpoint=\.\.\., the file to resume from"):
        learn(resume=True)


@pytest.mark.parametrize("value", [0, -1, 1.5, True])
def test_checkpoint_every_must_be_a_count(value, tmp_path):
    with pytest.raises(ValueError, match="checkpoint_every must be a whole number of at least 1, got"):
        learn(checkpoint=tmp_path / "c.npz", checkpoint_every=value)


def test_numbers_of_numpy_are_as_good_as_python_s(tmp_path):
    settings = {
        "c1": np.float32(0.5),
        "eta": np.float32(0.75),
        "max_iterations": np.int64(4),
        "warm_up": np.int64(2),
    }
    saved = learn(checkpoint=tmp_path / "c.npz", checkpoint_every=np.int64(2), **settings)
    saved.dictionary.save(tmp_path / "d.npz")
    assert_equal_to_the_bit(saved, learn(c1=0.5, eta=0.75, max_iterations=4, warm_up=2))


def test_fingerprint_depends_on_content_alone(arrays):
    values = arrays.make(PATCHES)
    assert fingerprint(values) == fingerprint(to_numpy(values).copy(order="F"))
    changed = to_numpy(values).copy()
    changed[0, 0, 0] += 1
    assert fingerprint(values) != fingerprint(changed)


def test_new_run_replaces_no_file_but_a_checkpoint(tmp_path):
    sedil.odct((3, 4), (4, 5)).save(tmp_path / "d.npz")
    (tmp_path / "notes.txt").write_text("precious")
    for name in ("d.npz", "notes.txt"):
        before = (tmp_path / name).read_bytes()
        with pytest.raises(FileExistsError, match=r"exists already and is not a checkpoint: choose another"):
            learn(max_iterations=1, checkpoint=tmp_path / name)
        assert (tmp_path / name).read_bytes() == before


def test_arrays_in_the_order_of_fortran_are_put_in_order(tmp_path):
    """Their bytes lie otherwise than kernels go through them."""
    path, single = tmp_path / "c.npz", {"dtype": "float32", "engine": "fused"}
    learn(max_iterations=3, checkpoint=path, **single)
    arrays, facts = files.read_archive(path, "checkpoint")
    files.write_archive(path, "checkpoint", {name: np.asfortranarray(a) for name, a in arrays.items()}, facts)
    resumed = learn(max_iterations=6, checkpoint=path, resume=True, **single)
    assert_equal_to_the_bit(resumed, learn(max_iterations=6, **single))


@pytest.mark.parametrize("change", [{"history": 5}, {"numbers": [1]}, {"identity": None}])
def test_facts_of_another_kind_are_told_without_inner_words(change, tmp_path):
    path = tmp_path / "c.npz"
    learn(max_iterations=2, checkpoint=path)
    arrays, facts = files.read_archive(path, "checkpoint")
    files.write_archive(path, "checkpoint", arrays, facts | change)
    with pytest.raises(DictionaryFileError, match=r"c\.npz is damaged: its .* is .*, not a dict"):
        learn(max_iterations=4, checkpoint=path, resume=True)


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("slope", "steep", "its slope is 'steep', not a number"),
        ("step_size", -1.0, "its step_size is -1.0, not a size"),
        ("iteration", 2.5, "its iteration is 2.5, not a count"),
        ("warm_up", True, "its warm_up is True, not a count"),
        ("next_step_size", [1], r"its next_step_size is \[1\], not a size or null"),
        ("phase", "late", "its phase is 'late', not warm-up or proper"),
        ("gradient_norm", 1e300, r"its gradient_norm is 1e\+300, not a size"),
        ("terms", {"data": 1.0}, "it lacks 'sparsity'"),
        ("more", 1, "it has 10 facts where it should have terms, gradient_norm"),
    ],
)
def test_numbers_of_a_checkpoint_are_of_their_kinds(name, value, message, tmp_path):
    path = tmp_path / "c.npz"
    learn(max_iterations=2, checkpoint=path)
    arrays, facts = files.read_archive(path, "checkpoint")
    facts["numbers"][name] = value
    files.write_archive(path, "checkpoint", arrays, facts)
    with pytest.raises(DictionaryFileError, match=rf"c\.npz is damaged: {message}"):
        learn(max_iterations=4, checkpoint=path, resume=True)


@pytest.mark.parametrize(
    ("name", "value"), [("energy", {}), ("n_samples", -3), ("result_dtype", "float16"), ("seed", "x")]
)
def test_numbers_of_a_checkpoint_of_mini_batches_are_of_their_kinds(name, value, tmp_path):
    path, settings = tmp_path / "c.npz", {"n_atoms": (4, 5), "batch_size": 10, "random_state": 0}
    sedil.learn_minibatch(PATCHES, **settings, max_batches=1, checkpoint=path)
    arrays, facts = files.read_archive(path, "checkpoint")
    facts["numbers"][name] = value
    files.write_archive(path, "checkpoint", arrays, facts)
    with pytest.raises(DictionaryFileError, match=rf"c\.npz is damaged: its {name} is .*, not"):
        sedil.learn_minibatch(PATCHES, **settings, checkpoint=path, resume=True)


def test_history_of_a_checkpoint_has_whole_columns(tmp_path):
    path = tmp_path / "c.npz"
    learn(max_iterations=2, checkpoint=path)
    arrays, facts = files.read_archive(path, "checkpoint")
    facts["history"]["data"].pop()
    files.write_archive(path, "checkpoint", arrays, facts)
    with pytest.raises(DictionaryFileError, match=r"damaged: its history has columns of different lengths"):
        learn(max_iterations=4, checkpoint=path, resume=True)


def test_arrays_of_a_checkpoint_can_be_squared(tmp_path):
    path = tmp_path / "c.npz"
    learn(max_iterations=2, checkpoint=path)
    arrays, facts = files.read_archive(path, "checkpoint")
    arrays["gradient_codes"][0, 0, 0] = 1e200
    files.write_archive(path, "checkpoint", arrays, facts)
    with pytest.raises(DictionaryFileError, match=r"damaged: gradient_codes holds numbers beyond 1e\+150"):
        learn(max_iterations=4, checkpoint=path, resume=True)
