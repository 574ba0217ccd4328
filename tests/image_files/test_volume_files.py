import gzip
import re
import tracemalloc
import warnings

import numpy as np
import pytest
import tifffile
from PIL import Image

from sedil.errors import ImageFileError
from sedil.image_files import reading_errors, volume_files
from sedil.image_files.grey_images import read_grey_volume
from sedil.image_files.volume_files import (
    is_volume,
    read_volume,
    require_same_format,
    volume_shape,
    write_volume,
)

SHAPE = (5, 6, 7)


@pytest.fixture
def values(rng):
    return rng.integers(0, 200, SHAPE, dtype=np.int16)


@pytest.fixture
def nibabel():
    return pytest.importorskip("nibabel", reason="NIfTI is read by the extra nibabel")


def nifti(nibabel, path, values, **header):
    affine = np.diag([0.9, 1.1, 2.0, 1.0]) + np.eye(4, k=3) * 12
    image = nibabel.Nifti1Image(values, affine)
    image.header.set_xyzt_units("mm", "sec")
    image.header["descrip"] = b"a head"
    if header.get("slope"):
        image.header.set_slope_inter(header["slope"], header["inter"])
    nibabel.save(image, path)
    return affine


# NIfTI


@pytest.mark.parametrize("name", ["head.nii", "head.nii.gz", "HEAD.NII.GZ"])
def test_nifti_keeps_type_place_and_header(nibabel, tmp_path, values, name):
    affine = nifti(nibabel, tmp_path / name, values)
    volume = read_volume(tmp_path / name)
    assert volume.pixels.dtype == np.int16
    assert volume.channel_axis is None
    np.testing.assert_array_equal(volume.pixels, values)
    write_volume(tmp_path / f"clean-{name}", values + 1, volume)
    written = nibabel.load(tmp_path / f"clean-{name}")
    np.testing.assert_array_equal(np.asanyarray(written.dataobj), values + 1)
    np.testing.assert_allclose(written.affine, affine)
    assert written.get_data_dtype() == np.int16
    np.testing.assert_allclose(written.header.get_zooms(), (0.9, 1.1, 2.0), rtol=1e-6)
    assert written.header.get_xyzt_units() == ("mm", "sec")
    assert bytes(written.header["descrip"]).rstrip(b"\0") == b"a head"


def test_nifti_with_a_scale_is_read_in_its_units_and_written_in_its_type(nibabel, tmp_path, rng):
    image = nibabel.Nifti1Image(rng.uniform(-1, 1, SHAPE), np.eye(4))
    image.set_data_dtype(np.int16)
    nibabel.save(image, tmp_path / "scaled.nii")
    volume = read_volume(tmp_path / "scaled.nii")
    assert volume.pixels.dtype == np.float64
    write_volume(tmp_path / "clean.nii", volume.pixels / 2, volume)
    written = nibabel.load(tmp_path / "clean.nii")
    assert written.get_data_dtype() == np.int16
    np.testing.assert_allclose(written.get_fdata(), volume.pixels / 2, atol=1e-4)


@pytest.mark.parametrize("dtype", ["int16", "uint8", "int64"])
def test_values_beyond_the_range_of_scaled_integers_are_cut_off(nibabel, tmp_path, rng, dtype):
    image = nibabel.Nifti1Image(rng.integers(0, 100, SHAPE).astype(dtype), np.eye(4), dtype=dtype)
    image.header.set_slope_inter(0.5, 3)
    nibabel.save(image, tmp_path / "scaled.nii")
    volume = read_volume(tmp_path / "scaled.nii")
    write_volume(tmp_path / "large.nii", np.full(SHAPE, 1e30), volume)
    written = nibabel.load(tmp_path / "large.nii")
    assert (written.dataobj.slope, written.dataobj.inter) == (0.5, 3)
    np.testing.assert_allclose(written.get_fdata(), 0.5 * np.iinfo(dtype).max + 3, rtol=1e-6)


