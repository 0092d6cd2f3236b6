"""The 24 BBOB functions as IOHexperimenter names them, the first having the number 1."""

from __future__ import annotations

BBOB_NAMES = (
    "Sphere",
    "Ellipsoid",
    "Rastrigin",
    "BuecheRastrigin",
    "LinearSlope",
    "AttractiveSector",
    "StepEllipsoid",
    "Rosenbrock",
    "RosenbrockRotated",
    "EllipsoidRotated",
    "Discus",
    "BentCigar",
    "SharpRidge",
    "DifferentPowers",
    "RastriginRotated",
    "Weierstrass",
    "Schaffers10",
    "Schaffers1000",
    "GriewankRosenbrock",
    "Schwefel",
    "Gallagher101",
    "Gallagher21",
    "Katsuura",
    "LunacekBiRastrigin",
)
