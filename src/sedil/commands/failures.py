"""Files that a command could not work on: the others are done all the same."""

from __future__ import annotations

from sedil.terminal import complain, counted


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
