"""Without the extra `cluster`: one clear sentence, and nothing of it is loaded."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from typer.testing import CliRunner

import sedil
from sedil.cli import app

PACKAGES = ("dask", "distributed", "zarr", "h5py")


@pytest.fixture(autouse=True)
def missing(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    for name in PACKAGES:  # which then cannot be imported
        monkeypatch.setitem(sys.modules, name, None)


def test_files_in_chunks_say_what_to_install():
    for name, package in (("a.zarr", "zarr"), ("a.h5", "h5py")):
        if package == "zarr":
            Path(name).mkdir()
            Path(name, "zarr.json").write_text("{}")
        else:
            Path(name).write_bytes(b"")
        result = CliRunner().invoke(app, ["denoise", name, "b.zarr"])
        assert result.exit_code == 1
        words = " ".join(result.output.split())
        assert f'{package} is not installed: pip install "sedil[cluster]".' in words


def test_a_scheduler_says_what_to_install():
    np.save("a.npy", np.zeros((20, 20)))
    result = CliRunner().invoke(app, ["denoise", "a.npy", "b.npy", "--scheduler", "local"])
    assert result.exit_code == 1
    assert 'Dask is not installed: pip install "sedil[cluster]".' in " ".join(result.output.split())
    assert not Path("b.npy").exists()
    with pytest.raises(ValueError, match="Dask is not installed"):
        sedil.learn_minibatch(np.zeros((9, 4, 4)), 5, scheduler="tcp://127.0.0.1:9")


def test_nothing_of_it_is_loaded_otherwise():
    code = f"""
import sys, numpy as np, sedil
sedil.denoise(np.random.default_rng(0).standard_normal((20, 20)), 1.0, stride=4)
sedil.learn_minibatch(np.random.default_rng(0).standard_normal((20, 4, 4)), 5, batch_iterations=1)
print([name for name in {PACKAGES} if name in sys.modules])
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120)
    assert done.stdout.strip() == "[]", done.stderr
