"""BBOB's random numbers, transformations, functions and mixtures as compiled loops.

Definitions: Hansen, Finck, Ros, Auger: Real-Parameter Black-Box Optimization Benchmarking 2009:
Noiseless Functions Definitions, INRIA RR-6829. Sums and products are in the order in which ioh has
them, so that values agree to the last digits.

Uses `numerics`.
"""
