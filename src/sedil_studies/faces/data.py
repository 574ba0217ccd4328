"""The faces of the paper's second experiment: research data that does not ship with the package.

The file holds 64x64 grey faces of the Labeled Faces in the Wild, cropped like LFWcrop: ``train`` and ``test``
with ``train_names`` and ``test_names`` such as ``Ann_Lee_0001``, and no person in both.
"""

from __future__ import annotations

from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

import numpy as np

from sedil_studies.harness.data_folder import first_file, given_folder
from sedil_studies.harness.download import fetch

FILE = "lfwcrop_rebuilt_64x64.npz"
SHA256 = "594fb76a685ad7bfaa41cd33496a2bd7bf595e9cd924973a766e687592e9e707"
_SUBFOLDER = "faces"  # where a larger collection keeps it
_HELD_OUT = 1000 / 12027  # of the training faces, to choose settings on
_ARRAYS = ("train", "test", "train_names", "test_names")


class Part(NamedTuple):
    """Faces (n, side, side), float32 on the scale 0 to 255, and whose they are."""

    faces: np.ndarray
    persons: np.ndarray


class Faces(NamedTuple):
    """Three sets of faces with no person in two of them.

    Attributes
    ----------
    fit : to learn from
    validation : to choose settings on
    test : to report
    """

    fit: Part
    validation: Part
    test: Part


def find_faces(data: Path | None, address: str | None, folder: Path) -> Path:
    """The file of faces: in the folder `data` or in ``faces`` below it; else fetched into another folder."""
    if data is None and address is not None:
        return fetch(address, SHA256, folder, FILE)
    otherwise = ", or --address, or SEDIL_FACES_ADDRESS, the address to fetch it from"
    data = given_folder(data, FILE, otherwise)
    below = data / _SUBFOLDER
    found = first_file([data / FILE, below / FILE])
    if found is None:
        raise FileNotFoundError(
            f"There is no {FILE} in {data} or {below}: give --data a folder that holds it, or --address the "
            "address to fetch it from."
        )
    return found


def read_faces(path: Path) -> Faces:
    """All faces of a file, the training faces split by person into those to learn from and those held out."""
    try:
        with np.load(path, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in _ARRAYS}
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise ValueError(f"{path} cannot be read as a file of faces ({error}): fetch it again.") from None
    train = _part(path, arrays["train"], arrays["train_names"])
    test = _part(path, arrays["test"], arrays["test_names"])
    shared = set(train.persons) & set(test.persons)
    if shared:
        raise ValueError(f"{path} has {len(shared)} persons in both parts, such as {min(shared)}.")
    held_out = np.isin(train.persons, _held_out_persons(train.persons))
    return Faces(_some(train, ~held_out), _some(train, held_out), test)


def _part(path: Path, faces: np.ndarray, names: np.ndarray) -> Part:
    if faces.ndim != 3 or faces.shape[1] != faces.shape[2] or len(faces) != len(names):
        raise ValueError(
            f"{path} must hold square faces (n, side, side) with a name each, "
            f"got shape {faces.shape} and {len(names)} names."
        )
    persons = np.array([name.rpartition("_")[0] for name in names.tolist()])
    return Part(faces.astype(np.float32), persons)


def _held_out_persons(persons: np.ndarray) -> list[str]:
    """Persons in an order that no one chose, until their share of the faces is reached."""
    names, counts = np.unique(persons, return_counts=True)
    order = np.argsort([sha256(f"validation {name}".encode()).hexdigest() for name in names])
    before = np.concatenate([[0], np.cumsum(counts[order])[:-1]])
    return names[order][before < _HELD_OUT * len(persons)].tolist()


def first_faces(everyone: Faces, counts: tuple[int, int, int]) -> Faces:
    """So many faces of each set."""
    return Faces(*(_some(part, np.s_[:count]) for part, count in zip(everyone, counts, strict=True)))


def _some(part: Part, where: np.ndarray | slice) -> Part:
    return Part(part.faces[where], part.persons[where])
