"""
Find similar patches
====================

Photographs repeat themselves, and denoising by groups lives on that. :func:`sedil.match_patches` finds, for
each patch, those around it that are most like it; the search is exact.
"""

import numpy as np
from matplotlib import pyplot as plt
from skimage import data

import sedil

image = data.brick()[:160, :160]
found = sedil.match_patches(image, (12, 12), n_matches=12, window=101, stride=4)
print(f"{len(found.corners)} patches, {found.matches.shape[1]} matches for each")

# %%
# One patch where bricks meet, and the eleven that are nearest to it.

chosen = int(np.abs(found.corners - 54).sum(axis=1).argmin())
matches, distances = found.matches[chosen], found.distances[chosen]

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.6), layout="constrained")
left.imshow(image, cmap="gray")
for k, (row, column) in reversed(list(enumerate(matches))):
    line = {"ec": "red", "lw": 3} if k == 0 else {"ec": "cyan", "lw": 1}
    left.add_patch(plt.Rectangle((column - 0.5, row - 0.5), 12, 12, fill=False, **line))
left.set_title("a patch (red) and its matches")
left.set_axis_off()

tiles = [np.pad(image[r : r + 12, c : c + 12], 1, constant_values=255) for r, c in matches]
right.imshow(np.vstack([np.hstack(tiles[k : k + 4]) for k in (0, 4, 8)]), cmap="gray", vmin=0, vmax=255)
for k, distance in enumerate(distances):
    right.text(14 * (k % 4) + 1, 14 * (k // 4) + 2.3, f"{distance / 12:.1f}", color="yellow", fontsize=9)
right.set_title("the patches, and their difference in grey levels")
right.set_axis_off()
plt.show()
