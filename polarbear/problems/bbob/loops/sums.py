"""Sums of products, each product rounded or not as C++ compilers round it on this processor."""

from __future__ import annotations

import platform
from typing import Any

from llvmlite import ir
from numba import types
from numba.extending import intrinsic

# Whether they let a product go into a sum unrounded: where every processor of the kind can.
FUSES = platform.machine().lower() in {"aarch64", "arm64"}


@intrinsic
def plus_product(typing_context: Any, total: Any, a: Any, b: Any) -> Any:
    """total + a b."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        return sum_with_product(builder, *args)

    return types.float64(types.float64, types.float64, types.float64), generate


def sum_with_product(builder: Any, total: Any, a: Any, b: Any) -> Any:
    """The instructions for it, of numbers or of vectors."""
    if not FUSES:
        return builder.fadd(total, builder.fmul(a, b))
    kind = total.type
    name = f"v{kind.count}f64" if isinstance(kind, ir.VectorType) else "f64"
    fused = ir.FunctionType(kind, [kind] * 3)
    function = builder.module.declare_intrinsic(f"llvm.fma.{name}", fnty=fused)
    return builder.call(function, [a, b, total])
