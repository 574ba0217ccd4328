"""The demonstration behind ``make demo``: learn from pictures that scikit-image carries."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from rich.console import Console

import sedil
from sedil import mosaic
from sedil.progress import progress_bar

# Photographs inside the scikit-image package itself; nothing is downloaded.
IMAGES = ("astronaut", "camera", "coffee", "rocket", "brick", "grass", "cat")
_N_PATCHES = 20_000
_MAX_ITERATIONS = 400


def run_demo(folder: Path, console: Console) -> sedil.LearningResult:
    """Learn an 8x8 dictionary with 16x16 atoms, compare it with the ODCT, save it and its picture."""
    folder.mkdir(parents=True, exist_ok=True)
    console.print(f"1. {_N_PATCHES} patches of 8x8 from {len(IMAGES)} photographs: {', '.join(IMAGES)}")
    patches = sedil.sample_patches(demo_images(), (8, 8), _N_PATCHES + 1000, random_state=0)
    patches = sedil.normalize_patches(patches)
    held_out, training = patches[:1000], patches[1000:]

    console.print("2. learning a separable dictionary, 16x16 atoms (Ctrl-C stops early)")
    with progress_bar(_MAX_ITERATIONS) as show:
        result = sedil.learn(
            training, (16, 16), max_iterations=_MAX_ITERATIONS, random_state=0, callback=show
        )
    result.dictionary.info.update(images=list(IMAGES), seed=0)
    console.print(str(result), markup=False, soft_wrap=True)

    console.print("3. coding 1,000 patches that it has not seen, at the same l1 penalty")
    for name, dictionary in {
        "learned": result.dictionary,
        "ODCT": sedil.odct((8, 8), (16, 16)).like(held_out),
    }.items():
        nonzeros, error = coding_quality(dictionary, held_out)
        console.print(
            f"   {name:8s} {nonzeros:5.1f} coefficients per patch, {error:.1%} of the energy missed"
        )

    result.dictionary.save(folder / "dictionary.npz")
    mosaic.save(result.dictionary, folder / "atoms.png")
    console.print(f"4. saved {folder / 'dictionary.npz'} and its atoms as {folder / 'atoms.png'}")
    console.print(f"   next: sedil show {folder / 'dictionary.npz'}")
    return result


def demo_images() -> list[np.ndarray]:
    """The photographs, grey, float32, on the scale 0 to 255."""
    from skimage import color, data

    pictures = [getattr(data, name)() for name in IMAGES]
    return [
        (255 * color.rgb2gray(picture) if picture.ndim == 3 else picture).astype(np.float32)
        for picture in pictures
    ]


def coding_quality(
    dictionary: sedil.SeparableDictionary, patches: np.ndarray, penalty: float = 0.1
) -> tuple[float, float]:
    """Mean number of coefficients, and the share of the energy that they miss."""
    codes = sedil.sparse_code(dictionary, patches, penalty)
    residual = dictionary.synthesize(codes) - patches
    nonzeros = np.count_nonzero(codes) / len(codes)
    return nonzeros, float(np.sum(residual**2) / np.sum(patches**2))
