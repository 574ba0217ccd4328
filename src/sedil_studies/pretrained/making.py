"""Learning the shipped dictionaries anew; a run takes two to fifteen minutes on two cores."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

import sedil
from sedil.progress import progress_bar
from sedil_studies.pretrained.recipes import MAX_ITERATIONS, RECIPES, provenance, training_patches

FOLDER = Path(sedil.__file__).parent / "pretrained"


def make(name: str, folder: Path = FOLDER) -> sedil.LearningResult:
    """Learn one dictionary and save it with its provenance."""
    recipe = RECIPES[name]
    with progress_bar(MAX_ITERATIONS) as show:
        result = sedil.learn(
            training_patches(recipe),
            recipe.n_atoms,
            initial="odct",
            **recipe.weights,
            max_iterations=MAX_ITERATIONS,
            random_state=0,
            callback=show,
        )
    dictionary = result.dictionary
    if recipe.axes is not None:
        factors = [dictionary.factors[axis] for axis in recipe.axes]
        dictionary = sedil.SeparableDictionary(factors, info=dictionary.info)
    shape = recipe.patch_shape if recipe.axes is None else dictionary.patch_shape
    dictionary.info.update(provenance(name), signal_shape=list(shape), sedil=sedil.__version__)
    dictionary.save(folder / f"{name}.npz")
    return result


def main() -> None:
    """Make the dictionaries named on the command line, or all."""
    console = Console(highlight=False)
    for name in sys.argv[1:] or RECIPES:
        if name not in RECIPES:
            sys.exit(f"{name!r} is not one of the shipped dictionaries {', '.join(RECIPES)}.")
        console.print(f"{name}: {RECIPES[name]}")
        console.print(str(make(name)), markup=False, soft_wrap=True)
