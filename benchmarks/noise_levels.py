"""How well a single picture tells its noise: levels, gain and read noise, kinds, and JPEG.

Usage: python benchmarks/noise_levels.py {levels,photons,jpeg,default} --data DATA   (minutes each, one core)

Writes results/noise-levels.csv, noise-photons.csv, noise-jpeg.csv or noise-default.csv, and prints a summary.
The pictures are training ones: eleven classic photographs, 24 of Kodak in grey, and a hundred of Berkeley,
180x180. Photographs have grain of their own, and all that can be measured in a noisy one is the root of both
variances: so `own` is what is found in the picture as it is.

levels: white noise, not clipped; the level found, and by the wavelet coefficients of `estimate_noise`.
photons: gain and read noise, and whether they are taken for photons by default.
jpeg: parts of 128x128, denoised without sigma, and with the best of seven multiples of the true one.
default: parts of 128x128, denoised without sigma, and with that of `estimate_noise`.
"""

import argparse
import io
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator
from itertools import product
from pathlib import Path

import numpy as np
from PIL import Image
from recipes import middle
from rows import write_rows

import sedil
from sedil.image_files.grey_images import read_grey
from sedil.imaging.measured_noise import usual_noise
from sedil.imaging.quality import image_quality

SIGMAS = (1, 2, 5, 10, 25, 50)
SMALL_GRAIN = 0.3  # of sigma
# Grey levels a photon; and the noise of reading beside that of the photons at brightness 100.
GAINS, READ_SHARES, PEAKS = (0.25, 1.0, 4.0), (0.5, 1.0), (1, 2, 5, 10, 30, 60, 120, 255)
MULTIPLES = (0.7, 0.8, 0.9, 1.0, 1.1, 1.2, 1.35)
SIDE, N_BERKELEY = 128, 400
PARTS_OF_KODAK, STEP_OF_PARTS = (3, 5, 7, 11, 13, 19, 21, 23), 80
Pictures = Iterator[tuple[str, str, np.ndarray]]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=MEASURES)
    parser.add_argument("--data", type=Path, required=True, help="folder that holds images/train")
    parser.add_argument("--output", type=Path, default=Path("results"))
    parser.add_argument("--threads", type=int, default=1)
    arguments = parser.parse_args()
    measure, summarise = MEASURES[arguments.what]
    rows: list[dict] = []
    for row in measure(arguments.data / "images/train", arguments.threads):
        rows.append(row)
    write_rows(arguments.output / f"noise-{arguments.what}.csv", rows)
    summarise(rows)


def pictures(folder: Path, berkeley: Iterable[int] = range(0, N_BERKELEY, 4)) -> Pictures:
    """Set, name and pixels of each."""
    for path in sorted(folder.glob("*.png")):
        yield "classic", path.stem, read_grey(path).astype(np.float64)
    for path in sorted(folder.glob("kodak24/*.png")):
        yield "kodak", path.stem, read_grey(path).astype(np.float64)
    images = np.load(folder / "bsd400_180x180.npz", allow_pickle=False)["images"]
    for number in berkeley:
        yield "berkeley", f"bsd{number:03d}", images[number].astype(np.float64)


def parts(folder: Path) -> Pictures:
    kodak = {f"kodim{number:02d}" for number in PARTS_OF_KODAK}
    for group, name, picture in pictures(folder, range(40, N_BERKELEY, STEP_OF_PARTS)):
        if group != "kodak" or name in kodak:
            yield group, name, middle(picture, SIDE)


def noise_like(picture: np.ndarray) -> np.ndarray:
    return np.random.default_rng(1).standard_normal(picture.shape)


def as_jpeg(picture: np.ndarray, quality: int) -> np.ndarray:
    packed = io.BytesIO()
    Image.fromarray(np.clip(np.rint(picture), 0, 255).astype(np.uint8)).save(packed, "JPEG", quality=quality)
    return np.asarray(Image.open(packed))


def measure_levels(folder: Path, threads: int) -> Iterator[dict]:
    for group, name, picture in pictures(folder):
        own = sedil.measure_noise(picture, kind="white").sigma[0]
        for sigma in SIGMAS:
            noisy = picture + sigma * noise_like(picture)
            found = sedil.measure_noise(noisy, kind="white")
            yield {
                "set": group,
                "picture": name,
                "sigma": sigma,
                "own": round(own, 3),
                "found": round(found.sigma[0], 3),
                "uncertainty": round(found.uncertainty, 3),
                "by wavelets": round(sedil.estimate_noise(noisy), 3),
                "kind by default": usual_noise(noisy).kind,
            }


def summarise_levels(rows: list[dict]) -> None:
    print("mean error in %, and how many of the pictures are within 5 %: beside sigma; beside the root of")
    print("both variances; beside sigma where the own grain is below 0.3 sigma; by wavelets, beside sigma")
    for (group, sigma), some in by(rows, "set", "sigma").items():
        noise, own, found, former = (
            np.array([row[key] for row in some]) for key in ("sigma", "own", "found", "by wavelets")
        )
        clean = own < SMALL_GRAIN * sigma
        print(
            f"{group:9} {sigma:3}  {errors(found / noise)}  {errors(found / np.hypot(noise, own))}  "
            f"{errors((found / noise)[clean])}  {errors(former / noise)}"
        )
    print("taken for photons:", sum(row["kind by default"] != "white" for row in rows), "of", len(rows))


