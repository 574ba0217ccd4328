"""Learning by many workers: each holds some samples and their codes, and only small sums travel.

A batch is cut into shards by its size alone, and what the shards add to the cost and its gradient is added up
in their order, in float64. So neither the number of workers nor which of them holds which shard changes the
result by a bit. If a worker is lost, the batch is begun anew on those that are left.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import CancelledError
from math import fsum
from typing import Any, NamedTuple, TypeVar

import numpy as np

from sedil.arrays import Array
from sedil.engines import EngineName, choose_engine
from sedil.engines.contract import CodesGradient, Effort, LogPenalty, TrainingSet, Trial

Result = TypeVar("Result")
Factors = Sequence[Array]

_MOST_SHARDS, _LEAST_SAMPLES = 64, 256  # of a batch; of a shard, if there are more than one
_MOST_ATTEMPTS = 20  # of one batch


class Shard(NamedTuple):
    """Some of the samples of a batch."""

    patches: np.ndarray
    mask: np.ndarray | None


class ShardHolder:
    """Shards on one worker, an actor there: training sets, and by name what was made of them."""

    def __init__(self) -> None:
        self._sets: dict[int, TrainingSet] = {}
        self._values: dict[str, dict[int, Any]] = {}
        self._n_samples = 0

    def load(
        self, shards: dict[int, Shard], n_atoms: Sequence[int], engine: EngineName, n_samples: int
    ) -> None:
        """Take shards of a batch of `n_samples`, and forget those before."""
        self._values, self._n_samples = {}, n_samples
        self._sets = {
            number: choose_engine(engine, shard.patches, n_atoms, masked=shard.mask is not None).training_set(
                shard.patches, n_atoms, shard.mask, 1
            )
            for number, shard in shards.items()
        }

    def run(self, calls: Sequence[tuple[Any, ...]]) -> Any:
        """Do several things at once, each a method and its arguments; gives what the last one gives."""
        answer = None
        for method, *arguments in calls:
            answer = getattr(self, method)(*arguments)
        return answer

    def forget(self, names: Sequence[str]) -> None:
        """What was made under these names is needed no more."""
        for name in names:
            self._values.pop(name, None)

    def sparse_codes(self, into: str, factors: Factors, penalty: float, effort: Effort) -> None:
        """Codes of Eq. (34)."""
        self._values[into] = {
            number: own.sparse_codes(factors, penalty, effort) for number, own in self._sets.items()
        }

    def cost_along(
        self, into: str, factors: Factors, codes: str, direction: str, step: float, penalty: LogPenalty
    ) -> dict[int, tuple[float, ...]]:
        """What each shard adds to the cost."""
        begin, along = self._values[codes], self._values[direction]
        trials = {
            number: own.cost_along(factors, begin[number], along[number], step, penalty)
            for number, own in self._sets.items()
        }
        self._values[into] = trials
        return {number: self._share(number, trial) for number, trial in trials.items()}

    def cost_and_gradient(
        self, into: Sequence[str], factors: Factors, codes: str, penalty: LogPenalty, codes_weight: float
    ) -> dict[int, Any]:
        """What each shard adds to both at the point where a run begins."""
        begin = self._values[codes]
        found = {
            number: own.cost_and_gradient(factors, begin[number], penalty, codes_weight / self._part(number))
            for number, own in self._sets.items()
        }
        self._keep(into[1:], {number: gradient for number, (_, gradient) in found.items()})
        self._values[into[0]] = {number: trial for number, (trial, _) in found.items()}
        return {
            number: (self._share(number, trial), self._sums(number, gradient))
            for number, (trial, gradient) in found.items()
        }

    def gradient_after(
        self, into: Sequence[str], trial: str, gradient: str, penalty: LogPenalty, codes_weight: float
    ) -> dict[int, Any]:
        """What each shard adds to the gradient where a trial was made."""
        trials, old = self._values[trial], self._values[gradient]
        found = {
            number: own.gradient_after(
                trials[number], old[number], penalty, codes_weight / self._part(number)
            )
            for number, own in self._sets.items()
        }
        self._keep(into, found)
        return {number: self._sums(number, each) for number, each in found.items()}

    def turn(self, into: str, gradient: str, direction: str, beta: float) -> None:
        """The next direction of the codes."""
        new, old = self._values[gradient], self._values[direction]
        self._values[into] = {
            number: own.turn(new[number], old[number], beta) for number, own in self._sets.items()
        }

    def negate(self, into: str, name: str) -> None:
        """The negative of a gradient."""
        self._values[into] = {number: -own for number, own in self._values[name].items()}

    def _part(self, number: int) -> float:
        """The share that a shard has of all samples: its means are over its own."""
        return self._sets[number].n_samples / self._n_samples

    def _share(self, number: int, trial: Trial) -> tuple[float, ...]:
        part = self._part(number)
        return part * trial.data, part * trial.sparsity

    def _sums(self, number: int, found: CodesGradient) -> tuple[Any, ...]:
        part = self._part(number)
        slopes = tuple(part * np.asarray(each, np.float64) for each in found.factor_gradients)
        return slopes, found.new_squared, found.new_dot_old, found.direction_dot_new

    def _keep(self, into: Sequence[str], found: dict[int, CodesGradient]) -> None:
        self._values[into[0]] = {number: each.codes for number, each in found.items()}
        self._values[into[1]] = {number: each.gradient for number, each in found.items()}


class Remote:
    """What the workers hold under a name: codes, a gradient, a direction; forgotten with this object."""

    def __init__(self, owner: ShardedTrainingSet, name: str) -> None:
        self._owner, self.name = owner, name

    def __neg__(self) -> Remote:
        return self._owner.negated(self)

    def __del__(self) -> None:
        self._owner.later("forget", [self.name])


class ShardedTrainingSet:
    """A batch whose shards lie on workers, as `sedil.engines.contract.TrainingSet`."""

    def __init__(self, holders: Sequence[Any], n_samples: int) -> None:
        self._holders, self.n_samples = holders, n_samples
        self._later: list[tuple[Any, ...]] = []
        self._n_names = 0

    def later(self, *call: Any) -> None:
        """Something that needs no answer: it is done before what is asked next, on the same way there."""
        self._later.append(call)

    def sparse_codes(self, factors: Factors, penalty: float, effort: Effort) -> Any:
        """Codes of Eq. (34), by FISTA."""
        made = self._named()
        self.later("sparse_codes", made.name, factors, penalty, effort)
        return made

    def cost_along(
        self, factors: Factors, codes: Any, direction: Any, step: float, penalty: LogPenalty
    ) -> Trial:
        """The cost with these factors at ``codes + step * direction``."""
        made = self._named()
        shares = self._ask("cost_along", made.name, factors, codes.name, direction.name, step, penalty)
        return _trial(shares, made)

    def gradient_after(
        self, trial: Trial, gradient: Any, penalty: LogPenalty, codes_weight: float
    ) -> CodesGradient:
        """The gradient where `trial` was made."""
        into = self._named(), self._named()
        names = [made.name for made in into]
        sums = self._ask("gradient_after", names, trial.memory.name, gradient.name, penalty, codes_weight)
        return _gradient(sums, *into)

    def cost_and_gradient(
        self, factors: Factors, codes: Any, penalty: LogPenalty, codes_weight: float, spare: Any = None
    ) -> tuple[Trial, CodesGradient]:
        """Both at the point where a run begins."""
        into = self._named(), self._named(), self._named()
        names = [made.name for made in into]
        found = self._ask("cost_and_gradient", names, factors, codes.name, penalty, codes_weight)
        shares, sums = zip(*found, strict=True)
        return _trial(shares, into[0]), _gradient(sums, into[1], into[2])

    def turn(self, gradient: Any, direction: Any, beta: float) -> Any:
        """``beta * direction - gradient``. Paper: Eq. (31)."""
        made = self._named()
        self.later("turn", made.name, gradient.name, direction.name, beta)
        return made

    def negated(self, of: Remote) -> Remote:
        """Its negative."""
        made = self._named()
        self.later("negate", made.name, of.name)
        return made

    def _named(self) -> Remote:
        self._n_names += 1
        return Remote(self, str(self._n_names))

    def _ask(self, method: str, *arguments: Any) -> list[Any]:
        """What all shards answer, in their order."""
        calls, self._later = [*self._later, (method, *arguments)], []
        answers: dict[int, Any] = {}
        for waiting in [holder.run(calls) for holder in self._holders]:
            answers |= waiting.result()
        return [answers[number] for number in sorted(answers)]


def _trial(shares: Sequence[tuple[float, ...]], memory: Remote) -> Trial:
    data, sparsity = (fsum(share[k] for share in shares) for k in range(2))
    return Trial(data, sparsity, memory)


def _gradient(sums: Sequence[tuple[Any, ...]], codes: Any, gradient: Any) -> CodesGradient:
    slopes = [sum(shard[0][k] for shard in sums) for k in range(len(sums[0][0]))]
    products = [fsum(shard[k] for shard in sums) for k in (1, 2, 3)]
    return CodesGradient(codes, gradient, tuple(slopes), *products)


class Workers:
    """The workers of a cluster that batches are spread over.

    Parameters
    ----------
    client : distributed.Client
    """

    def __init__(self, client: Any) -> None:
        self._client = client
        self._holders: dict[str, Any] = {}

    def descend(
        self,
        patches: Any,
        mask: Any,
        n_atoms: Sequence[int],
        engine: Any,
        work: Callable[[TrainingSet], Result],
    ) -> Result:
        """What `work` makes of a batch that is spread over the workers there are; anew if one is lost."""
        if not isinstance(patches, np.ndarray):
            raise TypeError("Workers learn from arrays of NumPy: leave scheduler out for arrays of others.")
        for attempt in range(_MOST_ATTEMPTS):
            try:
                return work(self._spread(patches, mask, n_atoms, engine))  # type: ignore[arg-type]
            except Exception as error:
                if not _is_loss(error):
                    raise
                self._holders = {}
                if attempt + 1 == _MOST_ATTEMPTS:
                    raise OSError(
                        f"A batch was begun {_MOST_ATTEMPTS} times, each time a worker was lost ({error})."
                    ) from error
        raise AssertionError("the last attempt returns or raises")

    def _spread(
        self, patches: np.ndarray, mask: np.ndarray | None, n_atoms: Sequence[int], engine: EngineName
    ) -> ShardedTrainingSet:
        n = len(patches)
        n_shards = max(min(_MOST_SHARDS, n // _LEAST_SAMPLES), 1)
        edges = np.linspace(0, n, n_shards + 1).astype(int)
        shards = {
            k: Shard(
                patches[edges[k] : edges[k + 1]], None if mask is None else mask[edges[k] : edges[k + 1]]
            )
            for k in range(n_shards)
        }
        holders = self._present()[:n_shards]
        waiting = [
            holder.load({k: shards[k] for k in range(number, n_shards, len(holders))}, n_atoms, engine, n)
            for number, holder in enumerate(holders)
        ]
        for each in waiting:
            each.result()
        return ShardedTrainingSet(holders, n)

    def _present(self) -> list[Any]:
        """One holder on each worker that is there now."""
        self._client.wait_for_workers(1)
        addresses = sorted(self._client.scheduler_info(n_workers=-1)["workers"])
        made = {
            address: self._client.submit(
                ShardHolder, actor=True, workers=[address], allow_other_workers=False, pure=False
            )
            for address in addresses
            if address not in self._holders
        }
        self._holders = {own: holder for own, holder in self._holders.items() if own in addresses}
        self._holders |= {address: future.result() for address, future in made.items()}
        return [self._holders[address] for address in addresses]


def _is_loss(error: Exception) -> bool:
    """Whether a worker is gone: holders read and write nothing, so that no other error is one of systems."""
    return (
        isinstance(error, OSError | CancelledError)
        or type(error).__module__.startswith("distributed")
        or (isinstance(error, RuntimeError) and "Actor" in str(error))
    )
