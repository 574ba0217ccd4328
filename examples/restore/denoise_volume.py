"""
Denoise a volume
================

A volume is denoised as a whole: blocks of voxels are compared with blocks of neighbouring slices too. Slice
by slice the same method has less to go by.
"""

import numpy as np
from matplotlib import pyplot as plt
from scipy.ndimage import gaussian_filter
from skimage import data
from skimage.metrics import peak_signal_noise_ratio

import sedil

# %%
# A piece of foam as a scanner might see it: 32 slices of 64x64 voxels.

foam = data.binary_blobs(64, blob_size_fraction=0.2, n_dim=3, volume_fraction=0.6, rng=0)[:32]
volume = 200 * gaussian_filter(foam.astype(float), 0.7) + 20
noisy = volume + 30 * np.random.default_rng(0).standard_normal(volume.shape)

whole = sedil.denoise(noisy, sigma=30)
slices = np.stack([sedil.denoise(piece, sigma=30) for piece in noisy])

# %%
# The same slice of each, and a cut across all slices below it.

pictures = {"volume": volume, "noisy, sigma 30": noisy, "slice by slice": slices, "as a whole": whole}

figure, axes = plt.subplots(
    2, 4, figsize=(12, 5), layout="constrained", gridspec_kw={"height_ratios": [2, 1]}
)
for (top, bottom), (name, picture) in zip(axes.T, pictures.items(), strict=True):
    psnr = "" if picture is volume else f"\n{peak_signal_noise_ratio(volume, picture, data_range=255):.2f} dB"
    top.set_title(name + psnr)
    for ax, cut in ((top, picture[16]), (bottom, picture[:, 32])):
        ax.imshow(cut, cmap="gray", vmin=0, vmax=255)
        ax.set(xticks=[], yticks=[])
axes[0, 0].set_ylabel("slice 16")
axes[1, 0].set_ylabel("row 32 of\nall slices")
plt.show()
