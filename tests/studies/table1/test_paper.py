from statistics import fmean

import pytest

from sedil_studies.table1 import paper

# Means over the five images at sigma 5, 10, 20, 30, 50: of PSNR as published, of SSIM from the printed cells.
MEAN_PSNR = {
    "ksvd": (37.62, 34.49, 31.32, 29.40, 26.86),
    "unstructured": (37.93, 34.67, 31.48, 29.53, 26.92),
    "odct": (38.01, 34.55, 31.20, 29.19, 26.65),
    "separable": (37.90, 34.56, 31.26, 29.26, 26.70),
    "bm3d": (38.27, 35.27, 32.45, 30.72, 28.40),
}
MEAN_SSIM = {
    "ksvd": (0.9376, 0.8958, 0.8392, 0.7946, 0.7224),
    "unstructured": (0.9418, 0.8986, 0.8428, 0.7982, 0.7252),
    "odct": (0.9434, 0.8978, 0.8386, 0.7928, 0.7198),
    "separable": (0.9438, 0.8996, 0.8408, 0.7944, 0.7204),
    "bm3d": (0.9440, 0.9086, 0.8642, 0.8314, 0.7780),
}


@pytest.mark.parametrize("method", paper.METHODS)
@pytest.mark.parametrize(("metric", "means", "error"), [("psnr", MEAN_PSNR, 5e-3), ("ssim", MEAN_SSIM, 1e-9)])
def test_means_are_the_published_ones(metric, means, error, method):
    for sigma, mean in zip(paper.SIGMAS, means[method], strict=True):
        printed = [paper.printed(metric, method, image, sigma) for image in paper.IMAGES]
        assert fmean(printed) == pytest.approx(mean, abs=error * 1.01)


def test_corners_of_the_printed_table():
    assert paper.printed("psnr", "ksvd", "lena", 5) == 38.42
    assert paper.printed("ssim", "unstructured", "barbara", 10) == 0.928
    assert paper.printed("psnr", "odct", "boat", 20) == 29.94
    assert paper.printed("ssim", "separable", "peppers", 30) == 0.809
    assert paper.printed("psnr", "bm3d", "house", 50) == 29.72


def test_nothing_is_printed_for_other_methods_and_levels():
    assert paper.printed("psnr", "quick", "lena", 5) is None
    assert paper.printed("psnr", "odct", "lena", 25) is None
