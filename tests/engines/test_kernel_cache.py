"""Kernels on disk: damaged and old ones are compiled anew, and a disk that cannot be used is survived."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
from numba.core import caching

from sedil.engines.fused.kernels.cache import KernelCache, KernelFiles
from sedil.engines.fused.kernels.compilation import kernel

KEY = ("types", ("processor", "features"))


@pytest.fixture
def saved(tmp_path):
    """A file with something in it."""
    files = KernelFiles(tmp_path, "kernel", "stamp")
    files.save(KEY, {"code": b"machine code" * 20})
    (path,) = tmp_path.iterdir()
    return files, path


def test_what_was_saved_comes_back(saved):
    files, path = saved
    assert path.suffix == ".nbc"
    assert files.load(KEY) == {"code": b"machine code" * 20}
    assert KernelFiles(path.parent, "kernel", "stamp").load(KEY) is not None


def test_every_flipped_byte_and_every_cut_is_noticed(saved):
    files, path = saved
    content = path.read_bytes()
    for place in range(len(content)):
        path.write_bytes(content[:place] + bytes([content[place] ^ 1]) + content[place + 1 :])
        assert files.load(KEY) is None
        path.write_bytes(content[:place])
        assert files.load(KEY) is None
    path.write_bytes(content + b"more")
    assert files.load(KEY) is None


@pytest.mark.parametrize("place", ["folder", "nothing", "unreadable"])
def test_file_that_cannot_be_read_is_none(saved, place, monkeypatch):
    files, path = saved
    if place == "unreadable":

        def refuse(path):
            raise PermissionError(13, "Permission denied")

        monkeypatch.setattr(Path, "read_bytes", refuse)
    else:
        path.unlink()
        if place == "folder":
            path.mkdir()
    assert files.load(KEY) is None


def test_other_stamps_and_other_keys_are_not_taken(saved, tmp_path):
    files, path = saved
    assert KernelFiles(tmp_path, "kernel", "later").load(KEY) is None
    other = ("types", ("another processor",))
    files.save(other, "other code")
    (name,) = {file.name for file in tmp_path.iterdir()} - {path.name}
    (tmp_path / name).replace(path)
    assert files.load(KEY) is None


def test_a_newer_one_takes_the_place_of_the_old_one(saved, tmp_path):
    KernelFiles(tmp_path, "kernel", "later").save(KEY, "new code")
    assert len(list(tmp_path.iterdir())) == 1
    assert KernelFiles(tmp_path, "kernel", "later").load(KEY) == "new code"


def test_flushing_removes_all(saved, tmp_path):
    saved[0].flush()
    assert list(tmp_path.iterdir()) == []


def test_failed_write_leaves_nothing_behind_and_the_kernel_runs(tmp_path, monkeypatch):
    def full(path, content):
        path.touch()
        raise OSError(28, "No space left on device")

    def treble(value):
        return 3 * value

    monkeypatch.setattr(caching.config, "CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(Path, "write_bytes", full)
    tripling = kernel(treble)
    assert isinstance(tripling._cache, KernelCache)
    assert tripling(2) == 6
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


CODE = """
import resource, sys, numpy as np
from sedil.engines.fused.kernels.cost import turn
if sys.argv[1:] == ["full"]:  # files may have no byte, as on a disk that is full
    import signal
    signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0))
gradient, direction = np.random.default_rng(0).standard_normal((2, 1, 3, 32)).astype(np.float32)
turn(gradient, direction, np.float32(0.3))
print(direction.tobytes().hex())
"""


def run_code(cache, *arguments):
    ended = subprocess.run(
        [sys.executable, "-c", CODE, *arguments],
        env=os.environ | {"NUMBA_CACHE_DIR": str(cache), "OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
    )
    assert ended.returncode == 0, ended.stderr
    return ended.stdout


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="limits on files are those of POSIX")
def test_damaged_empty_full_and_forbidden_caches_change_nothing(tmp_path):
    cache = tmp_path / "cache"
    expected = run_code(cache, "full")
    assert not [path for path in cache.rglob("*") if path.is_file()]
    assert run_code(cache) == expected
    (path,) = cache.rglob("*.nbc")
    whole = path.read_bytes()
    for damaged in (b"", whole[: len(whole) // 2], whole[:5000] + b"\xff" + whole[5001:]):
        path.write_bytes(damaged)
        assert run_code(cache) == expected
        assert path.read_bytes() != damaged  # mended
    assert run_code("/proc/no folder can be made here") == expected
