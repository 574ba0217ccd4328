"""
Compare dictionaries
====================

Which dictionary suits a kind of picture? The one that needs the fewest atoms for the same accuracy. Three are
asked to code patches of a printed page: cosines, the one that comes with the package and was learned from
photographs, and one that is learned from the other half of the page.
"""

import numpy as np
from matplotlib import pyplot as plt
from skimage import data

import sedil

page = data.page()
training = sedil.sample_patches([page[:, :192]], (8, 8), 6_000, random_state=0)
patches = sedil.sample_patches([page[:, 192:]], (8, 8), 2_000, random_state=1)
training, patches = sedil.normalize_patches(training), sedil.normalize_patches(patches)

dictionaries = {
    "cosines": sedil.odct((8, 8), 16),
    "shipped": sedil.shipped_dictionary("separable-8x8"),
    "learned": sedil.learn(training, 16, initial="odct", max_iterations=200, random_state=0).dictionary,
}

# %%
# Pursuit adds atoms one by one. What it leaves of a patch of unit length is its error.
#
# The page was chosen as a case where learning pays. It does not always: of four pictures that were tried, the
# shipped dictionary was better from eight atoms on in three (a retina, stained tissue, a photographed text).

counts = [2, 4, 8, 12, 16]


def energy_left(dictionary, n_atoms):
    """Share of the energy that so many atoms leave uncoded."""
    codes = sedil.sparse_code(dictionary, patches, method="pursuit", max_error=1e-3, max_atoms=n_atoms)
    rest = patches - dictionary.like(codes).synthesize(codes)
    return np.mean(np.sum(rest**2, axis=(1, 2)))


figure, axes = plt.subplots(1, 4, figsize=(13, 3.7), layout="constrained")
for ax, (name, dictionary) in zip(axes, dictionaries.items(), strict=False):
    sedil.plot_atoms(dictionary, ax=ax)
    ax.set_title(f"{name}, 16x16 atoms")
    left = [energy_left(dictionary, count) for count in counts]
    axes[3].plot(counts, left, "o-", label=f"{name}: {left[2]:.2f} with 8 atoms")
axes[3].set(xlabel="atoms for a patch", title="energy left (lower is better)", xticks=counts, ylim=0)
axes[3].legend()
plt.show()
