"""Images that are tensors of torch: the same results, of the same kind."""

import numpy as np
import pytest
from array_api_compat import array_namespace
from numpy.testing import assert_array_equal

import sedil
from random_things import training_patches
from sedil.imaging.whole_inpainting import fill_whole

SQUARES = sedil.odct((4, 4), 6)
DICTIONARIES = {
    "grey": SQUARES,
    "colour": SQUARES,
    "volume": sedil.odct((3, 3, 3), 4),
    "signal": sedil.odct(8, 12),
}
SHAPES = {"grey": (24, 22), "colour": (20, 22, 3), "volume": (9, 8, 10), "signal": (80,)}
KINDS = list(SHAPES)
SIGMA = 20.0


def picture(kind):
    """Smooth random values between 0 and 255."""
    values = training_patches(1, SHAPES[kind], seed=3)[0]
    return 255 * (values - values.min()) / np.ptp(values)


def options(kind):
    channels = {"channel_axis": -1} if kind == "colour" else {}
    return {"dictionary": DICTIONARIES[kind], **channels}


def holes(kind):
    return np.random.default_rng(1).random(SHAPES[kind]) < 0.3


def denoise(kind, image, **more):
    return sedil.denoise(image, SIGMA, **options(kind), **more)


def inpaint(kind, image, **more):
    mask = array_namespace(image).asarray(holes(kind))
    # Rounding decides single patches that are right at the threshold, and each pass carries that on.
    return sedil.inpaint(image, mask, passes=4, **options(kind), **more)


WORK = {"denoise": denoise, "inpaint": inpaint}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("work", WORK)
def test_float64_tensors_give_the_portable_result(torch, work, kind):
    image = picture(kind)
    tensor = torch.asarray(image)
    result = WORK[work](kind, tensor)
    assert (result.dtype, result.device, result.shape) == (torch.float64, tensor.device, tensor.shape)
    expected = WORK[work](kind, image, engine="portable", dtype="float64")
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-6, atol=1e-6 * 255)
    assert_array_equal(tensor.numpy(), image)


