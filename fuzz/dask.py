"""Calls of public functions with Dask arrays, computed at once in this thread, beside the same in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from random import Random
from typing import Any

import numpy as np

from fuzz import results
from fuzz.api import ApiCampaign
from fuzz.calls import Check, Recipe, array_of, map_for, mask_for, one_of
from fuzz.stock import Stock

_CHUNKS = (1, 2, 3, 4, 5, 7, 100)
_ROOM = 1e-3  # of the range of an image, where not all bits are promised to be the same


def _lazily(name: str, *lazy: str) -> Callable[[Random], Any]:
    """The function of that name for Dask arrays in chunks of any size in place of these arguments."""

    def make(random: Random) -> Any:
        import sedil

        function, seed = getattr(sedil, name), random.getrandbits(32)

        def call(**arguments: Any) -> Any:
            import dask

            with dask.config.set(scheduler="synchronous"):
                numbers = Random(seed)
                given = {key: _in_chunks(arguments[key], numbers) for key in lazy if key in arguments}
                result = function(**(arguments | given))
                return result.compute() if hasattr(result, "compute") else result

        return call

    return make


def _in_chunks(value: Any, random: Random) -> Any:
    """An array as a Dask array; all else as it is."""
    import dask.array as da

    if not isinstance(value, np.ndarray):
        return value
    chunks = tuple(random.choice(_CHUNKS) for _ in value.shape)
    return da.from_array(value, chunks=chunks, name=False)


def _as_in_memory(name: str, check: Check) -> Check:
    """As the check, and what the same call says of the whole array."""

    def look(arguments: Mapping[str, Any], result: Any) -> str | None:
        import sedil

        problem = check(arguments, result)
        image = arguments["image"]
        if problem or type(image) is not np.ndarray or image.dtype.kind not in "fiu" or not image.size:
            return problem
        if arguments.get("sigma") is None:
            return None  # a picture in memory has a level for each channel
        whole = getattr(sedil, name)(**arguments)
        gap = np.abs(whole.astype(np.longdouble) - result.astype(np.longdouble)).max()
        room = _ROOM * (image.max().astype(np.longdouble) - image.min()) + (image.dtype.kind in "iu")
        return f"the result is {gap:.3g} from that in memory" if gap > room else None

    return look


class DaskCampaign(ApiCampaign):
    """A call a case, as in the campaign of calls."""

    def recipes(self, stock: Stock) -> dict[str, Recipe]:
        """How functions are called that take Dask arrays, and some that refuse them."""
        images = array_of((12, 12), (10, 13), (8, 9), (5, 5), (12,), (6, 6, 6), (12, 12, 3), plain=0.5)
        level = one_of(0.1, 1.0, 5, 20.0)
        axes = {"channel_axis": one_of(None, -1)}
        how = axes | {"engine": one_of("fused", None), "dtype": one_of("float32", None)}
        how |= {"threads": one_of(1, None), "progress": one_of(False)}
        dictionaries = one_of(*stock.by_axes[2], *stock.by_axes[3], *stock.by_axes[1])
        return {
            "denoise": Recipe(
                _lazily("denoise", "image"),
                {"image": images, "sigma": level, "dictionary": dictionaries},
                how | {"method": one_of("quick", "l1"), "threshold": level, "stride": one_of(1, 2)},
                _as_in_memory("denoise", results.is_image),
                3,
            ),
            "denoise, defaults": Recipe(
                _lazily("denoise", "image"),
                {"image": images},
                how
                | {"sigma": level, "method": one_of("groups", "quick", None), "time_axis": one_of(0, None)}
                | {"noise": one_of("white", "auto", None)},
                _as_in_memory("denoise", results.is_image),
                1,
            ),
            "denoise, of a map": Recipe(
                _lazily("denoise", "image", "sigma"),
                {"image": images, "sigma": map_for("image")},
                how | {"method": one_of("groups", "quick", None)},
                results.is_image,
                1,
            ),
            "inpaint": Recipe(
                _lazily("inpaint", "image", "mask"),
                {"image": images, "mask": mask_for("image"), "passes": one_of(1, 2)},
                how | {"method": one_of("quick", "groups"), "dictionary": dictionaries, "sigma": level},
                results.is_image,
                2,
            ),
            "estimate_noise": Recipe(
                _lazily("estimate_noise", "image"), {"image": images}, axes, _is_number, 2
            ),
            "measure_noise": Recipe(
                _lazily("measure_noise", "image"), {"image": images}, axes, results.is_estimate, 1
            ),
            "match_patches": Recipe(
                _lazily("match_patches", "image"),
                {"image": images, "patch_shape": one_of(2, 3), "n_matches": one_of(1, 2)},
                {"window": one_of(3, 5)},
                results.are_matches,
                0.5,
            ),
            "sparse_code": Recipe(
                _lazily("sparse_code", "patches", "initial"),
                {"dictionary": dictionaries, "patches": array_of((7, 4, 4), (5, 4)), "penalty": level},
                {"initial": array_of((7, 6, 6))},
                results.is_finite_array,
                0.5,
            ),
            "normalize_patches": Recipe(
                _lazily("normalize_patches", "patches"),
                {"patches": array_of((7, 4, 4), (5, 4))},
                {},
                results.is_finite_array,
                0.5,
            ),
            "stream_patches": Recipe(
                _lazily("stream_patches", "images"),
                {"images": images, "patch_shape": one_of(3, (2, 2), (2, 2, 2)), "n_patches": one_of(1, 9)},
                {"random_state": one_of(0, None)},
                _is_stream,
                1,
            ),
            "learn_minibatch": Recipe(
                _lazily("learn_minibatch", "patches", "mask"),
                {"patches": array_of((20, 4, 4), (7, 3, 4), (20, 16), plain=0.5), "n_atoms": one_of(3, 5)},
                {"mask": mask_for("patches"), "batch_size": one_of(3, 10), "max_batches": one_of(1, 2)}
                | {"batch_iterations": one_of(1, 2), "random_state": one_of(0, None)},
                results.is_learned,
                1,
            ),
        }


def _is_number(arguments: Mapping[str, Any], result: Any) -> str | None:
    return results.is_level(arguments, float(result))


def _is_stream(arguments: Mapping[str, Any], result: Any) -> str | None:
    import dask

    with dask.config.set(scheduler="synchronous"):
        return results.is_stream(arguments, result)


CAMPAIGN = DaskCampaign()
