"""Draws the pictures of `how_it_works.md` into `pictures/`: python docs/drawings.py."""

from pathlib import Path

import numpy as np
from matplotlib import pyplot as plt
from skimage import data

import sedil

PICTURES = Path(__file__).parent / "pictures"
SIDE, MEMBERS, SIGMA = 8, 32, 25


def main():
    """Draw all of them."""
    PICTURES.mkdir(exist_ok=True)
    for draw in (separable, groups):
        figure = draw()
        figure.savefig(PICTURES / f"{draw.__name__}.png", dpi=110)
        plt.close(figure)


def separable():
    """One patch of a photograph, as a product of two factors and a sparse code."""
    patch = data.camera()[138:146, 236:244].astype(np.float32)  # at an eye
    dictionary = sedil.shipped_dictionary("separable-8x8")
    mean = patch.mean()
    options = {"method": "pursuit", "max_error": 1.0, "max_atoms": 6}
    code = sedil.sparse_code(dictionary, (patch - mean)[None], **options)[0]
    rebuilt = dictionary.synthesize(code) + mean
    first, second = dictionary.factors

    figure = plt.figure(figsize=(11, 5.6), layout="constrained")
    top, bottom = figure.subfigures(2, 1, height_ratios=[1.05, 1])
    axes = top.subplots(1, 9, width_ratios=[8, 2, 16, 2, 16, 2, 16, 2, 8])
    roots = np.sign(code) * np.sqrt(np.abs(code))  # or the largest would hide all others
    pictures = [patch, "≈", first, "·", roots, "·", second.T, "+", np.full((8, 8), mean)]
    titles = [
        "patch",
        "",
        "factor A",
        "",
        f"code, {np.count_nonzero(code)} of 256",
        "",
        "factor B, turned",
        "",
        "mean",
    ]
    sizes = ["8x8", "", "8x16", "", "16x16", "", "16x8", "", "1 number"]
    for ax, picture, title, size in zip(axes, pictures, titles, sizes, strict=True):
        ax.set_axis_off()
        if isinstance(picture, str):
            ax.text(0.5, 0.5, picture, ha="center", va="center", fontsize=22)
            continue
        limit = np.abs(picture).max()
        is_pixels = title in ("patch", "mean")
        limits = {"vmin": 0, "vmax": 255, "cmap": "gray"}
        ax.imshow(picture, **limits if is_pixels else {"vmin": -limit, "vmax": limit, "cmap": "RdBu_r"})
        ax.set_title(title, fontsize=11)
        ax.text(0.5, -0.06, size, transform=ax.transAxes, ha="center", va="top", fontsize=10)

    used = np.argwhere(code)
    used = used[np.argsort(-np.abs(code[tuple(used.T)]))]
    axes = bottom.subplots(1, len(used) + 2)
    for ax, (i, j) in zip(axes, used, strict=False):
        atom = np.outer(first[:, i], second[:, j])
        ax.imshow(atom, cmap="RdBu_r", vmin=-np.abs(atom).max(), vmax=np.abs(atom).max())
        ax.set_title(f"{code[i, j]:+.0f} times", fontsize=11)
        ax.text(
            0.5, -0.06, f"column {i} of A\ncolumn {j} of B", transform=ax.transAxes, ha="center", va="top"
        )
    axes[-2].set_title("sum, with the mean", fontsize=11)
    axes[-2].imshow(rebuilt, cmap="gray", vmin=0, vmax=255)
    axes[-1].set_title("patch", fontsize=11)
    axes[-1].imshow(patch, cmap="gray", vmin=0, vmax=255)
    for ax in axes:
        ax.set_axis_off()
    top.suptitle("A patch is a product of two small factors and a code that is mostly zero", fontsize=13)
    bottom.suptitle("The same as a sum: each atom is a column of A times a column of B", fontsize=13)
    return figure


def groups():
    """Alike patches of a noisy photograph are cleaned together."""
    image = data.camera()[60:188, 180:308].astype(np.float32)
    noisy = image + SIGMA * np.random.default_rng(0).standard_normal(image.shape).astype(np.float32)
    guide = sedil.denoise(noisy, sigma=SIGMA, method="quick")
    found = sedil.match_patches(guide, SIDE, MEMBERS)
    chosen = int(np.abs(found.corners - (24, 70)).sum(axis=1).argmin())
    corners = found.matches[chosen]
    group = np.stack([noisy[r : r + SIDE, c : c + SIDE].ravel() for r, c in corners])
    cleaned = shrunk(group)
    result = sedil.denoise(noisy, sigma=SIGMA)

    figure, axes = plt.subplots(1, 4, figsize=(13, 4.1), layout="constrained")
    for ax, picture, title in (
        (axes[0], noisy, f"1. find the {MEMBERS} patches\nmost like one (red)"),
        (axes[1], group, "2. write them as a matrix,\none patch a row"),
        (axes[2], cleaned, "3. keep the directions\nthat stand out of the noise"),
        (axes[3], result, "4. put all patches back and average;\nthen once more"),
    ):
        ax.imshow(
            picture, cmap="gray", vmin=0, vmax=255, aspect="auto" if picture.shape[0] == MEMBERS else "equal"
        )
        ax.set_title(title, fontsize=12)
        ax.set(xticks=[], yticks=[])
    for ax in axes[1:3]:
        ax.set(xlabel=f"{SIDE * SIDE} pixels", ylabel=f"{MEMBERS} patches")
    for k, (row, column) in reversed(list(enumerate(corners))):
        colour = "red" if k == 0 else "cyan"
        box = plt.Rectangle(
            (column - 0.5, row - 0.5), SIDE, SIDE, fill=False, ec=colour, lw=2 if k == 0 else 0.8
        )
        axes[0].add_patch(box)
    return figure


def shrunk(group):
    """The step of `groups.md`: directions below the threshold go, with two smooth steps."""
    mean = group.mean(axis=0)
    rest = group - mean
    gram = rest @ rest.T
    threshold = 0.54 * (np.sqrt(MEMBERS) + SIDE) ** 2 * SIGMA**2
    share = threshold * np.linalg.inv(gram + threshold * np.eye(MEMBERS))
    for _ in range(2):
        share = 3 * share @ share - 2 * share @ share @ share
    return rest - share @ rest + mean


if __name__ == "__main__":
    main()
