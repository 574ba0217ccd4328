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
from sedil.files import require_writable, write_picture
from sedil.imaging.images import scikit_image_photographs
from sedil.progress import progress_bar

# Photographs inside the scikit-image package itself; nothing is downloaded.
IMAGES = ("astronaut", "camera", "rocket", "brick", "grass", "cat")
HELD_OUT = "coffee"
_PATCH_SHAPE, _N_ATOMS = (8, 8), (16, 16)
_N_PATCHES, _N_HELD_OUT = 20_000, 1_000
_MAX_ITERATIONS = 400
_SIGMA = 20.0
_PART = (slice(72, 328), slice(150, 406))  # the cup


def run_demo(folder: Path, console: Console) -> sedil.LearningResult:
    """Learn an 8x8 dictionary with 16x16 atoms, compare it with the ODCT, denoise with both, save it all."""
    say = partial(console.print, markup=False, emoji=False, highlight=False, soft_wrap=True)
    file, picture, comparison = (folder / name for name in ("dictionary.npz", "atoms.png", "denoised.png"))
    _make_folder(folder)
    for place in (file, picture, comparison):
        require_writable(place)
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

    say(f"4. denoising a part of it with noise of sigma {_SIGMA:g} added (PSNR in dB, SSIM)")
    clean = scikit_image_photographs([HELD_OUT])[0][_PART]
    noisy = clean + _SIGMA * np.random.default_rng(0).standard_normal(clean.shape).astype(np.float32)
    denoised = {
        "noisy": noisy,
        "ODCT": sedil.denoise(noisy, _SIGMA, sedil.odct(_PATCH_SHAPE, _N_ATOMS)),
        "learned": sedil.denoise(noisy, _SIGMA, result.dictionary),
    }
    for name, image in denoised.items():
        psnr, ssim = image_quality(image, clean)
        say(f"   {name:8s} {psnr:5.2f}  {ssim:.3f}")

    mosaic.save(result.dictionary, picture)
    side_by_side = np.concatenate([noisy, denoised["learned"], clean], axis=1)
    write_picture(comparison, np.clip(np.rint(side_by_side), 0, 255).astype(np.uint8))
    say(f"5. saved {file}, its atoms as {picture}")
    say(f"   and noisy, denoised and original side by side as {comparison}")
    say(f"   next: sedil show {file}")
    return result


def image_quality(image: np.ndarray, clean: np.ndarray) -> tuple[float, float]:
    """PSNR and SSIM on the scale 0 to 255, SSIM with the settings of Wang et al. (2004)."""
    from skimage.metrics import peak_signal_noise_ratio, structural_similarity

    wang = {"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False}
    return (
        float(peak_signal_noise_ratio(clean, image, data_range=255)),
        float(structural_similarity(clean, image, data_range=255, **wang)),
    )


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
