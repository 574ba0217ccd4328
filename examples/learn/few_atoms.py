"""
A picture from few atoms
========================

Sparse codes say a patch in few numbers. Here a picture is cut into patches, each is coded by at most so many
atoms of a shipped dictionary, and put together again.
"""

from matplotlib import pyplot as plt
from skimage import data
from skimage.metrics import peak_signal_noise_ratio

import sedil

image = data.camera()[60:252, 130:322].astype(float)
side = 16
patches = image.reshape(12, side, 12, side).swapaxes(1, 2).reshape(-1, side, side)
means = patches.mean(axis=(1, 2), keepdims=True)
dictionary = sedil.shipped_dictionary("separable-16x16").like(patches)

# %%
# Pursuit adds one atom after the other to each patch, the one that helps most.


def from_few_atoms(count):
    """The picture, of so many atoms a patch."""
    codes = sedil.sparse_code(dictionary, patches - means, method="pursuit", max_error=1.0, max_atoms=count)
    rebuilt = dictionary.synthesize(codes) + means
    return rebuilt.reshape(12, 12, side, side).swapaxes(1, 2).reshape(image.shape)


figure, axes = plt.subplots(1, 4, figsize=(12, 3.5), layout="compressed")
for ax, count in zip(axes, (2, 8, 32, None), strict=True):
    picture = image if count is None else from_few_atoms(count)
    ax.imshow(picture, cmap="gray", vmin=0, vmax=255)
    ax.set_title(
        "photograph\n256 pixels a patch"
        if count is None
        else f"{count} atoms a patch\n{peak_signal_noise_ratio(image, picture, data_range=255):.2f} dB"
    )
    ax.set_axis_off()
plt.show()
