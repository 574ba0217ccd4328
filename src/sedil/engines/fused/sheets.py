"""Passes over long arrays of float32 values, written in LLVM's own vectors.

Numba must assume that arrays overlap, and for arrays as short as these its checks cost more than the work.
Addresses are in bytes; each array holds so many whole vectors, one at least.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from sedil.engines.fused.llvm import (
    FLOAT,
    FUSED,
    INDEX,
    LANES,
    VECTOR,
    WIDTH,
    broadcast,
    index,
    load,
    loop_variable,
    vector_pointer,
)

N_VECTORS = WIDTH // LANES  # of a row of a block


@intrinsic
def add_scaled(typing_context, out, scale, source, n_vectors):
    """``out += scale * source``."""
    signature = types.void(types.intp, types.float32, types.intp, types.intp)

    def generate(context: Any, b: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        out, scale, source, n_vectors = arguments
        out, source = _pointers(b, out, source)
        factor = broadcast(b, scale)

        def add(first: Any, carried: Any) -> Any:
            place = vector_pointer(b, b.gep(out, [first]), 0)
            product = b.fmul(factor, load(b, b.gep(source, [first]), 0), flags=FUSED)
            b.store(b.fadd(product, b.load(place, align=4), flags=FUSED), place, align=4)
            return carried

        _for_each_vector(b, n_vectors, add)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def clear(typing_context, out, n_vectors):
    """``out = 0``."""
    signature = types.void(types.intp, types.intp)

    def generate(context: Any, b: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        (out,) = _pointers(b, arguments[0])

        def store_zeros(first: Any, zeros: Any) -> Any:
            b.store(zeros, vector_pointer(b, b.gep(out, [first]), 0), align=4)
            return zeros

        _for_each_vector(b, arguments[1], store_zeros)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def subtract_and_compare(typing_context, out, target, product, inverse, n_vectors):
    """``out = target - product``; the largest ``|out| * inverse`` is returned."""
    signature = types.float32(*(types.intp,) * 5)

    def generate(context: Any, b: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        out, target, product, inverse = _pointers(b, *arguments[:4])

        def compare(first: Any, best: Any) -> Any:
            left = b.fsub(*(load(b, b.gep(array, [first]), 0) for array in (target, product)))
            b.store(left, vector_pointer(b, b.gep(out, [first]), 0), align=4)
            ratio = b.fmul(_larger(b, left, b.fneg(left)), load(b, b.gep(inverse, [first]), 0))
            return _larger(b, ratio, best)

        return _largest_lane(b, _for_each_vector(b, arguments[4], compare))

    return signature, generate


@intrinsic
def lanes_above(typing_context, values, inverse, limit):
    """Which lanes of one vector have ``|values| * inverse >= limit``, one bit each."""
    signature = types.int64(types.intp, types.intp, types.float32)

    def generate(context: Any, b: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        values, inverse = _pointers(b, *arguments[:2])
        value = load(b, values, 0)
        ratio = b.fmul(_larger(b, value, b.fneg(value)), load(b, inverse, 0))
        above = b.fcmp_ordered(">=", ratio, broadcast(b, arguments[2]))
        return b.zext(b.bitcast(above, ir.IntType(LANES)), INDEX)

    return signature, generate


@intrinsic
def shrink_rows(typing_context, ahead, slope, codes, thresholds, step, uphill, n_rows):
    """One gradient step of FISTA and its shrinkage, for all rows of a block.

    ``new = shrink(ahead + step * slope, step * threshold)`` goes in place of `slope`; each lane of `uphill`
    gets the sum of ``(ahead - new) * (new - codes)``.
    """
    signature = types.void(*(types.intp,) * 4, types.float32, types.intp, types.intp)

    def generate(context: Any, b: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        ahead, slope, codes, thresholds = _pointers(b, *arguments[:4])
        step = broadcast(b, arguments[4])
        zeros = ir.Constant(VECTOR, [0.0] * LANES)

        def shrink(row: Any, sums: list[Any]) -> list[Any]:
            wall = b.fmul(step, broadcast(b, b.load(b.gep(thresholds, [row]))))
            first = b.mul(row, index(LANES * N_VECTORS))
            rows = [b.gep(array, [first]) for array in (ahead, slope, codes)]
            new_sums = []
            for vector, old in enumerate(sums):
                start, downhill, code = (load(b, each, vector) for each in rows)
                moved = b.fadd(b.fmul(step, downhill, flags=FUSED), start, flags=FUSED)
                above = _larger(b, b.fsub(moved, wall), zeros)
                new = b.fadd(above, _smaller(b, b.fadd(moved, wall), zeros))
                product = b.fmul(b.fsub(start, new), b.fsub(new, code), flags=FUSED)
                new_sums.append(b.fadd(product, old, flags=FUSED))
                b.store(new, vector_pointer(b, rows[1], vector), align=4)
            return new_sums

        (uphill,) = _pointers(b, arguments[5])
        for vector, total in enumerate(_for_each(b, arguments[6], shrink, N_VECTORS)):
            b.store(total, vector_pointer(b, uphill, vector), align=4)
        return context.get_dummy_value()

    return signature, generate


@intrinsic
def extrapolate_rows(typing_context, new, codes, ahead, weights, n_rows):
    """``ahead = new + weights * (new - codes)``, then ``codes = new``; one weight per lane."""
    signature = types.void(*(types.intp,) * 5)

    def generate(context: Any, b: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        new, codes, ahead, weights = _pointers(b, *arguments[:4])
        lane_weights = [load(b, weights, vector) for vector in range(N_VECTORS)]

        def extrapolate(row: Any, carried: list[Any]) -> list[Any]:
            first = b.mul(row, index(LANES * N_VECTORS))
            new_row, code_row, ahead_row = (b.gep(array, [first]) for array in (new, codes, ahead))
            for vector, weight in enumerate(lane_weights):
                value, code = load(b, new_row, vector), load(b, code_row, vector)
                product = b.fmul(weight, b.fsub(value, code), flags=FUSED)
                b.store(b.fadd(product, value, flags=FUSED), vector_pointer(b, ahead_row, vector), align=4)
                b.store(value, vector_pointer(b, code_row, vector), align=4)
            return carried

        _for_each(b, arguments[4], extrapolate, 0)
        return context.get_dummy_value()

    return signature, generate


def _pointers(b: ir.IRBuilder, *addresses: Any) -> list[Any]:
    return [b.inttoptr(address, FLOAT.as_pointer()) for address in addresses]


def _larger(b: ir.IRBuilder, left: Any, right: Any) -> Any:
    return b.select(b.fcmp_ordered(">", left, right), left, right)


def _largest_lane(b: ir.IRBuilder, vector: Any) -> Any:
    number = ir.IntType(32)
    lanes = LANES
    while lanes > 1:  # compare one half with the other
        lanes //= 2
        swapped = [lane ^ lanes for lane in range(LANES)]
        other = b.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(number, LANES), swapped))
        vector = _larger(b, vector, other)
    return b.extract_element(vector, ir.Constant(number, 0))


def _smaller(b: ir.IRBuilder, left: Any, right: Any) -> Any:
    return b.select(b.fcmp_ordered("<", left, right), left, right)


def _for_each_vector(b: ir.IRBuilder, n_vectors: Any, body: Callable[[Any, Any], Any]) -> Any:
    """A loop whose body gets the first entry of a vector and what the turn before returned (first zero)."""

    def one(vector: Any, carried: list[Any]) -> list[Any]:
        return [body(b.mul(vector, index(LANES)), carried[0])]

    return _for_each(b, n_vectors, one, 1)[0]


def _for_each(
    b: ir.IRBuilder, count: Any, body: Callable[[Any, list[Any]], list[Any]], n_carried: int
) -> list[Any]:
    """A loop whose body gets a number and the vectors that the turn before returned (first zeros)."""
    before, loop, after = b.block, b.append_basic_block("turn"), b.append_basic_block("after")
    b.branch(loop)
    b.position_at_end(loop)
    number, carried = b.phi(INDEX), [b.phi(VECTOR) for _ in range(n_carried)]
    results = body(number, carried)
    following = b.add(number, index(1))
    loop_variable(number, index(0), following, before, loop)
    for variable, result in zip(carried, results, strict=True):
        loop_variable(variable, ir.Constant(VECTOR, [0.0] * LANES), result, before, loop)
    b.cbranch(b.icmp_signed("<", following, count), loop, after)
    b.position_at_end(after)
    return results
