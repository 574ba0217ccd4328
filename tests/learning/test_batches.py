from itertools import islice

import numpy as np
import pytest

from random_things import training_patches
from sedil.arrays import to_numpy
from sedil.learning import batches
from sedil.learning.batches import open_batches, regrouped

ROWS = np.arange(23 * 4, dtype=np.float64).reshape(23, 2, 2)


def source(data, mask=None, batch_size=5, n_epochs=1, seed=0):
    return open_batches(data, mask, batch_size, n_epochs, seed)


def patches_of(found):
    return [to_numpy(batch.patches) for batch in found]


def saved(folder, array, name="rows.npy"):
    np.save(folder / name, array)
    return folder / name


def assert_every_row_once(found, expected=ROWS):
    rows = np.concatenate(found)
    np.testing.assert_array_equal(rows[np.argsort(rows[:, 0, 0])], expected)


def test_each_row_comes_once_an_epoch_in_nearly_equal_batches():
    ours = source(ROWS, n_epochs=2)
    found = patches_of(ours.after(0))
    assert ours.n_batches == len(found) == 10
    assert {len(batch) for batch in found} == {4, 5}
    assert_every_row_once(found[:5])
    assert_every_row_once(found[5:])
    assert not all(np.array_equal(a, b) for a, b in zip(found[:5], found[5:], strict=True))


def test_order_depends_on_the_seed_alone():
    first, again, other = (patches_of(source(ROWS, seed=seed).after(0)) for seed in (1, 1, 2))
    np.testing.assert_array_equal(np.concatenate(first), np.concatenate(again))
    assert not np.array_equal(np.concatenate(first), np.concatenate(other))


@pytest.mark.parametrize("n_done", [0, 1, 4, 5, 7, 9])
def test_all_kinds_of_data_go_on_after_any_batch(n_done, tmp_path):
    for data in (ROWS, saved(tmp_path, ROWS), [ROWS[:9], ROWS[9:]], lambda: iter([ROWS[:20], ROWS[20:]])):
        whole = patches_of(source(data, n_epochs=2).after(0))
        rest = patches_of(source(data, n_epochs=2).after(n_done))
        assert len(rest) == len(whole) - n_done
        for one, other in zip(rest, whole[n_done:], strict=True):
            np.testing.assert_array_equal(one, other)


def test_arrays_files_and_pieces_hold_the_same_data(tmp_path):
    pieces = [
        ROWS[:7],
        saved(tmp_path, ROWS[7:8], "b.npy"),
        np.load(saved(tmp_path, ROWS[8:]), mmap_mode="r"),
    ]
    for data in (saved(tmp_path, ROWS, "all.npy"), str(tmp_path / "all.npy"), pieces, ROWS.tolist()):
        found, expected = (np.concatenate(patches_of(source(each).after(0))) for each in (data, ROWS))
        np.testing.assert_array_equal(found, expected)


class Labelled:
    """Rows with names, as other packages have them: no array, but it can be made one."""

    def __init__(self, rows):
        self._rows, self.ndim, self.shape = rows, rows.ndim, rows.shape

    def __array__(self, dtype=None, copy=None):
        return np.array(self._rows, dtype)


def test_pieces_that_turn_into_arrays_are_taken():
    found = patches_of(source([Labelled(ROWS[:9]), ROWS[9:]]).after(0))
    np.testing.assert_array_equal(np.concatenate(found), np.concatenate(patches_of(source(ROWS).after(0))))


def test_more_rows_than_an_order_may_hold_are_shuffled_in_runs(monkeypatch):
    monkeypatch.setattr(batches, "_MOST_RUNS", 6)
    found = patches_of(source(ROWS).after(0))
    assert_every_row_once(found)
    assert not np.array_equal(np.concatenate(found), ROWS)


def test_every_library_keeps_its_arrays(arrays):
    found = list(source(arrays.make(ROWS)).after(0))
    assert_every_row_once(patches_of(found))
    for batch in found:
        arrays.check(batch.patches, to_numpy(batch.patches))


def test_batch_larger_than_the_data_is_the_data():
    (only,) = patches_of(source(ROWS, batch_size=1000).after(0))
    np.testing.assert_array_equal(only, ROWS)


