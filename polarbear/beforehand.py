"""Compiles what inference needs last, in a process of its own, while the rest is being compiled.

    python -m polarbear.beforehand

Compilation takes one core; the first question after installation is answered sooner with two. What
this process has compiled, the other finds on disk; if it comes too late, nothing is lost.
"""

from __future__ import annotations

import subprocess
import sys

import numpy as np

from polarbear import relations
from polarbear.inference.base import Posterior
from polarbear.inference.diagnostics import diagnose
from polarbear.inference.options import ModelOptions


def start() -> None:
    """Begin, and go on with something else."""
    nowhere = subprocess.DEVNULL
    subprocess.Popen(
        [sys.executable, "-m", "polarbear.beforehand"],
        stdin=nowhere,
        stdout=nowhere,
        stderr=nowhere,
    )


def main() -> None:
    """Judge and compare a few made-up draws, by the very functions that posteriors go through."""
    theta = np.random.default_rng(0).dirichlet(np.ones(3), size=(400, 2))
    diagnostics = diagnose(theta, chains=4)
    times = np.array([0.0, 1.0])
    posterior = Posterior(
        theta, 4, times, ModelOptions(), "native", "auto", 0, 0.0, diagnostics, joint=True
    )
    relations.pointwise(posterior)
    relations.joint(posterior)


if __name__ == "__main__":
    main()
