"""Cholesky factors, and solving by them, in place and while other threads go on.

NumPy has no such solver and copies what it factorises; SciPy's keep the interpreter's lock. These
call the routines that SciPy's do, by their addresses, without the lock.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

# By columns, as LAPACK reads them, our lower triangle is the upper one, and our rows are columns.
_LOWER = b"U"


def factorise(matrix: np.ndarray) -> None:
    """Put the Cholesky factor of a symmetric positive definite matrix into its lower triangle; what
    is above the diagonal is left as it was."""
    size, failed = ctypes.c_int(_square(matrix)), ctypes.c_int()
    _routine("dpotrf", 1, 1)(_LOWER, size, matrix.ctypes, size, failed)
    if failed.value:
        raise np.linalg.LinAlgError("Matrix is not positive definite")


def solve(factor: np.ndarray, sides: np.ndarray) -> None:
    """Turn each row b of ``sides`` into A^-1 b, A having this factor in its lower triangle."""
    size, count, failed = ctypes.c_int(_square(factor)), ctypes.c_int(len(sides)), ctypes.c_int()
    assert _of_doubles(sides)
    assert sides.shape[1:] == factor.shape[1:]
    solved = _routine("dpotrs", 2, 2)
    solved(_LOWER, size, count, factor.ctypes, size, sides.ctypes, size, failed)
    assert not failed.value, f"LAPACK refused its argument {-failed.value}"


def _square(matrix: np.ndarray) -> int:
    assert _of_doubles(matrix)
    assert matrix.shape == (len(matrix), len(matrix))
    return len(matrix)


def _of_doubles(array: np.ndarray) -> bool:
    return array.flags.c_contiguous and array.dtype == np.float64


@cache
def _routine(name: str, sizes: int, arrays: int) -> Callable[..., None]:
    """A routine of LAPACK. It takes a triangle, so many sizes, so many arrays, each with the length
    of its columns, and where to put what failed; all by reference."""
    from scipy.linalg import cython_lapack

    capsule = cython_lapack.__pyx_capi__[name]
    name_of = ctypes.pythonapi.PyCapsule_GetName
    name_of.restype, name_of.argtypes = ctypes.c_char_p, [ctypes.py_object]
    address_of = ctypes.pythonapi.PyCapsule_GetPointer
    address_of.restype, address_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
    whole = ctypes.POINTER(ctypes.c_int)
    array = [ctypes.c_void_p, whole]
    taken: list[Any] = [ctypes.c_char_p, *[whole] * sizes, *array * arrays, whole]
    return ctypes.CFUNCTYPE(None, *taken)(address_of(capsule, name_of(capsule)))
