"""The words that callers choose from, each list in one place; those of engines are in `sedil.engines`.

Nothing is loaded with it, so that the help of a command can list what there is without what does the work.
"""

from __future__ import annotations

from typing import Literal

Precision = Literal["float32", "float64"]

CodingMethod = Literal["refit", "l1", "pursuit"]
DenoisingMethod = Literal["groups", "quick", "l1", "pursuit"]
EstimatedNoise = Literal["white", "correlated", "poisson-gaussian"]
NoiseKind = Literal[EstimatedNoise, "auto"]

StartName = Literal["random", "odct", "data"]
PresetName = Literal["data", "paper"]
MetricName = Literal["balanced", "paper"]

AtomOrder = Literal["frequency", "use", "stored"]

InpaintingMethod = Literal["groups", "quick", "whole"]

ImageDictionaryName = Literal["separable-8x8", "separable-12x12", "separable-16x16", "unstructured-8x8"]
VolumeDictionaryName = Literal["separable-8x8x8"]
ShippedName = Literal[ImageDictionaryName, VolumeDictionaryName]
