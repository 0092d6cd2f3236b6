"""A matrix times a vector, some columns at a time: their sums stay in registers to the end.

Written in LLVM's terms, since compilers keep them in memory, where a vector could be changed by
what is written to another. Every sum runs through the rows in their order.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from polarbear.problems.bbob.loops.sums import sum_with_product

VECTOR = types.float64[::1]
WIDE, NARROW = 16, 4  # columns at a time: enough to hide how long a sum takes, or few


def _columns(width: int) -> Any:
    several = ir.VectorType(ir.DoubleType(), width)
    first_of_all = ir.Constant(ir.VectorType(ir.IntType(32), width), [0] * width)

    @intrinsic
    def columns(typing_context: Any, rows: Any, first: Any, base: Any, x: Any, z: Any) -> Any:
        """Let z, from its ``first`` on, be the base plus the sum of all rows, each times its x."""

        def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            matrix, vector, found = (
                context.make_array(VECTOR)(context, builder, value=args[k]) for k in (0, 3, 4)
            )
            n = builder.extract_value(vector.shape, 0)

            def spread(number: Any) -> Any:
                one = builder.insert_element(several(ir.Undefined), number, ir.IntType(32)(0))
                return builder.shuffle_vector(one, one, first_of_all)

            def place(array: Any, index: Any) -> Any:
                return builder.bitcast(builder.gep(array.data, [index]), several.as_pointer())

            sums = cgutils.alloca_once_value(builder, spread(args[2]))  # type: ignore[no-untyped-call]
            with cgutils.for_range(builder, n) as loop:
                at = builder.add(builder.mul(loop.index, n), args[1])
                row = builder.load(place(matrix, at), align=8)
                factor = spread(builder.load(builder.gep(vector.data, [loop.index])))
                total = sum_with_product(builder, builder.load(sums), factor, row)
                builder.store(total, sums)
            builder.store(builder.load(sums), place(found, args[1]), align=8)
            return context.get_dummy_value()

        return types.void(VECTOR, types.int64, types.float64, VECTOR, VECTOR), generate

    return columns


wide_columns, narrow_columns = _columns(WIDE), _columns(NARROW)
