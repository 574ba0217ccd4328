"""The demonstration behind ``make demo``: learn from pictures that scikit-image carries."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import numpy as np
from rich.console import Console

import sedil
from sedil import mosaic
from sedil.dictionary import format_shape
from sedil.files import require_writable
from sedil.imaging.images import scikit_image_photographs
from sedil.progress import progress_bar

# Photographs inside the scikit-image package itself; nothing is downloaded.
IMAGES = ("astronaut", "camera", "rocket", "brick", "grass", "cat")
HELD_OUT = "coffee"
_PATCH_SHAPE, _N_ATOMS = (8, 8), (16, 16)
_N_PATCHES, _N_HELD_OUT = 20_000, 1_000
_MAX_ITERATIONS = 400


def run_demo(folder: Path, console: Console) -> sedil.LearningResult:
    """Learn an 8x8 dictionary with 16x16 atoms, compare it with the ODCT, save it and its picture."""
    say = partial(console.print, markup=False, emoji=False, highlight=False, soft_wrap=True)
    file, picture = folder / "dictionary.npz", folder / "atoms.png"
    _make_folder(folder)
    require_writable(file)
    require_writable(picture)
    training = demo_patches(IMAGES, _N_PATCHES)
    held_out = demo_patches([HELD_OUT], _N_HELD_OUT)
    say(
        f"1. {len(training):,} patches of {format_shape(_PATCH_SHAPE)} "
        f"from {len(IMAGES)} photographs: {', '.join(IMAGES)}"
    )

    say(f"2. learning a separable dictionary, {format_shape(_N_ATOMS)} atoms (Ctrl-C stops early)")
    with progress_bar(_MAX_ITERATIONS) as show:
        result = sedil.learn(
            training, _N_ATOMS, max_iterations=_MAX_ITERATIONS, random_state=0, callback=show
        )
    result.dictionary.info.update(images=list(IMAGES), seed=0)
    result.dictionary.save(file)
    say(str(result))

    say(f"3. coding {len(held_out):,} patches of a photograph it has not seen ({HELD_OUT}), same l1 penalty")
    for name, dictionary in {
        "learned": result.dictionary,
        "ODCT": sedil.odct(_PATCH_SHAPE, _N_ATOMS).like(held_out),
    }.items():
        nonzeros, error = coding_quality(dictionary, held_out)
        say(f"   {name:8s} {nonzeros:5.1f} coefficients per patch, {error:.1%} of the energy missed")

    mosaic.save(result.dictionary, picture)
    say(f"4. saved {file} and its atoms as {picture}")
    say(f"   next: sedil show {file}")
    return result


def demo_patches(names: Sequence[str], n_patches: int) -> np.ndarray:
    """At most `n_patches` patches, zero mean and unit length: flat ones are left out."""
    photographs = scikit_image_photographs(names)
    return sedil.normalize_patches(sedil.sample_patches(photographs, _PATCH_SHAPE, n_patches, random_state=0))


def coding_quality(
    dictionary: sedil.SeparableDictionary, patches: np.ndarray, penalty: float = 0.1
) -> tuple[float, float]:
    """Mean number of coefficients, and the share of the energy that they miss."""
    codes = sedil.sparse_code(dictionary, patches, penalty)
    residual = dictionary.synthesize(codes) - patches
    nonzeros = np.count_nonzero(codes) / len(codes)
    return nonzeros, float(np.sum(residual**2) / np.sum(patches**2))


def _make_folder(folder: Path) -> None:
    if folder.exists() and not folder.is_dir():
        raise NotADirectoryError(f"{folder} is a file: give the name of a folder.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise OSError(f"Cannot make the folder {folder}: {error.strerror}.") from error
