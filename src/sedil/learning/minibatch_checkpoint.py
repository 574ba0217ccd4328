"""Checkpoints of mini-batch learning: small, as no codes are kept."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from array_api_compat import array_namespace
from array_api_compat import device as device_of

from sedil.arrays import Array, to_numpy
from sedil.errors import DictionaryFileError
from sedil.files import read_archive, write_archive
from sedil.learning.minibatch import MiniBatchLearner
from sedil.learning.result import History, Record
from sedil.objective import Weights

MINIBATCH_CHECKPOINT = "mini-batch checkpoint"


class Saved(NamedTuple):
    """What a checkpoint holds.

    Attributes
    ----------
    factors, numbers, history : the state of a learner
    identity : plain facts that must agree for a run to go on
    seed : of the order of the data and of the first factors
    last_batch : fingerprint of the last batch that was learned from
    """

    factors: list[Any]
    numbers: dict[str, Any]
    history: History
    identity: dict[str, Any]
    seed: int
    last_batch: str

    def restore(self, learner: MiniBatchLearner, like: Array) -> None:
        """Give a new learner the saved state, in the library and device of `like`."""
        xp, device = array_namespace(like), device_of(like)
        learner.factors = tuple(xp.asarray(factor, device=device, copy=True) for factor in self.factors)
        learner.weights = Weights(*self.numbers["weights"])
        learner.energy, learner.n_samples = self.numbers["energy"], self.numbers["n_samples"]
        learner.history = History(self.history)


def save_minibatch(
    path: str | Path, learner: MiniBatchLearner, identity: dict[str, Any], seed: int, last_batch: str
) -> None:
    """Write the state in one step; an older checkpoint at the same place stays whole until then."""
    arrays = {f"factor{k}": to_numpy(factor) for k, factor in enumerate(learner.factors or ())}
    numbers = {"weights": learner.weights, "energy": learner.energy, "n_samples": learner.n_samples}
    facts = {"numbers": numbers, "history": list(learner.history), "identity": identity}
    write_archive(path, MINIBATCH_CHECKPOINT, arrays, facts | {"seed": seed, "last_batch": last_batch})


def load_minibatch(path: str | Path) -> Saved:
    """Read a checkpoint."""
    arrays, facts = read_archive(path, MINIBATCH_CHECKPOINT)
    try:
        return Saved(
            [arrays[f"factor{k}"] for k in range(len(arrays))],
            {name: facts["numbers"][name] for name in ("weights", "energy", "n_samples")},
            History(Record(*record) for record in facts["history"]),
            dict(facts["identity"]),
            int(facts["seed"]),
            str(facts["last_batch"]),
        )
    except (KeyError, TypeError, ValueError) as error:
        raise DictionaryFileError(f"{path} is damaged: it lacks {error}.") from error
