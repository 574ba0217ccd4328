"""What an engine offers: the operations that algorithms are made of, with the shapes of their arrays.

An algorithm says what is computed, an engine how. Algorithms are written once, against this page, and get
their engine from `sedil.engines.choose_engine`; an engine never calls an algorithm back. To add one, write a
package with an `ENGINE` that has these operations, and add its name in `sedil.engines.choice`.

Shapes, here and everywhere: patches ``(n, *patch_shape)``, codes ``(n, *n_atoms)``, ``factors[k]`` of shape
``(patch_shape[k], n_atoms[k])`` with columns of unit length. *Packed* arrays have their samples last instead.
All arrays of a call are of one library, device and precision, and finite; whoever calls has checked that.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple, Protocol

from sedil.arrays import Array
from sedil.match_grid import MatchGrid
from sedil.patch_grid import Box, PatchGrid

Solver = Literal["fista", "admm", "descent"]

# Arrays of a library that the engine takes, and inside a training set in its own layout: one engine works on
# all of them, another on NumPy's alone, and each says which in its own annotations.
OwnArray = Any
Factors = Sequence[OwnArray]


class Effort(NamedTuple):
    """How well an l1 problem is to be solved.

    Attributes
    ----------
    tolerance : float
        A sample is done when its duality gap is at most this share of the cost of the zero code.
    max_iterations : int
        After so many iterations it is left as it is.
    max_looks : int, optional
        Of coordinate descent: after so many looks at all atoms a sample is left as it is. Default: as many as
        pay, and what is not solved then goes on with FISTA.
    """

    tolerance: float
    max_iterations: int
    max_looks: int | None = None


class L1Problem(NamedTuple):
    """``min 1/2 ||M (D x - s)||^2 + sum_i thresholds_i |x_i|`` for each sample s. Paper: Eq. (34), (35).

    Attributes
    ----------
    factors : sequence of arrays
    patches : (n, *patch_shape)
        Zero where data is missing.
    thresholds : float, or array of shape n_atoms
    known : (n, *patch_shape), optional
        M: 1 where data is known, 0 where it is missing. Default: all is known.
    initial : (n, *n_atoms), optional
        Codes to start from. Default: zero.
    """

    factors: Factors
    patches: OwnArray
    thresholds: float | OwnArray
    known: OwnArray | None = None
    initial: OwnArray | None = None


class L1Codes(NamedTuple):
    """Codes of an l1 problem, and how far each is from the optimum.

    Attributes
    ----------
    codes : (n, *n_atoms); or a `scipy.sparse.csr_array` with one row per sample
    relative_gap : (n,)
        Duality gap over the cost of the zero code: an upper bound of the relative error of the cost.
    n_iterations : int
        Iterations of the slowest sample.
    """

    codes: Any
    relative_gap: OwnArray
    n_iterations: int


class L1Coding(NamedTuple):
    """Code a patch by l1; then so many iterations of least squares on the atoms in use."""

    penalty: float
    effort: Effort
    refits: int = 0


class PursuitCoding(NamedTuple):
    """Code a patch by atoms one by one, until its residual is no longer than `max_error`."""

    max_error: float
    max_atoms: int


class Cleaning(NamedTuple):
    """How the patches of an image are cleaned.

    Attributes
    ----------
    factors : sequence of arrays
    grid : PatchGrid
    coding : L1Coding or PursuitCoding
        Of each patch without its mean.
    wanted : boolean image, optional
        Patches that hold none of its pixels are left out. Default: all patches count.
    """

    factors: Factors
    grid: PatchGrid
    coding: L1Coding | PursuitCoding
    wanted: OwnArray | None = None


class BoxSums(NamedTuple):
    """What a box of patches adds to an image.

    Attributes
    ----------
    extent : slices, the part of the image that the box covers
    total : cleaned patches times their weights, added up there
    weight : the weights, added up there
    n_patches : how many patches the box has
    """

    extent: tuple[slice, ...]
    total: OwnArray
    weight: OwnArray
    n_patches: int


class BoxPlan(NamedTuple):
    """Into what boxes the patches of an image are split: patches in a box at most, and boxes at a time."""

    patches_per_box: int
    n_threads: int


class Groups(NamedTuple):
    """The patches of a box, each with those that it is like: they are cleaned together.

    Attributes
    ----------
    patch_shape : tuple of int, without channels
    extent : slices, the part of the image that the members lie in
    members : (n, n_members), integers
        Where each member of each group begins in that part, flat, without the axis of channels. The patch
        that the group was made for is one of them.
    n_patches : how many patches the box has, those that got no group among them
    distances : (n, n_members), optional
        Sums of the squared differences of the members from that patch.
    """

    patch_shape: tuple[int, ...]
    extent: tuple[slice, ...]
    members: OwnArray
    n_patches: int
    distances: OwnArray | None = None


class Shrinkage(NamedTuple):
    """How much of a group is taken for noise, direction by direction. See docs/groups.md.

    A direction of energy l keeps the share ``b = l / (l + threshold)``, and ``3 b^2 - 2 b^3`` of that, as
    many times as there are `smooth_steps`. The threshold is `strength` times the largest energy that white
    noise alone would have in a direction, ``(sqrt(entries) + sqrt(members))^2`` times its variance.

    What the mean member holds beside the mean of each channel is one more direction, that of equal members.
    White noise has the energy ``entries`` times its variance there: `mean_strength` times that is its
    threshold.
    """

    strength: float
    mean_strength: float
    smooth_steps: int


class Trial(NamedTuple):
    """Data term and sparsity of Eq. (16), with their weights, at one point.

    `memory` is the engine's own: what it keeps so that the gradient there takes no second pass.
    """

    data: float
    sparsity: float
    memory: Any


class CodesGradient(NamedTuple):
    """The gradient at a point that was tried.

    Attributes
    ----------
    codes : the codes of that point, in the layout of the engine
    gradient : Riemannian gradient of the codes, in the same layout
    factor_gradients : Euclidean gradient of the data term in each factor
    new_squared, new_dot_old, direction_dot_new : float
        Plain sums of products of the new gradient of the codes with itself, with the old one, and with the
        direction.
    """

    codes: OwnArray
    gradient: OwnArray
    factor_gradients: tuple[OwnArray, ...]
    new_squared: float
    new_dot_old: float
    direction_dot_new: float


class LogPenalty(NamedTuple):
    """``weight * ln(1 + scale x^2)`` for each coefficient x. Paper: lambda and rho of Eq. (4), (16)."""

    scale: float
    weight: float


class TrainingSet(Protocol):
    """Patches in the layout that suits an engine, and the cost of Eq. (16) on them, coherence left out.

    Codes, their gradients and directions are in the engine's own layout and go from one method to the next;
    `export_codes` gives them as (n, *n_atoms).
    """

    n_samples: int

    def codes_shape(self, n_atoms: Sequence[int]) -> tuple[int, ...]:
        """Shape of codes in the layout of the engine."""

    def correlations(self, factors: Factors) -> OwnArray:
        """Codes ``A^T S B``: inner products of all patches with all atoms."""

    def sparse_codes(self, factors: Factors, penalty: float, effort: Effort) -> OwnArray:
        """Codes of Eq. (34), by FISTA."""

    def export_codes(self, codes: OwnArray) -> OwnArray:
        """Codes of shape (n, *n_atoms)."""

    def cost_along(
        self, factors: Factors, codes: OwnArray, direction: OwnArray, step: float, penalty: LogPenalty
    ) -> Trial:
        """The cost with these factors at ``codes + step * direction``; nothing is changed."""

    def gradient_after(
        self, trial: Trial, gradient: OwnArray, penalty: LogPenalty, codes_weight: float
    ) -> CodesGradient:
        """The gradient where `trial` was made; `gradient` is the one where its line began.

        An engine may reuse the arrays of codes and gradient: they must not be used afterwards.
        """

    def cost_and_gradient(
        self,
        factors: Factors,
        codes: OwnArray,
        penalty: LogPenalty,
        codes_weight: float,
        spare: OwnArray | None = None,
    ) -> tuple[Trial, CodesGradient]:
        """Both at the point where a run begins; the products with old gradient and direction are zero.

        `spare` is an array like the codes, no longer needed, that an engine may put the gradient into.
        """

    def turn(self, gradient: OwnArray, direction: OwnArray, beta: float) -> OwnArray:
        """``beta * direction - gradient``. Paper: Eq. (31). The array of the direction may be reused."""


class Engine(Protocol):
    """The operations. Where an argument `threads` is None, the engine takes as many as there are cores."""

    name: str

    def refusal(self, array: Array, masked: bool) -> str | None:
        """Why it cannot work on such arrays, as a sentence with what to do; None if it can."""

    def suits(self, array: Array, n_atoms: Sequence[int], masked: bool) -> bool:
        """Whether it is a good choice for such arrays and a dictionary of this size."""

    # Products

    def synthesize(self, factors: Factors, codes: OwnArray) -> OwnArray:
        """Packed patches from packed codes, ``(*n_atoms, n) -> (*patch_shape, n)``. Paper: Eq. (3)."""

    def analyze(self, factors: Factors, patches: OwnArray) -> OwnArray:
        """Inner products with all atoms, ``(*patch_shape, n) -> (*n_atoms, n)``: the adjoint."""

    def analyze_rows(self, factors: Factors, patches: OwnArray) -> OwnArray:
        """The same of small patches, one a row, ``(n, entries) -> (n, atoms)``."""

    # Sparse codes

    def solvers(self, n_atoms: Sequence[int], masked: bool) -> tuple[Solver, ...]:
        """Solvers of the l1 problem that it has for a dictionary of this size, the best first."""

    def solve_l1(
        self,
        problem: L1Problem,
        effort: Effort,
        solver: Solver = "fista",
        *,
        refits: int = 0,
        sparse: bool = False,
        threads: int | None = None,
    ) -> L1Codes:
        """Codes of all samples, each improved by so many iterations of least squares on its support."""

    def pursue(
        self,
        factors: Factors,
        patches: OwnArray,
        coding: PursuitCoding,
        *,
        sparse: bool = False,
        threads: int | None = None,
    ) -> Any:
        """Codes of patches (n, *patch_shape) by orthogonal matching pursuit, (n, *n_atoms) or sparse rows."""

    # Images

    def plan_boxes(
        self, cleaning: Cleaning, image: OwnArray, max_memory: float, threads: int | None
    ) -> BoxPlan:
        """Boxes for `clean_box` that suit it; with `max_memory` bytes for all of them at a time."""

    def clean_box(self, cleaning: Cleaning, image: OwnArray, box: Box) -> BoxSums:
        """Weighted sums over the cleaned patches of a box; one of k atoms has the weight ``1 / (1 + k)``."""

    # Groups of alike patches; images here are (channels, *shape), and patches reach through all channels

    def plan_groups(
        self, grid: MatchGrid, image: OwnArray, n_members: int, max_memory: float, threads: int | None
    ) -> BoxPlan:
        """Boxes for `match_box` and `clean_groups` that suit it."""

    def match_box(
        self, grid: MatchGrid, image: OwnArray, n_members: int, box: Box, wanted: OwnArray | None
    ) -> Groups:
        """Groups of a box: for each patch the nearest of its candidates, in any order; of equals the first.

        With `wanted`, a boolean array of the shape without channels, patches that hold none of its pixels get
        no group.
        """

    def clean_groups(self, groups: Groups, image: OwnArray, noise: OwnArray, shrinkage: Shrinkage) -> BoxSums:
        """Sums over the cleaned members of all groups; each has the weight 1.

        `noise`, of the shape without channels, is the variance of the noise in the patch that begins there;
        that of a group is the mean over its members.
        """

    # Learning

    def training_set(
        self, patches: OwnArray, n_atoms: Sequence[int], mask: OwnArray | None, threads: int | None
    ) -> TrainingSet:
        """Patches (n, *patch_shape) to learn from; `mask` is True where entries are missing and hold zero."""
