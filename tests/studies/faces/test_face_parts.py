"""Quality measures, confidence intervals and baselines of the face experiment."""

import numpy as np
import pytest

from sedil.imaging.quality import image_quality
from sedil_studies.faces import figures, statistical
from sedil_studies.faces.face_rows import margin
from sedil_studies.faces.masks import make_masks
from sedil_studies.faces.ssim import ssim_of_each
from sedil_studies.measures.inside import psnr_inside
from sedil_studies.peers.biharmonic import biharmonic_fill_stack


@pytest.fixture
def faces(rng):
    """Points of a space of three dimensions, about a mean."""
    directions = rng.standard_normal((3, 16, 16))
    return (120 + np.tensordot(rng.standard_normal((200, 3)), 20 * directions, 1)).astype(np.float32)


def test_ssim_is_that_of_one_image_at_a_time(faces, rng):
    filled = faces + 20 * rng.standard_normal(faces.shape)
    expected = [image_quality(filled[k], faces[k].astype(float))[1] for k in range(5)]
    np.testing.assert_allclose(ssim_of_each(filled[:5], faces[:5]), expected, rtol=1e-10)


def test_psnr_counts_missing_pixels_alone(faces):
    masks = make_masks("centre 32", len(faces), 16)
    filled = np.where(masks, faces + 25.5, faces - 100)
    assert psnr_inside(filled, faces, masks) == pytest.approx(20, rel=1e-5)


def test_faces_of_a_person_count_as_dependent():
    values = np.array([1.0, 1, 1, 5, 5, 5])
    alone = margin(values, np.arange(6))
    assert alone == pytest.approx(1.96 * 2 / np.sqrt(6))
    assert margin(values, np.array(list("aaabbb"))) == pytest.approx(alone * np.sqrt(3))


@pytest.mark.parametrize("hole", ["centre 16", "anywhere 32", "half", "50 % of pixels", "80 % of pixels"])
def test_linear_baselines_restore_faces_of_a_small_space(faces, hole):
    training, face = faces[:-4], faces[-4:]
    masks = make_masks(hole, 4, 16)
    broken = np.where(masks, np.float32(0), face)
    for fill in (statistical.gappy_pca(training, 3), statistical.GaussianFiller(training, 1.0)):
        filled = fill(broken, masks)
        np.testing.assert_allclose(filled, face, atol=1)
        np.testing.assert_array_equal(filled[~masks], face[~masks])


def test_biharmonic_and_mean_face_fill_what_is_missing_alone(faces):
    masks = make_masks("centre 16", 2, 16)
    broken = np.where(masks, np.float32(0), faces[:2])
    mean = statistical.mean_face(faces)(broken, masks)
    np.testing.assert_allclose(mean[0][masks[0]], faces.mean(axis=0)[masks[0]], rtol=1e-6)
    smooth = biharmonic_fill_stack(broken, masks)
    for filled in (mean, smooth):
        np.testing.assert_allclose(filled[~masks], faces[:2][~masks], rtol=1e-5)


def test_pictures_have_a_row_for_each_filler(faces):
    def white(broken, masks):
        return np.where(masks, 300.0, broken)

    picture = figures.inpainted(faces, {"white": white})
    assert picture.dtype == np.uint8
    assert picture.shape[1] == 5 * (16 * 3 + 12) + 12
    n_lines, rest = divmod(picture.shape[0] - 3 * (16 * 3 + 12) - 12, 20)
    assert (n_lines, rest) == (5, 0)  # of words: one for each original, two for holes and for a filler
    assert picture.max() == 255
    assert figures.examples(faces).shape == (16 * 3 + 24, 5 * (16 * 3 + 12) + 12)
