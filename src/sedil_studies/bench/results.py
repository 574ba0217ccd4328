"""What a case of the benchmark leaves behind, and the JSON file that holds it."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass, field
from math import isfinite
from pathlib import Path
from statistics import median
from typing import Any

from sedil.files import replacing

FORMAT = "sedil bench 2"


@dataclass(frozen=True)
class Measurement:
    """One contestant at one size.

    Attributes
    ----------
    contestant : who
    seconds : of each repetition
    package : its package, with its version
    size : where it stands on the horizontal axis of the picture; 0 if the case has one size only
    share : part of the work that was on the clock; `seconds` are extrapolated linearly from it; above 1 where
        they are per patch
    peak_bytes : memory at the peak beyond what was in use before; None where it was not measured
    figures : what else was measured, such as the PSNR
    """

    contestant: str
    seconds: tuple[float, ...]
    package: str
    size: float = 0.0
    share: float = 1.0
    peak_bytes: int | None = None
    figures: dict[str, float] = field(default_factory=dict)

    @property
    def median(self) -> float:
        """Median of the repetitions, in seconds."""
        return median(self.seconds)


@dataclass(frozen=True)
class Bar:
    """What was to be reached, and what was.

    Attributes
    ----------
    words : what is compared
    value : what was measured
    bound : what it should be
    at_least : whether larger is better
    """

    words: str
    value: float
    bound: float
    at_least: bool = True

    @property
    def met(self) -> bool:
        """Whether it was reached; never by a value that is not a number."""
        return self.value >= self.bound if self.at_least else self.value <= self.bound


@dataclass(frozen=True)
class Findings:
    """All that one case found.

    Attributes
    ----------
    data : what it ran on, in words
    measurements, bars : see there
    notes : what a reader must know: who was left out and why, what was extrapolated
    """

    data: str
    measurements: list[Measurement]
    bars: list[Bar] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


@dataclass(frozen=True)
class CaseResult:
    """A case as it stands in its file: what it found, and where and how it came about.

    Attributes
    ----------
    case : its name
    quick : whether it was the small version, whose figures prove nothing
    threads : that every contestant was given
    machine : facts about the machine and versions
    outcome : what it found
    """

    case: str
    quick: bool
    threads: int
    machine: dict[str, Any]
    outcome: Findings


def save_result(result: CaseResult, folder: Path) -> Path:
    """Write the result into the folder, in the place of an older one of the same case."""
    path = folder / f"{result.case}.json"
    with replacing(path) as stream:
        stream.write(json.dumps({"format": FORMAT, **asdict(result)}, indent=1).encode())
    return path


def load_result(path: Path) -> CaseResult:
    """Read what `save_result` wrote; one clear error for any other file."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
        if content.pop("format") != FORMAT:
            raise ValueError("another format")
        outcome = content.pop("outcome")
        measurements = [
            Measurement(**{**each, "seconds": tuple(each["seconds"])}) for each in outcome["measurements"]
        ]
        bars = [Bar(**each) for each in outcome["bars"]]
        return CaseResult(**content, outcome=Findings(outcome["data"], measurements, bars, outcome["notes"]))
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise ValueError(
            f"{path} is not a results file of this version of sedil bench ({error}): "
            "move it away or choose another --output."
        ) from error


def fastest(measurements: Iterable[Measurement]) -> Measurement:
    """The one with the shortest median."""
    return min(measurements, key=lambda each: each.median)


def named(measurements: Iterable[Measurement], *names: str) -> list[Measurement]:
    """Measurements of these contestants."""
    return [each for each in measurements if each.contestant in names]


def speed_bar(words: str, ours: list[Measurement], peers: list[Measurement], bound: float) -> list[Bar]:
    """How many times faster the fastest of ours is than the fastest of the peers; none without peers.

    Where none of ours qualifies there is still a bar, which is missed.
    """
    if not peers:
        return []
    value = fastest(peers).median / fastest(ours).median if ours else 0.0
    return [Bar(words, value if isfinite(value) else 0.0, bound)]
