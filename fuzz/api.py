"""Calls of every public function with arguments of every kind, one after the other in one process."""

from __future__ import annotations

import gc
from random import Random

from fuzz.calls import Call, Recipe, make_call
from fuzz.judge import Judge, describe
from fuzz.recipes import make_recipes
from fuzz.runner import Outcome
from fuzz.stock import Stock


class ApiCampaign:
    """A call a case."""

    seconds_per_case = 60.0  # a busy machine takes its time

    def __init__(self) -> None:
        self._recipes: dict[str, Recipe] = {}
        self._stock: Stock | None = None
        self._judge: Judge | None = None

    def prepare(self) -> None:
        """Make what calls are made with."""
        self._stock = Stock()
        self._recipes = self.recipes(self._stock)
        self._judge = Judge()
        # What is here stays: the judge collects garbage now and then, and need not look through all this.
        gc.collect()
        gc.freeze()

    def recipes(self, stock: Stock) -> dict[str, Recipe]:
        """How functions are called."""
        return make_recipes(stock)

    def attack(self, seed: int, case: int) -> Outcome:
        """Make a call and judge it."""
        assert self._judge is not None
        return self._judge.judge(self._call(seed, case))

    def describe(self, seed: int, case: int) -> str:
        """The call in words."""
        return describe(self._call(seed, case))

    def _call(self, seed: int, case: int) -> Call:
        if not self._recipes:
            self.prepare()
        assert self._stock is not None
        return make_call(self._recipes, self._stock, Random(f"{seed} {case}"))


CAMPAIGN = ApiCampaign()
