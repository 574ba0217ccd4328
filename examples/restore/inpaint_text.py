"""
Take text off a photograph
==========================

Someone wrote over a photograph. Where the writing is, pixels are missing; they are filled from patches that
are alike, and all other pixels come back as they were.
"""

import numpy as np
from matplotlib import pyplot as plt
from PIL import Image, ImageDraw, ImageFont
from skimage import data
from skimage.metrics import peak_signal_noise_ratio

import sedil

photo = data.chelsea()[60:220, 130:330]

# %%
# The mask is True where a pixel is missing.

writing = Image.new("1", photo.shape[1::-1])
for line in range(6):
    text = "do not look at the cat " * 2
    ImageDraw.Draw(writing).text((3 - 5 * line, 26 * line + 4), text, fill=1, font=ImageFont.load_default(17))
mask = np.array(writing)
written = np.where(mask[..., None], 255, photo).astype(np.uint8)

filled = sedil.inpaint(written, mask, channel_axis=-1)
assert (filled[~mask] == photo[~mask]).all()

# %%
# The PSNR is taken over the missing pixels alone.

pictures = {"photograph": photo, f"{mask.mean():.0%} missing": written, "filled": filled}

figure, axes = plt.subplots(1, 3, figsize=(12, 3.7), layout="compressed")
for ax, (name, picture) in zip(axes, pictures.items(), strict=True):
    psnr = "" if picture is photo else f"\n{peak_signal_noise_ratio(photo[mask], picture[mask]):.2f} dB"
    ax.imshow(picture)
    ax.set_title(name + psnr)
    ax.set_axis_off()
plt.show()
