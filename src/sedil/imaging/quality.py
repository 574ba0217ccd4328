"""How close a restored image is to the clean one."""

from __future__ import annotations

import numpy as np

_RANGE = 255  # of the intensities, whatever the extremes of the image
_WANG = {"gaussian_weights": True, "sigma": 1.5, "use_sample_covariance": False}


def image_quality(
    image: np.ndarray, clean: np.ndarray, channel_axis: int | None = None
) -> tuple[float, float]:
    """PSNR and SSIM on the scale 0 to 255, SSIM with the settings of Wang et al. (2004), mean of channels."""
    from skimage.metrics import peak_signal_noise_ratio, structural_similarity

    return (
        float(peak_signal_noise_ratio(clean, image, data_range=_RANGE)),
        float(structural_similarity(clean, image, data_range=_RANGE, channel_axis=channel_axis, **_WANG)),
    )


def quality_in_words(image: np.ndarray, clean: np.ndarray, channel_axis: int | None = None) -> str:
    """The same for the caption of a picture."""
    psnr, ssim = image_quality(image, clean, channel_axis)
    return f"{psnr:.1f} dB, SSIM {ssim:.2f}"
