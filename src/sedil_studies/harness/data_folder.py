"""Finding research data, which does not ship with the package, in the folder that a command is given."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path


def given_folder(folder: Path | None, files: str, otherwise: str = "") -> Path:
    """The folder that a command was given, or an error that says what it should hold."""
    if folder is None:
        raise FileNotFoundError(
            f"Give --data, or the environment variable SEDIL_DATA, a folder that holds {files}{otherwise}."
        )
    return folder


def first_file(candidates: Sequence[Path]) -> Path | None:
    """The first of these files that is there."""
    return next((path for path in candidates if path.is_file()), None)


def listed(names: Sequence[str], last_word: str = "and") -> str:
    """``a, b and c``."""
    *most, last = names
    return f"{', '.join(most)} {last_word} {last}" if most else last
