"""Forked, spawned and joblib's processes compute the same; many calls take no more memory than one."""

import subprocess
import sys

import pytest

WORK = """
import numpy as np, sedil

def work(_=0):
    rng = np.random.default_rng(0)
    image, patches = rng.standard_normal((40, 40)), rng.standard_normal((60, 4, 4)).astype(np.float32)
    dictionary = sedil.odct((4, 4), (6, 6))
    learned = sedil.learn(patches, (6, 6), max_iterations=3, random_state=0, threads=2).dictionary
    cleaned = sedil.denoise(image, 0.5, dictionary, threads=2)
    codes = sedil.sparse_code(dictionary, patches, 0.5, threads=2)
    return [array.tobytes() for array in (cleaned, codes, *learned.factors)]
"""

OTHERS = """
import multiprocessing
from joblib import Parallel, delayed
from work import work

if __name__ == "__main__":
    expected = work()
    for method in multiprocessing.get_all_start_methods():
        with multiprocessing.get_context(method).Pool(2) as pool:
            assert pool.map(work, range(3)) == [expected] * 3, method
    for backend in ("loky", "threading"):
        assert Parallel(2, backend=backend)(delayed(work)() for _ in range(6)) == [expected] * 6, backend
"""

MEMORY = """
import os
from work import work

def resident():
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")

for _ in range(60):
    work()
before, threads = resident(), len(os.listdir("/proc/self/task"))
for _ in range(500):
    work()
grown = resident() - before
assert grown < 20e6, f"{grown / 1e6:.0f} MB more after 500 calls"
assert len(os.listdir("/proc/self/task")) <= threads + 2
assert len(os.listdir("/proc/self/fd")) < 50
"""


def run(folder, script):
    (folder / "work.py").write_text(WORK)
    (folder / "main.py").write_text(script)
    ended = subprocess.run(
        [sys.executable, "main.py"], cwd=folder, capture_output=True, text=True, timeout=600, check=False
    )
    assert ended.returncode == 0, ended.stderr


@pytest.mark.slow
def test_processes_and_threads_of_multiprocessing_and_joblib_compute_the_same(tmp_path):
    run(tmp_path, OTHERS)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="memory is told by Linux")
def test_memory_does_not_grow_over_500_calls(tmp_path):
    run(tmp_path, MEMORY)
