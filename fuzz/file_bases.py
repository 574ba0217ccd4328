"""One small file of every kind that is read, as bytes, to be mutated."""

from __future__ import annotations

import gzip
import io
import tempfile
import warnings
import zipfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

ROWS, COLUMNS = 19, 23  # of all pictures: numbers that are found again in their files


class Base(NamedTuple):
    """A whole file: what it is for, and its name."""

    kind: str
    name: str
    content: bytes


def all_bases() -> list[Base]:
    """All kinds; the same in every process."""
    return [*_dictionaries(), *_checkpoints(), *_pictures(), *_deep_tiffs(), *_volumes()]


def training_patches() -> np.ndarray:
    """What the checkpoints among the bases were learned from."""
    return np.random.default_rng(0).standard_normal((40, 3, 4)).astype(np.float32)


# How the checkpoints among the bases came about.
LEARNERS: dict[str, dict[str, Any]] = {
    "fused": {"n_atoms": (4, 5), "random_state": 0, "warm_up": 2, "max_iterations": 3, "engine": "fused"},
    "portable": {"n_atoms": (4, 5), "random_state": 0, "warm_up": 2, "max_iterations": 3, "dtype": "float64"},
    "mini-batch": {"n_atoms": (4, 5), "random_state": 0, "batch_size": 20, "max_batches": 2, "n_epochs": 2},
}


def learn(name: str, path: Path, more: int = 0, **settings: Any) -> Any:
    """Learn with a checkpoint there, so many steps longer than the bases did."""
    import sedil

    chosen = LEARNERS[name] | settings | {"checkpoint": path, "threads": 1}
    limit = "max_batches" if name == "mini-batch" else "max_iterations"
    chosen[limit] += more
    run = sedil.learn_minibatch if name == "mini-batch" else sedil.learn
    return run(training_patches(), **chosen)


def _dictionaries() -> Iterator[Base]:
    import sedil

    rng = np.random.default_rng(0)
    for name, sizes, dtype in (
        ("one", [(12, 16)], np.float64),
        ("two", [(4, 6), (4, 6)], np.float32),
        ("three", [(2, 3), (3, 4), (2, 2)], np.float64),
        ("four", [(2, 3), (2, 2), (2, 2), (2, 3)], np.float32),
    ):
        factors = [rng.standard_normal(size).astype(dtype) for size in sizes]
        shape = (3, 4) if name == "one" else None
        info = {
            "method": "separable",
            "numbers": [1, 2.5, None, True],
            "inside": {"deep": {"deeper": "text"}},
        }
        dictionary = sedil.SeparableDictionary(
            factors, normalize=True, signal_shape=shape, threshold=3.1, info=info
        )
        yield Base("dictionary", f"{name}.npz", _saved(dictionary.save))


def _saved(save: Any) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "file.npz"
        save(path)
        return zipped(members(path.read_bytes()))


