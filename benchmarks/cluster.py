"""Volumes from Zarr to Zarr, runs that are killed, seams, and learning by several workers.

Usage: python benchmarks/cluster.py --data DATA [volume|groups|kills|seams|learning ...]
Writes results/cluster-*.csv. The cluster is simulated: processes of one machine, one thread each, which talk
to each other over its own loopback, and share its two cores and its disk.
"""

import argparse
import multiprocessing
import os
import shutil
import signal
import tempfile
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rows import write_rows

import sedil

# Processes that are started import this file too, before they are of use: all else is imported where it is
# needed, as their start is part of what is measured.

SIGMA = 20.0
HEAD = "volumes/chris_t1.npz"
# Beside the tiled one: the quick method takes longer in a brain than in the air around it.
ONE_HEAD = np.s_[:188, :256, :190]
TRAINING, HELD_OUT = ("baboon", "couple", "hill", "man"), ("lake", "woman_darkhair")
N_IN_MEMORY = 2  # calls before the run, and as many after it
N_KILLS = 10  # of a worker, and as many of the whole run
Row = dict[str, Any]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", nargs="*", choices=[*MEASUREMENTS, []], help="default: all")
    parser.add_argument("--data", type=Path, required=True, help="folder with volumes/ and images/train")
    parser.add_argument("--output", type=Path, default=Path("results"))
    arguments = parser.parse_args()
    for name in arguments.what or MEASUREMENTS:
        rows = []
        for row in MEASUREMENTS[name](arguments.data):
            print(name, row, flush=True)
            rows.append(row)
        write_rows(arguments.output / f"cluster-{name}.csv", rows)


