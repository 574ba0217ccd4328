"""Damaged files of every kind: each is read well, or refused in one sentence, in little memory and time."""

from __future__ import annotations

import logging
import os
import random
import re
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import numpy as np

from fuzz.file_bases import LEARNERS, Base, all_bases, learn
from fuzz.mutations import mutate
from fuzz.runner import Finding, Outcome

_MOST_BYTES = 200 * 2**20  # of memory, or twice the file if that is more
_MOST_SECONDS = 5.0
# Words of a person who wrote Python, not of one who reads our messages.
_INNER = re.compile(
    r"NoneType|has no attribute|unsupported operand|out of range|not subscriptable|unpack|invalid literal"
    r"|not iterable|object is not|can't decode|Traceback|<class|0x[0-9a-f]{6}|positional argument|unhashable"
    r"|assert|__\w+__|np\.\w"
)


class FilesCampaign:
    """Mutated files, read by the functions of the library and by what the commands call."""

    seconds_per_case = 60.0

    def __init__(self) -> None:
        self._bases: list[Base] = []
        self._warm = False

    def prepare(self) -> None:
        """Make the bases, and read each of them once, so that all that is loaded is loaded."""
        os.dup2(os.open(os.devnull, os.O_WRONLY), 2)  # libtiff says there what is wrong with a file
        self._make_bases()
        for base in self._bases:
            self._read(base, base.content, random.Random(0))
        self._log = _Log()
        logging.getLogger().addHandler(self._log)

    def _make_bases(self) -> None:
        if not self._bases:
            self._folder = Path(tempfile.mkdtemp(prefix="fuzz-", dir=_memory_disk()))
            self._bases = all_bases()

    def describe(self, seed: int, case: int) -> str:
        """The kind of file, and its first bytes."""
        self._make_bases()
        base, content, _ = self._case(seed, case)
        return f"{base.kind} {base.name}, {len(content):,} bytes: {content[:24]!r}"

    def content(self, seed: int, case: int) -> tuple[str, bytes]:
        """Name and content of the file of a case."""
        self._make_bases()
        base, content, _ = self._case(seed, case)
        return base.name, content

    def attack(self, seed: int, case: int) -> Outcome:
        """Read a file; what comes back, or what is said, is judged, and so is what it took."""
        base, content, rng = self._case(seed, case)
        self._log.records.clear()
        began, before = time.process_time(), _start_of_peak()
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            label, found = self._read(base, content, rng)
        seconds, grown = time.process_time() - began, _peak() - before
        if grown > max(_MOST_BYTES, 2 * len(content)):
            found.append(("much memory", f"{grown / 2**20:.0f} MB"))
        if seconds > _MOST_SECONDS:
            found.append(("much time", f"{seconds:.1f} s"))
        found += [(f"a warning of {Path(each.filename).name}", str(each.message)) for each in told]
        found += [(f"a log of {name}", text) for name, text in self._log.records]
        if list(self._folder.iterdir()):
            found.append(("files left behind", str(list(self._folder.iterdir()))))
        where = f"{base.kind} {base.name}"
        findings = [Finding(f"{base.kind}: {kind}", f"{where}: {words[:300]}") for kind, words in found]
        return Outcome(f"{base.kind}: {label}", tuple(findings))

    def _case(self, seed: int, case: int) -> tuple[Base, bytes, random.Random]:
        rng = random.Random(f"{seed} {case}")
        kind = rng.choice(list(_READERS))
        base = rng.choice([base for base in self._bases if base.kind == kind])
        return base, mutate(base, self._bases, rng), rng

    def _read(self, base: Base, content: bytes, rng: random.Random) -> tuple[str, list[tuple[str, str]]]:
        path = self._folder / base.name
        path.write_bytes(content)
        try:
            return _READERS[base.kind](path, base, rng), []
        except _WrongError as error:
            return "wrong result", [(str(error).split(":")[0], str(error))]
        except Exception as error:
            return "refused", list(_complaints_about(error, path))
        finally:
            for left in (path, *self._folder.glob("target.*")):
                left.unlink(missing_ok=True)


class _WrongError(Exception):
    """A result that nobody should get."""


def _require(holds: bool, what: str, words: str = "") -> None:
    if not holds:
        raise _WrongError(f"{what}: {words}")


def _complaints_about(error: Exception, path: Path) -> Iterator[tuple[str, str]]:
    """What is wrong with a refusal."""
    from sedil.errors import DictionaryFileError, ImageFileError

    text = str(error)
    name = type(error).__name__
    ours = isinstance(error, DictionaryFileError | ImageFileError)
    another_run = isinstance(error, ValueError) and "belongs to another run" in text
    unwritable = isinstance(error, OSError) and text.startswith("Cannot write")
    if not ours and not another_run and not unwritable:
        yield f"{name}, which is not ours", text
    elif str(path.parent) not in text:
        yield "the file is not named", text
    elif inner := _INNER.search(text.replace(str(path), "")):
        yield f"an inner message ({inner.group()})", text
    elif "\n" in text or len(text) > 600:
        yield "a message of several lines, or a long one", text


