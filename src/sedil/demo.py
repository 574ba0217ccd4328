"""The demonstration behind ``make demo``: learn from pictures that scikit-image carries."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from shutil import which

import numpy as np

import sedil
from sedil import mosaic
from sedil.dictionary import format_shape
from sedil.files import make_folder, require_writable, write_picture
from sedil.image_files.grey_images import scikit_image_photographs
from sedil.imaging.quality import image_quality, quality_in_words
from sedil.panels import side_by_side
from sedil.terminal import bar, console

# Photographs inside the scikit-image package itself; nothing is downloaded.
IMAGES = ("astronaut", "camera", "rocket", "brick", "grass", "cat")
HELD_OUT = "coffee"
_PATCH_SHAPE, _N_ATOMS = (8, 8), (16, 16)
_N_PATCHES, _N_HELD_OUT = 20_000, 1_000
_MAX_ITERATIONS = 400
_SIGMA = 20.0
_PART = (slice(72, 328), slice(150, 406))  # the cup


def run_demo(folder: Path) -> sedil.LearningResult:
    """Learn an 8x8 dictionary with 16x16 atoms, compare it with the ODCT, denoise with both, save it all."""
    file, picture, comparison = (folder / name for name in ("dictionary.npz", "atoms.png", "denoised.png"))
    make_folder(folder, parents=True)
    for path in (file, picture, comparison):
        require_writable(path)
    result = _learn()
    result.dictionary.save(file)
    dictionaries = {"ODCT": sedil.odct(_PATCH_SHAPE, _N_ATOMS), "learned": result.dictionary}
    _compare_codes(dictionaries)
    pictures = _denoise(dictionaries)
    mosaic.save(result.dictionary, picture)
    _save_side_by_side(pictures, comparison)
    console.print(f"5. saved {file}, its atoms as {picture}")
    console.print(f"   and noisy, denoised and original side by side as {comparison}")
    console.print(f"   next: {_program()} show {file}")
    return result


def _learn() -> sedil.LearningResult:
    training = demo_patches(IMAGES, _N_PATCHES)
    console.print(
        f"1. {len(training):,} patches of {format_shape(_PATCH_SHAPE)} "
        f"from {len(IMAGES)} photographs: {', '.join(IMAGES)}"
    )
    console.print(f"2. learning a separable dictionary, {format_shape(_N_ATOMS)} atoms (Ctrl-C stops early)")
    with bar("learning") as report:
        result = sedil.learn(
            training,
            _N_ATOMS,
            max_iterations=_MAX_ITERATIONS,
            random_state=0,
            progress=report,
        )
    result.dictionary.info.update(images=list(IMAGES), seed=0)
    console.print(str(result))
    return result


def _compare_codes(dictionaries: dict[str, sedil.SeparableDictionary]) -> None:
    held_out = demo_patches([HELD_OUT], _N_HELD_OUT)
    console.print(
        f"3. coding {len(held_out):,} patches of a photograph it has not seen ({HELD_OUT}), same l1 penalty"
    )
    for name, dictionary in dictionaries.items():
        nonzeros, error = coding_quality(dictionary.like(held_out), held_out)
        console.print(
            f"   {name:8s} {nonzeros:5.1f} coefficients per patch, {error:.1%} of the energy missed"
        )


def _denoise(dictionaries: dict[str, sedil.SeparableDictionary]) -> dict[str, np.ndarray]:
    """The clean image, the noisy one, and what each dictionary makes of it."""
    console.print(f"4. denoising a part of it with noise of sigma {_SIGMA:g} added (PSNR in dB, SSIM)")
    clean = scikit_image_photographs([HELD_OUT])[0][_PART]
    noisy = clean + _SIGMA * np.random.default_rng(0).standard_normal(clean.shape).astype(np.float32)
    pictures = {"noisy": noisy}
    for name, dictionary in dictionaries.items():
        pictures[name] = sedil.denoise(noisy, _SIGMA, dictionary)
    for name, image in pictures.items():
        psnr, ssim = image_quality(image, clean)
        console.print(f"   {name:8s} {psnr:5.2f}  {ssim:.3f}")
    return {"clean": clean, **pictures}


def _save_side_by_side(pictures: dict[str, np.ndarray], path: Path) -> None:
    clean = pictures["clean"]
    words = {name: quality_in_words(pictures[name], clean) for name in ("noisy", "learned")}
    shown = [(f"{name}: {quality}", pictures[name]) for name, quality in words.items()]
    write_picture(path, side_by_side([[*shown, ("original", clean)]], gap=8, framed=True))


def _program() -> str:
    """What to type to call the command line again: after ``make demo`` its name alone may not be found."""
    called = Path(sys.argv[0])
    return str(called) if called.stem == "sedil" and which("sedil") is None else "sedil"


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