def test_nifti_with_axes_of_length_one_keeps_its_shape(nibabel, tmp_path, values):
    nifti(nibabel, tmp_path / "a.nii", values[..., None])
    volume = read_volume(tmp_path / "a.nii")
    assert volume.pixels.shape == SHAPE
    write_volume(tmp_path / "b.nii", volume.pixels, volume)
    assert nibabel.load(tmp_path / "b.nii").shape == (*SHAPE, 1)


def test_nifti_series_is_refused(nibabel, tmp_path, values):
    nifti(nibabel, tmp_path / "series.nii", np.stack([values] * 4, axis=-1))
    with pytest.raises(ImageFileError, match=r"has the shape 5 x 6 x 7 x 4: a volume has three axes"):
        read_volume(tmp_path / "series.nii")


def test_nifti_whose_place_is_no_number_says_so_when_it_is_written(nibabel, tmp_path, values):
    path = tmp_path / "a.nii"
    nifti(nibabel, path, values)
    content = bytearray(path.read_bytes())
    content[252:256] = bytes(4)  # qform and sform codes: the place is that of pixdim
    content[88:92] = np.float32(np.nan).tobytes()  # pixdim[3]
    path.write_bytes(content)
    volume = read_volume(path)
    with (
        warnings.catch_warnings(action="error"),
        pytest.raises(OSError, match=r"what its source says of the voxels cannot be kept: use \.npy"),
    ):
        write_volume(tmp_path / "b.nii", volume.pixels, volume)
    assert not (tmp_path / "b.nii").exists()


def test_nifti_whose_size_overflows_is_refused_without_a_warning(nibabel, tmp_path, values):
    path = tmp_path / "a.nii"
    nibabel.save(nibabel.Nifti2Image(values, np.eye(4)), path)
    content = bytearray(path.read_bytes())
    content[168:176] = np.int64(2**63 - 1).tobytes()  # vox_offset
    path.write_bytes(content)
    with (
        warnings.catch_warnings(record=True, action="always") as told,
        pytest.raises(ImageFileError, match="cannot be read"),
    ):
        read_volume(path)
    assert not told


def test_tiff_whose_pages_lead_round_in_a_circle_is_refused(tmp_path, values):
    path = tmp_path / "a.tif"
    tifffile.imwrite(path, values, contiguous=False, metadata=None)
    with tifffile.TiffFile(path) as file:
        second, last = file.pages[1].offset, file.pages[-1]
        end = last.offset + 2 + 12 * len(last.tags)
    content = bytearray(path.read_bytes())
    content[end : end + 4] = second.to_bytes(4, "little")
    path.write_bytes(content)
    assert not is_volume(path)  # what is wrong with it the reader of pictures says
    with pytest.raises(ImageFileError, match=r"its pages lead round in a circle"):
        read_volume(path)


def test_nifti_of_two_compressed_files_has_the_same_bytes(nibabel, tmp_path, values):
    nifti(nibabel, tmp_path / "a.nii.gz", values)
    volume = read_volume(tmp_path / "a.nii.gz")
    for name in ("b.nii.gz", "c.nii.gz"):
        write_volume(tmp_path / name, values, volume)
    assert (tmp_path / "b.nii.gz").read_bytes() == (tmp_path / "c.nii.gz").read_bytes()


def test_without_nibabel_one_sentence_says_what_to_install(tmp_path, values, monkeypatch):
    import sys

    monkeypatch.setitem(sys.modules, "nibabel", None)
    (tmp_path / "a.nii").write_bytes(b"anything")
    with pytest.raises(ImageFileError, match=r'not installed: pip install "sedil\[volumes\]"\.'):
        read_volume(tmp_path / "a.nii")


