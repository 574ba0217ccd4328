"""What calls are made with, made once: dictionaries, results, files, axes."""

from __future__ import annotations

import os
import tempfile
from pathlib import Path
from random import Random
from typing import Any

import numpy as np

from fuzz.values import junk


class Stock:
    """Things that calls are made with, made once: dictionaries, results, files, axes."""

    def __init__(self) -> None:
        import matplotlib as mpl

        mpl.use("Agg")
        import sedil

        self.sedil = sedil
        self.folder = Path(tempfile.mkdtemp(prefix="fuzz-"))
        os.chdir(self.folder)  # where files go whose names have no folder
        self.by_axes = {
            1: [sedil.odct(4, 6), sedil.SeparableDictionary([np.eye(4, dtype=np.float32)])],
            2: [
                sedil.odct((4, 4), 6),
                sedil.odct((3, 4), (4, 5)),
                sedil.SeparableDictionary(sedil.odct(16, 24).factors, signal_shape=(4, 4), threshold=2.0),
                sedil.SeparableDictionary([np.eye(4, dtype=np.float32)] * 2, info={"a": 1}),
            ],
            3: [sedil.odct((2, 3, 3), (3, 4, 4))],
            4: [sedil.odct((2, 2, 2, 2), 3)],
        }
        self.dictionaries = [each for some in self.by_axes.values() for each in some]
        patches = np.random.default_rng(0).standard_normal((30, 4, 4))
        self.result = sedil.learn(patches, 5, max_iterations=3, random_state=0)
        self.model = sedil.SeparableDictionaryLearning((4, 4), 5, max_iterations=3, random_state=0).fit(
            patches.reshape(30, -1)
        )
        self.file = self.folder / "dictionary.npz"
        self.dictionaries[2].save(self.file)
        np.save(self.folder / "patches.npy", patches)
        self._write_pictures()
        self._compile()

    def _compile(self) -> None:
        """Use all kernels once, so that no case has to wait for them."""
        sedil, image = self.sedil, np.random.default_rng(0).standard_normal((12, 12))
        dictionary, patches = self.by_axes[2][0], image[None, :4, :4]
        for method in ("groups", "quick", "l1", "pursuit"):
            sedil.denoise(image, 1.0, dictionary, method=method)
        sedil.denoise(np.stack([image] * 8), 1.0, time_axis=0)
        for method in ("l1", "refit", "pursuit"):
            for sparse in (True, False):
                for solver in ("descent", "fista", "admm"):
                    how = {"method": method, "sparse": sparse, "solver": solver, "max_error": 1.0}
                    sedil.sparse_code(dictionary, patches, 0.5, **how)
        for method in ("groups", "quick"):
            sedil.inpaint(image, image > 1, dictionary, method=method)
        sedil.sparse_code(dictionary, patches, 0.5, mask=patches > 1)
        sedil.sparse_code(dictionary, patches, 0.5, initial=np.zeros((1, 6, 6)))
        sedil.learn_minibatch(image.reshape(9, 4, 4), 5, batch_iterations=1)

    def _write_pictures(self) -> None:
        from PIL import Image

        self.pictures = self.folder / "pictures"
        self.pictures.mkdir()
        rng = np.random.default_rng(0)
        for number in range(2):
            Image.fromarray(rng.integers(0, 255, (12, 14), dtype=np.uint8)).save(
                self.pictures / f"{number}.png"
            )

    def dictionary(self, random: Random) -> Any:
        """A dictionary, as an object or a file."""
        return self.file if random.random() < 0.02 else random.choice(self.dictionaries)

    def estimate(self, random: Random) -> Any:
        """What `measure_noise` says of an image, now and then with one part replaced."""
        rng = np.random.default_rng(random.randrange(9))
        shape, axis = random.choice((((16, 12), None), ((16, 12, 3), -1)))
        image = rng.poisson(rng.uniform(5, 90, (shape[0], 1, 1)[: len(shape)]) * np.ones(shape)).astype(float)
        kind = random.choice((None, "white", "correlated", "poisson-gaussian"))
        found = self.sedil.measure_noise(image * random.choice((1.0, 1e-3, 1e30)), axis, kind)
        if random.random() < 0.7:
            return found
        return found._replace(**{random.choice(found._fields): junk(random)})

    def axes(self, random: Random) -> Any:
        """Axes to draw into: new ones take long."""
        from matplotlib.figure import Figure

        return Figure(figsize=(1, 1)).add_subplot()
