"""The kernels with guard pages around all their arrays, and their results against those of the portable one.

Where arrays lie must not matter either: results beside a guard page, on either side, are those of plain
memory to the bit.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from math import prod
from typing import Any, NamedTuple

import numpy as np

from fuzz.guard_pages import SIDES, guarded
from fuzz.runner import Finding, Outcome

# Of an axis: where vectors, tiles and blocks are full, where they have one left over, where they lack one.
_LENGTHS = (1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17)
_COUNTS = (1, 2, 3, 4, 5, 8, 9, 15, 16, 17, 24, 31, 32, 33)
_SAMPLES = (0, 1, 2, 31, 32, 33, 64, 65, 100)
_MOST_ENTRIES, _MOST_ATOMS, _MOST_PIXELS = 320, 640, 6000


class Case(NamedTuple):
    """One call: `compute` gets the name of an engine, `differs` says how far apart two results are."""

    words: str
    compute: Callable[[str], list[np.ndarray]]
    differs: Callable[[list[np.ndarray], list[np.ndarray]], str | None]


class BoundsCampaign:
    """Random dictionaries of one to four axes in all functions that have kernels."""

    seconds_per_case = 180.0

    def prepare(self) -> None:
        """Compile, or load, what all cases need."""
        for kind in _KINDS.values():
            kind(np.random.default_rng(0)).compute("fused")

    def describe(self, seed: int, case: int) -> str:
        """The case in words."""
        return make_case(seed, case).words

    def attack(self, seed: int, case: int) -> Outcome:
        """The same call in plain memory, beside guard pages and by the other engine."""
        made = make_case(seed, case)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of patches that are not done in time
            try:
                plain = made.compute("fused")
            except ValueError:  # sizes that do not go together
                return Outcome("refused")
            findings = [Finding(*finding) for finding in self._findings(made, plain)]
        return Outcome(made.words.split(":")[0], tuple(findings))

    def _findings(self, made: Case, plain: list[np.ndarray]) -> Iterator[tuple[str, str]]:
        for side in SIDES:
            with guarded(side):
                beside = made.compute("fused")
            if not all(map(np.array_equal, plain, beside)):
                yield f"the place of the arrays changes the result ({side})", made.words
        if not all(np.isfinite(array).all() for array in plain):
            yield "a result is not finite", made.words
        difference = made.differs(plain, made.compute("portable"))
        if difference:
            yield "the engines differ", f"{made.words}: {difference}"


def make_case(seed: int, case: int) -> Case:
    """The case of these two numbers."""
    rng = np.random.default_rng([seed, case])
    return _KINDS[str(rng.choice(list(_KINDS)))](rng)


def _sizes(rng: np.random.Generator, most_axes: int = 4) -> tuple[tuple[int, ...], tuple[int, ...]]:
    while True:
        n_axes = int(rng.integers(1, most_axes + 1))
        lengths = tuple(int(rng.choice(_LENGTHS)) for _ in range(n_axes))
        counts = tuple(int(rng.choice(_COUNTS)) for _ in range(n_axes))
        if prod(lengths) <= _MOST_ENTRIES and prod(counts) <= _MOST_ATOMS:
            return lengths, counts


def _dictionary(rng: np.random.Generator, lengths: tuple[int, ...], counts: tuple[int, ...]) -> Any:
    from sedil import SeparableDictionary

    factors = [rng.standard_normal(size).astype(np.float32) for size in zip(lengths, counts, strict=True)]
    return SeparableDictionary(factors, normalize=True)


def _code(rng: np.random.Generator, method: str) -> Case:
    from sedil import sparse_code

    lengths, counts = _sizes(rng)
    dictionary, n = _dictionary(rng, lengths, counts), int(rng.choice(_SAMPLES))
    patches = rng.standard_normal((n, *lengths)).astype(np.float32)
    settings: dict[str, Any] = {"method": method, "sparse": bool(rng.integers(2))}
    settings |= {"threads": int(rng.integers(1, 3)), "max_iterations": 200}
    if method == "pursuit":
        settings["max_error"] = float(rng.choice([0.01, 0.3, 3.0])) * prod(lengths) ** 0.5
        settings["max_atoms"] = int(rng.integers(1, prod(lengths) + 2))
    else:
        settings |= _settings_of_l1(rng, patches, counts)
    shown = {
        name: value.shape if isinstance(value, np.ndarray) else value for name, value in settings.items()
    }

    def compute(engine: str) -> list[np.ndarray]:
        # Descent is for the fused engine alone; without a word each engine takes its best.
        own = {"solver": None} if engine == "portable" and settings.get("solver") == "descent" else {}
        codes = sparse_code(dictionary, patches, **(settings | own), engine=engine)
        return [codes.toarray() if settings["sparse"] else codes.reshape(n, prod(counts))]

    def differs(found: list[np.ndarray], expected: list[np.ndarray]) -> str | None:
        return _compare_codes(dictionary, patches, settings, found[0], expected[0])

    return Case(f"{method}: {lengths} x {counts}, {n} patches, {shown}", compute, differs)


def _settings_of_l1(rng: np.random.Generator, patches: np.ndarray, counts: tuple[int, ...]) -> dict[str, Any]:
    settings: dict[str, Any] = {"penalty": float(rng.choice([0.02, 0.3, 1.0, 5.0]))}
    if rng.integers(3) == 0:
        settings["mask"] = rng.random(patches.shape) < 0.3
    else:
        settings["solver"] = str(rng.choice(["descent", "fista", "admm"]))
    if rng.integers(3) == 0:
        settings["initial"] = rng.standard_normal((len(patches), *counts)).astype(np.float32)
    if rng.integers(3) == 0:
        settings["weights"] = rng.uniform(0.5, 2, counts).astype(np.float32)
    return settings


def _compare_codes(
    dictionary: Any, patches: np.ndarray, settings: dict[str, Any], found: np.ndarray, expected: np.ndarray
) -> str | None:
    """Whether one set of codes is much worse than the other: in the cost, or unless by l1 in the residual."""
    matrix = dictionary.as_matrix().astype(np.float64)
    rows = patches.reshape(len(patches), len(matrix)).astype(np.float64)
    known = 1.0 - settings["mask"].reshape(rows.shape) if "mask" in settings else np.ones_like(rows)
    energy = ((known * rows) ** 2).sum(axis=1) / 2

    def cost(codes: np.ndarray) -> np.ndarray:
        residual = (known * (rows - codes @ matrix.T)) ** 2
        if settings["method"] != "l1":
            return residual.sum(axis=1) / 2
        weights = settings["weights"].ravel() if "weights" in settings else 1.0
        return residual.sum(axis=1) / 2 + settings["penalty"] * (weights * np.abs(codes)).sum(axis=1)

    # Both are as near to the best as they promise, unless they ran out of iterations; without shrinkage it
    # matters more which atoms rounding lets in.
    allowed = 0.2 if settings["method"] == "l1" else 0.5
    excess = (cost(found) - cost(expected)) / np.maximum(energy, 1e-6)
    worst = float(np.abs(excess).max(initial=0))
    return f"costs differ by {worst:.3g} of the energy" if worst > allowed else None


def _denoise(rng: np.random.Generator, method: str) -> Case:
    from sedil import denoise

    lengths, counts = _sizes(rng, 3)
    while True:
        shape = tuple(length + int(rng.integers(0, 24)) for length in lengths)
        if 1 < prod(shape) <= _MOST_PIXELS:
            break
    dictionary = _dictionary(rng, lengths, counts)
    image = np.cumsum(rng.standard_normal(shape), axis=-1).astype(np.float32)
    settings: dict[str, Any] = {"method": method, "stride": int(rng.integers(1, min(lengths) + 1))}
    if method == "groups":  # which chooses its patches itself
        settings.pop("stride")
    settings |= {
        "sigma": float(rng.choice([0.02, 0.1, 0.3]) * np.ptp(image)),
        "threads": int(rng.integers(1, 3)),
    }

    def compute(engine: str) -> list[np.ndarray]:
        return [denoise(image, dictionary=dictionary, **settings, engine=engine)]

    def differs(found: list[np.ndarray], expected: list[np.ndarray]) -> str | None:
        distance = float(np.sqrt(np.mean((found[0] - expected[0]) ** 2)) / settings["sigma"])
        return f"results differ by {distance:.3g} sigma" if distance > 3 else None

    return Case(f"denoise by {method}: {shape}, {lengths} x {counts}, {settings}", compute, differs)


def _learn(rng: np.random.Generator) -> Case:
    from sedil import learn

    while True:
        lengths, counts = _sizes(rng)
        if min(lengths) > 1 and min(counts) > 1:  # one entry holds but two atoms
            break
    n, seed = int(rng.choice(_SAMPLES[1:])), int(rng.integers(1000))
    start = _dictionary(rng, lengths, counts) if rng.integers(2) else "random"
    patches = rng.standard_normal((n, *lengths)).astype(np.float32)

    def compute(engine: str) -> list[np.ndarray]:
        result = learn(
            patches,
            counts,
            initial=start,
            max_iterations=3,
            warm_up=1,
            random_state=seed,
            engine=engine,
            threads=2,
        )
        return [*result.dictionary.factors, np.asarray(result.codes), result.history["objective"]]

    def differs(found: list[np.ndarray], expected: list[np.ndarray]) -> str | None:
        first, other = found[-1][0], expected[-1][0]
        return f"the cost at the start is {first} and {other}" if abs(first / other - 1) > 1e-3 else None

    return Case(f"learn: {n} patches, {lengths} x {counts}, start {start}, seed {seed}", compute, differs)


_KINDS: dict[str, Callable[[np.random.Generator], Case]] = {
    "l1": lambda rng: _code(rng, "l1"),
    "refit": lambda rng: _code(rng, "refit"),
    "pursuit": lambda rng: _code(rng, "pursuit"),
    "denoise by groups": lambda rng: _denoise(rng, "groups"),
    "denoise quickly": lambda rng: _denoise(rng, "quick"),
    "denoise by l1": lambda rng: _denoise(rng, "l1"),
    "denoise by pursuit": lambda rng: _denoise(rng, "pursuit"),
    "learn": _learn,
}

CAMPAIGN = BoundsCampaign()