# TIFF


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32])
def test_tiff_stack_keeps_type_description_and_resolution(tmp_path, rng, dtype):
    stack = rng.integers(0, 200, SHAPE).astype(dtype)
    place = tmp_path / "stack.tif"
    tifffile.imwrite(
        place,
        stack,
        imagej=True,
        resolution=(2.5, 2.5),
        metadata={"spacing": 0.7, "unit": "um", "axes": "ZYX"},
    )
    assert is_volume(place)
    assert volume_shape(place) == SHAPE
    volume = read_volume(place)
    assert volume.pixels.dtype == dtype
    write_volume(tmp_path / "clean.tif", volume.pixels, volume)
    with tifffile.TiffFile(tmp_path / "clean.tif") as written:
        np.testing.assert_array_equal(written.asarray(), stack)
        assert written.imagej_metadata["spacing"] == 0.7
        assert written.imagej_metadata["unit"] == "um"
        assert written.pages.first.resolution == (2.5, 2.5)


def test_tiff_stack_of_colours_has_them_last(tmp_path, rng):
    stack = rng.integers(0, 255, (4, 8, 9, 3), dtype=np.uint8)
    tifffile.imwrite(tmp_path / "film.tif", stack, photometric="rgb")
    volume = read_volume(tmp_path / "film.tif")
    assert volume.pixels.shape == stack.shape
    assert volume.channel_axis == -1
    write_volume(tmp_path / "clean.tif", volume.pixels, volume)
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "clean.tif"), stack)
    assert read_grey_volume(tmp_path / "film.tif").shape == (4, 8, 9)


def test_tiff_stack_with_a_palette_is_refused(tmp_path, rng):
    stack = rng.integers(0, 255, SHAPE, dtype=np.uint8)
    palette = np.zeros((3, 256), np.uint16)
    tifffile.imwrite(tmp_path / "film.tif", stack, photometric="palette", colormap=palette)
    with pytest.raises(ImageFileError, match="colours of the kind PALETTE: save it as grey or RGB"):
        read_volume(tmp_path / "film.tif")


def test_pictures_are_no_volumes(tmp_path, rng):
    picture = rng.integers(0, 255, (8, 9), dtype=np.uint8)
    Image.fromarray(picture).save(tmp_path / "a.png")
    Image.fromarray(picture).save(tmp_path / "a.tif")
    Image.fromarray(np.dstack([picture] * 3)).save(tmp_path / "rgb.tif")
    (tmp_path / "damaged.tif").write_bytes(b"II*\0")
    with tifffile.TiffWriter(tmp_path / "pages.tif") as pages:
        pages.write(picture)
        pages.write(picture[:4])
    for name in ("a.png", "a.tif", "rgb.tif", "damaged.tif", "pages.tif", "absent.tif"):
        assert not is_volume(tmp_path / name), name


# NumPy


def test_arrays_come_back(tmp_path, values):
    np.save(tmp_path / "a.npy", values)
    volume = read_volume(tmp_path / "a.npy")
    write_volume(tmp_path / "b.npy", volume.pixels + 1, volume)
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), values + 1)


def test_archives_keep_their_other_arrays(tmp_path, values):
    np.savez(tmp_path / "a.npz", vol=values, voxel_mm=[1.0, 1.0, 2.0])
    volume = read_volume(tmp_path / "a.npz")
    write_volume(tmp_path / "b.npz", values + 1, volume)
    with np.load(tmp_path / "b.npz") as written:
        np.testing.assert_array_equal(written["vol"], values + 1)
        np.testing.assert_array_equal(written["voxel_mm"], [1, 1, 2])


# What cannot be read or written


@pytest.mark.parametrize(
    ("name", "content", "words"),
    [
        ("a.nii", b"", "the file is empty"),
        ("a.nii", b"nonsense" * 100, "it is damaged, incomplete or of another kind"),
        (
            "a.nii.gz",
            gzip.compress(b"nonsense" * 100, mtime=0),
            "it is damaged, incomplete or of another kind",
        ),
        ("a.npy", b"\x93NUMPY", "it is damaged, incomplete or of another kind"),
        ("a.npz", b"PK\x03\x04nothing", "it is damaged, incomplete or of another kind"),
    ],
)
def test_damaged_files_give_one_sentence(request, tmp_path, name, content, words):
    if ".nii" in name:
        request.getfixturevalue("nibabel")
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ImageFileError, match=re.escape(words)) as caught:
        read_volume(tmp_path / name)
    assert "\n" not in str(caught.value)
    assert str(caught.value).endswith(".")


