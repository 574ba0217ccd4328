"""The innermost sums of squared differences, kept in registers to the end like the products in `tiles`.

Of ``out[i, :] = sum_k (first[offset_i + entry_k + :] - patch[entry_k])^2`` a few rows i and the lanes of one
vector. With plain loops denoising by groups takes 1.5 times as long in pictures, 1.8 times in volumes
(`benchmarks/handwritten.py`, `results/handwritten.csv`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

from sedil.engines.fused.kernels.tiles import (
    FLOAT,
    INDEX,
    Factors,
    broadcast,
    index,
    load,
    sums_in_registers,
    vector_pointer,
)

ROWS = 8  # sums under way that keep the units busy


def _differences_of(n_rows: int) -> Callable[..., None]:
    """Kernel for so many rows.

    Its arguments: address of the first sum and distance of its rows; address of the first value, and of the
    offsets of the rows from it; address of the patch; address of the offsets of entries, and their number.
    """

    @intrinsic
    def differences(typing_context, out, out_step, first, offsets, patch, entries, n_entries):
        signature = types.void(*(types.intp,) * 7)

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            out, out_step, first, offsets, *rest = arguments
            begin, offsets = _pointer(builder, first, FLOAT), _pointer(builder, offsets, INDEX)
            rows = [
                builder.gep(begin, [builder.load(builder.gep(offsets, [index(row)]))])
                for row in range(n_rows)
            ]
            sums = _emit_sums(builder, rows, *rest)
            for row, value in enumerate(sums):
                out_row = builder.gep(_pointer(builder, out, FLOAT), [builder.mul(index(row), out_step)])
                builder.store(value, vector_pointer(builder, out_row, 0), align=4)
            return context.get_dummy_value()

        return signature, generate

    return differences


def _pointer(b: ir.IRBuilder, address: Any, type_: Any) -> Any:
    return b.inttoptr(address, type_.as_pointer())


def _emit_sums(b: ir.IRBuilder, rows: list[Any], patch: Any, entries: Any, n_entries: Any) -> list[Any]:
    """Code of the sums over all entries, one for each row."""
    patch, entries = _pointer(b, patch, FLOAT), _pointer(b, entries, INDEX)

    def differences(k: Any) -> list[Factors]:
        offset = b.load(b.gep(entries, [k]))
        value = broadcast(b, b.load(b.gep(patch, [offset])))
        found = [b.fsub(load(b, b.gep(row, [offset]), 0), value) for row in rows]
        return [(each, each) for each in found]

    return sums_in_registers(b, len(rows), n_entries, differences)


differences_of_rows = _differences_of(ROWS)
differences_of_one = _differences_of(1)
