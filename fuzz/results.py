"""What results must be: functions of the arguments and the result that say what is wrong, or nothing."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite, prod
from typing import Any

import numpy as np


def plain(value: Any) -> np.ndarray:
    """The numbers of an argument."""
    return np.asarray(value.data if isinstance(value, np.ma.MaskedArray) else value)


def finite(result: Any, name: str = "result") -> str | None:
    """Whether all numbers of a result are finite."""
    array = np.asarray(result)
    if array.dtype.kind in "fc" and not np.isfinite(array).all():
        return f"{name} is not finite"
    return None


def is_array(result: Any, shape: tuple[int, ...], dtypes: tuple[Any, ...]) -> str | None:
    """A plain array of this shape and one of these types, all finite."""
    if type(result) is not np.ndarray:
        return f"result is a {type(result).__name__}"
    if result.shape != shape:
        return f"result has shape {result.shape}, not {shape}"
    if result.dtype not in [np.dtype(dtype) for dtype in dtypes]:
        return f"result is {result.dtype}, not one of {dtypes}"
    return finite(result)


def is_image(arguments: Mapping[str, Any], result: Any) -> str | None:
    """Of the shape and type of the image, and about as bright."""
    image = plain(arguments["image"])
    problem = is_array(result, image.shape, (image.dtype.newbyteorder("="), image.dtype))
    if problem or image.dtype.kind == "b":
        return problem
    known = image.astype(np.longdouble)
    mask = arguments.get("mask")
    if mask is not None or isinstance(arguments["image"], np.ma.MaskedArray):
        hidden = np.ma.getmaskarray(arguments["image"]) | _fitted(
            mask, image.shape, arguments.get("channel_axis")
        )
        if not np.array_equal(result[~hidden], image[~hidden]):
            return "known pixels are changed"
        known = known[~hidden]
    if known.size == 0:
        return None
    offset = arguments.get("offset")  # what a pixel without photons is
    dark = known.min() if offset is None else np.longdouble(offset)
    low, high = min(known.min(), dark), max(known.max(), dark)
    room = 3 * (high - low) + 1e-3 * np.abs(known).max()
    if (result < low - room).any() or (result > high + room).any():
        return f"result from {result.min()} to {result.max()}, image from {low} to {high}"
    return None


def _fitted(mask: Any, shape: tuple[int, ...], channel_axis: Any) -> np.ndarray:
    if mask is None:
        return np.zeros(shape, bool)
    mask = np.asarray(mask)
    return np.broadcast_to(mask if mask.shape == shape else np.expand_dims(mask, int(channel_axis)), shape)


def _dictionary_of(value: Any) -> Any:
    from sedil.pretrained import as_dictionary

    return as_dictionary(value)


def are_codes(arguments: Mapping[str, Any], result: Any) -> str | None:
    """Codes of the shape and type that are promised, that solve what they are asked to."""
    dictionary = _dictionary_of(arguments["dictionary"])
    patches = plain(arguments["patches"])
    leading = patches.shape[: patches.ndim - len(dictionary.patch_shape)]
    if arguments.get("sparse"):
        if result.shape != (prod(leading), prod(dictionary.n_atoms)):
            return f"result has shape {result.shape}"
        codes = result.toarray()
    else:
        problem = is_array(result, (*leading, *dictionary.n_atoms), ("f4", "f8"))
        if problem:
            return problem
        codes = result
    return finite(codes) or _codes_fit(arguments, dictionary, patches, codes)


def _codes_fit(
    arguments: Mapping[str, Any], dictionary: Any, patches: np.ndarray, codes: np.ndarray
) -> str | None:
    """An l1 problem is solved to its gap; no other code is worse than none."""
    wide = np.longdouble
    matrix = np.asarray(dictionary.as_matrix()).astype(wide)
    rows = patches.astype(wide).reshape(-1, matrix.shape[0])
    codes = codes.astype(wide).reshape(len(rows), matrix.shape[1])
    if not len(rows):
        return None
    mask = arguments.get("mask")
    known = np.ones_like(rows) if mask is None else 1 - np.asarray(mask).reshape(rows.shape).astype(wide)
    rows = np.where(known > 0, rows, 0)
    rest = known * (codes @ matrix.T - rows)
    energy = 0.5 * (rows**2).sum(axis=1)
    if arguments.get("method", "l1") != "l1":
        too_bad = 0.5 * (rest**2).sum(axis=1) > energy * (1 + wide(1e-4))
        return "codes are worse than zero" if too_bad.any() else None
    weights = arguments.get("weights")
    penalty = wide(arguments["penalty"]) * (1 if weights is None else np.asarray(weights, wide).reshape(-1))
    cost = 0.5 * (rest**2).sum(axis=1) + (penalty * np.abs(codes)).sum(axis=1)
    steepest = np.abs((rest @ matrix) / penalty).max(axis=1)
    dual = -rest / np.maximum(steepest, 1)[:, None]
    bound = (dual * rows).sum(axis=1) - 0.5 * (dual**2).sum(axis=1)
    allowed = energy * (4 * float(arguments.get("tolerance", 1e-4)) + 1e-4)
    if (cost - bound > allowed).any():
        worst = ((cost - bound) / np.where(energy > 0, energy, 1)).max()
        return f"the duality gap is {float(worst):.2g} of the energy"
    return None


def are_patches(arguments: Mapping[str, Any], result: Any) -> str | None:
    """Patches that are cut from the images."""
    lengths = np.atleast_1d(arguments["patch_shape"]).tolist()
    problem = is_array(result, (int(arguments["n_patches"]), *lengths), ("f4", "f8", np.longdouble))
    if problem:
        return problem
    there = np.concatenate([np.asarray(image).ravel().astype(result.dtype) for image in arguments["images"]])
    return None if np.isin(result, there).all() else "values that are in no image"


def are_normalized(arguments: Mapping[str, Any], result: Any) -> str | None:
    """Patches of length one, none lost that is not flat."""
    patches = plain(arguments["patches"])
    problem = is_array(result, (len(result), *patches.shape[1:]), ("f4", "f8"))
    if problem:
        return problem
    rows = result.reshape(len(result), -1).astype(float)
    if arguments.get("unit_length", True) and not np.allclose((rows**2).sum(axis=1), 1, rtol=1e-4):
        return "lengths are not one"
    flat = patches.reshape(len(patches), -1).astype(np.longdouble)
    spread = flat.max(axis=1) - flat.min(axis=1)
    lost = (spread > 1e-3 * np.abs(flat).max(axis=1)).sum() - len(result)
    return f"{lost} patches that are not flat are left out" if lost > 0 else None


def is_level(arguments: Mapping[str, Any], result: Any) -> str | None:
    """A level of noise that the image has room for."""
    if type(result) is not float or not isfinite(result) or result < 0:
        return f"result is {result!r}"
    values = plain(arguments["image"]).astype(np.longdouble)
    spread = values.max() - values.min()
    return (
        f"noise {result} in a range of {spread}"
        if result > 2 * spread + 1e-9 * np.abs(values).max()
        else None
    )


def is_estimate(arguments: Mapping[str, Any], result: Any) -> str | None:
    """A description of noise, all of it finite."""
    for name in ("sigma", "gain", "read_noise", "offset", "variances", "levels"):
        values = np.asarray(getattr(result, name), dtype=np.float64)
        if not np.all(np.isfinite(values)) or np.any(values < 0):
            return f"{name} is {getattr(result, name)!r}"
    return None if 0 <= result.correlation <= 1 else f"correlation is {result.correlation}"


def is_dictionary(arguments: Mapping[str, Any], result: Any) -> str | None:
    """A dictionary of atoms of unit length."""
    for factor in result.factors:
        problem = finite(factor, "factor")
        if problem or not np.allclose((np.asarray(factor, float) ** 2).sum(axis=0), 1, atol=1e-4):
            return problem or "columns are not of unit length"
    repr(result)
    return None


def is_learned(arguments: Mapping[str, Any], result: Any) -> str | None:
    """What learning gives: a dictionary, codes, a history."""
    problem = is_dictionary(arguments, result.dictionary)
    if problem is None and result.codes is not None:
        problem = finite(result.codes, "codes")
    if problem is None and not all(isfinite(record.objective) for record in result.history):
        problem = "cost is not finite"
    repr(result)
    return problem


def is_learner(arguments: Mapping[str, Any], result: Any) -> str | None:
    """A learner whose dictionary, once it has one, is one."""
    return None if result.factors is None else is_dictionary(arguments, result.dictionary)


def are_matches(arguments: Mapping[str, Any], result: Any) -> str | None:
    """Each patch is the first of its own matches, and these are in order."""
    if not np.array_equal(result.corners, result.matches[:, 0]):
        return "a patch is not nearest to itself"
    in_order = np.isfinite(result.distances).all() and (np.diff(result.distances, axis=1) >= 0).all()
    return None if in_order else "distances are not in order"


def is_finite_array(arguments: Mapping[str, Any], result: Any) -> str | None:
    """A plain array of finite numbers."""
    return finite(result) if type(result) is np.ndarray else f"result is a {type(result).__name__}"


def is_axes(arguments: Mapping[str, Any], result: Any) -> str | None:
    """Axes to draw into."""
    from matplotlib import pyplot

    pyplot.close("all")
    return None if hasattr(result, "imshow") else f"result is a {type(result).__name__}"


def anything(arguments: Mapping[str, Any], result: Any) -> str | None:
    """Whatever came back is right."""
    return None


def is_stream(arguments: Mapping[str, Any], result: Any) -> str | None:
    """Patches that come one after the other."""
    for patches in result:
        problem = finite(patches)
        if problem:
            return problem
    return None
