"""The machine: what it is, how fast it multiplies and adds, and how a run is held to some of its cores."""

from __future__ import annotations

import os
import platform
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from datetime import UTC, datetime
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from threading import Barrier
from time import perf_counter
from typing import Any

import numpy as np  # loads its BLAS, which is asked for its version

import sedil
from sedil_studies.harness.source_commit import source_commit

_PACKAGES = ("numba", "scipy", "scikit-learn", "spams-bin", "bm3d", "jax")
_CACHES = Path("/sys/devices/system/cpu/cpu0/cache")
_LONG_SUM = 1024  # terms, all in the first-level cache
_SECONDS = 0.2  # that a rate is measured over
_ROUNDS = 9
_FREE = 0.8  # of as many cores as threads; clocks fall a little when all cores work


def machine_facts(threads: int) -> dict[str, Any]:
    """What decides how fast a run is: machine, versions, measured peak, and what else was running."""
    peak, of_one = fma_peak(threads), fma_peak(1)
    return {
        "date": datetime.now(UTC).strftime("%Y-%m-%d %H:%M UTC"),
        "cpu": _cpu_model(),
        "cores": os.cpu_count(),
        "caches": _caches(),
        "memory_bytes": os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES"),
        "system": platform.platform(),
        "python": platform.python_version(),
        "sedil": sedil.__version__,
        "commit": source_commit(),
        "packages": {"numpy": np.__version__, **_versions()},
        "blas": _blas(),
        "load_before": round(os.getloadavg()[0], 2),
        "fma_peak_gflops": round(peak / 1e9, 1),
        "free_cores": round(peak / of_one, 2),
    }


def complaint(facts: dict[str, Any], threads: int) -> str:
    """A sentence if the threads had to share cores; empty if each had its own.

    Ratios are worthless then: a library whose threads wait for each other can become fifty times slower.
    """
    if facts["free_cores"] >= _FREE * threads:
        return ""
    return (
        f"{threads} threads multiply and add only {facts['free_cores']:g} times as fast as one: something "
        "else is running, or cores are shared. Figures on several threads are worthless."
    )


@contextmanager
def held_to(threads: int) -> Iterator[None]:
    """Keep this process to so many cores and BLAS to so many threads, where the system allows.

    Every contestant is told its number of threads; this also holds those that do not listen.
    """
    from threadpoolctl import threadpool_limits

    allowed = os.sched_getaffinity(0) if hasattr(os, "sched_setaffinity") else set()
    if threads < len(allowed):
        os.sched_setaffinity(0, sorted(allowed)[:threads])
    try:
        with threadpool_limits(threads):
            yield
    finally:
        if threads < len(allowed):
            os.sched_setaffinity(0, allowed)


def fma_peak(threads: int) -> float:
    """Operations per second in the innermost product when nothing has to be fetched, a sum or product each.

    It counts a fused multiply-add as two, over all threads.
    """
    from sedil_studies.bench.kernel_loops import tile_loop

    loops = [tile_loop(_LONG_SUM, moving=False) for _ in range(threads)]
    return loops[0][1] * max(rates([loop for loop, _ in loops]))


def rates(loops: list[Callable[[int], None]], rounds: int = _ROUNDS) -> list[float]:
    """Times per second that all loops together do their work, one thread a loop; one figure a round."""
    times = _calibrated(loops[0])
    return [len(loops) * times / _together(loops, times) for _ in range(rounds)]


def _calibrated(loop: Callable[[int], None]) -> int:
    """Repetitions that take about as long as a round should; the first call compiles."""
    loop(1)
    times = 1
    while True:
        began = perf_counter()
        loop(times)
        seconds = perf_counter() - began
        if seconds > _SECONDS / 4:
            return max(round(times * _SECONDS / seconds), 1)
        times *= 4


def _together(loops: list[Callable[[int], None]], times: int) -> float:
    """Seconds from a common start until the last loop is done."""
    start = Barrier(len(loops) + 1)

    def work(loop: Callable[[int], None]) -> None:
        start.wait()
        loop(times)

    with ThreadPoolExecutor(len(loops)) as pool:
        running = [pool.submit(work, loop) for loop in loops]
        start.wait()
        began = perf_counter()
        for each in running:
            each.result()
        return perf_counter() - began


def _cpu_model() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()


def _caches() -> str:
    """Sizes of the caches of one core, such as ``L1 32K, L2 1024K, L3 32768K``; instructions left out."""
    found = []
    for folder in sorted(_CACHES.glob("index*")):
        kind, level, size = ((folder / name).read_text().strip() for name in ("type", "level", "size"))
        if kind != "Instruction":
            found.append(f"L{level} {size}")
    return ", ".join(found)


def _versions() -> dict[str, str]:
    found = {}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def _blas() -> str:
    from threadpoolctl import threadpool_info

    libraries = {
        f"{each['internal_api']} {each.get('version', '')}".strip()
        for each in threadpool_info()
        if each.get("user_api") == "blas"
    }
    return ", ".join(sorted(libraries))
