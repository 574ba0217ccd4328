"""Weighted means over the cleaned patches of an image, box by box, by the engine that suits."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import prod
from typing import Any, NamedTuple

from array_api_compat import array_namespace

from sedil.arrays import AnyArray, Array
from sedil.engines import EngineName, choose_engine
from sedil.engines.contract import Cleaning
from sedil.engines.threads import parallel_map
from sedil.patch_grid import Part
from sedil.progress import Progress, Report

_LEAST_PLACE = 1 / 16  # noise of a place beside that of all: what is nearly clean would else be a spike


class CleaningOptions(NamedTuple):
    """How patches are worked on: by which engine, in how much memory, and who is told how far it has come.

    `part` says what is held of an image that is cut into parts.
    """

    engine: EngineName | None
    max_memory: float
    threads: int | None
    counter: PatchCounter
    part: Part | None = None

    def whole(self, shape: Sequence[int]) -> tuple[int, ...]:
        """The shape of the image, of which an array of this shape is held."""
        return tuple(shape) if self.part is None else self.part.image_shape


class PatchCounter:
    """Tells how many patches are done."""

    def __init__(self, report: Report, total: int) -> None:
        self._report, self._total, self._done = report, total, 0

    def add(self, count: int) -> None:
        """So many more are done."""
        self._done += count
        self._report(Progress(self._done, self._total, "patches"))


def noise_scale(places: Array | None) -> Any:
    """What an image is divided by to have noise of one level, from a map of it; 1 where it has none."""
    if places is None:
        return 1.0
    xp = array_namespace(places)
    return xp.where(places > 0, xp.clip(places, min=_LEAST_PLACE), xp.ones_like(places))


def mean_over_patches(image: AnyArray, cleanings: Sequence[Cleaning], options: CleaningOptions) -> AnyArray:
    """Weighted mean of all patches of one grey image, whatever dictionary has cleaned them."""
    xp = array_namespace(image)
    total, weight = xp.zeros_like(image), xp.zeros_like(image)
    for cleaning in cleanings:
        some_total, some_weight = sums_over_patches(image, cleaning, options)
        density = prod(cleaning.grid.strides)  # each stands for neighbours left out
        total += density * some_total
        weight += density * some_weight
    return total / weight


def sums_over_patches(
    image: AnyArray, cleaning: Cleaning, options: CleaningOptions
) -> tuple[AnyArray, AnyArray]:
    """Weighted cleaned patches, and weights, of one grey image, box by box: extract, code, add up."""
    xp = array_namespace(image)
    engine = choose_engine(options.engine, image, [factor.shape[1] for factor in cleaning.factors])
    plan = engine.plan_boxes(cleaning, image, options.max_memory, options.threads)
    total, weight = xp.zeros_like(image), xp.zeros_like(image)
    cleaning = cleaning._replace(grid=cleaning.grid.within(options.part))
    boxes = cleaning.grid.boxes(plan.patches_per_box)
    for sums in parallel_map(partial(engine.clean_box, cleaning, image), boxes, plan.n_threads):
        total[sums.extent] += sums.total
        weight[sums.extent] += sums.weight
        options.counter.add(sums.n_patches)
    return total, weight