def members(content: bytes) -> list[tuple[str, bytes]]:
    """Names and contents of the members of a ZIP file."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return [(name, archive.read(name)) for name in archive.namelist()]


def zipped(parts: list[tuple[str, bytes]], packing: int = zipfile.ZIP_STORED) -> bytes:
    """A ZIP file of these members, without the time of day."""
    stream = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(stream, "w", packing) as archive:
        warnings.simplefilter("ignore")  # of two members of one name
        for name, content in parts:
            archive.writestr(zipfile.ZipInfo(name), content, packing)
    return stream.getvalue()


def _checkpoints() -> Iterator[Base]:
    for name in LEARNERS:
        yield Base("checkpoint", f"{name}.npz", _saved(partial(_learn_in_no_time, name)))


def _learn_in_no_time(name: str, path: Path) -> None:
    """A checkpoint that does not tell how long it took."""
    from sedil.files import read_archive, write_archive

    learn(name, path)
    arrays, facts = read_archive(path, "checkpoint")
    facts["history"]["seconds"] = [0.25 * k for k in range(len(facts["history"]["seconds"]))]
    write_archive(path, "checkpoint", arrays, facts)


def _picture(mode: str) -> Any:
    from PIL import Image

    rng = np.random.default_rng(0)
    values = np.add.outer(5 * np.arange(ROWS), 3 * np.arange(COLUMNS)) + rng.integers(0, 20, (ROWS, COLUMNS))
    if mode in ("I;16", "I"):
        return Image.fromarray((200 * values).astype(np.uint16))
    if mode == "F":
        return Image.fromarray(values.astype(np.float32))
    grey = Image.fromarray(values.astype(np.uint8))
    colour = Image.merge("RGB", [grey, grey.rotate(180), grey])
    return colour.convert(mode) if mode not in ("L", "RGB") else grey if mode == "L" else colour


def _pictures() -> Iterator[Base]:
    exif = b"Exif\0\0II*\0\x08\0\0\0\x01\0\x12\x01\x03\0\x01\0\0\0\x06\0\0\0\0\0\0\0"
    facts: dict[str, Any] = {"icc_profile": b"profile" * 20, "dpi": (300, 200)}
    for suffix, how, modes, options in (
        ("png", "PNG", ("1", "L", "LA", "P", "RGB", "RGBA", "I;16"), facts | {"exif": exif}),
        ("jpg", "JPEG", ("L", "RGB", "CMYK"), facts | {"exif": exif}),
        ("jpg", "JPEG", ("RGB",), {"progressive": True}),
        ("tif", "TIFF", ("1", "L", "LA", "P", "RGB", "RGBA", "CMYK", "I;16", "F"), facts),
        *(
            ("tif", "TIFF", ("L", "RGB"), {"compression": compression})
            for compression in ("tiff_lzw", "tiff_adobe_deflate", "packbits", "jpeg")
        ),
        ("bmp", "BMP", ("1", "L", "P", "RGB", "RGBA"), {}),
        ("webp", "WEBP", ("RGB", "RGBA"), facts | {"exif": exif}),
        ("webp", "WEBP", ("RGB", "RGBA"), {"lossless": True}),
        ("gif", "GIF", ("L", "P"), {}),
        ("pgm", "PPM", ("1", "L", "RGB", "I;16"), {}),
        ("jp2", "JPEG2000", ("L", "RGB", "RGBA"), {}),
        ("avif", "AVIF", ("RGB", "RGBA"), {}),
    ):
        for mode in modes:
            stream = io.BytesIO()
            _picture(mode).save(stream, how, **options)
            yield Base("picture", f"{mode.replace(';', '')}.{suffix}", stream.getvalue())
    yield Base("picture", "plain.pgm", b"P2 # comment\n4 3\n255\n" + b" ".join(b"%d" % k for k in range(12)))
    yield Base("picture", "plain.ppm", b"P3\n2 3\n1000\n" + b" ".join(b"%d" % (50 * k) for k in range(18)))
    yield Base("picture", "frames.gif", _frames("GIF"))
    yield Base("picture", "frames.webp", _frames("WEBP"))


def _frames(how: str) -> bytes:
    stream, picture = io.BytesIO(), _picture("RGB")
    picture.save(stream, how, save_all=True, append_images=[picture.rotate(90), picture.rotate(180)])
    return stream.getvalue()


def _deep_tiffs() -> Iterator[Base]:
    from tifffile import imwrite

    rng = np.random.default_rng(0)
    colour = rng.integers(0, 60_000, (ROWS, COLUMNS, 3)).astype(np.uint16)
    for name, values, options in (
        ("deep", colour, {"photometric": "rgb"}),
        ("planes", colour.transpose(2, 0, 1), {"photometric": "rgb", "planarconfig": "separate"}),
        ("packed", colour, {"photometric": "rgb", "compression": "zlib", "predictor": True}),
        ("tiles", colour, {"photometric": "rgb", "tile": (16, 16)}),
        ("big", colour, {"photometric": "rgb", "bigtiff": True, "byteorder": ">"}),
        ("signed", colour[..., 0].astype(np.int32), {"photometric": "minisblack"}),
        ("float", colour[..., 0].astype(np.float64), {"photometric": "minisblack"}),
    ):
        stream = io.BytesIO()
        imwrite(stream, values, **options)
        yield Base("picture", f"{name}.tif", stream.getvalue())
    for name, options in (
        ("stack", {"imagej": True}),
        ("packed", {"compression": "zlib"}),
        ("ome", {"ome": True}),
    ):
        stream = io.BytesIO()
        imwrite(stream, rng.integers(0, 60_000, (5, 7, 9)).astype(np.uint16), **options)
        yield Base("volume", f"{name}.tif", stream.getvalue())


def save_volume(values: np.ndarray) -> bytes:
    """An archive with a volume and something else."""
    stream = io.BytesIO()
    np.savez(stream, volume=values.astype(np.int16), spacing=np.ones(3))
    return stream.getvalue()


def _volumes() -> Iterator[Base]:
    import nibabel

    values = np.random.default_rng(0).integers(0, 2000, (5, 7, 9))
    for dtype in (np.uint8, np.int16, np.float32, np.float64):
        stream = io.BytesIO()
        np.save(stream, values.astype(dtype))
        yield Base("volume", f"{np.dtype(dtype)}.npy", stream.getvalue())
    for name, packing in (("plain", zipfile.ZIP_STORED), ("packed", zipfile.ZIP_DEFLATED)):
        yield Base("volume", f"{name}.npz", zipped(members(save_volume(values)), packing))
    for make, dtype in ((nibabel.Nifti1Image, np.int16), (nibabel.Nifti2Image, np.float32)):
        image = make(values.astype(dtype), np.diag([1.0, 2, 3, 1]))
        image.header.set_slope_inter(2.0, 1.0)
        content = image.to_bytes()
        yield Base("volume", f"{make.__name__}.nii", content)
        yield Base("volume", f"{make.__name__}.nii.gz", gzip.compress(content, mtime=0))
