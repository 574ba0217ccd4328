"""What several commands share: options in the same words, examples, where they may write, files that fail."""

from __future__ import annotations

from collections.abc import Sequence
from glob import escape, glob
from pathlib import Path
from typing import Annotated, get_args

import typer

from sedil.choices import ShippedName
from sedil.terminal import complain, counted

SHIPPED = ", ".join(get_args(ShippedName))


def examples(*lines: str) -> str:
    """Command lines for the end of a help page, each on a line of its own."""
    return "\n\n".join(["Examples:" if len(lines) > 1 else "Example:", *lines])


def dictionaries_like(incomplete: str) -> list[str]:
    """Shipped dictionaries and files that a name may become, for the completion of a shell."""
    shipped = [name for name in get_args(ShippedName) if name.startswith(incomplete)]
    return shipped + sorted(path for path in glob(escape(incomplete) + "*") if path.endswith(".npz"))


Dictionary = Annotated[
    Path | None,
    typer.Option(
        "--dictionary",
        "-d",
        help=f"A dictionary file, or a shipped one by name: {SHIPPED}; default several.",
        autocompletion=dictionaries_like,
    ),
]
Threads = Annotated[int | None, typer.Option(min=1, help="Threads to compute with; default one per core.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Overwrite existing files.")]


def require_usable(path: Path, force: bool) -> None:
    """Refuse a path where nothing can be written, or where a file is unless it may be replaced."""
    from sedil.files import require_free, require_writable

    require_free([path], force)
    require_writable(path)


def require_usable_picture(path: Path, force: bool) -> None:
    """The same for a picture, whose suffix must be that of a format."""
    from sedil.files import picture_format

    require_usable(path, force)
    picture_format(path)


def is_among(path: Path, files: Sequence[Path]) -> bool:
    """Whether `path` is one of `files`, under whatever name."""
    return path.exists() and any(file.exists() and path.samefile(file) for file in files)


class Failures:
    """Each file is named when it fails, and all of them at the end."""

    def __init__(self, noun: str) -> None:
        self.noun, self.names = noun, list[str]()

    def tell(self, name: str, error: Exception, before: str = "") -> None:
        """Say why a file failed, once; `before` is what the line begins with."""
        if name not in self.names:
            self.names.append(name)
            complain("failed:", error, before)

    def raise_if_any(self) -> None:
        """End with an error that names the files."""
        if self.names:
            raise OSError(f"{counted(len(self.names), self.noun)} failed: {', '.join(self.names)}.")
