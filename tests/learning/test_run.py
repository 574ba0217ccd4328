import numpy as np
import pytest

from pseudo_terminal import on_a_terminal
from sedil.learning.checkpoint import CheckpointFile
from sedil.learning.line_search import Reference
from sedil.learning.result import History, Record, StopReason
from sedil.learning.run import StoppingRules, run

RULES = StoppingRules(max_iterations=1000, tolerance=1e-5, gradient_tolerance=1e-8)


def history(costs, gradient_norms=None, scales=None):
    """Records with these costs, and with all else that the rules look at."""
    records = []
    reference = Reference(costs[0])
    for k, cost in enumerate(costs):
        record = dict.fromkeys(Record._fields, 0.0)
        reference = reference.including(cost, 0.85) if k else reference
        record |= {"iteration": k, "objective": cost, "gradient_norm": 1.0, "sparsity_scale": 1.0}
        record["reference"] = reference.value
        if gradient_norms is not None:
            record["gradient_norm"] = gradient_norms[k]
        if scales is not None:
            record["sparsity_scale"] = scales[k]
        records.append(Record(**record))
    return History(records)


FALLING = 0.99 ** np.arange(100)


def first_stop(rules, costs):
    """Reason and iteration at which a run with these costs ends."""
    for k in range(1, len(costs) + 1):
        reason = rules.reason(history(costs[:k]))
        if reason:
            return reason, k - 1
    return None


def test_falling_cost_goes_on():
    assert first_stop(RULES, FALLING) is None


def test_flat_cost_is_stalled_after_some_iterations_but_not_at_once():
    reason, iteration = first_stop(RULES, np.ones(100))
    assert reason == StopReason.STALLED
    assert 5 <= iteration <= 50


def test_cost_that_falls_by_less_than_the_tolerance_is_stalled():
    assert first_stop(RULES, 1 - 1e-8 * np.arange(100))[0] == StopReason.STALLED
    assert first_stop(RULES, 1 - 1e-5 * np.arange(100)) is None


def test_cost_that_only_goes_up_and_down_is_stalled():
    assert first_stop(RULES, 1 + 0.01 * (np.arange(100) % 3))[0] == StopReason.STALLED


@pytest.mark.parametrize("tolerance", [0.0, 1e-5])
def test_one_lucky_cost_does_not_make_a_falling_one_stalled(tolerance):
    """The line search lets the cost rise: after a dip it may take long to get below it again."""
    costs = FALLING.copy()
    costs[40] *= 0.7
    assert first_stop(RULES._replace(tolerance=tolerance), costs) is None


def test_costs_of_the_warm_up_are_not_compared_with_those_after_it():
    costs = np.concatenate([np.full(40, 1.0), np.full(3, 2.0)])
    scales = [1.0] * 40 + [3.0] * 3
    assert RULES.reason(history(costs, scales=scales)) is None


@pytest.mark.parametrize(("ratio", "reason"), [(0.9e-8, StopReason.GRADIENT), (1.1e-8, None)])
def test_gradient_is_measured_against_its_length_at_the_start(ratio, reason):
    assert RULES.reason(history([1.0, 0.5], [7.0, 7.0 * ratio])) == reason


def test_zero_gradient_at_the_start_is_enough():
    assert RULES.reason(history([1.0], [0.0])) == StopReason.GRADIENT


@pytest.mark.parametrize(("max_iterations", "reason"), [(99, StopReason.ITERATIONS), (100, None)])
def test_iterations_are_counted_from_the_start(max_iterations, reason):
    assert RULES._replace(max_iterations=max_iterations).reason(history(FALLING)) == reason


def test_no_iterations_end_at_the_start():
    assert RULES._replace(max_iterations=0).reason(history([1.0])) == StopReason.ITERATIONS


# The loop


class Countdown:
    """A learner that notes what it is asked to do: so many steps in each phase."""

    unit = "steps"
    factors = ()
    total = None

    def __init__(self, *steps_per_phase):
        self.history, self.left, self.did = History(), list(steps_per_phase), []

    @property
    def has_next_phase(self):
        return len(self.left) > 1

    def begin_next_phase(self):
        self.did.append("next phase")
        self.left.pop(0)

    def step(self):
        if self.left[0] < 0:
            return StopReason.NO_PROGRESS
        self.did.append("step")
        self.left[0] -= 1
        record = dict.fromkeys(Record._fields, 0.0) | {"iteration": len(self.history) + 1}
        self.history.append(Record(**record))
        return None

    def reason_to_stop(self):
        return StopReason.STALLED if self.left[0] == 0 else None


NO_FILE = CheckpointFile(None, 1, resume=False)


def test_run_goes_through_its_phases_and_stops_after_the_last():
    learner = Countdown(2, 3)
    assert run(learner, False, NO_FILE, {}) == StopReason.STALLED
    assert learner.did == ["step", "step", "next phase", "step", "step", "step"]


def test_phase_without_progress_gives_way_to_the_next():
    learner = Countdown(-1, 1)
    assert run(learner, False, NO_FILE, {}) == StopReason.STALLED
    assert learner.did == ["next phase", "step"]


def test_run_that_is_stopped_in_its_first_phase_ends_in_the_last():
    learner = Countdown(5, 5)
    assert run(learner, lambda progress: progress.done == 2, NO_FILE, {}) == StopReason.PROGRESS
    assert learner.did == ["step", "step", "next phase"]


def test_run_that_has_nothing_to_do_takes_no_step():
    learner = Countdown(0)
    assert run(learner, False, NO_FILE, {}) == StopReason.STALLED
    assert learner.did == []


@pytest.mark.parametrize("learn", ["learn", "learn_minibatch"])
def test_learning_shows_a_bar_when_asked(learn):
    program = f"import numpy, sedil; sedil.{learn}(numpy.eye(4, dtype='f4'), 4, progress=True)"
    screen, _ = on_a_terminal("-c", program)
    assert "learning" in screen
    assert "100%" in screen
    assert "cost" in screen
