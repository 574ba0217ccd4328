"""The product of spheres S(n, d): matrices of shape (n, d) whose columns have unit length.

Everything acts on one factor. Points, tangent vectors and results are arrays of one shape, of any
library that follows the array API standard. Products of such manifolds are in `sedil.manifold`.
"""

from __future__ import annotations

from typing import Generic, NamedTuple

import numpy as np

from sedil.arrays import AnyArray, Array, namespace, summed


def normalize(matrix: AnyArray) -> AnyArray:
    """Scale each column to unit length (Paper: Eq. (5)); a zero column stays zero."""
    return matrix / _nonzero(_column_norms(matrix))


def random_point(shape: tuple[int, int], rng: np.random.Generator) -> np.ndarray:
    """Columns drawn uniformly from the unit sphere, as a NumPy array."""
    return normalize(rng.standard_normal(shape))


def project(point: AnyArray, matrix: Array) -> AnyArray:
    """Orthogonal projection onto the tangent space at `point`. Paper: Eq. (22)."""
    return matrix - point * _column_dots(point, matrix)


class Circles(NamedTuple, Generic[AnyArray]):
    """The great circles of all columns: where they begin, where they lead, and how fast they are walked.

    A column without speed has no direction either, and stays where it is.
    """

    point: AnyArray
    unit: AnyArray
    speed: AnyArray

    @classmethod
    def along(cls, point: AnyArray, direction: AnyArray) -> Circles[AnyArray]:
        """From a point along a tangent vector."""
        speed = _column_norms(direction)
        return cls(point, direction / _nonzero(speed), speed)

    def at(self, step: float) -> AnyArray:
        """Where the walk leads. Paper: Eq. (25), (26).

        Deviation: columns are normalised at the end, so that rounding does not build up over
        thousands of steps.
        """
        xp = namespace(self.point)
        angle = step * self.speed
        return normalize(self.point * xp.cos(angle) + self.unit * xp.sin(angle))

    def carry(self, step: float, *tangents: Array) -> tuple[AnyArray, ...]:
        """Carry tangent vectors along to where the walk leads, keeping lengths. Paper: Eq. (28), (29)."""
        xp = namespace(self.point)
        angle = step * self.speed
        turn = self.point * xp.sin(angle) + self.unit * (1 - xp.cos(angle))
        return tuple(tangent - _column_dots(tangent, self.unit) * turn for tangent in tangents)


def geodesic(point: AnyArray, direction: AnyArray, step: float) -> AnyArray:
    """Walk each column along its great circle. Paper: Eq. (25), (26)."""
    return Circles.along(point, direction).at(step)


def direction_to(point: AnyArray, end: Array) -> AnyArray:
    """The tangent vector at `point` whose geodesic of length 1 leads to `end`: the inverse of Eq. (25), (26).

    Each column takes the shorter way; to its opposite all ways are equally long, and it stays.
    """
    xp = namespace(point)
    cosine = _column_dots(point, end)
    sideways = end - point * cosine
    sine = _column_norms(sideways)
    return sideways * (xp.atan2(sine, cosine) / _nonzero(sine))


def explain_violation(matrix: Array, tolerance: float = 1e-6) -> str | None:
    """Say why `matrix` is not on the manifold (Paper: Eq. (5)), or None when it is."""
    if matrix.ndim != 2:
        return f"a factor is a matrix, got {matrix.ndim} axes"
    xp = namespace(matrix)
    if not bool(xp.all(xp.isfinite(matrix))):
        return "it contains NaN or infinite entries"
    with np.errstate(over="ignore"):  # lengths may be infinite
        lengths = _column_norms(matrix)[0, :]
    error = xp.abs(lengths - 1)
    worst = int(xp.argmax(error))
    if float(error[worst]) > tolerance:
        length = float(lengths[worst])
        return f"column {worst} " + (f"has length {length:.6g}, not 1" if length else "is zero")
    return None


def _column_dots(left: AnyArray, right: Array) -> AnyArray:
    return summed(left * right, axis=0, keepdims=True)


def _column_norms(matrix: AnyArray) -> AnyArray:
    xp = namespace(matrix)
    return xp.sqrt(_column_dots(matrix, matrix))


def _nonzero(speed: AnyArray) -> AnyArray:
    """`speed` with ones in place of zeros: Eq. (25) and (28) leave a resting column where it is."""
    xp = namespace(speed)
    return xp.where(speed > 0, speed, 1.0)
