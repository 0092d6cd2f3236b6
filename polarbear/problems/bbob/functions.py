"""The 24 functions by their numbers, and the loops that compute them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from polarbear.problems.bbob.loops import conditioned, moderate, multimodal, separable, weak
from polarbear.problems.bbob.loops.by_address import address_of

LOOPS: Mapping[int, Any] = {
    1: separable.sphere,
    2: separable.ellipsoid,
    3: separable.rastrigin,
    4: separable.bueche_rastrigin,
    5: separable.linear_slope,
    6: moderate.attractive_sector,
    7: moderate.step_ellipsoid,
    8: moderate.rosenbrock,
    9: moderate.rosenbrock_rotated,
    10: conditioned.ellipsoid_rotated,
    11: conditioned.discus,
    12: conditioned.bent_cigar,
    13: conditioned.sharp_ridge,
    14: conditioned.different_powers,
    15: multimodal.rastrigin_rotated,
    16: multimodal.weierstrass,
    17: multimodal.schaffers,
    18: multimodal.schaffers,
    19: multimodal.griewank_rosenbrock,
    20: weak.schwefel,
    21: weak.gallagher,
    22: weak.gallagher,
    23: weak.katsuura,
    24: weak.lunacek_bi_rastrigin,
}


@cache
def loop_address(function: int) -> int:
    return address_of(LOOPS[function])
