import os
import signal
import threading

import pytest

import sedil
from random_things import training_patches
from sedil.learning.result import StopReason
from sedil.learning.run import Interruption


@pytest.fixture(autouse=True)
def own_handler():
    """A handler of ours, that must be in place again after every test."""

    def handler(number, frame):
        raise KeyboardInterrupt("ours")

    before = signal.signal(signal.SIGINT, handler)
    yield handler
    assert signal.getsignal(signal.SIGINT) is handler
    signal.signal(signal.SIGINT, before)


def press_ctrl_c():
    os.kill(os.getpid(), signal.SIGINT)


def run(progress, **settings):
    return sedil.learn(
        training_patches(20, (3, 3)), (4, 4), max_iterations=30, random_state=0, progress=progress, **settings
    )


def test_first_interruption_is_noted_and_the_second_goes_to_the_old_handler():
    with Interruption() as interruption:
        assert not interruption.requested
        press_ctrl_c()
        assert interruption.requested
        with pytest.raises(KeyboardInterrupt, match="ours"):
            press_ctrl_c()


def test_old_handler_returns_after_an_error():
    with pytest.raises(ZeroDivisionError), Interruption():
        _ = 1 / 0


def test_nothing_happens_in_other_threads():
    found = []

    def work():
        with Interruption() as interruption:
            found.append(interruption.requested)

    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert found == [False]


def test_ctrl_c_ends_the_run_and_returns_what_there_is(tmp_path):
    def react(progress):
        if progress.record.iteration == 4:
            press_ctrl_c()

    result = run(react, checkpoint=tmp_path / "run.npz")
    assert result.stop_reason == StopReason.INTERRUPTED
    assert result.n_iterations in (4, 5)
    assert result.history[-1].iteration == result.n_iterations
    assert (tmp_path / "run.npz").is_file()


def test_second_ctrl_c_interrupts_at_once():
    def react(progress):
        press_ctrl_c()
        press_ctrl_c()

    with pytest.raises(KeyboardInterrupt, match="ours"):
        run(react)


def test_error_in_a_progress_function_is_passed_on():
    def react(progress):
        raise RuntimeError("from the caller")

    with pytest.raises(RuntimeError, match="from the caller"):
        run(react)


def test_learning_works_in_other_threads():
    results = []
    thread = threading.Thread(target=lambda: results.append(run(False)))
    thread.start()
    thread.join()
    assert results[0].stop_reason == StopReason.ITERATIONS
