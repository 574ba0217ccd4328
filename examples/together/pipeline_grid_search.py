"""
Pipeline and grid search of scikit-learn
========================================

:class:`sedil.SeparableDictionaryLearning` is an estimator like any other of scikit-learn: its codes feed a
classifier of handwritten digits, and a grid search chooses how many atoms it has and how sparse its codes
are. What is shown is how it fits in: digits this small are read even better from their pixels.
"""

import numpy as np
from matplotlib import pyplot as plt
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline

import sedil

digits, labels = load_digits(return_X_y=True)
train, test, train_labels, test_labels = train_test_split(digits / 16, labels, train_size=400, random_state=0)

pipeline = make_pipeline(
    sedil.SeparableDictionaryLearning(patch_shape=(8, 8), max_iterations=60, random_state=0),
    LogisticRegression(max_iter=2000),
)
grid = {
    "separabledictionarylearning__n_atoms": [8, 12],
    "separabledictionarylearning__penalty": [0.05, 0.2],
}
search = GridSearchCV(pipeline, grid, cv=3).fit(train, train_labels)
print("best:", search.best_params_)

plain = LogisticRegression(max_iter=2000).fit(train, train_labels)
print(f"digits that it has not seen: {search.score(test, test_labels):.1%} right,")
print(f"pixels in place of codes:    {plain.score(test, test_labels):.1%}")

# %%
# The scores of the search, and the atoms of its best model.

scores = search.cv_results_["mean_test_score"].reshape(2, 2)  # atoms down, penalties across

figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4), layout="constrained")
shown = left.imshow(scores, cmap="viridis")
for (row, column), score in np.ndenumerate(scores):
    left.text(column, row, f"{score:.1%}", ha="center", va="center", color="white", backgroundcolor="black")
left.set(xticks=[0, 1], xticklabels=[0.05, 0.2], xlabel="penalty")
left.set(yticks=[0, 1], yticklabels=["8x8", "12x12"], ylabel="atoms", title="digits right in the search")
figure.colorbar(shown, ax=left)
sedil.plot_atoms(search.best_estimator_[0], ax=right)
right.set_title("atoms of the best")
plt.show()
