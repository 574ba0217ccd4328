"""How the recipe of the shipped dictionaries was chosen: denoising photographs and stripes never trained on.

Usage: python benchmarks/recipes.py collect --data DATA   (reads the pictures, writes recipes-data.npz)
       python benchmarks/recipes.py measure [--device cuda]   (writes results/recipes.csv)

Three groups of validation pictures: classic photographs, Kodak photographs, and the 64x64 regions of BSD
photographs that are most like one wave of less than seven pixels, one per photograph. None is among the five
test images or the training images. Two steps, so that the second can run where there is no picture reader.
"""

import argparse
from pathlib import Path

import numpy as np
from rows import write_rows

import sedil
from sedil.arrays import to_numpy
from sedil.engines.portable import products
from sedil.engines.portable.l1 import LassoProblem, fista, refit
from sedil.imaging.image_dictionaries import REFIT_ITERATIONS, SUPPORT_EFFORT
from sedil_studies.pretrained import recipes as shipped
from sedil_studies.pretrained.plane_waves import plane_waves

COLLECTED = Path("recipes-data.npz")
SIGMAS = (5, 10, 20, 30, 50)
CLASSIC = ("couple", "hill", "man", "lake", "woman_darkhair", "walkbridge", "woman_blonde", "jetplane")
KODAK = (8, 19, 13, 24, 5, 1, 4, 18)
N_STRIPES, REGION, WINDOW = 40, 64, 16

