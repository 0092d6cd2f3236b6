"""Folders of TensorBoard's event files: the curve of one scalar for each run.

An event file is a sequence of records, each a protocol buffer. The few fields that are needed
(wall-clock time, step, scalars with tags) are decoded here, without TensorFlow or TensorBoard.
"""

import struct
from collections.abc import Iterator
from math import isfinite
from pathlib import Path
from typing import Literal, NamedTuple

import numpy as np
from pydantic import Field

from polarbear.errors import ImportFailedError
from polarbear.formats import base
from polarbear.problems.base import Trajectory

LATE_WRITER = 0.1  # of the usual time between values, before the first one
HEADER, FOOTER = 12, 4  # bytes: a record's length and its checksum, the checksum of the data
VARINT, EIGHT_BYTES, LENGTH, FOUR_BYTES = 0, 1, 2, 5  # wire types of protocol buffers
FLOAT, DOUBLE = "<f4", "<f8"
TENSOR_TYPES = {1: FLOAT, 2: DOUBLE}


class Event(NamedTuple):
    """A record: its time, its step, and scalars by tag; the first record of a file has none."""

    seconds: float
    step: int
    scalars: dict[str, float]


class Message(NamedTuple):
    """The fields of a protocol buffer by number: the last integer, and all byte strings."""

    integers: dict[int, int]
    parts: dict[int, list[memoryview]]


class TensorBoard(base.NamedRuns):
    """A folder of TensorBoard's event files, in which each folder of them is a run."""

    tag: str | None = Field(None, description="the scalar to compare by; needed if there are many")
    by: Literal["steps", "seconds"] = Field("steps", description="what time is: steps, seconds")
    maximise: bool = base.MAXIMISE
    trajectory: Trajectory = base.TRAJECTORY

    def read(self, source: Path) -> base.Imported:
        collection = base.RunCollection(source)
        runs: dict[str, list[Event]] = {}
        for path in base.files_in(source, "TensorBoard", "*tfevents*"):
            folder = path.parent.relative_to(source)
            name = source.name if folder == Path() else folder.as_posix()
            runs.setdefault(name, []).extend(_events(path, collection.rejected))
        tags = sorted(
            {tag for events in runs.values() for event in events for tag in event.scalars}
        )
        tag = self.tag or (tags[0] if len(tags) == 1 else "")
        if tag not in tags:
            raise ImportFailedError(
                f"{source} has the scalars {base.shown_names(tags) or '(none)'}: choose one by "
                "--set tag=NAME"
            )
        for name, events in runs.items():
            found = [event for event in events if tag in event.scalars]
            if not found:
                reason = f"the run has no scalar '{tag}'"
                collection.rejected.append(base.Rejection(1, reason, name))
                continue
            start = _start(events, found)
            points = [
                (float(step) if self.by == "steps" else seconds - start, scalars[tag])
                for seconds, step, scalars in found
                if isfinite(scalars[tag])
            ]
            collection.add(*self.split(name, source), points)
        others = base.ignored([name for name in tags if name != tag], "scalar")
        notes = (f"curves of '{tag}'; time is counted in {self.by}", *others)
        return collection.imported(
            self.maximise, notes=notes, axis=self.by, trajectory=self.trajectory
        )


def _start(events: list[Event], values: list[Event]) -> float:
    """The time at which a run began: that of its first record.

    A writer that is created with the first value does not know how long that took: it is taken to
    be as long as the median time between two values.
    """
    start, times = min(event.seconds for event in events), sorted(one.seconds for one in values)
    usual = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    return start if times[0] - start > LATE_WRITER * usual else times[0] - usual


def _events(path: Path, rejected: list[base.Rejection]) -> Iterator[Event]:
    try:
        data = memoryview(path.read_bytes())
    except OSError as error:
        raise ImportFailedError(f"cannot read {path}: {error.strerror}") from None
    at = 0
    while at < len(data):
        # A killed run leaves an incomplete last record; the ones before it are valid.
        length = struct.unpack_from("<Q", data, at)[0] if at + HEADER <= len(data) else None
        if length is None or at + HEADER + length + FOOTER > len(data):
            rejected.append(base.Rejection(1, "the last record is incomplete", str(path)))
            return
        try:
            yield _event(data[at + HEADER : at + HEADER + length])
        except (ValueError, IndexError):
            raise ImportFailedError(f"{path} is not an event file of TensorBoard") from None
        at += HEADER + length + FOOTER


def _event(record: memoryview) -> Event:
    """Event: 1 wall_time, 2 step, 5 summary; Summary: 1 value; Value: 1 tag, 2 number, 8 tensor."""
    event = _message(record)
    step = event.integers.get(2, 0)
    step = step - (1 << 64) if step >> 63 else step  # a signed number of 64 bits
    scalars = {}
    for summary in event.parts.get(5, []):
        for part in _message(summary).parts.get(1, []):
            value = _message(part)
            tensors = [one for tensor in value.parts.get(8, []) for one in _tensor(tensor)]
            found = _numbers(value, 2, FLOAT) or tensors
            if len(found) == 1:
                tag = b"".join(value.parts.get(1, [])).decode("utf-8")
                scalars[tag] = found[0]
    return Event(next(iter(_numbers(event, 1, DOUBLE)), 0.0), step, scalars)


def _tensor(data: memoryview) -> list[float]:
    """The numbers in a TensorProto: 1 type, 4 content as bytes, or 5 floats or 6 doubles."""
    tensor = _message(data)
    content = TENSOR_TYPES.get(tensor.integers.get(1, 0))
    found = _numbers(tensor, 4, content) if content else []
    return [*found, *_numbers(tensor, 5, FLOAT), *_numbers(tensor, 6, DOUBLE)]


def _numbers(message: Message, number: int, kind: str) -> list[float]:
    parts = message.parts.get(number, [])
    return [float(one) for part in parts for one in np.frombuffer(part, kind)]


def _message(data: memoryview) -> Message:
    found = Message({}, {})
    at = 0
    while at < len(data):
        key, at = _varint(data, at)
        number, kind = key >> 3, key & 7
        if kind == VARINT:
            found.integers[number], at = _varint(data, at)
            continue
        if kind == LENGTH:
            size, at = _varint(data, at)
        elif kind in (EIGHT_BYTES, FOUR_BYTES):
            size = 8 if kind == EIGHT_BYTES else 4
        else:
            raise ValueError(f"unknown wire type {kind}")
        if at + size > len(data):
            raise ValueError("a field is incomplete")
        found.parts.setdefault(number, []).append(data[at : at + size])
        at += size
    return found


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
