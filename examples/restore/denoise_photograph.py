"""
Denoise a photograph
====================

Noise is added to a photograph and taken off again. The default gathers patches that are alike and cleans them
together. The quick method codes each patch by itself, over dictionaries that come with the package.
"""

import numpy as np
from matplotlib import pyplot as plt
from skimage import data
from skimage.metrics import peak_signal_noise_ratio

import sedil

image = data.camera()[40:240, 130:330]
noisy = image + 25 * np.random.default_rng(0).standard_normal(image.shape)

# %%
# How strong the noise is can be estimated. Without ``sigma=`` the estimate is used.

print(f"sigma is 25, estimated {sedil.estimate_noise(noisy):.1f}")

# %%
# The results have the type and the units of the image.

pictures = {
    "photograph": image,
    "noisy, sigma 25": noisy,
    'method="quick"': sedil.denoise(noisy, sigma=25, method="quick"),
    "default, groups": sedil.denoise(noisy, sigma=25),
}

figure, axes = plt.subplots(1, 4, figsize=(12, 3.5), layout="compressed")
for ax, (name, picture) in zip(axes, pictures.items(), strict=True):
    psnr = "" if picture is image else f"\n{peak_signal_noise_ratio(image, picture, data_range=255):.2f} dB"
    ax.imshow(picture, cmap="gray", vmin=0, vmax=255)
    ax.set_title(name + psnr)
    ax.set_axis_off()
plt.show()
