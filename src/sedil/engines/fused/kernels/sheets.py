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

from sedil.engines.fused.kernels.llvm import (
    FLOAT,
    FUSED,
    INDEX,
    LANES,
    VECTOR,
    WIDTH,
    broadcast,
    index,
    larger,
    load,
    loop_variable,
    repeat_while,
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
            ratio = b.fmul(larger(b, left, b.fneg(left)), load(b, b.gep(inverse, [first]), 0))
            return larger(b, ratio, best)

        return _largest_lane(b, _for_each_vector(b, arguments[4], compare))

    return signature, generate


@intrinsic
def lanes_above(typing_context, values, inverse, limit):
    """Which lanes of one vector have ``|values| * inverse >= limit``, one bit each."""
    signature = types.int64(types.intp, types.intp, types.float32)

    def generate(context: Any, b: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        values, inverse = _pointers(b, *arguments[:2])
        value = load(b, values, 0)
        ratio = b.fmul(larger(b, value, b.fneg(value)), load(b, inverse, 0))
        above = b.fcmp_ordered(">=", ratio, broadcast(b, arguments[2]))
        return b.zext(b.bitcast(above, ir.IntType(LANES)), INDEX)

    return signature, generate


@intrinsic
def residual_ahead(typing_context, out, patches, known, image, before, weights, n_rows):
    """``out = (patches - image - weights * (image - before)) * known`` for all rows of a block.

    There is one weight per column.
    """
    signature = types.void(*(types.intp,) * 7)

    def generate(context: Any, b: ir.IRBuilder, signature: Any, arguments: Any) -> Any:
        out, patches, known, image, before, weights = _pointers(b, *arguments[:6])
        lane_weights = [load(b, weights, vector) for vector in range(N_VECTORS)]

        def subtract(row: Any, carried: Any) -> Any:
            first = b.mul(row, index(LANES * N_VECTORS))
            rows = [b.gep(array, [first]) for array in (patches, known, image, before, out)]
            for vector, weight in enumerate(lane_weights):
                patch, mask, now, earlier = (load(b, each, vector) for each in rows[:4])
                carry = b.fmul(weight, b.fsub(now, earlier), flags=FUSED)
                ahead = b.fadd(carry, now, flags=FUSED)
                b.store(b.fmul(b.fsub(patch, ahead), mask), vector_pointer(b, rows[4], vector), align=4)
            return carried

        _for_each(b, arguments[6], subtract)
        return context.get_dummy_value()

    return signature, generate


def _pointers(b: ir.IRBuilder, *addresses: Any) -> list[Any]:
    return [b.inttoptr(address, FLOAT.as_pointer()) for address in addresses]


def _largest_lane(b: ir.IRBuilder, vector: Any) -> Any:
    number = ir.IntType(32)
    lanes = LANES
    while lanes > 1:  # compare one half with the other
        lanes //= 2
        swapped = [lane ^ lanes for lane in range(LANES)]
        other = b.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(number, LANES), swapped))
        vector = larger(b, vector, other)
    return b.extract_element(vector, ir.Constant(number, 0))


def _for_each_vector(b: ir.IRBuilder, n_vectors: Any, body: Callable[[Any, Any], Any]) -> Any:
    """A loop whose body gets the first entry of a vector and what the turn before returned (first zeros)."""
    return _for_each(b, n_vectors, lambda vector, carried: body(b.mul(vector, index(LANES)), carried))


def _for_each(b: ir.IRBuilder, count: Any, body: Callable[[Any, Any], Any]) -> Any:
    """A loop whose body gets a number and the vector that the turn before returned (first zeros)."""
    before, loop, after = b.block, b.append_basic_block("turn"), b.append_basic_block("after")
    b.branch(loop)
    b.position_at_end(loop)
    number, carried = b.phi(INDEX), b.phi(VECTOR)
    result = body(number, carried)
    following = b.add(number, index(1))
    loop_variable(number, index(0), following, before, loop)
    loop_variable(carried, ir.Constant(VECTOR, [0.0] * LANES), result, before, loop)
    repeat_while(b, b.icmp_signed("<", following, count), loop, after)
    b.position_at_end(after)
    return result
