"""Folders of TensorBoard's event files: the curve of one scalar for each run.

An event file is a sequence of records, each a protocol buffer. The few fields that are needed
(wall-clock time, step, scalars with tags) are decoded here, without TensorFlow or TensorBoard.
"""

import os
import struct
from collections.abc import Iterator, Sequence
from math import isfinite
from pathlib import Path
from typing import BinaryIO, Literal, NamedTuple

import numpy as np
from pydantic import Field

from polarbear.errors import ImportFailedError
from polarbear.formats import base, limits
from polarbear.numerics.arrays import Floats
from polarbear.problems.base import Trajectory

# A writer was created late if the first value follows within this share of the median time
# between two values.
LATE_WRITER = 0.1
MAX_RECORDS = 1_000_000  # records of all files of a source
MAX_RECORD_BYTES = 2**26  # bytes; longer records are skipped, since they are no scalars
MAX_FIELDS = 10_000  # fields of a protocol buffer
FEWER_RUNS = "import its folders one by one into the same store"
HEADER = 12  # bytes before the data of a record: its length and a checksum of it
FOOTER = 4  # bytes after the data: its checksum
# Wire types of protocol buffers.
VARINT = 0
EIGHT_BYTES = 1
LENGTH = 2
FOUR_BYTES = 5
FLOAT = "<f4"
DOUBLE = "<f8"
TENSOR_TYPES = {1: FLOAT, 2: DOUBLE}


class Event(NamedTuple):
    """A record: its time, its step, and scalars by tag (none in the first record of a file)."""

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
        paths = base.files_in(source, "TensorBoard", "*tfevents*")
        try:
            _check_number_of_records(paths, source)
            for path in paths:
                folder = path.parent.relative_to(source)
                name = source.name if folder == Path() else folder.as_posix()
                runs.setdefault(name, []).extend(_events(path, collection.rejected))
        except OSError as error:
            raise ImportFailedError(f"cannot read {error.filename}: {error.strerror}") from None
        all_events = [event for events in runs.values() for event in events]
        tags = sorted({tag for event in all_events for tag in event.scalars})
        tag = self.tag or ""
        if not tag and len(tags) == 1:
            tag = tags[0]
        if tag not in tags:
            raise ImportFailedError(
                f"{source} has the scalars {base.shown_names(tags) or '(none)'}: choose one by "
                "--set tag=NAME"
            )
        for name, events in runs.items():
            events_with_value = [event for event in events if tag in event.scalars]
            if not events_with_value:
                reason = f"the run has no scalar '{tag}'"
                collection.rejected.append(base.Rejection(1, reason, name))
                continue
            start = _start(events, events_with_value)
            points = []
            for event in events_with_value:
                t = float(event.step) if self.by == "steps" else event.seconds - start
                y = event.scalars[tag]
                if isfinite(y):
                    points.append((t, y))
            algorithm, instance = self.split(name, source)
            collection.add(algorithm, instance, points)
        ignored = base.ignored([name for name in tags if name != tag], "scalar")
        notes = (f"curves of '{tag}'; time is counted in {self.by}", *ignored)
        return collection.imported(
            self.maximise, notes=notes, axis=self.by, trajectory=self.trajectory
        )


def _start(events: list[Event], events_with_value: list[Event]) -> float:
    """The time at which a run began: that of its first record.

    If the writer was created with the first value, that time is unknown: the first value is then
    assumed to have taken as long as the median time between two values.
    """
    start = min(event.seconds for event in events)
    times = sorted(event.seconds for event in events_with_value)
    usual_gap = float(np.median(np.diff(times))) if len(times) > 1 else 0.0
    is_late_writer = times[0] - start <= LATE_WRITER * usual_gap
    return times[0] - usual_gap if is_late_writer else start


def _check_number_of_records(paths: Sequence[Path], source: Path) -> None:
    """Count the records of all files before any of them is decoded."""
    n_records = 0
    for path in paths:
        n_bytes = path.stat().st_size
        with path.open("rb") as file:
            while (length := _length_of_next(file, n_bytes)) is not None:
                if length == 0:  # an event has at least its time
                    raise _not_an_event_file(path)
                file.seek(length + FOOTER, os.SEEK_CUR)
                n_records += 1
                limits.check(n_records, MAX_RECORDS, "records", source, FEWER_RUNS)


