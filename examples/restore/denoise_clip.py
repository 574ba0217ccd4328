"""
Denoise a clip
==============

In a clip things move. With ``time_axis`` patches are short in time and are sought wherever they went in the
frames before and after, which a frame alone cannot offer.
"""

import numpy as np
from matplotlib import pyplot as plt
from skimage import data
from skimage.metrics import peak_signal_noise_ratio

import sedil

# %%
# A camera that pans over a picture, two pixels a frame to the right and one down: ten frames of 96x96.

scene = data.astronaut()[..., 1]
clip = np.stack([scene[60 + t : 156 + t, 170 + 2 * t : 266 + 2 * t] for t in range(10)]).astype(float)
noisy = clip + 30 * np.random.default_rng(0).standard_normal(clip.shape)

through_time = sedil.denoise(noisy, sigma=30, time_axis=0)
frames = np.stack([sedil.denoise(frame, sigma=30) for frame in noisy])

# %%
# The middle frame of each. The figures are those of the whole clip.

pictures = {"clip": clip, "noisy, sigma 30": noisy, "frame by frame": frames, "through time": through_time}

figure, axes = plt.subplots(1, 4, figsize=(12, 3.5), layout="compressed")
for ax, (name, picture) in zip(axes, pictures.items(), strict=True):
    psnr = "" if picture is clip else f"\n{peak_signal_noise_ratio(clip, picture, data_range=255):.2f} dB"
    ax.imshow(picture[5], cmap="gray", vmin=0, vmax=255)
    ax.set_title(name + psnr)
    ax.set_axis_off()
plt.show()
