"""ECDF: the share of (run, target) pairs that were reached by a time, with a bootstrap band."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from polarbear.classical.bootstrap import Resamples
from polarbear.numerics.arrays import Floats


@dataclass(frozen=True)
class Ecdf:
    """Shares[algorithm, time] with the ends of their 95 % intervals."""

    times: Floats
    mean: Floats
    low: Floats
    high: Floats


def ecdf(times: Floats, shares: Floats, drawn: Resamples) -> Ecdf:
    """From shares[instance, algorithm, time], the share of targets each run had reached."""
    bands = [drawn.interval(shares[:, a]) for a in range(shares.shape[1])]
    low, high = (np.stack(ends) for ends in zip(*bands, strict=True))
    return Ecdf(times, drawn.mean(shares), low, high)