def test_mask_follows_its_rows(tmp_path):
    mask = ROWS % 3 == 0
    for data, missing in (
        (ROWS, mask),
        (ROWS, saved(tmp_path, mask)),
        ([ROWS[:9], ROWS[9:]], [mask[:9], mask[9:]]),
    ):
        for batch in source(data, missing).after(0):
            np.testing.assert_array_equal(batch.mask, batch.patches % 3 == 0)


def test_stream_is_regrouped_in_its_order():
    items = [ROWS[:1], ROWS[1:1], ROWS[1:12], ROWS[12:].tolist()]
    found = list(regrouped(items, 5))
    assert [len(batch) for batch in found] == [5, 5, 5, 5, 3]
    np.testing.assert_array_equal(np.concatenate(found), ROWS)


def test_stream_is_read_no_further_than_needed():
    def endless():
        while True:
            yield ROWS

    assert len(list(islice(source(endless()).after(0), 12))) == 12


def test_number_of_batches_is_known_where_the_data_tells():
    class Told(list):
        n_patches = 23

    assert source(iter([ROWS])).n_batches is None
    assert open_batches(lambda: Told([ROWS]), None, 5, 2).n_batches == 10


def broken(folder):
    (folder / "text.npy").write_text("no array")
    return folder / "text.npy"


def archive(folder):
    np.savez(folder / "several.npz", a=ROWS)
    return folder / "several.npz"


@pytest.mark.parametrize(
    ("data", "settings", "error", "message"),
    [
        (lambda folder: 3, {}, TypeError, r"patches must be an array, the path of a \.npy file.*got 3"),
        (lambda folder: folder, {}, OSError, r"is a folder: sedil\.stream_patches draws patches"),
        (lambda folder: folder / "no.npy", {}, OSError, r"There is no file .*no\.npy"),
        (broken, {}, ValueError, r"text\.npy cannot be read as a \.npy file"),
        (archive, {}, ValueError, r"is an archive of several arrays: save the patches with numpy\.save"),
        (lambda folder: np.zeros(5), {}, ValueError, r"patches must have shape .* got shape \(5,\)"),
        (lambda folder: np.zeros((0, 2, 2)), {}, ValueError, r"at least one patch, got shape \(0, 2, 2\)"),
        (lambda folder: [ROWS, ROWS[:, :1]], {}, ValueError, r"Batch 1 .* \(1, 2\), the ones before had"),
        (lambda folder: [Labelled(ROWS.astype("M8[s]"))], {}, TypeError, r"patches must hold real numbers"),
        (lambda folder: iter([ROWS]), {"n_epochs": 2}, ValueError, r"but n_epochs is 2: pass a function"),
        (lambda folder: iter([ROWS]), {"mask": ROWS > 0}, TypeError, r"mark missing entries by NaN"),
        (lambda folder: ROWS, {"mask": ROWS}, TypeError, r"mask must be boolean, True where .* float64"),
        (lambda folder: ROWS, {"mask": ROWS[1:] > 0}, ValueError, r"the data, \(23, 2, 2\), got \(22,"),
        (lambda folder: ROWS, {"mask": iter([ROWS > 0])}, ValueError, r"as many arrays .*, 1, got an iter"),
    ],
)  # fmt: skip
def test_bad_data_is_refused_with_a_sentence(data, settings, error, message, tmp_path):
    with pytest.raises(error, match=message):
        source(data(tmp_path), **settings)


@pytest.mark.parametrize(
    ("items", "message"),
    [
        ([ROWS, ROWS[:, :, :1]], r"Batch 1 .* has patches of shape \(2, 1\), the ones before had \(2, 2\)"),
        ([ROWS[:5], ROWS[:, :, :1]], r"Batch 1 of the data has patches of shape \(2, 1\)"),
        ([np.zeros(3)], r"Batch 0 of the data has shape \(3,\): a batch is a stack of patches"),
    ],
)  # fmt: skip
def test_stream_that_changes_its_shape_is_refused(items, message):
    with pytest.raises(ValueError, match=message):
        list(source(iter(items)).after(0))


def test_data_is_not_modified():
    data = training_patches(12, (2, 3))
    data.flags.writeable = False
    for batch in source(data).after(0):
        batch.patches[:] = 0
