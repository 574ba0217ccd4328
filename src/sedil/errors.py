"""The errors that sedil raises on purpose."""

from __future__ import annotations

# What bad input, a bad file, a full disk and too little memory raise; all else is a bug and is shown whole.
EXPECTED = (ValueError, TypeError, OSError, MemoryError)


class DictionaryFileError(ValueError):
    """A file that should hold a dictionary or a checkpoint cannot be read as one.

    Examples
    --------
    >>> import sedil, tempfile
    >>> with tempfile.NamedTemporaryFile(suffix=".npz") as file:
    ...     try:
    ...         sedil.load_dictionary(file.name)
    ...     except sedil.DictionaryFileError as error:
    ...         print("not a dictionary")
    not a dictionary
    """


class ImageFileError(ValueError):
    """A file cannot be read as a picture or a volume."""


class MissingPackageError(ImportError, ValueError):
    """A package is not installed that only a part of sedil needs."""


def kind_of(value: object) -> str:
    """What a value is, for a sentence: ``a list``, ``an int``."""
    if value is None:
        return "None"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeioAEIO' or name == 'ndarray' else 'a'} {name}"
