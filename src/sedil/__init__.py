"""Separable dictionaries: learn them, inspect them, restore images with them.

result = sedil.learn(patches, n_atoms=(16, 16), random_state=0)
result.dictionary.save("dictionary.npz")
"""

from importlib import import_module

# Public names and where they live. They are imported when first used: `import sedil` stays fast.
_HOME = {
    "DictionaryFileError": "sedil.errors",
    "LearningResult": "sedil.learning.result",
    "SeparableDictionary": "sedil.dictionary",
    "SeparableDictionaryLearning": "sedil.estimators",
    "StopReason": "sedil.learning.result",
    "learn": "sedil.learning.learn",
    "load_dictionary": "sedil.dictionary",
    "normalize_patches": "sedil.imaging.patches",
    "odct": "sedil.odct",
    "plot_atoms": "sedil.plots",
    "plot_history": "sedil.plots",
    "sample_patches": "sedil.imaging.patches",
    "sparse_code": "sedil.coding",
}

__version__ = "0.1.0"
__all__ = [*_HOME, "__version__"]


def __getattr__(name: str) -> object:
    if name not in _HOME:
        raise AttributeError(f"module 'sedil' has no attribute {name!r}")
    value = getattr(import_module(_HOME[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
