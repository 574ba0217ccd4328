"""What belongs to the whole process is as it was, however many calls ran at once."""

import logging
import os
import threading
import warnings
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack

import numpy as np
import pytest
import tifffile
from PIL import Image
from threadpoolctl import ThreadpoolController, threadpool_limits

import sedil
from sedil.engines.threads import parallel_map
from sedil.errors import ImageFileError
from sedil.files import write_picture
from sedil.global_state import SharedChange, without_words_of_libraries
from sedil.image_files.picture_files import read_picture


def blas_threads():
    return [each["num_threads"] for each in ThreadpoolController().select(user_api="blas").info()]


def globals_now():
    log = logging.getLogger("tifffile")
    return blas_threads(), Image.MAX_IMAGE_PIXELS, list(warnings.filters), log.disabled


class Counter:
    """A change that can be seen."""

    def __init__(self):
        self.level, self.most = 0, 0

    def change(self):
        self.level += 1
        self.most = max(self.most, self.level)
        return self.undo

    def undo(self):
        self.level -= 1


def test_first_one_in_changes_and_last_one_out_undoes():
    counter = Counter()
    shared = SharedChange(counter.change)
    first, second = shared.held(), shared.held()
    first.__enter__()
    second.__enter__()
    assert counter.level == 1
    first.__exit__(None, None, None)
    assert counter.level == 1
    second.__exit__(None, None, None)
    assert (counter.level, counter.most) == (0, 1)


def test_change_that_fails_is_tried_again_by_the_next():
    counter = Counter()
    answers = [OSError("no"), None]

    def change():
        if error := answers.pop(0):
            raise error
        return counter.change()

    shared = SharedChange(change)
    with pytest.raises(OSError, match="no"), shared.held():
        pass
    with shared.held():
        assert counter.level == 1
    assert counter.level == 0


@pytest.mark.skipif(not hasattr(os, "fork"), reason="there is no fork here: it was not tested")
def test_forked_process_does_not_inherit_the_change():
    counter = Counter()
    shared = SharedChange(counter.change)
    with shared.held():
        child = os.fork()
        if child == 0:
            os._exit(counter.level)  # 0 if the change is undone
        assert counter.level == 1
        assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert counter.level == 0


def test_calls_that_overlap_give_blas_its_threads_back():
    with threadpool_limits(2, user_api="blas"):
        before = blas_threads()
        first, second = (parallel_map(str, range(3), 1) for _ in range(2))
        next(first), next(second)
        assert set(blas_threads()) == {1}
        assert list(first) == ["1", "2"]
        assert set(blas_threads()) == {1}
        second.close()
        assert blas_threads() == before


def test_filters_that_others_change_meanwhile_stay():
    before = list(warnings.filters)
    with warnings.catch_warnings():
        with without_words_of_libraries.held():
            warnings.filterwarnings("ignore", message="of another thread")
            added = warnings.filters[0]
        assert warnings.filters == [added, *before]


def test_copy_of_the_filters_made_meanwhile_does_no_harm():
    before = list(warnings.filters)
    with ExitStack() as ours, warnings.catch_warnings():
        ours.enter_context(without_words_of_libraries.held())
    assert warnings.filters == before
    with ExitStack() as theirs:
        with without_words_of_libraries.held():
            theirs.enter_context(warnings.catch_warnings())
        assert warnings.filters == before
    assert warnings.filters == before


def test_many_calls_at_once_leave_all_as_it_was(tmp_path, rng):
    pixels = rng.integers(0, 255, (40, 50), dtype=np.uint8)
    Image.fromarray(pixels).save(tmp_path / "p.png")
    tifffile.imwrite(tmp_path / "p.tif", pixels.astype(np.float64))
    (tmp_path / "bad.tif").write_bytes(b"II*\0\0\0\0\0")

    def read_bad():
        with pytest.raises(ImageFileError):
            read_picture(tmp_path / "bad.tif")

    work = [
        lambda: read_picture(tmp_path / "p.png"),
        lambda: read_picture(tmp_path / "p.tif"),
        read_bad,
        lambda: write_picture(tmp_path / f"{threading.get_ident()}.jpg", pixels),
        lambda: list(parallel_map(lambda n: np.ones((50, 50)) @ np.ones(50), range(4), 2)),
        lambda: sedil.denoise(pixels, 20.0, threads=2),
    ]
    work[-1]()  # which loads all libraries
    with threadpool_limits(2, user_api="blas"):
        before = globals_now()
        with ThreadPoolExecutor(8) as pool:
            for done in [pool.submit(work[n % len(work)]) for n in range(120)]:
                done.result()
        assert globals_now() == before
