"""As much of the protocol buffers' wire format as event files need."""

from __future__ import annotations

import struct
from collections.abc import Iterator

VARINT, EIGHT_BYTES, LENGTH, FOUR_BYTES = 0, 1, 2, 5
FLOAT, DOUBLE = 1, 2  # of a tensor's types


def fields(data: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """The fields of a message: their number and a whole number, or their bytes."""
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        kind = key & 7
        if kind == VARINT:
            value, at = _varint(data, at)
            yield key >> 3, value
            continue
        if kind == LENGTH:
            size, at = _varint(data, at)
        elif kind in (EIGHT_BYTES, FOUR_BYTES):
            size = 8 if kind == EIGHT_BYTES else 4
        else:
            raise ValueError(f"a field of kind {kind}")
        if at + size > len(data):
            raise ValueError("a field is cut short")
        yield key >> 3, data[at : at + size]
        at += size


def _varint(data: memoryview, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = data[at]
        value |= (byte & 127) << shift
        at, shift = at + 1, shift + 7
        if byte < 128:
            return value, at
        if shift > 63:
            raise ValueError("a number is too long")


def varint_as_signed(value: int) -> int:
    """A whole number that may be below zero, as 64 bits hold it."""
    return value - (1 << 64) if value >> 63 else value


def text(data: memoryview) -> str:
    return bytes(data).decode("utf-8")


def floats(tensor: memoryview) -> tuple[float, ...]:
    """The numbers in a tensor: 1 its type, 4 its content, or 5 floats or 6 doubles one by one."""
    kind, content = 0, b""
    found: list[float] = []
    for number, value in fields(tensor):
        if number == 1 and isinstance(value, int):
            kind = value
        elif isinstance(value, memoryview):
            if number == 4:
                content = bytes(value)
            elif number in (5, 6):
                sign, size = ("f", 4) if number == 5 else ("d", 8)
                found += struct.unpack(f"<{len(value) // size}{sign}", value)
    if content and kind in (FLOAT, DOUBLE):
        sign, size = ("f", 4) if kind == FLOAT else ("d", 8)
        found += struct.unpack(f"<{len(content) // size}{sign}", content)
    return tuple(found)
