"""The 24 functions of BBOB, their instances and their mixtures, compiled by Numba.

Definitions: Hansen, Finck, Ros, Auger: Real-Parameter Black-Box Optimization Benchmarking 2009:
Noiseless Functions Definitions, INRIA RR-6829.

Uses `numerics`.
"""
