"""Checkpoints: the whole state of a run in one file, from which it continues to the same bit."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import array_namespace
from array_api_compat import device as device_of

from sedil.arrays import Array, to_numpy
from sedil.errors import DictionaryFileError
from sedil.files import archive_kind, read_archive, write_archive
from sedil.learning.conjugate_gradient import State
from sedil.learning.line_search import Reference
from sedil.learning.result import History, Record
from sedil.manifold import Point
from sedil.objective import Terms

CHECKPOINT = "checkpoint"
_POINTS = ("point", "gradient", "direction")


class Checkpoint(NamedTuple):
    """What a run needs to go on, and what tells that it is the same run.

    Attributes
    ----------
    state : State
    history : History
    identity : plain facts that must agree: data, sizes, weights, metric, constants
    """

    state: State
    history: History
    identity: dict[str, Any]


def fingerprint(patches: Array) -> str:
    """A short name for the training data: the same data gives the same name."""
    array = np.ascontiguousarray(to_numpy(patches))
    return f"{array.shape} {array.dtype} " + hashlib.blake2b(array.tobytes(), digest_size=16).hexdigest()


def require_replaceable(path: str | Path, kind: str = CHECKPOINT) -> None:
    """A new run may replace an old checkpoint of its kind, and no other file."""
    if Path(path).exists() and archive_kind(path) != kind:
        raise FileExistsError(f"{path} exists already and is not a {kind}: choose another name.")


def save_checkpoint(path: str | Path, checkpoint: Checkpoint) -> None:
    """Write the checkpoint in one step; an older one at the same place stays whole until then."""
    state = checkpoint.state
    arrays = {
        f"{name}{k}": to_numpy(block)
        for name in _POINTS
        for k, block in enumerate(getattr(state, name).blocks())
    }
    numbers = {name: value for name, value in vars(state).items() if name not in _POINTS}
    facts = {"state": numbers, "history": list(checkpoint.history), "identity": checkpoint.identity}
    write_archive(path, CHECKPOINT, arrays, facts)


def load_checkpoint(path: str | Path, identity: dict[str, Any], like: Array) -> Checkpoint:
    """Read a checkpoint into the library and device of `like`, if it belongs to the same run."""
    arrays, facts = read_archive(path, CHECKPOINT)
    try:
        return _restored(path, arrays, facts, identity, like)
    except (KeyError, TypeError, AttributeError) as error:
        raise DictionaryFileError(f"{path} is damaged: it lacks {error}.") from error


def require_same_run(path: str | Path, found: dict[str, Any], expected: dict[str, Any]) -> None:
    """Refuse a checkpoint that differs in what is expected."""
    differing = [name for name, value in expected.items() if found[name] != value]
    if differing:
        raise ValueError(
            f"The checkpoint {path} belongs to another run (different {', '.join(differing)}): "
            f"use the same data and settings, or another file."
        )


def _restored(
    path: str | Path, arrays: dict[str, np.ndarray], facts: dict[str, Any], identity: dict, like: Array
) -> Checkpoint:
    require_same_run(path, facts["identity"], identity)
    xp, device = array_namespace(like), device_of(like)
    n_blocks = like.ndim  # codes and one factor per axis of a patch
    points: dict[str, Any] = {
        name: Point.from_blocks(
            *(xp.asarray(arrays[f"{name}{k}"], device=device, copy=True) for k in range(n_blocks))
        )
        for name in _POINTS
    }
    numbers: dict[str, Any] = dict(facts["state"])
    numbers["terms"], numbers["reference"] = Terms(*numbers["terms"]), Reference(*numbers["reference"])
    history = History(Record(*record) for record in facts["history"])
    return Checkpoint(State(**points, **numbers), history, facts["identity"])
