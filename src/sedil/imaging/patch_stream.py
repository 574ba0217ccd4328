"""Training patches from folders of images, or arrays in chunks, of any size, a part at a time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from sedil import checks
from sedil.cluster.stored_arrays import is_stored, open_stored
from sedil.image_files.image_search import find_training_files
from sedil.imaging.patches import normalize_patches, sample_patches
from sedil.imaging.training_images import ArrayBlocks, ImageFiles, OnError, TrainingImages
from sedil.learning.chunked_rows import is_chunked

# Images that are held together, so that the patches of a batch come from many of them.
_MOST_IMAGES, _MOST_PIXELS = 16, 2**26
_MOST_PATCHES = 4096  # drawn at a time


def stream_patches(
    images: str | Path | Iterable[str | Path] | Any,
    patch_shape: int | Sequence[int],
    n_patches: int,
    random_state: int | np.random.Generator | None = None,
    *,
    flatten: bool = False,
    on_error: OnError | None = None,
) -> PatchStream:
    """Normalised patches from image files or a large array, drawn while they are learned from.

    A few images are held at a time. Each image gives about as many patches as any other.

    Parameters
    ----------
    images : path or paths, or array in chunks
        Image files, or folders of them, searched with their subfolders. Or one array in chunks: of Dask, of
        Zarr, or the path of a Zarr store or an HDF5 file. Of it some blocks are read, the more the more
        patches are wanted, and no patch lies across two of them.
    patch_shape : two lengths, or three for files of volumes; of an array one length for each of its axes
    n_patches : int
        Patches in all; flat ones among them are left out.
    random_state : int, numpy.random.Generator or None
    flatten : bool, default False
        Give each patch as a vector, for unstructured dictionaries.
    on_error : callable, optional
        Called with the path of a file that cannot be read or is smaller than a patch, and the error, each
        time that it is tried; its share of the patches is left out. Default: the error is raised.

    Returns
    -------
    PatchStream
        Iterate over it for arrays (n, *patch_shape), float32; each time it gives the same.

    See Also
    --------
    sedil.learn_minibatch, sedil.sample_patches, sedil.normalize_patches

    Examples
    --------
    >>> import numpy as np, sedil, tempfile
    >>> from PIL import Image
    >>> folder = tempfile.TemporaryDirectory()  # here with one picture; yours may hold a million
    >>> pixels = np.random.default_rng(0).integers(256, size=(40, 40), dtype=np.uint8)
    >>> Image.fromarray(pixels).save(f"{folder.name}/photo.png")
    >>> patches = sedil.stream_patches(folder.name, (4, 4), 500, random_state=0)
    >>> result = sedil.learn_minibatch(patches, n_atoms=(6, 6), random_state=0)
    >>> result.dictionary.patch_shape
    (4, 4)
    >>> folder.cleanup()
    """
    lengths = checks.patch_lengths(patch_shape)
    n_patches = checks.require_count(n_patches, "n_patches", minimum=1)
    checks.require_flag(flatten, "flatten")
    if on_error is not None and not callable(on_error):
        raise TypeError(f"on_error must be a function of a path and an error, got {checks.short(on_error)}.")
    rng = checks.as_generator(random_state)
    array = open_stored(images) if isinstance(images, str | Path) and is_stored(images) else images
    if is_chunked(array):
        blocks = ArrayBlocks(array, lengths, n_patches, rng)
        return PatchStream(blocks, [], lengths, n_patches, int(rng.integers(2**63)), flatten)
    if len(lengths) not in (2, 3):
        raise ValueError(f"Patches of images have two axes, of volumes three, got patch_shape={lengths}.")
    given: Any = [images] if isinstance(images, str | Path) else images
    if not isinstance(given, Iterable) or isinstance(given, np.ndarray | bytes):
        raise TypeError(f"images must be paths of files and folders, got {checks.short(images)}.")
    paths = [checks.as_path(path, "An image") for path in given]
    if not paths:
        raise ValueError("There are no images to take patches from.")
    if on_error is None:
        for path in paths:
            if not path.exists():
                raise FileNotFoundError(f"There is no file or folder {path}.")
    files = find_training_files(paths, len(lengths))
    pictures = ImageFiles(files, lengths, on_error)
    return PatchStream(pictures, files, lengths, n_patches, int(rng.integers(2**63)), flatten)


class PatchStream:
    """What `stream_patches` returns.

    Attributes
    ----------
    files : list of Path
        Empty for an array.
    n_images : int
        Files, or blocks of an array, that one iteration reads.
    n_patches : int
        Patches that one iteration draws.
    """

    def __init__(
        self,
        images: TrainingImages,
        files: list[Path],
        patch_shape: tuple[int, ...],
        n_patches: int,
        seed: int,
        flatten: bool,
    ) -> None:
        self.files, self.n_images, self.n_patches = files, len(images), n_patches
        self._images, self._patch_shape, self._seed, self._flatten = images, patch_shape, seed, flatten

    def __iter__(self) -> Iterator[np.ndarray]:
        rng = np.random.default_rng(self._seed)
        n_read, n_drawn, all_flat = 0, 0, True
        for group in self._groups(rng):
            n_read += len(group)
            due = self.n_patches * n_read // self.n_images
            while n_drawn < due:
                count = min(_MOST_PATCHES, due - n_drawn)
                drawn = sample_patches(group, self._patch_shape, count, rng)
                n_drawn += count
                if np.ptp(drawn.reshape(count, -1), axis=1).any():
                    all_flat = False
                    patches = normalize_patches(drawn)
                    yield patches.reshape(len(patches), -1) if self._flatten else patches
        if all_flat:
            raise ValueError("Every patch is flat: without its mean nothing is left to learn from.")

    def _groups(self, rng: np.random.Generator) -> Iterator[list[np.ndarray]]:
        """All images in random order, a few at a time."""
        group: list[np.ndarray] = []
        for image in self._images.read(rng.permutation(self.n_images).tolist()):
            group.append(image)
            if len(group) == _MOST_IMAGES or sum(image.size for image in group) > _MOST_PIXELS:
                yield group
                group = []
        if group:
            yield group
