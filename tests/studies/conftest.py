"""What tests of studies share: a folder of their own, and stand-ins for research data."""

import numpy as np
import pytest
from PIL import Image

from sedil_studies.peers import packages
from sedil_studies.table1.five_images import FILES
from sedil_studies.table1.paper import IMAGES


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    """A working folder of its own, and no data but what is given."""
    monkeypatch.chdir(tmp_path)
    for name in ("SEDIL_DATA", "SEDIL_FACES_ADDRESS"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def five_images(tmp_path, rng):
    """A folder with tiny stand-ins for the paper's images."""
    folder = tmp_path / "data"
    folder.mkdir()
    ramp = 4 * np.add.outer(np.arange(24), np.arange(28))
    for name in IMAGES:
        noisy = ramp + rng.integers(0, 20, ramp.shape)
        Image.fromarray(noisy.astype(np.uint8)).save(folder / FILES[name])
    return folder


@pytest.fixture
def without_peers(monkeypatch):
    """As if none of the packages of peers were installed."""

    def version(package):
        raise packages.PackageNotFoundError(package)

    monkeypatch.setattr(packages, "version", version)


@pytest.fixture
def complaint():
    """What a command that failed says on standard error, as one line."""

    def read(result):
        assert result.exit_code in (1, 2)
        words = " ".join(result.stderr.replace("│", " ").split())
        assert "Traceback" not in words
        return words

    return read
