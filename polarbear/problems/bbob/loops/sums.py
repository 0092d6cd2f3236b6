"""Sums of products, each product rounded or not as C++ compilers round it on this processor."""

from __future__ import annotations

import platform
from typing import Any

from numba import types
from numba.extending import intrinsic

# Whether they let a product go into a sum unrounded: where every processor of the kind can.
FUSES = platform.machine().lower() in {"aarch64", "arm64"}


@intrinsic
def plus_product(typing_context: Any, total: Any, a: Any, b: Any) -> Any:
    """total + a b."""

    def generate(context: Any, builder: Any, signature: Any, args: Any) -> Any:
        added_to, left, right = args
        if FUSES:
            return builder.fma(left, right, added_to)
        return builder.fadd(added_to, builder.fmul(left, right))

    return types.float64(types.float64, types.float64, types.float64), generate