def _length_of_next(file: BinaryIO, n_bytes: int) -> int | None:
    """The length of the record that begins here in a file of ``n_bytes``, None if incomplete."""
    header = file.read(HEADER)
    if len(header) < HEADER:
        return None
    length: int = struct.unpack_from("<Q", header)[0]
    return length if file.tell() + length + FOOTER <= n_bytes else None


def _events(path: Path, rejected: list[base.Rejection]) -> Iterator[Event]:
    n_bytes = path.stat().st_size
    with path.open("rb") as file:
        while file.tell() < n_bytes:
            length = _length_of_next(file, n_bytes)
            # A killed run leaves an incomplete last record; the records before it are valid.
            if length is None:
                rejected.append(base.Rejection(1, "the last record is incomplete", str(path)))
                return
            if length > MAX_RECORD_BYTES:
                file.seek(length + FOOTER, os.SEEK_CUR)
                continue
            record = file.read(length + FOOTER)[:length]
            try:
                yield _event(memoryview(record))
            except (ValueError, IndexError):
                raise _not_an_event_file(path) from None


def _not_an_event_file(path: Path) -> ImportFailedError:
    return ImportFailedError(f"{path} is not an event file of TensorBoard")


def _event(record: memoryview) -> Event:
    """Decode an event by the numbers of the fields in TensorBoard's protocol.

    Event: 1 wall_time, 2 step, 5 summary; Summary: 1 value; Value: 1 tag, 2 number, 8 tensor.
    """
    event = _message(record)
    step = event.integers.get(2, 0)
    if step >> 63:
        step -= 1 << 64  # The field is a signed number of 64 bits.
    scalars = {}
    for summary in event.parts.get(5, []):
        for part in _message(summary).parts.get(1, []):
            value = _message(part)
            numbers = _numbers(value, 2, FLOAT)
            if not len(numbers):
                tensors = [_tensor(tensor) for tensor in value.parts.get(8, [])]
                numbers = np.concatenate([np.empty(0), *tensors])
            if len(numbers) == 1:
                tag = b"".join(value.parts.get(1, [])).decode("utf-8")
                scalars[tag] = float(numbers[0])
    wall_times = _numbers(event, 1, DOUBLE)
    return Event(float(wall_times[0]) if len(wall_times) else 0.0, step, scalars)


def _tensor(data: memoryview) -> Floats:
    """The numbers in a TensorProto: 1 type, 4 content as bytes, or 5 floats or 6 doubles."""
    tensor = _message(data)
    type_of_content = TENSOR_TYPES.get(tensor.integers.get(1, 0))
    fields = [_numbers(tensor, 5, FLOAT), _numbers(tensor, 6, DOUBLE)]
    if type_of_content:
        fields.append(_numbers(tensor, 4, type_of_content))
    return np.concatenate(fields)


def _numbers(message: Message, field: int, kind: str) -> Floats:
    parts = [np.frombuffer(part, kind) for part in message.parts.get(field, [])]
    return np.concatenate([np.empty(0), *parts])


def _message(data: memoryview) -> Message:
    message = Message({}, {})
    offset = 0
    n_fields = 0
    while offset < len(data):
        n_fields += 1
        if n_fields > MAX_FIELDS:
            raise ValueError("too many fields")
        key, offset = _varint(data, offset)
        field = key >> 3
        wire_type = key & 7
        if wire_type == VARINT:
            message.integers[field], offset = _varint(data, offset)
            continue
        if wire_type == LENGTH:
            size, offset = _varint(data, offset)
        elif wire_type in (EIGHT_BYTES, FOUR_BYTES):
            size = 8 if wire_type == EIGHT_BYTES else 4
        else:
            raise ValueError(f"unknown wire type {wire_type}")
        if offset + size > len(data):
            raise ValueError("a field is incomplete")
        message.parts.setdefault(field, []).append(data[offset : offset + size])
        offset += size
    return message


def _varint(data: memoryview, offset: int) -> tuple[int, int]:
    """The number that begins at an offset, and the offset after it."""
    number = 0
    shift = 0
    while True:
        byte = data[offset]
        number |= (byte & 127) << shift
        offset += 1
        shift += 7
        if byte < 128:
            return number, offset
        if shift > 63:
            raise ValueError("a number is too long")
