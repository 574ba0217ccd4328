"""
Complete faces
==============

A separable dictionary can hold whole small faces as single patches: two factors of 25x40 instead of a matrix
of 625x1600. It is learned from 80 faces and fills holes in faces that it has not seen.
"""

import numpy as np
from matplotlib import pyplot as plt
from skimage import data
from skimage.metrics import peak_signal_noise_ratio

import sedil

faces = data.lfw_subset()[:100]  # the other half of these pictures are no faces
seen, unseen = faces[:80], faces[80:]
result = sedil.learn(seen - seen.mean(axis=0), n_atoms=(40, 40), max_iterations=300, random_state=0)
print(result)

# %%
# An image as large as the patches of a dictionary is coded as a whole, by its known pixels. The mean face is
# taken off first and put back at the end.

mask = np.zeros((25, 25), dtype=bool)
mask[8:15, 4:13] = True

mean = seen.mean(axis=0)
filled = [sedil.inpaint(face - mean, mask, dictionary=result.dictionary) + mean for face in unseen]

# %%
# PSNR within the hole, of the mean face and of what the dictionary makes of the face.

figure, axes = plt.subplots(4, 7, figsize=(10, 6.4), layout="constrained")
for column, face, whole in zip(axes.T, unseen, filled, strict=False):
    guess = np.where(mask, mean, face)
    for ax, picture in zip(column, (face, np.where(mask, 0, face), guess, whole), strict=True):
        ax.imshow(picture, cmap="gray", vmin=0, vmax=1)
        ax.set(xticks=[], yticks=[])
    for ax, picture in ((column[2], guess), (column[3], whole)):
        ax.set_xlabel(f"{peak_signal_noise_ratio(face[mask], picture[mask], data_range=1):.1f} dB")
for ax, name in zip(axes[:, 0], ("face", "hole", "mean face", "dictionary"), strict=True):
    ax.set_ylabel(name)
plt.show()
