"""
Dask: larger than memory
========================

A Dask array is denoised lazily, chunk by chunk, and the result is that of the whole array in memory, without
seams. Read yours by ``dask.array.from_zarr`` and write the result by ``to_zarr``.
"""

import dask.array as da
import numpy as np
from matplotlib import pyplot as plt
from skimage import data
from skimage.metrics import peak_signal_noise_ratio

import sedil

image = data.brick()[:256, :256]
noisy = image + 20 * np.random.default_rng(0).standard_normal(image.shape)

# %%
# Four chunks. Nothing is computed before it is asked for.

chunks = da.from_array(noisy, chunks=(128, 128))
lazy = sedil.denoise(chunks, sigma=20, method="quick")
print(lazy)

# %%
# The same bits as from the array in memory.

clean = lazy.compute(scheduler="synchronous")
whole = sedil.denoise(noisy, sigma=20, method="quick")
print("largest difference:", np.abs(clean - whole).max())

pictures = {"photograph": image, "noisy, sigma 20": noisy, "denoised, in four chunks": clean}

figure, axes = plt.subplots(1, 3, figsize=(11, 4.1), layout="compressed")
for ax, (name, picture) in zip(axes, pictures.items(), strict=True):
    psnr = "" if picture is image else f"\n{peak_signal_noise_ratio(image, picture, data_range=255):.2f} dB"
    ax.imshow(picture, cmap="gray", vmin=0, vmax=255)
    ax.set_title(name + psnr)
    ax.set_axis_off()
axes[2].axhline(127.5, color="tab:red", lw=0.8)
axes[2].axvline(127.5, color="tab:red", lw=0.8)
plt.show()
