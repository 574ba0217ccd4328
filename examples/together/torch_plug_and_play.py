"""
Torch, and a denoiser as a prior
================================

A blurred and noisy picture is sharpened by turns: one step explains the measurement, the next is
:func:`sedil.denoise`, which knows what pictures look like. Tensors of torch go in and come out; on a GPU they
stay there.
"""

import torch
from matplotlib import pyplot as plt
from skimage import data
from skimage.metrics import peak_signal_noise_ratio

import sedil

image = torch.asarray(data.camera()[70:166, 190:286].astype("float32"))

# %%
# The blur is a product of Fourier coefficients.

distance = torch.fft.fftfreq(96)
transfer = torch.exp(-2 * (torch.pi * 1.6) ** 2 * (distance[:, None] ** 2 + distance**2))


def blurred(picture):
    """Blurred by a Gaussian of 1.6 pixels; the picture goes on at its other end."""
    return torch.fft.ifft2(transfer * torch.fft.fft2(picture)).real


noise = 3 * torch.randn(image.shape, generator=torch.Generator().manual_seed(0))
measured = blurred(image) + noise

# %%
# Half-quadratic splitting: ``x`` explains the measurement and stays near ``z``, in closed form; ``z`` is
# ``x`` without noise of a level that falls from step to step.

z = measured
for level in torch.logspace(1.4, 0.4, 6).tolist():
    weight = (3 / level) ** 2
    spectrum = transfer * torch.fft.fft2(measured) + weight * torch.fft.fft2(z)
    x = torch.fft.ifft2(spectrum / (transfer**2 + weight)).real
    z = sedil.denoise(x, sigma=level)

# %%
# The result is still a tensor.

pictures = {"photograph": image, "blurred, sigma 3": measured, "sharpened": z}

figure, axes = plt.subplots(1, 3, figsize=(10, 3.8), layout="compressed")
for ax, (name, picture) in zip(axes, pictures.items(), strict=True):
    if picture is not image:
        psnr = peak_signal_noise_ratio(image.numpy(), picture.numpy(), data_range=255)
        name += f"\n{psnr:.2f} dB"
    ax.imshow(picture, cmap="gray", vmin=0, vmax=255)
    ax.set_title(name)
    ax.set_axis_off()
plt.show()