CUT = [(name, share) for name in ("a.nii", "a.nii.gz", "a.npy", "a.npz") for share in (0.2, 0.45, 0.98)]
CUT += [(name, share) for name in ("a.tif", "packed.tif") for share in (0.2, 0.45)]  # numbers come first


@pytest.mark.parametrize(("name", "share"), CUT)
def test_files_cut_short_give_one_sentence(request, tmp_path, values, name, share):
    path = tmp_path / name
    if ".nii" in name:
        nifti(request.getfixturevalue("nibabel"), path, values)
    elif ".tif" in name:
        packed = {"compression": "zlib", "metadata": None} if name == "packed.tif" else {}
        tifffile.imwrite(path, values, photometric="minisblack", **packed)
    else:
        (np.save if name == "a.npy" else np.savez)(path, values)
    whole = path.read_bytes()
    path.write_bytes(whole[: int(share * len(whole))])
    with pytest.raises(ImageFileError) as caught:
        read_volume(path)
    assert "\n" not in str(caught.value)


def test_absent_files_and_folders_are_named(tmp_path):
    with pytest.raises(ImageFileError, match=r"a\.npy cannot be read as a volume: No such file"):
        read_volume(tmp_path / "a.npy")
    (tmp_path / "b.npy").mkdir()
    with pytest.raises(ImageFileError, match="it is a folder"):
        read_volume(tmp_path / "b.npy")


@pytest.mark.parametrize("shape", [(9,), (3, 4, 5, 6), (0, 4, 4)])
def test_arrays_of_other_shapes_are_refused(tmp_path, shape):
    np.save(tmp_path / "a.npy", np.zeros(shape))
    with pytest.raises(ImageFileError, match="a volume has three axes"):
        read_volume(tmp_path / "a.npy")


def test_pickles_complex_numbers_and_several_arrays_are_refused(tmp_path, values):
    np.save(tmp_path / "a.npy", np.array([{}, []], object), allow_pickle=True)
    np.save(tmp_path / "b.npy", values * 1j)
    np.savez(tmp_path / "c.npz", values, values)
    with pytest.raises(ImageFileError, match="cannot be read as a volume"):
        read_volume(tmp_path / "a.npy")
    with pytest.raises(ImageFileError, match="numbers of the type complex128: save it with real numbers"):
        read_volume(tmp_path / "b.npy")
    with pytest.raises(ImageFileError, match="holds 2 arrays of two axes or more: one is needed"):
        read_volume(tmp_path / "c.npz")


def test_too_large_volume_is_refused_before_it_is_read(tmp_path, values, monkeypatch):
    np.save(tmp_path / "a.npy", values)
    monkeypatch.setattr(reading_errors, "usable_memory", lambda: 45 * values.size - 1)
    monkeypatch.setitem(volume_files._READERS, "NumPy", None)
    with pytest.raises(ImageFileError, match=r"has 5 x 6 x 7 pixels, which take about .* cut it into parts"):
        read_volume(tmp_path / "a.npy", 45)


def test_format_of_the_result_is_that_of_the_source_or_plain_numbers(tmp_path, values):
    np.save(tmp_path / "a.npy", values)
    tifffile.imwrite(tmp_path / "a.tif", values, photometric="minisblack")
    plain, stack = read_volume(tmp_path / "a.npy"), read_volume(tmp_path / "a.tif")
    assert require_same_format("b.tiff", stack) == []
    assert require_same_format("b.npy", plain) == []
    assert "numbers alone" in require_same_format("b.npy", stack)[0]
    for path, volume in {"b.nii": stack, "b.png": plain}.items():
        with pytest.raises(ValueError, match=rf"Cannot write {path}: a volume from a (TIFF|NumPy)"):
            require_same_format(path, volume)
    write_volume(tmp_path / "b.npy", stack.pixels, stack)
    np.testing.assert_array_equal(np.load(tmp_path / "b.npy"), values)


