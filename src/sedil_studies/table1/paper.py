"""The figures that the paper prints: its table of denoising results, cell by cell.

Table 1 of Hawe, Seibert, Kleinsteuber (CVPR 2013). A cell is one image at one noise level; it holds PSNR in
dB and SSIM for five methods: top left K-SVD, top right unstructured, middle left ODCT, middle right
separable, bottom BM3D.
"""

from __future__ import annotations

from collections.abc import Mapping

IMAGES = ("lena", "barbara", "boat", "peppers", "house")
SIGMAS = (5, 10, 20, 30, 50)
METHODS = ("ksvd", "unstructured", "odct", "separable", "bm3d")

# By method and sigma; the images in the order of `IMAGES`.
_PrintedTable = Mapping[str, Mapping[int, tuple[float, ...]]]

_PSNR: _PrintedTable = {
    "ksvd": {
        5: (38.42, 37.19, 36.61, 37.06, 38.82),
        10: (35.41, 33.08, 33.54, 34.75, 35.66),
        20: (32.24, 28.88, 30.28, 32.38, 32.83),
        30: (30.35, 26.56, 28.36, 30.81, 30.93),
        50: (27.85, 24.05, 25.96, 28.43, 28.03),
    },
    "unstructured": {
        5: (38.55, 37.70, 37.03, 37.47, 38.90),
        10: (35.49, 33.71, 33.67, 34.83, 35.63),
        20: (32.31, 29.61, 30.35, 32.40, 32.75),
        30: (30.41, 27.22, 28.41, 30.80, 30.83),
        50: (27.88, 24.43, 25.98, 28.41, 27.92),
    },
    "odct": {
        5: (38.45, 37.93, 37.09, 37.53, 39.03),
        10: (35.29, 33.99, 33.45, 34.65, 35.37),
        20: (32.00, 29.95, 29.94, 31.98, 32.11),
        30: (30.02, 27.61, 27.96, 30.28, 30.07),
        50: (27.52, 24.75, 25.61, 27.94, 27.43),
    },
    "separable": {
        5: (38.51, 37.65, 37.04, 37.39, 38.90),
        10: (35.34, 33.49, 33.65, 34.76, 35.54),
        20: (32.11, 29.28, 30.25, 32.23, 32.45),
        30: (30.15, 26.90, 28.27, 30.55, 30.45),
        50: (27.64, 24.24, 25.83, 28.18, 27.60),
    },
    "bm3d": {
        5: (38.45, 38.27, 37.25, 37.60, 39.77),
        10: (35.79, 34.96, 33.91, 35.02, 36.69),
        20: (32.98, 31.78, 30.89, 32.80, 33.79),
        30: (31.22, 29.82, 29.13, 31.32, 32.13),
        50: (29.02, 27.23, 26.79, 29.24, 29.72),
    },
}

_SSIM: _PrintedTable = {
    "ksvd": {
        5: (0.942, 0.959, 0.929, 0.914, 0.944),
        10: (0.907, 0.922, 0.879, 0.875, 0.896),
        20: (0.857, 0.846, 0.800, 0.837, 0.856),
        30: (0.821, 0.775, 0.741, 0.810, 0.826),
        50: (0.760, 0.666, 0.658, 0.761, 0.767),
    },
    "unstructured": {
        5: (0.944, 0.962, 0.936, 0.921, 0.946),
        10: (0.909, 0.928, 0.882, 0.877, 0.897),
        20: (0.859, 0.859, 0.802, 0.838, 0.856),
        30: (0.822, 0.790, 0.743, 0.810, 0.826),
        50: (0.761, 0.679, 0.659, 0.761, 0.766),
    },
    "odct": {
        5: (0.943, 0.963, 0.938, 0.923, 0.950),
        10: (0.907, 0.931, 0.879, 0.876, 0.896),
        20: (0.856, 0.865, 0.792, 0.832, 0.848),
        30: (0.817, 0.800, 0.729, 0.803, 0.815),
        50: (0.754, 0.691, 0.646, 0.753, 0.755),
    },
    "separable": {
        5: (0.946, 0.965, 0.938, 0.922, 0.948),
        10: (0.910, 0.929, 0.883, 0.878, 0.898),
        20: (0.858, 0.854, 0.800, 0.838, 0.854),
        30: (0.820, 0.782, 0.739, 0.809, 0.822),
        50: (0.758, 0.671, 0.654, 0.759, 0.760),
    },
    "bm3d": {
        5: (0.942, 0.964, 0.938, 0.920, 0.956),
        10: (0.915, 0.942, 0.887, 0.878, 0.921),
        20: (0.875, 0.905, 0.825, 0.845, 0.871),
        30: (0.843, 0.868, 0.779, 0.820, 0.847),
        50: (0.798, 0.794, 0.705, 0.782, 0.811),
    },
}

_PRINTED = {"psnr": _PSNR, "ssim": _SSIM}


def printed(metric: str, method: str, image: str, sigma: int) -> float | None:
    """What the paper prints for one method in one cell; None where it prints nothing.

    Parameters
    ----------
    metric : {"psnr", "ssim"}
    method, image, sigma : as in the results; methods past the paper have no figure
    """
    row = _PRINTED[metric].get(method, {}).get(sigma)
    return None if row is None else row[IMAGES.index(image)]
