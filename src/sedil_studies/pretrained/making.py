"""Learning the shipped dictionaries anew; a run takes two to fifteen minutes on two cores."""

from __future__ import annotations

import sys
from pathlib import Path

from rich.console import Console

import sedil
from sedil_studies.pretrained.recipes import MAX_ITERATIONS, RECIPES, provenance, training_patches

FOLDER = Path(sedil.__file__).parent / "pretrained"


def make(name: str, folder: Path = FOLDER) -> sedil.LearningResult:
    """Learn one dictionary and save it with its provenance."""
    recipe = RECIPES[name]
    result = sedil.learn(
        training_patches(recipe),
        recipe.n_atoms,
        initial="odct",
        **recipe.weights,
        max_iterations=MAX_ITERATIONS,
        random_state=0,
        progress=True,
    )
    learned = result.dictionary
    axes = recipe.axes or range(len(learned.factors))
    sedil.SeparableDictionary(
        [learned.factors[axis] for axis in axes],
        signal_shape=recipe.patch_shape if recipe.axes is None else None,
        info=learned.info | provenance(name) | {"sedil": sedil.__version__},
    ).save(folder / f"{name}.npz")
    return result


def main() -> None:
    """Make the dictionaries named on the command line, or all."""
    console = Console(highlight=False)
    for name in sys.argv[1:] or RECIPES:
        if name not in RECIPES:
            sys.exit(f"{name!r} is not one of the shipped dictionaries {', '.join(RECIPES)}.")
        console.print(f"{name}: {RECIPES[name]}")
        console.print(str(make(name)), markup=False, soft_wrap=True)
