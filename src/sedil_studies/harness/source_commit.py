"""Which code made a figure: the commit of the sources, so that a table can be made again."""

from __future__ import annotations

import subprocess
from collections import Counter
from collections.abc import Iterable
from functools import cache
from pathlib import Path

import sedil
from sedil.terminal import counted

_CODE = ("src", "benchmarks")  # results that are being written change no code


@cache
def source_commit(module: Path = Path(__file__)) -> str:
    """Commit of the checkout that holds the module, with ``-dirty`` where its code was changed since.

    For a package that was installed, which has no commit, its version.
    """
    try:
        _git(module.parent, "ls-files", "--error-unmatch", module.name)
        root = Path(_git(module.parent, "rev-parse", "--show-toplevel"))
        changed = _git(root, "status", "--porcelain", "--", *_CODE)
        return _git(root, "rev-parse", "--short=12", "HEAD") + ("-dirty" if changed else "")
    except (OSError, subprocess.CalledProcessError):
        return f"sedil {sedil.__version__}"


def commits_in_words(commits: Iterable[str]) -> str:
    """A sentence on the code that made the rows, from the commit of each; older rows have none."""
    counts = Counter(commits)
    unknown = counts.pop("", 0)
    known = [f"{commit} ({counted(number, 'row')})" for commit, number in counts.items()]
    sentences = [f"Code: {', '.join(known)}."] if known else []
    if unknown:
        sentences.append(f"{counted(unknown, 'row')} from before commits were written down.")
    return " ".join(sentences)


def _git(folder: Path, *words: str) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout.strip()
