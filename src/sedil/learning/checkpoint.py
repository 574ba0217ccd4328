"""Checkpoints: the whole state of a run in one file, from which it continues to the same bit.

There is one format for all learners. A learner puts its arrays and numbers in by name and gets them back.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from math import isfinite, sqrt
from pathlib import Path
from typing import Any, NamedTuple
from warnings import warn

import numpy as np
from array_api_compat import device as device_of

from sedil import checks, spheres
from sedil.arrays import AnyArray, Array, namespace, to_numpy
from sedil.errors import DictionaryFileError, kind_of
from sedil.files import archive_kind, read_archive, require_writable, write_archive
from sedil.learning.result import History, Record

CHECKPOINT = "checkpoint"
# Arrays of a run on all patches, and of one on mini-batches.
_ARRAYS = "(point|gradient|direction)_(codes|factor[0-3])|factor[0-3]"
_RECORD = {name: "count" if name in ("iteration", "n_evaluations") else "size" for name in Record._fields}
_TOLERANCE = 1e-5  # of the unit lengths of columns
_SHARE_OF_RANGE = 1e-4  # of numbers that can be squared: so many squares can be added


class AnotherRunError(ValueError):
    """A checkpoint is whole, and not of this run."""


# What a number of a checkpoint may be. No run comes near the largest, and its square is still a number.
_LARGEST, _LARGEST_COUNT = 1e60, 2**63


def _is_number(value: Any) -> bool:
    return (type(value) is float and abs(value) <= _LARGEST) or (type(value) is int and abs(value) <= 2**53)


_KINDS: dict[str, Callable[[Any], bool]] = {
    "count": lambda value: type(value) is int and 0 <= value < _LARGEST_COUNT,
    "number": _is_number,
    "size": lambda value: _is_number(value) and value >= 0,
    "positive number": lambda value: _is_number(value) and value > 0,
    "size or null": lambda value: value is None or _KINDS["size"](value),
    "text": lambda value: type(value) is str,
}
Kinds = Mapping[str, "str | tuple[str, ...] | Kinds"]


def require_kinds(found: Any, kinds: Kinds) -> None:
    """Refuse numbers that are not what they should be: by name a kind, words to choose from, or names."""
    for name, kind in kinds.items():
        value = found[name]
        if isinstance(kind, Mapping):
            require_kinds(value, kind)
        elif not (value in kind if isinstance(kind, tuple) else _KINDS[kind](value)):
            wanted = " or ".join(kind) if isinstance(kind, tuple) else f"a {kind}"
            raise DictionaryFileError(f"its {name} is {value!r:.40}, not {wanted}.")
    if len(found) != len(kinds):
        raise DictionaryFileError(f"it has {len(found)} facts where it should have {', '.join(kinds)}.")


class Checkpoint(NamedTuple):
    """What a run needs to go on, and what tells that it is the same run.

    Attributes
    ----------
    identity : plain facts that must agree: learner, data, sizes, weights, metric, ...
    history : History
    numbers : whatever else the learner needs that JSON can hold, by name
    arrays : its arrays by name
    """

    identity: dict[str, Any]
    history: History
    numbers: dict[str, Any]
    arrays: Mapping[str, Array]

    def array(self, name: str, shape: tuple[int, ...], like: AnyArray) -> AnyArray:
        """A copy of one of the arrays in the library, precision and on the device of `like`.

        No kernel looks at sizes again: what has another shape, or is not finite, is refused here.
        """
        found = self.arrays[name]
        if tuple(found.shape) != shape:
            raise DictionaryFileError(f"{name} has shape {tuple(found.shape)}, not {shape}.")
        if not np.isdtype(found.dtype, "real floating") or not checks.is_finite(found):
            raise DictionaryFileError(f"{name} must hold finite numbers.")
        largest = _SHARE_OF_RANGE * sqrt(namespace(like).finfo(like.dtype).max)
        if np.abs(np.asarray(found)).max(initial=0) > largest:
            raise DictionaryFileError(f"{name} holds numbers beyond {largest:.0e}.")
        xp, plain = namespace(like), np.array(found, order="C")  # a file may have it in another order
        return xp.asarray(plain, dtype=like.dtype, device=device_of(like), copy=True)

    def factor(self, name: str, shape: tuple[int, ...], like: AnyArray) -> AnyArray:
        """As `array`, a factor: its columns have unit length."""
        factor = self.array(name, shape, like)
        violation = spheres.explain_violation(factor, _TOLERANCE)
        if violation:
            raise DictionaryFileError(f"{name} must have unit columns, but {violation}.")
        return factor


class CheckpointFile(NamedTuple):
    """Where the checkpoints of a run go; no path, no checkpoints.

    Attributes
    ----------
    path : path of the file
    every : after how many steps it is written anew
    resume : whether a run goes on from the file if it exists
    """

    path: str | Path | None
    every: int
    resume: bool

    def checked(self) -> CheckpointFile:
        """The same, if a checkpoint can be written there without replacing anything but a checkpoint."""
        every = checks.require_count(self.every, "checkpoint_every", minimum=1)
        checks.require_flag(self.resume, "resume")
        if self.path is None:
            if self.resume:
                raise ValueError("resume=True needs checkpoint=..., the file to resume from.")
            return self._replace(every=every)
        checks.as_path(self.path, "checkpoint")
        require_writable(self.path)
        if not self.resume and Path(self.path).exists() and archive_kind(self.path) != CHECKPOINT:
            raise FileExistsError(
                f"{self.path} exists already and is not a {CHECKPOINT}: choose another name."
            )
        return self._replace(every=every)

    def is_due(self, n_steps: int) -> bool:
        """Whether a checkpoint is to be written after so many steps."""
        return self.path is not None and n_steps % self.every == 0

    def save(self, checkpoint: Checkpoint) -> None:
        """Write the checkpoint in one step; an older one at the same place stays whole until then.

        What has been learned is worth more than its checkpoint: if that cannot be written, on a full disk for
        example, there is a warning, and the run goes on.
        """
        if self.path is None:
            return
        try:
            self._write(self.path, checkpoint)
        except OSError as error:
            warn(
                f"There is no checkpoint of step {checkpoint.history[-1].iteration}. {error} Learning goes "
                f"on, and an older checkpoint stays as it is: make room for the next one.",
                stacklevel=4,  # where learning was called for
            )

    def _write(self, path: str | Path, checkpoint: Checkpoint) -> None:
        history = checkpoint.history
        facts = {
            "identity": checkpoint.identity,
            "history": {name: [getattr(record, name) for record in history] for name in Record._fields},
            "numbers": checkpoint.numbers,
        }
        arrays = {name: to_numpy(array) for name, array in checkpoint.arrays.items()}
        write_archive(path, CHECKPOINT, arrays, facts)

    def load(self, expected: Mapping[str, Any]) -> Checkpoint | None:
        """The checkpoint to go on from, if it is of the same run; None if there is none."""
        if not self.resume or self.path is None or not Path(self.path).is_file():
            return None
        arrays, facts = read_archive(self.path, CHECKPOINT, _ARRAYS)
        with self.explaining_damage():
            for name in ("identity", "history", "numbers"):
                if not isinstance(facts[name], dict):
                    raise DictionaryFileError(f"its {name} is {kind_of(facts[name])}, not a dict.")
            self.require_same_run(facts["identity"], expected)
            columns = [facts["history"][name] for name in Record._fields]
            if len(set(map(len, columns))) > 1:
                raise DictionaryFileError("its history has columns of different lengths.")
            history = History(Record(*values) for values in zip(*columns, strict=True))
            if len(history) == 0 or not _all_finite([facts["numbers"], columns]):
                raise DictionaryFileError("its numbers must be finite, and there must be some.")
            for record in history:
                require_kinds(record._asdict(), _RECORD)
            return Checkpoint(dict(facts["identity"]), history, dict(facts["numbers"]), arrays)

    @contextmanager
    def explaining_damage(self) -> Iterator[None]:
        """While a checkpoint is read: what it lacks, and what is wrong in it, is told in a sentence."""
        try:
            yield
        except DictionaryFileError as error:
            raise DictionaryFileError(f"{self.path} is damaged: {error}") from error
        except KeyError as error:
            raise DictionaryFileError(f"{self.path} is damaged: it lacks {error}.") from error
        except (TypeError, AttributeError) as error:
            raise DictionaryFileError(
                f"{self.path} is damaged: what it says of the run is not what a {CHECKPOINT} says."
            ) from error

    def require_same_run(self, found: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
        """Refuse a checkpoint that differs in what is expected."""
        differing = [name for name, value in expected.items() if found.get(name) != value]
        if differing:
            raise AnotherRunError(
                f"The checkpoint {self.path} belongs to another run (different {', '.join(differing)}): "
                f"use the same data and settings, or another file."
            )


def _all_finite(facts: Any) -> bool:
    """Whether all numbers in what JSON held are finite."""
    if isinstance(facts, Mapping):
        return all(map(_all_finite, facts.values()))
    if isinstance(facts, list):
        return all(map(_all_finite, facts))
    return not isinstance(facts, float) or isfinite(facts)


def fingerprint(patches: Array) -> str:
    """A short name for the training data: the same data gives the same name."""
    array = np.ascontiguousarray(to_numpy(patches))
    return f"{array.shape} {array.dtype} " + hashlib.blake2b(array.tobytes(), digest_size=16).hexdigest()
