"""What kernels are made of: Python cannot call it, and the cache sees when it changes."""

import importlib
import os
import pkgutil
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core import caching
from numba.extending import is_jitted

import sedil
import sedil.engines.fused.kernels as package
from sedil.engines.fused.kernels.cache import KernelCache, digest_of_sources
from sedil.engines.fused.kernels.compilation import Part, inner, kernel

SOURCE = Path(sedil.__file__).parents[1]
ROOT = Path(__file__).parents[2]


def all_values():
    """All that the modules of the kernels define, once."""
    found = {}
    for module in pkgutil.iter_modules(package.__path__):
        module = importlib.import_module(f"{package.__name__}.{module.name}")
        found |= {id(value): (name, value) for name, value in vars(module).items()}
    return list(found.values())


PARTS = [(name, value) for name, value in all_values() if isinstance(value, Part)]
INTRINSICS = [(name, value) for name, value in all_values() if type(value).__name__ == "_Intrinsic"]


@pytest.mark.parametrize(("name", "part"), PARTS)
def test_calling_a_part_from_python_is_an_error(name, part):
    with pytest.raises(
        TypeError,
        match=f"{name} is compiled into the kernels .* cannot be called from Python, got 2 arguments: write",
    ):
        part(np.zeros(3), count=1)


@pytest.mark.parametrize(("name", "part"), INTRINSICS)
def test_calling_hand_written_code_from_python_is_an_error(name, part):
    with pytest.raises(NotImplementedError, match="not usable in pure-python"):
        part(0)


def test_parts_and_intrinsics_are_found_and_all_else_has_a_way_in_from_python():
    assert len(PARTS) > 30
    assert len(INTRINSICS) > 5
    for _, value in all_values():
        if is_jitted(value) and not isinstance(value, Part):
            assert not value.targetoptions.get("no_cpython_wrapper")


@inner
def _add(values):
    total = 0.0
    for value in values:
        total += value
    return total


@kernel
def _twice(values):
    return 2 * _add(values)


def test_kernels_call_parts():
    assert _twice(np.ones(5)) == 10


CODE = """
import numpy as np, sedil
patches = np.random.default_rng(0).standard_normal((3, 4, 4)).astype(np.float32)
dictionary = sedil.odct((4, 4), (6, 6)).like(patches)
print(sedil.sparse_code(dictionary, patches, method="pursuit", max_error=0.5)[0, 0, 0])
"""


def run_with(source, cache):
    environment = os.environ | {
        "PYTHONPATH": str(source),
        "NUMBA_CACHE_DIR": str(cache),
        "OMP_NUM_THREADS": "1",
    }
    run = subprocess.run(
        [sys.executable, "-c", CODE], env=environment, capture_output=True, text=True, check=True
    )
    return float(run.stdout)


def test_a_change_in_another_file_is_seen(tmp_path):
    source, cache = tmp_path / "source", tmp_path / "cache"
    shutil.copytree(
        Path(sedil.__file__).parent, source / "sedil", ignore=shutil.ignore_patterns("*.nb?", "__pycache__")
    )
    before = run_with(source, cache)
    assert run_with(source, cache) == before
    assert any(cache.rglob("*.nbc"))
    # The kernel is in lane_pursuit.py; what it is made of is here.
    support = source / "sedil/engines/fused/kernels/support.py"
    text = support.read_text()
    assert "    atom[0] = 1\n" in text
    support.write_text(text.replace("    atom[0] = 1\n", "    atom[0] = 2\n"))
    assert run_with(source, cache) == pytest.approx(before / 2, rel=1e-5)


def test_digest_is_of_the_contents_and_names_of_all_files(tmp_path, monkeypatch):
    from sedil.engines.fused.kernels import cache

    def digest(**texts):
        for old in tmp_path.iterdir():
            old.unlink()
        for name, text in texts.items():
            (tmp_path / f"{name}.py").write_text(text)
        monkeypatch.setattr(cache, "files", lambda name: tmp_path)
        return digest_of_sources.__wrapped__()

    plain = digest(one="a", other="b")
    assert digest(one="a", other="b") == plain
    assert digest(one="a", other="c") != plain
    assert digest(one="ab", other="") != plain
    assert digest(one="a", another="b") != plain


def test_kernels_work_where_nothing_can_be_kept(monkeypatch):
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])

    def double(value):
        return 2 * value

    assert isinstance(KernelCache.create(double), caching.NullCache)
    assert kernel(double)(4) == 8


def test_a_process_that_compiles_gives_the_bits_of_one_that_does_not_and_compiles_nothing_twice(tmp_path):
    """Compiling takes seconds on a new machine: no kernel is compiled again for what is one and the same.

    And LLVM optimises what is kept on disk once more: a kernel that was right at first came back wrong.
    """
    paths = [SOURCE, ROOT / "tests/engines", ROOT / "tests", ROOT]
    environment = os.environ | {
        "NUMBA_CACHE_DIR": str(tmp_path / "cache"),
        "PYTHONPATH": os.pathsep.join(map(str, paths)),
    }
    compiled_again = []
    for name in ("compiling", "loading"):
        script = [sys.executable, str(ROOT / "tests/engines/fresh_process.py"), str(tmp_path / name)]
        ended = subprocess.run(script, env=environment, capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
        compiled_again.append(ended.stdout.splitlines())
    first, second = (np.load(tmp_path / f"{name}.npz") for name in ("compiling", "loading"))
    for name in first.files:
        np.testing.assert_array_equal(first[name], second[name])
    # Pursuit has the entries of a patch apart from each other, one of each patch of a block after the other.
    assert {words.partition("(")[0] for words in compiled_again[0]} <= {
        "denoising.extract",
        "denoising.add_patch",
    }
    assert compiled_again[1] == []