BASE = {"side": 12, "scale": shipped.SCALE, "coherence": shipped.COHERENCE, "waves": 0.05, "start": "odct"}
BASE |= {"iterations": shipped.MAX_ITERATIONS, "threshold": 3.25}
VARIANTS = [
    BASE,
    BASE | {"threshold": 3.05},
    BASE | {"threshold": 3.4},
    BASE | {"waves": 0.0},
    BASE | {"waves": 0.1},
    BASE | {"coherence": 0.01},
    BASE | {"coherence": 0.1},
    BASE | {"coherence": 1.0},
    BASE | {"scale": 2.0},
    BASE | {"scale": 8.0},
    BASE | {"start": "random"},
    BASE | {"iterations": 300},
    BASE | {"side": 8},
    BASE | {"side": 16},
    BASE | {"dictionary": "odct", "threshold": 3.05},
    BASE | {"dictionary": "odct", "threshold": 3.25},
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("step", choices=["collect", "measure"])
    parser.add_argument("--data", type=Path, help="folder that holds images/train")
    parser.add_argument("--device", default="cpu", help="of torch, which measuring needs")
    parser.add_argument("--output", type=Path, default=Path("results/recipes.csv"))
    arguments = parser.parse_args()
    if arguments.step == "collect":
        collect(arguments.data / "images/train")
    else:
        measure(np.load(COLLECTED), arguments.device, arguments.output)


def collect(folder: Path) -> None:
    from sedil.image_files.grey_images import read_grey, scikit_image_photographs

    kodak = [read_grey(folder / f"kodak24/kodim{number:02d}.png") for number in KODAK]
    np.savez_compressed(
        COLLECTED,
        classic=[middle(read_grey(folder / f"{name}.png")) for name in CLASSIC],
        kodak=[middle(image) for image in kodak],
        stripes=striped_regions(np.load(folder / "bsd400_180x180.npz")["images"].astype(np.float32)),
        **{f"training {n}": image for n, image in enumerate(scikit_image_photographs(shipped.IMAGES))},
    )


def middle(image: np.ndarray, side: int = 256) -> np.ndarray:
    top, left = ((length - side) // 2 for length in image.shape)
    return image[top : top + side, left : left + side].astype(np.float32)


def striped_regions(photographs: np.ndarray) -> np.ndarray:
    best = sorted((most_striped(image) for image in photographs), key=lambda scored: -scored[0])
    return np.stack([region for _, region in best[:N_STRIPES]])


def most_striped(image: np.ndarray) -> tuple[float, np.ndarray]:
    starts = range(0, image.shape[0] - REGION + 1, 29)
    regions = [image[y : y + REGION, x : x + REGION] for y in starts for x in starts]
    scores = [stripiness(region) for region in regions]
    return max(scores), regions[int(np.argmax(scores))]


def stripiness(region: np.ndarray) -> float:
    """Share of the energy of its windows in one high frequency, on average."""
    taper = np.hanning(WINDOW + 2)[1:-1]
    windows = np.lib.stride_tricks.sliding_window_view(region, (WINDOW, WINDOW))[::8, ::8]
    windows = windows.reshape(-1, WINDOW, WINDOW)
    windows = (windows - windows.mean(axis=(1, 2), keepdims=True)) * np.outer(taper, taper)
    power = np.abs(np.fft.fft2(windows)) ** 2
    frequency = np.hypot(*np.meshgrid(np.fft.fftfreq(WINDOW), np.fft.fftfreq(WINDOW)))
    peak = np.sort(np.where(frequency > 0.14, power, 0).reshape(len(power), -1), axis=1)[:, -6:]
    # A wave is six bins after the taper, with its mirror image. The constant lets flat windows count less.
    return float(np.mean(peak.sum(axis=1) / (power.sum(axis=(1, 2)) + 2 * WINDOW**4)))


def measure(collected, device: str, output: Path) -> None:
    import torch

    training = [collected[name] for name in collected.files if name.startswith("training")]
    rows: list[dict] = []
    learned: dict[str, sedil.SeparableDictionary] = {}
    for variant in VARIANTS:
        shape, n_atoms = (variant["side"],) * 2, (2 * variant["side"],) * 2
        recipe = str({name: value for name, value in variant.items() if name != "threshold"})
        if variant.get("dictionary") == "odct":
            dictionary = sedil.odct(shape, n_atoms)
        elif recipe in learned:
            dictionary = learned[recipe]
        else:
            dictionary = learned[recipe] = learn(variant, training, shape, n_atoms, device)
        factors = [torch.asarray(to_numpy(f), device=device).float() for f in dictionary.factors]
        for sigma in SIGMAS:
            groups = {
                group: group_quality(collected[group], group, sigma, factors, variant["threshold"])
                for group in ("classic", "kodak", "stripes")
            }
            rows.append({"dictionary": "learned"} | variant | {"sigma": sigma} | groups)
            print(rows[-1], flush=True)
        write_rows(output, rows)


def learn(variant: dict, training: list, shape: tuple, n_atoms: tuple, device: str):
    import torch

    n_waves = round(variant["waves"] * shipped.N_PATCHES)
    photographs = sedil.sample_patches(training, shape, shipped.N_PATCHES - n_waves, 0)
    patches = sedil.normalize_patches(np.concatenate([photographs, plane_waves(shape, n_waves, 1)]))
    rho = variant["scale"] * shape[0] * shape[1]
    return sedil.learn(
        torch.asarray(patches, device=device),
        n_atoms,
        initial=variant["start"],
        sparsity_scale=rho,
        sparsity_weight=1 / rho,
        coherence_weight=variant["coherence"] / sum(n * (n - 1) // 2 for n in n_atoms),
        max_iterations=variant["iterations"],
        random_state=0,
    ).dictionary


def group_quality(images: np.ndarray, group: str, sigma: float, factors: list, threshold: float) -> float:
    """Mean PSNR of a group, all its images at once."""
    import torch

    rng = np.random.default_rng([len(group), sigma])
    noisy = images + sigma * rng.standard_normal(images.shape).astype(np.float32)
    cleaned = denoise(torch.asarray(noisy, device=factors[0].device), sigma, factors, threshold)
    errors = np.mean((to_numpy(cleaned).astype(np.float64) - images) ** 2, axis=(1, 2))
    return round(float(np.mean(10 * np.log10(255**2 / errors))), 3)


def denoise(images, sigma: float, factors: list, threshold: float):
    """`sedil.denoise` for a stack of images on any device."""
    from torch.nn.functional import fold, unfold

    shape = tuple(factor.shape[0] for factor in factors)
    patches = unfold(images[:, None], shape)
    n_images, n_entries, _ = patches.shape
    flat = patches.permute(1, 0, 2).reshape(n_entries, -1)
    means = flat.mean(0)
    problem = LassoProblem(factors, (flat - means).reshape(*shape, -1), threshold * sigma)
    codes = refit(problem, fista(problem, SUPPORT_EFFORT).codes, REFIT_ITERATIONS)
    weights = 1 / (1 + (codes != 0).reshape(-1, flat.shape[1]).sum(0)).float()
    cleaned = products.synthesize(factors, codes).reshape(flat.shape) + means

    def add_up(values):
        stacked = values.reshape(n_entries, n_images, -1).permute(1, 0, 2)
        return fold(stacked, tuple(images.shape[1:]), shape)[:, 0]

    return add_up(weights * cleaned) / add_up(weights.expand_as(cleaned))


if __name__ == "__main__":
    main()
