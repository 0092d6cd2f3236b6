"""Numbers in a compact form that a page can carry."""

from __future__ import annotations

import base64
import gzip
import json
from typing import Any

import numpy as np

HIGHEST = 65534  # the code after it stands for a missing value


def packed(values: np.ndarray) -> dict[str, Any]:
    """Numbers of at least zero in two bytes each, as base64.

    The square root is what is rounded, so that steps are finer where ratings are small: at worst
    half a step of 1 / 65534 of the root.
    """
    top = float(np.nanmax(values)) if np.isfinite(values).any() else 1.0
    scale = top if top > 0 else 1.0
    roots = np.sqrt(np.clip(np.nan_to_num(values, nan=0.0) / scale, 0.0, 1.0))
    codes = np.where(np.isnan(values), HIGHEST + 1, np.rint(roots * HIGHEST))
    return {"top": scale, "codes": in_base64(codes.astype("<u2").tobytes())}


def in_base64(held: bytes) -> str:
    """Bytes as text."""
    return base64.b64encode(held).decode("ascii")


def squeezed(held: bytes) -> str:
    """Bytes as compressed text; the same bytes give the same text."""
    return in_base64(gzip.compress(held, mtime=0))


def unpacked(pack: dict[str, Any]) -> np.ndarray:
    """What a page reads back."""
    codes = np.frombuffer(base64.b64decode(pack["codes"]), dtype="<u2").astype(np.float64)
    values = (codes / HIGHEST) ** 2 * pack["top"]
    return np.where(codes > HIGHEST, np.nan, values)


def json_in_html(data: Any) -> str:
    """JSON that may stand inside a script element: nothing in it can end the element."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text