def tiled_head(data: Path, shape: tuple[int, ...]) -> np.ndarray:
    """The T1 head beside mirror images of itself, with noise of sigma 20."""
    from sedil.image_files.volume_files import read_volume

    head = read_volume(data / HEAD).pixels.astype(np.float32)
    head *= 255 / head.max()
    for axis, side in enumerate(shape):
        times = -(-side // head.shape[axis])
        pieces = [head if number % 2 == 0 else np.flip(head, axis) for number in range(times)]
        head = np.concatenate(pieces, axis)[(slice(None),) * axis + (slice(side),)]
    noise = np.random.default_rng(0).standard_normal(shape, np.float32)
    return np.ascontiguousarray(head + np.float32(SIGMA) * noise)


# From Zarr to Zarr


def measure_volume(data: Path) -> Iterator[Row]:
    yield from _from_zarr_to_zarr(data, (512, 512, 256), "quick", ONE_HEAD)


def measure_groups(data: Path) -> Iterator[Row]:
    yield from _from_zarr_to_zarr(data, (192, 192, 192), "groups", np.s_[:96, :96, :96])


def measure_small(data: Path) -> Iterator[Row]:
    """The same on volumes that take minutes on a busy machine: look at times of the processor."""
    yield from _from_zarr_to_zarr(data, (376, 256, 190), "quick", ONE_HEAD)
    yield from _from_zarr_to_zarr(data, (128, 64, 64), "groups", np.s_[:64, :64, :64])


def _from_zarr_to_zarr(data: Path, shape: tuple[int, ...], method: Any, part: Any) -> Iterator[Row]:
    import zarr

    from sedil.file_jobs.chunk_jobs import ChunkSettings, open_job
    from sedil.file_jobs.chunk_runs import run_job

    noisy = tiled_head(data, shape)
    small = np.ascontiguousarray(noisy[part])
    sedil.denoise(small[:24, :24, :24], SIGMA, method=method)  # compiled
    with tempfile.TemporaryDirectory() as folder:
        source, target = Path(folder) / "noisy.zarr", Path(folder) / "clean.zarr"
        zarr.create_array(source, data=noisy, chunks=(64, 64, 64))
        del noisy
        job = open_job(source, target, ChunkSettings(SIGMA, None, method))
        in_memory = [_timed(small, method) for _ in range(N_IN_MEMORY)]
        reports: list[float] = []
        began = time.perf_counter()
        with peak_of_children() as children:
            run_job(job, None, 2, lambda _: reports.append(time.perf_counter() - began), lambda _: None)
        seconds = time.perf_counter() - began
        in_memory += [_timed(small, method) for _ in range(N_IN_MEMORY)]
    per_voxel = seconds / np.prod(shape)
    beside, processor_beside = (np.median(in_memory, axis=0) / small.size).tolist()
    processor = sum(child.seconds for child in children.values()) / np.prod(shape)
    yield {
        "method": method,
        "shape": "x".join(map(str, shape)),
        "workers": 2,
        "seconds": round(seconds, 1),
        "microseconds_per_voxel": round(1e6 * per_voxel, 3),
        "in_memory_shape": "x".join(map(str, small.shape)),
        "in_memory_microseconds_per_voxel": round(1e6 * beside, 3),
        "in_memory_all": " ".join(f"{1e6 * each / small.size:.3f}" for each, _ in in_memory),
        "ratio": round(per_voxel / beside, 3),
        "seconds_to_first_block": round(reports[1], 2),  # the first report is that none is done
        "ratio_after_first_block": round((seconds - reports[1]) / np.prod(shape) / beside, 3),
        "processor_microseconds_per_voxel": round(1e6 * processor, 3),
        "in_memory_processor_microseconds_per_voxel": round(1e6 * processor_beside, 3),
        "ratio_of_processor": round(processor / processor_beside, 3),
        "most_megabytes_of_a_worker": round(max(child.n_bytes for child in children.values()) / 2**20),
    }


def _timed(image: np.ndarray, method: Any) -> tuple[float, float]:
    """Seconds of a call in memory, and of the processor."""
    began = time.process_time()
    seconds = _seconds(lambda: sedil.denoise(image, SIGMA, method=method, threads=2))
    return seconds, time.process_time() - began


def _seconds(work: Callable[[], Any]) -> float:
    began = time.perf_counter()
    work()
    return time.perf_counter() - began


class Child(NamedTuple):
    """Of a process: its largest resident memory, and its time on the processor, start included."""

    n_bytes: int = 0
    seconds: float = 0.0


@contextmanager
def peak_of_children() -> Iterator[dict[int, Child]]:
    """What the children of this process take, looked at once a second."""
    import psutil

    peaks: dict[int, Child] = {}
    done = threading.Event()

    def look() -> None:
        while not done.wait(1):
            for child in psutil.Process().children(recursive=True):
                with suppress(psutil.Error, OSError):
                    times, before = child.cpu_times(), peaks.get(child.pid, Child())
                    peaks[child.pid] = Child(max(before.n_bytes, _peak(child.pid)), times.user + times.system)

    thread = threading.Thread(target=look)
    thread.start()
    try:
        yield peaks
    finally:
        done.set()
        thread.join()


def _peak(pid: int) -> int:
    """Largest resident memory of a process so far, which Linux keeps: looks can be rare."""
    lines = Path(f"/proc/{pid}/status").read_text().splitlines()
    return 1024 * next((int(line.split()[1]) for line in lines if line.startswith("VmHWM")), 0)


# Runs that are killed


def measure_kills(data: Path) -> Iterator[Row]:
    import zarr

    rng = np.random.default_rng(0)
    noisy = tiled_head(data, (64, 48, 48))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        zarr.create_array(folder / "noisy.zarr", data=noisy, chunks=(32, 32, 32))
        methods = ("quick", "groups")
        for method in methods:
            whole = _seconds(lambda: _in_process(folder, f"{method}.zarr", method))  # noqa: B023
            expected = contents(folder / f"{method}.zarr")
            for victim in ("worker", "run"):
                for moment in sorted(rng.uniform(0.1, 1, N_KILLS // len(methods)) * whole):
                    target = folder / f"{method}-{victim}-{moment:.3f}.zarr"
                    n_kills, seconds = _disturbed(folder, target.name, method, victim, moment)
                    while n_kills == 0:  # the run had ended before
                        moment /= 2
                        shutil.rmtree(target)
                        n_kills, seconds = _disturbed(folder, target.name, method, victim, moment)
                    yield {
                        "method": method,
                        "killed": victim,
                        "after_seconds": round(moment, 2),
                        "undisturbed_seconds": round(whole, 2),
                        "kills": n_kills,
                        "seconds": round(seconds, 2),
                        "bytes_equal": contents(target) == expected,
                    }


def contents(folder: Path) -> dict[str, bytes]:
    """All files below a folder."""
    return {str(file.relative_to(folder)): file.read_bytes() for file in folder.rglob("*") if file.is_file()}


def _in_process(folder: Path, target: str, method: Any) -> None:
    process = _started(folder, target, method)
    process.join()
    assert process.exitcode == 0


def _started(folder: Path, target: str, method: Any) -> Any:
    process = multiprocessing.get_context("spawn").Process(target=_run, args=(folder, target, method))
    process.start()
    return process


def _run(folder: Path, target: str, method: Any) -> None:
    from sedil.cluster import block_sizes, stored_arrays
    from sedil.file_jobs.chunk_jobs import ChunkSettings, open_job
    from sedil.file_jobs.chunk_runs import run_job

    os.setsid()  # so that the run and its workers can be killed together
    job = open_job(folder / "noisy.zarr", folder / target, ChunkSettings(SIGMA, None, method))

    # Four blocks a step, and more to write, so that a kill finds some done.
    stored_arrays._VALUES_AT_A_TIME = 2**14
    block_sizes.BYTES_OF_A_BLOCK = 6e6 if method == "groups" else 4e6
    run_job(job, None, 2, lambda _: None, lambda _: None)


def _disturbed(folder: Path, target: str, method: Any, victim: str, moment: float) -> tuple[int, float]:
    """How often it was killed, and how long it took until the result was there."""
    began, process = time.perf_counter(), _started(folder, target, method)
    time.sleep(moment)
    n_kills = 0
    if victim == "worker":
        workers = _workers_of(process)
        while process.is_alive() and not workers:
            time.sleep(0.05)  # it has yet to start them
            workers = _workers_of(process)
        for each in workers[-1:]:
            each.kill()
            n_kills += 1
    elif process.is_alive():
        os.killpg(process.pid, signal.SIGKILL)
        n_kills += 1
    process.join()
    if not (folder / target).exists():
        _in_process(folder, target, method)
    return n_kills, time.perf_counter() - began


def _workers_of(process: Any) -> list[Any]:
    import psutil

    children = psutil.Process(process.pid).children(recursive=True)
    return [each for each in children if "spawn_main" in " ".join(each.cmdline())]


# Seams


def measure_seams(data: Path) -> Iterator[Row]:
    """How far results of chunks are from that of the whole; chunks as small as halos allow."""
    import dask.array as da

    from sedil.cluster import parts
    from sedil.image_files.grey_images import read_grey

    parts._HALOS_PER_CHUNK = 1
    picture = read_grey(data / "images/train/lake.png").astype(np.float32)[:240, :240]
    volume = tiled_head(data, (64, 64, 64))
    rng = np.random.default_rng(0)
    noisy = picture + SIGMA * rng.standard_normal(picture.shape, np.float32)
    for image, chunks, name in ((noisy, 100, "picture"), (volume, 26, "volume"), (noisy[0], 90, "signal")):
        for method in ("groups", "quick", "l1", "pursuit"):
            if method != "groups" and image.ndim == 1:
                continue
            whole = sedil.denoise(image, SIGMA, method=method)
            lazy = sedil.denoise(da.from_array(image, chunks=chunks), SIGMA, method=method)
            yield _difference(f"denoise {name}", method, 0, image, whole, lazy.compute(), None)
    for image, chunks, name in ((picture, 120, "picture"), (volume, 32, "volume")):
        for share in (0.5, 0.8):
            mask = rng.random(image.shape) < share
            for method in ("quick", "groups") if name == "picture" else ("quick",):  # others take hours
                whole = sedil.inpaint(image, mask, method=method)
                lazy = sedil.inpaint(da.from_array(image, chunks=chunks), mask, method=method)
                yield _difference(f"inpaint {name}", method, share, image, whole, lazy.compute(), mask)


def _difference(
    what: str, method: str, share: float, image: np.ndarray, whole: np.ndarray, lazy: np.ndarray, mask: Any
) -> Row:
    difference = np.abs(lazy.astype(float) - whole)
    row = {
        "what": what,
        "method": method,
        "missing": share,
        "standard_deviation_of_image": round(float(image.std()), 2),
        "largest_difference": float(f"{difference.max():.3g}"),
        "root_mean_square_difference": float(f"{np.sqrt(np.mean(difference**2)):.3g}"),
        "equal_pixels": round(float(np.mean(difference == 0)), 4),
        "psnr_of_whole": "",
        "psnr_of_chunks": "",
    }
    if mask is not None:
        for name, result in (("whole", whole), ("chunks", lazy)):
            error = np.mean((result.astype(float) - image)[mask] ** 2)
            row[f"psnr_of_{name}"] = round(float(10 * np.log10(255**2 / error)), 3)
    return row


# Learning


def measure_learning(data: Path) -> Iterator[Row]:
    from distributed import Client, LocalCluster

    patches, held_out = (_patches(data, names, n) for names, n in ((TRAINING, 80_000), (HELD_OUT, 3000)))
    for batch_size in (4000, 40_000):
        settings = {"n_atoms": (16, 16), "batch_size": batch_size, "random_state": 0, "max_batches": 2}
        sedil.learn_minibatch(patches[:batch_size], **(settings | {"max_batches": 1}))  # compiled
        alone = sedil.learn_minibatch(patches, **settings, threads=1)
        yield _learned(0, batch_size, alone, held_out, alone)
        for n_workers in (1, 2, 4):
            quiet = {"dashboard_address": ":0", "silence_logs": 50}
            with (
                LocalCluster(n_workers=n_workers, threads_per_worker=1, **quiet) as local,
                Client(local) as client,
            ):
                warm = {"batch_iterations": 1, "max_batches": 1}
                sedil.learn_minibatch(patches[:batch_size], **(settings | warm), scheduler=client)
                result = sedil.learn_minibatch(patches, **settings, scheduler=client)
            yield _learned(n_workers, batch_size, result, held_out, alone)


def _patches(data: Path, names: tuple[str, ...], n: int) -> np.ndarray:
    from sedil.image_files.grey_images import read_grey

    images = [read_grey(data / f"images/train/{name}.png").astype(np.float32) for name in names]
    return sedil.normalize_patches(sedil.sample_patches(images, (8, 8), n, random_state=0))


def _learned(n_workers: int, batch_size: int, result: Any, held_out: np.ndarray, alone: Any) -> Row:
    from sedil_studies.measures.held_out_cost import held_out_terms

    last = result.history[-1]
    terms = held_out_terms(result.dictionary, held_out, alone.weights)
    pairs = zip(result.dictionary.factors, alone.dictionary.factors, strict=True)
    return {
        "workers": n_workers,
        "batch_size": batch_size,
        "held_out_cost": f"{terms.total:.12g}",
        "largest_difference_of_factors": f"{max(float(np.abs(a - b).max()) for a, b in pairs):.2g}",
        "evaluations": last.n_evaluations,
        "milliseconds_per_evaluation": round(1e3 * last.seconds / last.n_evaluations, 2),
    }


MEASUREMENTS: dict[str, Callable[[Path], Iterator[Row]]] = {
    "seams": measure_seams,
    "kills": measure_kills,
    "learning": measure_learning,
    "small": measure_small,
    "volume": measure_volume,
    "groups": measure_groups,
}

if __name__ == "__main__":
    main()
