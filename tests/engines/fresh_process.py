"""What test_compiled_parts runs in a process that compiles all kernels, and in one that finds them on disk.

It tells each kernel that was compiled more than once, and writes what it computes into a file.
"""

import importlib
import pkgutil
import sys
from functools import partial

import numpy as np
from numba.extending import is_jitted
from test_fused import start, start_of_each_engine

import sedil
import sedil.engines.fused.kernels as kernels

rng = np.random.default_rng(0)
image = np.cumsum(rng.standard_normal((40, 40)), axis=0).astype(np.float32)
patches = rng.standard_normal((90, 6, 6)).astype(np.float32)
dictionary = sedil.odct((6, 6), (9, 9)).like(patches)
mask = rng.random((40, 40)) < 0.3


def codes():
    solve = partial(sedil.sparse_code, dictionary, patches, 0.3, tolerance=1e-3)
    for solver in ("descent", "admm", "fista"):
        solved = solve(solver=solver)
        yield from (solved, solve(solver=solver, initial=solved))
    yield from (solve(method="refit"), solve(mask=patches > 1), solve(sparse=True).toarray())
    yield sedil.sparse_code(dictionary, patches, max_error=2.0, method="pursuit")


def images():
    yield from (sedil.denoise(image, 0.5, dictionary, method=each) for each in ("quick", "l1", "pursuit"))
    yield sedil.denoise(image, 0.5)
    yield sedil.denoise(np.stack([image] * 9), 0.5, stride=2)
    yield sedil.inpaint(image, mask, dictionary, passes=3)
    yield sedil.inpaint(patches[0], mask[:6, :6], dictionary)  # as a whole
    yield np.array(sedil.estimate_noise(image))
    yield sedil.normalize_patches(patches)


def learned():
    settings = {"n_atoms": (8, 8), "random_state": 0}
    for initial in ("random", "odct"):
        result = sedil.learn(patches, **settings, max_iterations=10, initial=initial)
        yield from (*result.dictionary.factors, result.history["objective"], result.codes)
    result = sedil.learn_minibatch(patches, **settings, batch_size=40)
    yield from (*result.dictionary.factors, result.history["objective"])


def gradients():
    """Those of the fused engine, which are near those of the portable one."""
    for sizes in ([(5, 7)], [(3, 4), (5, 6)], [(8, 8), (8, 9)]):
        manifold, starts = start_of_each_engine(sizes, 40, 0)
        fused, plain = (start(objective, manifold, point) for objective, point in starts)
        for found, expected in zip(fused.gradient.factors, plain.gradient.factors, strict=True):
            np.testing.assert_allclose(found, expected, atol=1e-3)
            yield found


def compiled_again():
    for module in pkgutil.iter_modules(kernels.__path__):
        content = vars(importlib.import_module(f"{kernels.__name__}.{module.name}"))
        for name, value in content.items():
            if is_jitted(value) and value.__module__.endswith(module.name):
                yield from (f"{module.name}.{name}{signature}" for signature in value.signatures[1:])


if __name__ == "__main__":
    np.savez(sys.argv[1], *codes(), *images(), *learned(), *gradients())
    sys.stdout.writelines(f"{words}\n" for words in compiled_again())
