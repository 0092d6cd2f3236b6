"""Folders of TensorBoard's event files: the curve of one scalar for each run.

An event file is a sequence of records, each a protocol buffer. The few fields that are needed
(wall-clock time, step, scalars with tags) are decoded here, without TensorFlow or TensorBoard.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Literal

from pydantic import Field

from polarbear.errors import ImportFailedError
from polarbear.formats.base import (
    MAXIMISE,
    Imported,
    NamedRuns,
    Rejection,
    RunCollection,
    files_in,
    ignored,
    named,
)

EVENTS = "*tfevents*"
HEADER, FOOTER = 12, 4  # bytes: a record's length and its checksum, the checksum of the data
VARINT, EIGHT_BYTES, LENGTH, FOUR_BYTES = 0, 1, 2, 5  # wire types of protocol buffers
FLOAT, DOUBLE = ("f", 4), ("d", 8)  # codes and sizes
TENSOR_TYPES = {1: FLOAT, 2: DOUBLE}


@dataclass(frozen=True)
class Scalar:
    """A logged value."""

    tag: str
    seconds: float
    step: int
    value: float


class TensorBoard(NamedRuns):
    """A folder of TensorBoard's event files, in which each folder of them is a run."""

    tag: str | None = Field(None, description="the scalar to compare by; needed if there are many")
    by: Literal["steps", "seconds"] = Field("steps", description="what time is: steps, seconds")
    maximise: bool = MAXIMISE

    def read(self, source: Path) -> Imported:
        collection = RunCollection(source)
        rejected = collection.rejected
        runs = {
            name: [scalar for path in paths for scalar in _scalars(path, rejected)]
            for name, paths in _runs(source).items()
        }
        tags = sorted({scalar.tag for scalars in runs.values() for scalar in scalars})
        tag = self._chosen_tag(tags, source)
        for name, scalars in runs.items():
            found = [scalar for scalar in scalars if scalar.tag == tag]
            if not found:
                rejected.append(Rejection(1, f"the run has no scalar '{tag}'", name))
                continue
            start = min(scalar.seconds for scalar in scalars)
            points = [
                (float(one.step) if self.by == "steps" else one.seconds - start, one.value)
                for one in found
                if isfinite(one.value)
            ]
            collection.add(*self.split(name, source), points)
        others = ignored([name for name in tags if name != tag], "scalar")
        notes = (f"curves of '{tag}'; time is counted in {self.by}", *others)
        return collection.imported(self.maximise, notes=notes, axis=self.by)

    def _chosen_tag(self, tags: list[str], source: Path) -> str:
        if not tags:
            raise ImportFailedError(f"the event files in {source} have no scalar")
        if self.tag is None and len(tags) > 1:
            raise ImportFailedError(
                f"{source} has several scalars: {named(tags)}; choose one, as in "
                f"--set tag={named(tags[:1])}"
            )
        tag = self.tag or tags[0]
        if tag not in tags:
            raise ImportFailedError(f"{source} has no scalar '{tag}'; it has: {named(tags)}")
        return tag


def _runs(source: Path) -> dict[str, list[Path]]:
    """Event files by their folder, whose name is relative to the source."""
    paths = files_in(source, EVENTS)
    if not paths:
        raise ImportFailedError(f"{source} is not a folder of TensorBoard: no {EVENTS} file in it")
    runs: dict[str, list[Path]] = {}
    for path in paths:
        folder = path.parent.relative_to(source)
        runs.setdefault(source.name if folder == Path() else folder.as_posix(), []).append(path)
    return runs


def _scalars(path: Path, rejected: list[Rejection]) -> Iterator[Scalar]:
    try:
        data = memoryview(path.read_bytes())
    except OSError as error:
        raise ImportFailedError(f"cannot read {path}: {error.strerror}") from None
    at = 0
    while at < len(data):
        # A killed run leaves an incomplete last record; the ones before it are valid.
        length = struct.unpack_from("<Q", data, at)[0] if at + HEADER <= len(data) else None
        if length is None or at + HEADER + length + FOOTER > len(data):
            rejected.append(Rejection(1, "the last record is incomplete", str(path)))
            return
        try:
            yield from _event(data[at + HEADER : at + HEADER + length])
        except (ValueError, IndexError, struct.error):
            raise ImportFailedError(f"{path} is not an event file of TensorBoard") from None
        at += HEADER + length + FOOTER


def _event(record: memoryview) -> Iterator[Scalar]:
    """Event: 1 wall_time, 2 step, 5 summary; Summary: 1 value; Value: 1 tag, 2 number, 8 tensor."""
    seconds, step, summaries = 0.0, 0, []
    for number, value in _fields(record):
        if number == 2 and isinstance(value, int):
            step = value - (1 << 64) if value >> 63 else value  # a signed number of 64 bits
        elif isinstance(value, memoryview):
            if number == 1:
                (seconds,) = struct.unpack("<d", value)
            elif number == 5:
                summaries.append(value)
    for summary in summaries:
        for number, one in _fields(summary):
            if number == 1 and isinstance(one, memoryview):
                tag, found = _value(one)
                if found is not None:
                    yield Scalar(tag, seconds, step, found)


def _value(data: memoryview) -> tuple[str, float | None]:
    tag, found = "", None
    for number, value in _fields(data):
        if not isinstance(value, memoryview):
            continue
        if number == 1:
            tag = bytes(value).decode("utf-8")
        elif number == 2:
            (found,) = struct.unpack("<f", value)
        elif number == 8:
            numbers = _tensor(value)
            found = numbers[0] if len(numbers) == 1 else None
    return tag, found


def _tensor(data: memoryview) -> list[float]:
    """The numbers in a TensorProto: 1 type, 4 content as bytes, or 5 floats or 6 doubles."""
    kind, content = 0, memoryview(b"")
    found: list[float] = []
    for number, value in _fields(data):
        if number == 1 and isinstance(value, int):
            kind = value
        elif number == 4 and isinstance(value, memoryview):
            content = value
        elif number in (5, 6) and isinstance(value, memoryview):
            found += _numbers(value, FLOAT if number == 5 else DOUBLE)
    return found + (_numbers(content, TENSOR_TYPES[kind]) if kind in TENSOR_TYPES else [])


def _numbers(data: memoryview, kind: tuple[str, int]) -> list[float]:
    code, size = kind
    return list(struct.unpack(f"<{len(data) // size}{code}", data))


def _fields(message: memoryview) -> Iterator[tuple[int, int | memoryview]]:
    """The fields of a protocol buffer: number and value, an integer or bytes."""
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == VARINT:
            value, at = _varint(message, at)
            yield key >> 3, value
            continue
        if kind == LENGTH:
            size, at = _varint(message, at)
        elif kind in (EIGHT_BYTES, FOUR_BYTES):
            size = 8 if kind == EIGHT_BYTES else 4
        else:
            raise ValueError(f"unknown wire type {kind}")
        if at + size > len(message):
            raise ValueError("a field is incomplete")
        yield key >> 3, message[at : at + size]
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
