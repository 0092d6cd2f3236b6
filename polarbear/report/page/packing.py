"""Numbers in a compact form that a page can carry."""

from __future__ import annotations

import base64
import gzip
import json

import numpy as np

HIGHEST = 65534  # the code after it stands for a missing value


def packed(values: np.ndarray) -> str:
    """Shares and probabilities in two bytes each, as base64.

    They are rounded to multiples of 1 / 65534, of which one half is one.
    """
    codes = np.where(np.isnan(values), HIGHEST + 1, np.rint(np.nan_to_num(values) * HIGHEST))
    return base64.b64encode(codes.astype("<u2").tobytes()).decode("ascii")


def squeezed(held: bytes) -> str:
    """Bytes as compressed text; the same bytes give the same text."""
    return base64.b64encode(gzip.compress(held, mtime=0)).decode("ascii")


def as_json(data: object) -> str:
    return json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)


def json_in_html(data: object) -> str:
    """JSON that may stand inside a script element: nothing in it can end the element."""
    text = as_json(data)
    for letter in "<>&\u2028\u2029":
        text = text.replace(letter, f"\\u{ord(letter):04x}")
    return text
