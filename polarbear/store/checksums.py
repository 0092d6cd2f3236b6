"""The checksum that every file of a store carries, so that no flipped bit is read as data.

A JSON object has it under its last key, a Parquet file in its footer. It is taken of the whole
file, with the checksum's own digits set to 0. Files of older versions have none, and are believed.
"""

from __future__ import annotations

import zlib

import numpy as np

KEY = "checksum"
NAME = "polarbear-sum:"
DIGITS = 16
BLANK = NAME + "0" * DIGITS
# What stands before the digits. No name in a file can look like it: JSON escapes the quotes in it,
# and a Parquet footer the control characters; in a Parquet file's rows it stands further up.
IN_JSON = f'"{KEY}": "{NAME}'.encode()
IN_PARQUET = f"\x18\x08{KEY}\x18\x1e{NAME}".encode()  # as Thrift spells texts of these lengths
TRACES = (KEY.encode(), NAME.encode())  # one of them is there if a flipped bit hides the other
TRACES_WITHIN = len(IN_JSON) + DIGITS + 8  # bytes at the end of a JSON file
WORDS = 512  # of 64 bits in a row


def checksum(data: bytes | bytearray | memoryview) -> bytes:
    """Sixteen digits that any damaged word changes.

    The file is laid out in rows of 512 words; a word is in the sum of its row and in the sum of its
    column, and CRC-32 guards the sums, their order, and the rest that fills no row. That reads
    memory as fast as it goes; CRC-32 of everything would take eight times as long.
    """
    rows = len(data) // (8 * WORDS)
    words = np.frombuffer(data, "<u8", rows * WORDS).reshape(rows, WORDS)
    across = zlib.crc32(words.sum(axis=1).tobytes(), zlib.crc32(str(len(data)).encode()))
    rest = memoryview(data)[8 * WORDS * rows :]
    down = zlib.crc32(rest, zlib.crc32(words.sum(axis=0).tobytes()))
    return f"{across:08x}{down:08x}".encode()


def sealed(data: bytes | memoryview) -> bytearray:
    """The same file with its checksum in the place that was left blank for it."""
    made = bytearray(data)
    place = _place(made)
    assert place is not None, "a file is made with a blank checksum"
    made[place : place + DIGITS] = checksum(made)
    return made


def has_one(data: bytearray) -> bool:
    return _place(data) is not None


def holds(data: bytearray) -> bool:
    """Whether a file is what was written, as far as it says; blanks out the digits on the way."""
    place = _place(data)
    if place is None:
        return not any(trace in data[-TRACES_WITHIN:] for trace in TRACES)
    said = bytes(data[place : place + DIGITS])
    data[place : place + DIGITS] = b"0" * DIGITS
    return said == checksum(data)


def _place(data: bytearray) -> int | None:
    mark = IN_PARQUET if data.endswith(b"PAR1") else IN_JSON
    found = data.rfind(mark)
    return None if found < 0 else found + len(mark)
