"""Algorithm 2 on all patches at once, step by step, in two phases: a warm-up, and the cost proper."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Any, Literal, get_args

from sedil.arrays import Array
from sedil.learning.checkpoint import Checkpoint, Kinds, require_kinds
from sedil.learning.conjugate_gradient import State, advance, start
from sedil.learning.defaults import FIRST_CODES, smallest_coefficient, smoothed
from sedil.learning.line_search import LineSearch, Reference
from sedil.learning.result import History, Record, StopReason
from sedil.learning.run import StoppingRules
from sedil.manifold import Point, ProductManifold
from sedil.objective import Objective, Terms, mutual_coherence

PhaseName = Literal["warm-up", "proper"]

_POINTS = ("point", "gradient", "direction")
# What a checkpoint holds besides them.
_NUMBERS: Kinds = {
    "terms": dict.fromkeys(Terms._fields, "size"),
    "gradient_norm": "size",
    "slope": "number",
    "step_size": "size",
    "next_step_size": "size or null",
    "reference": dict.fromkeys(Reference._fields, "size"),
    "iteration": "count",
    "phase": get_args(PhaseName),
    "warm_up": "count",
}


class JointLearner:
    """A run of Algorithm 2: call `begin` or `restore`, then let `sedil.learning.run.run` drive it.

    The first iterations minimise a smoother cost (`defaults.smoothed`), the rest the cost proper.

    Parameters
    ----------
    objective : Objective
        With the weights of the cost proper.
    manifold : ProductManifold
    warm_up : int
        Iterations of the warm-up.
    rules : StoppingRules
    constants : LineSearch
    """

    unit = "iterations"
    state: State

    def __init__(
        self,
        objective: Objective,
        manifold: ProductManifold,
        warm_up: int,
        rules: StoppingRules,
        constants: LineSearch,
    ) -> None:
        self.objective, self._manifold = objective, manifold
        self._rules, self._constants = rules, constants
        self._weights, self.warm_up = objective.weights, warm_up
        self.history = History()
        self._enter("warm-up" if warm_up else "proper")

    def begin(self, factors: tuple[Array, ...], *, trusted: bool) -> None:
        """Start from these factors, with codes that suit them.

        Untrusted factors start with X(0) = A^T S B; Algorithm 2 prints A S B^T, whose shapes do not match.
        Those codes are dense and would soon lead good factors astray, so `trusted` ones start with sparse
        codes (Eq. 34), which the joint cost has little reason to leave.
        """
        began = time.perf_counter()
        training_set = self.objective.training_set
        if trusted:
            penalty = smallest_coefficient(self.objective.weights)
            codes = training_set.sparse_codes(factors, penalty, FIRST_CODES)
        else:
            codes = training_set.correlations(factors)
        self._record(start(self.objective, self._manifold, Point(codes, factors)), began)

    def restore(self, saved: Checkpoint, like: Array) -> None:
        """Go on where a checkpoint left off, with arrays of the library and device of `like`."""
        require_kinds(saved.numbers, _NUMBERS)
        numbers: dict[str, Any] = dict(saved.numbers)
        # The default warm-up depends on max_iterations, which may differ now: the checkpoint's is kept.
        self.warm_up = numbers.pop("warm_up")
        self._enter(numbers.pop("phase"))
        numbers["terms"], numbers["reference"] = Terms(**numbers["terms"]), Reference(**numbers["reference"])
        n_atoms = saved.identity["n_atoms"]
        codes_shape = self.objective.training_set.codes_shape(n_atoms)
        sizes = list(zip(like.shape[1:], n_atoms, strict=True))
        points: dict[str, Any] = {
            name: Point(
                saved.array(f"{name}_codes", codes_shape, like),
                tuple(read(f"{name}_factor{k}", size, like) for k, size in enumerate(sizes)),
            )
            for name, read in zip(_POINTS, (saved.factor, saved.array, saved.array), strict=True)
        }
        self.state, self.history = State(**points, **numbers), saved.history
        self.objective.n_evaluations = saved.history[-1].n_evaluations

    def checkpoint(self, identity: dict[str, Any]) -> Checkpoint:
        """All that is needed to go on from here."""
        state = vars(self.state)
        arrays = {}
        for name in _POINTS:
            codes, *factors = state[name].blocks()
            arrays[f"{name}_codes"] = codes
            arrays |= {f"{name}_factor{k}": factor for k, factor in enumerate(factors)}
        numbers = {name: value for name, value in state.items() if name not in _POINTS}
        numbers |= {name: numbers[name]._asdict() for name in ("terms", "reference")}
        numbers |= {"phase": self.phase, "warm_up": self.warm_up}
        return Checkpoint(identity, self.history, numbers, arrays)

    @property
    def factors(self) -> tuple[Array, ...]:
        """The factors at present."""
        return self.state.point.factors

    @property
    def codes(self) -> Array:
        """The codes at present, (n, *n_atoms)."""
        return self.objective.training_set.export_codes(self.state.point.codes)

    @property
    def total(self) -> int:
        """Iterations at most."""
        return self._rules.max_iterations

    @property
    def has_next_phase(self) -> bool:
        """The cost proper follows the warm-up."""
        return self.phase == "warm-up"

    def begin_next_phase(self) -> None:
        """Go on with the cost proper from where the smoother one led, without memory of its steps.

        The history gets a second record of this iteration, with the cost proper.
        """
        began = time.perf_counter()
        self._enter("proper")
        point, spare = self.state.point, self.state.gradient.codes
        fresh = start(self.objective, self._manifold, point, spare)
        self._record(replace(fresh, iteration=self.state.iteration), began)

    def step(self) -> StopReason | None:
        """One iteration."""
        began = time.perf_counter()
        state = advance(self.objective, self._manifold, self.state, self._constants)
        if state is None:
            return StopReason.NO_PROGRESS
        self._record(state, began)
        return None

    def reason_to_stop(self) -> StopReason | None:
        """The first rule that says so; or that the warm-up has had its iterations."""
        reason = self._rules.reason(self.history)
        if reason is None and self.phase == "warm-up" and self.state.iteration >= self.warm_up:
            return StopReason.WARM_UP
        return reason

    def _enter(self, phase: PhaseName) -> None:
        self.phase = phase
        self.objective.weights = smoothed(self._weights) if phase == "warm-up" else self._weights

    def _record(self, state: State, began: float) -> None:
        """Take a new state, and note how it is."""
        self.state = state
        before = self.history[-1].seconds if len(self.history) else 0.0
        self.history.append(
            Record(
                iteration=state.iteration,
                sparsity_scale=self.objective.weights.sparsity_scale,
                objective=state.terms.total,
                **state.terms._asdict(),
                reference=state.reference.value,
                gradient_norm=state.gradient_norm,
                step_size=state.step_size,
                n_evaluations=self.objective.n_evaluations,
                seconds=before + time.perf_counter() - began,
                mutual_coherence=max(map(mutual_coherence, state.point.factors)),
            )
        )