def measure_photons(folder: Path, threads: int) -> Iterator[dict]:
    for group, name, picture in pictures(folder):
        for gain, share in product(GAINS, READ_SHARES):
            yield photon_row(group, name, picture, "", gain, share * np.sqrt(100 * gain))
        if group == "classic":
            for peak in PEAKS:
                yield photon_row(group, name, picture * (peak / 255), peak, 1.0, 0.0)


def photon_row(group: str, name: str, light: np.ndarray, peak: object, gain: float, read: float) -> dict:
    noisy = gain * np.random.default_rng(1).poisson(light / gain) + read * noise_like(light)
    found = sedil.measure_noise(noisy, kind="poisson-gaussian")
    return {
        "set": group,
        "picture": name,
        "peak": peak,
        "gain": gain,
        "read noise": round(read, 3),
        "gain found": round(found.gain[0], 4),
        "read noise found": round(found.read_noise[0], 3),
        "kind by default": usual_noise(noisy).kind,
    }


def summarise_photons(rows: list[dict]) -> None:
    print("median error of gain and of read noise in %, how many are within 10 %, and are taken for photons")
    for key, some in by(rows, "set", "peak", "gain", "read noise").items():
        gains = np.array([row["gain found"] / row["gain"] for row in some])
        reads = np.array([row["read noise found"] / (row["read noise"] or np.inf) for row in some])
        words = [
            f"{100 * np.median(abs(each - 1)):5.1f} {sum(abs(each - 1) < 0.1):3}" for each in (gains, reads)
        ]
        of_photons = sum(row["kind by default"] == "poisson-gaussian" for row in some)
        print(*key, *words, of_photons, "of", len(some), sep="  ")


def measure_jpeg(folder: Path, threads: int) -> Iterator[dict]:
    for group, name, clean in parts(folder):
        for quality, sigma in product((75, 95), (15, 25)):
            noisy = as_jpeg(clean + sigma * noise_like(clean), quality)
            known = {
                multiple: quality_of(sedil.denoise(noisy, multiple * sigma, threads=threads), clean)
                for multiple in MULTIPLES
            }
            best = max(known, key=known.__getitem__)
            yield {
                "set": group,
                "picture": name,
                "quality": quality,
                "sigma": sigma,
                "found": round(sedil.measure_noise(noisy, kind="white").sigma[0], 2),
                "best sigma": best * sigma,
                "psnr with best": round(known[best], 3),
                "psnr blind": round(quality_of(sedil.denoise(noisy, threads=threads), clean), 3),
            }


def summarise_jpeg(rows: list[dict]) -> None:
    print("PSNR without sigma less that with the best: mean, the three worst, how many are within 0.3 dB")
    for key, some in by(rows, "quality", "sigma").items():
        below = {row["picture"]: row["psnr blind"] - row["psnr with best"] for row in some}
        worst = [f"{name} {below[name]:.2f}" for name in sorted(below, key=below.__getitem__)[:3]]
        within = sum(each > -0.3 for each in below.values())
        print(*key, f"{np.mean(list(below.values())):.3f}", worst, within, "of", len(some))


def measure_default(folder: Path, threads: int) -> Iterator[dict]:
    cases: dict[str, Callable[[np.ndarray], np.ndarray]] = {
        f"sigma {sigma}": lambda clean, sigma=sigma: clean + sigma * noise_like(clean) for sigma in SIGMAS
    }
    cases |= {f"clean, JPEG {quality}": lambda clean, q=quality: as_jpeg(clean, q) for quality in (95, 75)}
    cases |= {"sigma 15, JPEG 75": lambda clean: as_jpeg(clean + 15 * noise_like(clean), 75)}
    for group, name, clean in parts(folder):
        for case, made in cases.items():
            noisy = made(clean)
            former = sedil.estimate_noise(noisy)
            yield {
                "set": group,
                "picture": name,
                "case": case,
                "psnr": round(quality_of(sedil.denoise(noisy, threads=threads), clean), 3),
                "psnr by wavelets": round(
                    quality_of(sedil.denoise(noisy, former, threads=threads) if former else noisy, clean), 3
                ),
            }


def summarise_default(rows: list[dict]) -> None:
    print("PSNR less that with the level of wavelet coefficients: mean, least")
    for key, some in by(rows, "case").items():
        more = [row["psnr"] - row["psnr by wavelets"] for row in some]
        print(*key, f"{np.mean(more):+.2f} {min(more):+.2f}", sep="  ")


def quality_of(image: np.ndarray, clean: np.ndarray) -> float:
    return image_quality(image.astype(np.float64), clean)[0]


def errors(ratios: np.ndarray) -> str:
    """Mean in %, and how many are within 5 %."""
    if not len(ratios):
        return "   -   0/0  "
    off = np.abs(ratios - 1)
    return f"{100 * np.mean(off):5.1f} {np.count_nonzero(off < 0.05):3}/{len(off):<3}"


def by(rows: list[dict], *keys: str) -> dict[tuple, list[dict]]:
    """Rows that have these in common."""
    groups = defaultdict(list)
    for row in rows:
        groups[tuple(row[key] for key in keys)].append(row)
    return groups


MEASURES = {
    "levels": (measure_levels, summarise_levels),
    "photons": (measure_photons, summarise_photons),
    "jpeg": (measure_jpeg, summarise_jpeg),
    "default": (measure_default, summarise_default),
}


if __name__ == "__main__":
    main()