@pytest.mark.parametrize("kind", KINDS)
def test_groups_of_tensors_are_those_of_arrays(torch, kind):
    image = picture(kind)
    how = {"channel_axis": -1} if kind == "colour" else {}
    result = sedil.denoise(torch.asarray(image), SIGMA, **how)
    assert result.dtype == torch.float64
    expected = sedil.denoise(image, SIGMA, dtype="float64", **how)
    np.testing.assert_allclose(result.numpy(), expected, atol=1e-4)
    mask = holes(kind)
    filled = sedil.inpaint(torch.asarray(image), torch.asarray(mask), passes=3, **how).numpy()
    np.testing.assert_allclose(
        filled, sedil.inpaint(image, mask, passes=3, dtype="float64", **how), atol=1e-2
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("work", WORK)
def test_float32_tensors_give_the_portable_result_up_to_rounding(torch, work, kind):
    image = picture(kind).astype(np.float32)
    result = WORK[work](kind, torch.asarray(image))
    assert result.dtype == torch.float32
    difference = np.abs(result.numpy() - WORK[work](kind, image, engine="portable"))
    # Rounding decides single patches that are right at the threshold.
    assert np.median(difference) < 1e-3
    assert np.mean(difference) < 0.1


@pytest.mark.parametrize("kind", ["grey", "colour"])
@pytest.mark.parametrize("work", WORK)
def test_integers_stay_integers_and_in_range(torch, work, kind):
    image = picture(kind).round().astype(np.uint8)
    tensor = torch.asarray(image)
    result = WORK[work](kind, tensor)
    assert result.dtype == torch.uint8
    difference = np.abs(result.numpy().astype(int) - WORK[work](kind, image, engine="portable"))
    # Rounding decides single patches that are right at the threshold.
    assert np.median(difference) == 0
    assert np.mean(difference) < 0.1
    assert_array_equal(tensor.numpy(), image)


@pytest.mark.parametrize("work", WORK)
def test_a_record_of_gradients_is_left_alone(torch, work):
    tensor = torch.asarray(picture("grey"), dtype=torch.float32).requires_grad_()
    before = tensor.detach().clone()
    result = WORK[work]("grey", tensor)
    assert not result.requires_grad
    assert tensor.requires_grad
    assert tensor.grad is None
    assert torch.equal(tensor.detach(), before)
    assert torch.equal(result, WORK[work]("grey", before))


def test_images_without_noise_or_holes_come_back_as_new_tensors(torch):
    flat = torch.full((16, 16), 7.0, requires_grad=True)
    for result in (sedil.denoise(flat), sedil.inpaint(flat, torch.zeros(16, 16, dtype=torch.bool))):
        assert torch.equal(result, flat)
        assert result is not flat
        assert not result.requires_grad


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_dtype_decides_what_tensors_are_computed_in(torch, dtype):
    image = picture("grey")
    result = denoise("grey", torch.asarray(image, dtype=torch.float32), dtype=dtype)
    assert result.dtype == torch.float32
    own = torch.asarray(image.astype(np.float32), dtype=getattr(torch, dtype))
    assert torch.equal(result, denoise("grey", own).to(torch.float32))


def test_known_pixels_come_back_to_the_bit(torch):
    image, mask = picture("grey"), holes("grey")
    filled = sedil.inpaint(torch.asarray(np.where(mask, np.nan, image)), torch.asarray(mask), SQUARES)
    assert_array_equal(filled.numpy()[~mask], image[~mask])
    assert np.isfinite(filled.numpy()).all()


def test_one_mask_serves_all_colours(torch):
    image, mask = torch.asarray(picture("colour")), torch.asarray(holes("colour")[..., 0])
    apart = mask[..., None].repeat(1, 1, 3)
    one, three = (sedil.inpaint(image, each, **options("colour")) for each in (mask, apart))
    assert torch.equal(one, three)


def test_an_image_as_large_as_a_patch_is_coded_whole(torch):
    image, mask = picture("grey")[:16, :16], holes("grey")[:16, :16]
    dictionary = sedil.odct((16, 16), 24)
    result = sedil.inpaint(torch.asarray(image), torch.asarray(mask), dictionary)
    expected = sedil.inpaint(image, mask, dictionary, dtype="float64")
    np.testing.assert_allclose(result.numpy(), expected, rtol=1e-6)


def test_whole_signals_take_the_dictionary_along(torch):
    signals, mask = picture("grey")[:16, :16], holes("grey")[:16, :16]
    dictionary = sedil.odct((16, 16), 24)
    filled = fill_whole(dictionary, torch.asarray(signals), torch.asarray(mask))
    np.testing.assert_allclose(filled.numpy(), fill_whole(dictionary, signals, mask), rtol=1e-6)


def test_masks_of_another_library_are_refused(torch):
    image, mask = picture("grey"), holes("grey")
    words = (
        "mask is a {} array on cpu but the data is a {} array on cpu: use one array library and device, those"
    )
    with pytest.raises(TypeError, match=words.format("numpy", "torch")):
        sedil.inpaint(torch.asarray(image), mask, SQUARES)
    with pytest.raises(TypeError, match=words.format("torch", "numpy")):
        sedil.inpaint(image, torch.asarray(mask), SQUARES)


def test_a_list_is_a_mask_for_every_library(torch):
    image, mask = torch.asarray(picture("grey")), holes("grey")
    filled = sedil.inpaint(image, mask.tolist(), SQUARES)
    assert torch.equal(filled, sedil.inpaint(image, torch.asarray(mask), SQUARES))


def test_the_fused_engine_refuses_tensors_and_says_what_to_do(torch):
    with pytest.raises(
        ValueError, match=r'engine="fused" works on NumPy arrays, got torch.Tensor: leave engine'
    ):
        denoise("grey", torch.asarray(picture("grey")), engine="fused")


def test_noise_of_a_tensor_is_estimated(torch):
    image = picture("grey")
    assert sedil.estimate_noise(torch.asarray(image, requires_grad=True)) == sedil.estimate_noise(image)


def test_default_dictionaries_serve_tensors(torch):
    image = picture("grey").astype(np.float32)
    difference = np.abs(sedil.denoise(torch.asarray(image), SIGMA).numpy() - sedil.denoise(image, SIGMA))
    assert np.mean(difference) < 0.5


@pytest.mark.parametrize("kind", ["grey", "volume"])
@pytest.mark.parametrize("work", WORK)
def test_strides_do_not_matter(torch, work, kind):
    tensor = torch.asarray(picture(kind))
    turned = tensor.permute(*reversed(range(tensor.ndim))).contiguous().permute(*reversed(range(tensor.ndim)))
    assert not turned.is_contiguous()
    assert torch.equal(WORK[work](kind, turned), WORK[work](kind, tensor))


def test_complex_tensors_are_refused(torch):
    with pytest.raises(TypeError, match=r"image must hold real numbers, got dtype torch\.complex64"):
        sedil.denoise(torch.zeros(9, 9, dtype=torch.complex64), 1.0)
