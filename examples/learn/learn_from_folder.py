"""
Learn from your own folder
==========================

Pictures in a folder are read a few at a time and learned from in batches, so that neither they nor their
patches need to fit in memory. Put the path of your folder in place of the one that is made here.
"""

import tempfile
from pathlib import Path

from matplotlib import pyplot as plt
from skimage import data, io

import sedil

folder = Path(tempfile.mkdtemp())
for name in ("brick", "grass", "gravel", "coins", "camera", "moon"):
    io.imsave(folder / f"{name}.png", getattr(data, name)(), check_contrast=False)

# %%
# A stream of patches, and a dictionary that is learned while they come. The command line does the same:
# ``sedil learn photos/ -o photos.npz --minibatch``.

patches = sedil.stream_patches(folder, (8, 8), n_patches=8_000, random_state=0)
result = sedil.learn_minibatch(patches, n_atoms=(16, 16), random_state=0)
print(result)

# %%
# One file holds the dictionary; every function takes its path as well.

result.dictionary.save(folder / "photos.npz")
dictionary = sedil.load_dictionary(folder / "photos.npz")

# %%
# The atoms, and how the cost fell from batch to batch.

figure, (left, right) = plt.subplots(1, 2, figsize=(11, 5), layout="constrained")
sedil.plot_atoms(dictionary, ax=left)
left.set_title("16x16 atoms of 8x8 pixels")
sedil.plot_history(result, ax=right)
right.set_title("cost of each batch")
plt.show()
