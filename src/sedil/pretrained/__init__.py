"""Dictionaries by name: those shipped, learned from free images (see README.md here), and those in files."""

from __future__ import annotations

from functools import cache
from importlib.resources import as_file, files
from pathlib import Path
from typing import get_args

from sedil.checks import as_path, require_choice, short
from sedil.choices import ImageDictionaryName, ShippedName, VolumeDictionaryName
from sedil.dictionary import SeparableDictionary

NAMES: tuple[ImageDictionaryName, ...] = get_args(ImageDictionaryName)
FOR_VOLUMES: tuple[VolumeDictionaryName, ...] = get_args(VolumeDictionaryName)
SHIPPED: tuple[ShippedName, ...] = get_args(ShippedName)

DictionaryLike = SeparableDictionary | str | Path


def shipped_dictionary(name: ShippedName) -> SeparableDictionary:
    """One of the shipped dictionaries.

    Parameters
    ----------
    name : {"separable-8x8", "separable-12x12", "separable-16x16", "unstructured-8x8", "separable-8x8x8"}
        The last is for volumes and stacks of frames.

    Returns
    -------
    SeparableDictionary
        float32 NumPy factors; ``info`` says from what and by which command it was learned. It is the caller's
        own: changing it changes no other.

    Examples
    --------
    >>> import sedil
    >>> sedil.shipped_dictionary("separable-12x12")
    <SeparableDictionary: patches 12x12, atoms 24x24 = 576, redundancy 4, coherence 0.762, float32>
    """
    return _read_shipped(require_choice(name, "name", SHIPPED)).replace()


@cache
def _read_shipped(name: str) -> SeparableDictionary:
    with as_file(files("sedil.pretrained") / f"{name}.npz") as path:
        return SeparableDictionary.load(path)


def as_dictionary(dictionary: DictionaryLike) -> SeparableDictionary:
    """The dictionary that is meant: the object itself, the one in a file, or the shipped one of that name."""
    if isinstance(dictionary, SeparableDictionary):
        return dictionary
    if not isinstance(dictionary, str | Path):
        raise TypeError(
            f"dictionary must be a SeparableDictionary, the path of a file or the name of a shipped one "
            f"({', '.join(SHIPPED)}), got {short(dictionary)}."
        )
    path = as_path(dictionary, "dictionary")
    if path.is_file():
        return SeparableDictionary.load(path)
    if str(dictionary) in SHIPPED:
        return _read_shipped(str(dictionary)).replace()
    raise FileNotFoundError(
        f"There is no file {path}, nor a shipped dictionary of that name: these are {', '.join(SHIPPED)}."
    )


def load_dictionary(path: str | Path) -> SeparableDictionary:
    """Read a dictionary from a file written by `SeparableDictionary.save` or ``sedil learn``.

    Parameters
    ----------
    path : str or Path
        Or the name of a shipped one.

    Returns
    -------
    SeparableDictionary

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    DictionaryFileError
        If it is damaged, of another program, or of a newer format than this version reads.

    Examples
    --------
    >>> import sedil, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sedil.odct((8, 8), (16, 16)).save(f"{folder}/cosines.npz")
    ...     dictionary = sedil.load_dictionary(f"{folder}/cosines.npz")
    >>> dictionary.n_atoms
    (16, 16)
    """
    return as_dictionary(path)