def test_arrays_besides_the_volume_count_too(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "a.npz", volume=np.ones((4, 4, 4)), others=np.zeros(10**6))
    monkeypatch.setattr(reading_errors, "usable_memory", lambda: 7_000_000)
    message = r"a\.npz has arrays besides the volume, which take about 0\.0 GB of memory, and this process"
    with pytest.raises(ImageFileError, match=message):
        read_volume(tmp_path / "a.npz")


def test_shape_of_a_packed_volume_is_told_without_unpacking_it(tmp_path):
    np.savez_compressed(tmp_path / "a.npz", volume=np.zeros((100, 100, 500)))
    tracemalloc.start()
    try:
        assert volume_shape(tmp_path / "a.npz") == (100, 100, 500)
        assert tracemalloc.get_traced_memory()[1] < 2_000_000
    finally:
        tracemalloc.stop()


def test_log_and_warnings_of_nibabel_are_silent(nibabel, tmp_path, values, caplog):
    nifti(nibabel, tmp_path / "a.nii", values)
    content = bytearray((tmp_path / "a.nii").read_bytes())
    content[252:254] = b"\x09\x00"  # a code of the orientation that does not exist
    (tmp_path / "a.nii").write_bytes(content)
    assert read_volume(tmp_path / "a.nii").pixels.shape == values.shape
    content[70:72] = b"\x07\x00"  # nor does this type of numbers
    (tmp_path / "a.nii").write_bytes(content)
    with pytest.raises(
        ImageFileError, match=r"a\.nii cannot be read as a volume: it is damaged.*another kind\.$"
    ):
        read_volume(tmp_path / "a.nii")
    assert not caplog.records


def test_head_that_cannot_be_parsed_is_not_shown(tmp_path, values):
    np.save(tmp_path / "a.npy", values)
    content = (tmp_path / "a.npy").read_bytes()
    (tmp_path / "a.npy").write_bytes(content.replace(b"'descr': ", b"'descr'!="))
    with pytest.raises(ImageFileError, match=r"it is damaged, incomplete or of another kind\.$"):
        read_volume(tmp_path / "a.npy")


@pytest.mark.parametrize("name", ["a.nii", "a.nii.gz"])
def test_nifti_that_is_too_short_for_its_numbers_is_refused_unread(nibabel, tmp_path, values, name):
    image = nibabel.Nifti1Image(values.astype(np.int16), np.eye(4))
    content = bytearray(image.to_bytes())
    content[42:48] = np.array([2000, 2000, 500], "<i2").tobytes()
    (tmp_path / name).write_bytes(gzip.compress(content) if name.endswith("gz") else content)
    with pytest.raises(
        ImageFileError, match=r"it says that it has 2,000 x 2,000 x 500 pixels, more than its"
    ):
        read_volume(tmp_path / name)


def test_description_that_is_not_ascii_is_written_as_it_was(tmp_path, values):
    description = "Größe 5 µm".encode()
    tifffile.imwrite(
        tmp_path / "a.tif", values, photometric="minisblack", description=description, metadata=None
    )
    write_volume(tmp_path / "b.tif", values, read_volume(tmp_path / "a.tif"))
    with tifffile.TiffFile(tmp_path / "b.tif") as file:
        assert file.pages[0].description == description.decode()


def test_header_that_cannot_be_written_is_told_in_a_sentence(tmp_path, values):
    tifffile.imwrite(tmp_path / "a.tif", values, photometric="minisblack")
    volume = read_volume(tmp_path / "a.tif")
    volume.header["resolution"], volume.header["resolutionunit"] = (1, 1), 20_000
    with pytest.raises(
        OSError,
        match=r"Cannot write .*b\.tif: what its source says of the voxels cannot be kept: use \.npy\.$",
    ):
        write_volume(tmp_path / "b.tif", values, volume)
    assert [path.name for path in tmp_path.iterdir()] == ["a.tif"]
