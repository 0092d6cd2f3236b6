"""Numbers in a compact form that a page can carry."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import numpy as np

HIGHEST = 65534  # the code after it stands for a missing value


def packed(values: np.ndarray) -> str:
    """Shares and probabilities in two bytes each, as base64.

    They are rounded to multiples of 1 / 65534, of which one half is one.
    """
    codes = np.where(np.isnan(values), HIGHEST + 1, np.rint(np.nan_to_num(values) * HIGHEST))
    return in_base64(codes.astype("<u2").tobytes())


def in_base64(held: bytes) -> str:
    """Bytes as text."""
    return base64.b64encode(held).decode("ascii")


def squeezed(held: bytes) -> str:
    """Bytes as compressed text; the same bytes give the same text."""
    return in_base64(gzip.compress(held, mtime=0))


def unpacked(pack: str) -> np.ndarray:
    """The numbers that a page reads back."""
    codes = np.frombuffer(base64.b64decode(pack), dtype="<u2").astype(np.float64)
    return np.where(codes > HIGHEST, np.nan, codes / HIGHEST)


def json_in_html(data: Any) -> str:
    """JSON that may stand inside a script element: nothing in it can end the element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text
