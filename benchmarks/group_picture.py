"""One group of alike patches, its own two factors, and what is kept: the picture of docs/groups.md.

python benchmarks/group_picture.py            # writes results/group.png
"""

from __future__ import annotations

import argparse
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from skimage import data

import sedil
from sedil.imaging.groups import group_settings

SIGMA = 25.0
SETTINGS = group_settings((512, 512))
SIDE, MEMBERS = SETTINGS.patch_shape[0], SETTINGS.n_members
FIRST_LEVEL = 1.2  # of the first pass
CORNER = 230, 300  # a patch on the tripod of the camera
SHOWN = 12  # members and directions


def main() -> None:
    """Draw it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--output", type=Path, default=Path("results/group.png"))
    output = parser.parse_args().output
    rng = np.random.default_rng(0)
    noisy = data.camera() + SIGMA * rng.standard_normal((512, 512))
    guide = sedil.denoise(noisy, SIGMA, "separable-16x16", stride=4)
    part = tuple(slice(at - 19, at + 19 + SIDE) for at in CORNER)
    found = sedil.match_patches(guide[part], SIDE, MEMBERS, window=39, stride=SIDE)
    row = int(np.flatnonzero((found.corners == 18).all(axis=1))[0])
    corners = found.matches[row] + [side.start for side in part]
    group = np.stack([noisy[y : y + SIDE, x : x + SIDE].ravel() for y, x in corners])
    left, values, right = np.linalg.svd(group - group.mean(axis=0), full_matrices=False)
    share = kept_share(values**2)
    cleaned = group.mean(axis=0) + (left * (share * values)) @ right

    figure = plt.figure(figsize=(9, 5), layout="constrained")
    grid = figure.add_gridspec(4, 2, width_ratios=[1, 2], height_ratios=[1, 1, 1, 1.5])
    axes = figure.add_subplot(grid[:3, 0])
    window = tuple(slice(side.start - 5, side.stop + 5) for side in part)
    axes.imshow(noisy[window], cmap="gray")
    for y, x in corners:
        where = x - window[1].start - 0.5, y - window[0].start - 0.5
        axes.add_patch(plt.Rectangle(where, SIDE, SIDE, fill=False, edgecolor="tab:orange", lw=0.7))
    axes.set_title(f"a patch and the {MEMBERS - 1} most like it", fontsize=9)
    axes.axis("off")
    rows = (
        ("members Y, noisy", group, False),
        ("columns of B: what directions look like", right, True),
        ("members, cleaned", cleaned, False),
    )
    for number, (title, patches, signed) in enumerate(rows):
        axes = figure.add_subplot(grid[number, 1])
        axes.imshow(side_by_side(patches, signed), cmap="gray")
        axes.set_title(title, fontsize=9)
        axes.axis("off")
    axes = figure.add_subplot(grid[3, 0])
    axes.imshow(left[:, :SHOWN], cmap="coolwarm", vmin=-0.5, vmax=0.5, aspect="auto", interpolation="nearest")
    axes.set_title("columns of A: members in each direction", fontsize=9)
    axes.set(xlabel="direction", ylabel="member")
    axes = figure.add_subplot(grid[3, 1])
    axes.set_title("code: how strong each direction is", fontsize=9)
    axes.bar(np.arange(len(values)), values, color="0.8", label="code, noisy")
    axes.bar(np.arange(len(values)), share * values, color="tab:orange", width=0.5, label="code, kept")
    axes.set_xlabel("direction")
    axes.legend(fontsize=8)
    figure.savefig(output, dpi=110)


def kept_share(energies: np.ndarray) -> np.ndarray:
    """Of directions with these energies; see docs/groups.md."""
    threshold = SETTINGS.shrinkage.strength * (np.sqrt(MEMBERS) + SIDE) ** 2 * (FIRST_LEVEL * SIGMA) ** 2
    share = energies / (energies + threshold)
    for _ in range(SETTINGS.shrinkage.smooth_steps):
        share = 3 * share**2 - 2 * share**3
    return share


def side_by_side(patches: np.ndarray, signed: bool) -> np.ndarray:
    """The first of them in one row, each on its own scale if it has signs."""
    shown = patches[:SHOWN].reshape(SHOWN, SIDE, SIDE)
    if signed:
        shown = shown / np.abs(shown).max(axis=(1, 2), keepdims=True)
    blank = np.full((SIDE, 1), shown.max())
    return np.hstack([column for patch in shown for column in (patch, blank)][:-1])


if __name__ == "__main__":
    main()
