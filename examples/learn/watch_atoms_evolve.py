"""
Watch atoms evolve
==================

Learning starts from random factors. A function that is passed as ``progress`` sees the factors after every
iteration; here it keeps some of them for a film.
"""

import numpy as np
from matplotlib import animation
from matplotlib import pyplot as plt
from skimage import data

import sedil

images = [data.camera(), data.coins(), data.brick()]
patches = sedil.normalize_patches(sedil.sample_patches(images, (8, 8), 3_000, random_state=0))

kept = []


def keep(progress):
    """Keep the factors of few iterations, early ones above all."""
    if progress.done in {int(k) for k in np.geomspace(1, 200, 30)}:
        kept.append((progress.done, [factor.copy() for factor in progress.factors]))


result = sedil.learn(patches, n_atoms=(12, 12), max_iterations=200, random_state=0, progress=keep)

# %%
# The film: noise becomes waves and edges.

figure, (left, right) = plt.subplots(1, 2, figsize=(8, 4.2), layout="constrained")
cost = result.history["objective"]
right.semilogy(cost)
right.set(xlabel="iterations", ylabel="cost per patch", title="cost")
(dot,) = right.plot([0], [cost[0]], "o")


def show(frame):
    """Draw the atoms of one iteration, and where the cost is."""
    iteration, factors = kept[frame]
    left.clear()
    sedil.plot_atoms(sedil.SeparableDictionary(factors, normalize=True), order="stored", ax=left)
    left.set_title(f"iteration {iteration}")
    dot.set_data([iteration], [cost[iteration]])


film = animation.FuncAnimation(figure, show, frames=len(kept))
film.save("atoms.gif", writer=animation.PillowWriter(fps=5))
plt.close(figure)
