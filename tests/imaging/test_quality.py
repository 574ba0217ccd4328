import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from sedil.imaging.quality import image_quality


@pytest.fixture
def clean(rng):
    return rng.uniform(0, 255, (40, 48))


def test_psnr_is_that_of_a_known_error(clean):
    psnr, _ = image_quality(clean + 5.1, clean)
    assert psnr == pytest.approx(20 * np.log10(255 / 5.1))


def test_ssim_is_that_of_wang(clean, rng):
    """The formula of Wang et al. (2004): Gaussian windows of 11x11 with deviation 1.5, border left out."""
    image = clean + 20 * rng.standard_normal(clean.shape)

    def mean(values):
        return gaussian_filter(values, 1.5, truncate=3.5)[5:-5, 5:-5]

    def covariance(one, other):
        return mean(one * other) - mean(one) * mean(other)

    c1, c2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2
    luminance = (2 * mean(image) * mean(clean) + c1) / (mean(image) ** 2 + mean(clean) ** 2 + c1)
    variances = covariance(image, image) + covariance(clean, clean)
    structure = (2 * covariance(image, clean) + c2) / (variances + c2)
    assert image_quality(image, clean)[1] == pytest.approx(np.mean(luminance * structure), rel=1e-9)


def test_equal_images_are_perfect(clean):
    with np.errstate(divide="ignore"):
        assert image_quality(clean, clean) == (np.inf, 1)