def _read_dictionary(path: Path, base: Base, rng: random.Random) -> str:
    import sedil

    dictionary = sedil.load_dictionary(path)
    _require(all(np.isfinite(factor).all() for factor in dictionary.factors), "factors are not finite")
    patches = np.random.default_rng(0).standard_normal((2, *dictionary.patch_shape))
    codes = sedil.sparse_code(dictionary, patches, 0.5, threads=1)
    _require(codes.shape == (2, *dictionary.n_atoms) and np.isfinite(codes).all(), "codes", str(codes.shape))
    repr(dictionary)
    if len(dictionary.signal_shape) == 2:
        image = np.random.default_rng(0).standard_normal((20, 20))
        cleaned = sedil.denoise(image, 0.5, dictionary, stride=2, threads=1)
        _require(cleaned.shape == image.shape and bool(np.isfinite(cleaned).all()), "a denoised image")
    if rng.random() < 0.1:
        _show(path)
    return "read"


def _show(path: Path) -> None:
    """What `sedil show` does."""
    from typer.testing import CliRunner

    from sedil.cli import app

    ended = CliRunner().invoke(app, ["show", str(path), "--picture", str(path.with_name("target.png"))])
    _require(ended.exit_code in (0, 1), "sedil show", repr(ended.exception))
    _require(isinstance(ended.exception, SystemExit | None), "sedil show", repr(ended.exception))
    _require("\x1b" not in ended.output, "escape sequences")


def _read_checkpoint(path: Path, base: Base, rng: random.Random) -> str:
    name = base.name.removesuffix(".npz")
    result = learn(name, path, more=1, resume=True)
    factors = result.dictionary.factors
    shapes = list(zip((3, 4), LEARNERS[name]["n_atoms"], strict=True))
    _require([factor.shape for factor in factors] == shapes, "shapes of factors")
    _require(all(np.isfinite(factor).all() for factor in factors), "factors are not finite")
    _require(bool(np.isfinite(result.history["objective"]).all()), "costs are not finite")
    _require(result.codes is None or bool(np.isfinite(result.codes).all()), "codes are not finite")
    return "resumed"


def _read_image(path: Path, base: Base, rng: random.Random) -> str:
    from sedil.file_jobs.job_planning import FileJob
    from sedil.file_jobs.opened_file import open_file, write_results
    from sedil.image_files.grey_images import read_grey, read_grey_volume
    from sedil.image_files.picture_files import Picture

    action = rng.randrange(4)
    if action == 0:
        grey = (read_grey if base.kind == "picture" else read_grey_volume)(path)
        n_axes = 2 if base.kind == "picture" else 3
        _require(
            grey.ndim == n_axes and grey.dtype == np.float32, "a grey image", f"{grey.shape}, {grey.dtype}"
        )
        _require(bool(np.isfinite(grey).all()), "a grey image is not finite")
        return "read"
    suffix = ".tif" if base.kind == "picture" else "".join(path.suffixes)
    opened = open_file(FileJob(path, path.with_name(f"target{suffix}"), None))
    content = opened.content
    pixels = content.pixels
    _require(
        pixels.dtype.kind in "biuf" and 0 not in pixels.shape, "pixels", f"{pixels.dtype} {pixels.shape}"
    )
    if isinstance(content, Picture):
        _require(pixels.ndim == 2 or pixels.shape[2:] == (3,), "the shape of a picture", str(pixels.shape))
        alpha = content.alpha
        _require(
            alpha is None or (alpha.shape, alpha.dtype) == (pixels.shape[:2], pixels.dtype), "transparency"
        )
    if action == 1:
        write_results(opened, pixels)
    return "read"


_READERS: dict[str, Callable[[Path, Base, random.Random], str]] = {
    "dictionary": _read_dictionary,
    "checkpoint": _read_checkpoint,
    "picture": _read_image,
    "volume": _read_image,
}


class _Log(logging.Handler):
    """Keeps what is logged."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.records: list[tuple[str, str]] = []

    def emit(self, record: logging.LogRecord) -> None:
        """Keep it."""
        self.records.append((record.name, record.getMessage()))


def _memory_disk() -> str | None:
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def _start_of_peak() -> int:
    """Forget the highest use of memory so far; returns the present one."""
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")
    return _peak()


def _peak() -> int:
    """The highest use of memory in bytes, where Linux tells."""
    with suppress(OSError):
        for line in Path("/proc/self/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) * 1024
    return 0


CAMPAIGN = FilesCampaign()
