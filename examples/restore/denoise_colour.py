"""
Denoise in colour
=================

With ``channel_axis`` patches reach through all channels, as edges are in all of them at once. Here that is
compared with three grey pictures, each denoised on its own.
"""

import numpy as np
from matplotlib import pyplot as plt
from skimage import data
from skimage.metrics import peak_signal_noise_ratio

import sedil

photo = data.coffee()[100:260, 140:340]
noisy = photo + 30 * np.random.default_rng(0).standard_normal(photo.shape)

together = sedil.denoise(noisy, sigma=30, channel_axis=-1)
apart = np.stack([sedil.denoise(noisy[..., k], sigma=30) for k in range(3)], axis=-1)

# %%
# Floats come back as floats, so they are cut to the range of a picture before they are shown.

pictures = {"photograph": photo, "noisy, sigma 30": noisy, "each channel alone": apart, "together": together}

figure, axes = plt.subplots(1, 4, figsize=(12, 3.2), layout="compressed")
for ax, (name, picture) in zip(axes, pictures.items(), strict=True):
    psnr = "" if picture is photo else f"\n{peak_signal_noise_ratio(photo, picture, data_range=255):.2f} dB"
    ax.imshow(np.clip(picture, 0, 255).astype(np.uint8))
    ax.set_title(name + psnr)
    ax.set_axis_off()
plt.show()
