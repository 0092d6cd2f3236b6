"""Folders of TensorBoard's event files: the curve of one scalar for each run.

An event file is a chain of records; what is needed of their protocol buffers, a wall-clock time, a
step and scalars with tags, is read here, without TensorFlow or TensorBoard.
"""

from __future__ import annotations

import struct
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Literal

from pydantic import Field

from polarbear.errors import ImportFailedError
from polarbear.formats.base import (
    Complaint,
    Imported,
    Point,
    files_in,
    ignored,
    imported_points,
    named,
)
from polarbear.formats.layout import Named
from polarbear.formats.protobuf import fields, floats, text, varint_as_signed

EVENTS = "*tfevents*"
HEADER, FOOTER = 12, 4  # a record's length and its checksum before, the data's checksum after


@dataclass(frozen=True)
class Scalar:
    """One value that was logged."""

    tag: str
    seconds: float
    step: int
    value: float


class TensorBoard(Named):
    """A folder of TensorBoard's event files, in which each folder of them is a run."""

    tag: str | None = Field(None, description="the scalar to compare by; needed if there are many")
    by: Literal["steps", "seconds"] = Field("steps", description="what time is: steps, seconds")
    maximise: bool = Field(False, description="larger values are better")

    def read(self, source: Path) -> Imported:
        complaints: list[Complaint] = []
        runs = {
            name: [scalar for path in paths for scalar in _scalars(path, complaints)]
            for name, paths in _runs(source).items()
        }
        tags = sorted({scalar.tag for scalars in runs.values() for scalar in scalars})
        tag = self._chosen(tags, source)
        points: list[Point] = []
        repeats: Counter[tuple[str, str]] = Counter()
        for name, scalars in runs.items():
            found = [scalar for scalar in scalars if scalar.tag == tag]
            if not found:
                complaints.append(Complaint(1, f"the run has no scalar '{tag}'", name))
                continue
            algorithm, base = self.split(name, source)
            repeats[algorithm, base] += 1
            instance = f"{base}#{repeats[algorithm, base]}"
            begin = min(scalar.seconds for scalar in scalars)
            points += [
                (algorithm, instance, self._time(scalar, begin), scalar.value)
                for scalar in found
                if isfinite(scalar.value)
            ]
        notes = (
            f"curves of '{tag}'; time is counted in {self.by}",
            *ignored([name for name in tags if name != tag], "scalar"),
        )
        return imported_points(
            points, source, self.maximise, "keeps", complaints, notes, axis=self.by
        )

    def _time(self, scalar: Scalar, begin: float) -> float:
        return float(scalar.step) if self.by == "steps" else scalar.seconds - begin

    def _chosen(self, tags: list[str], source: Path) -> str:
        if not tags:
            raise ImportFailedError(f"the event files in {source} hold no scalar")
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
    """Event files by the folder that they are in, named from the source on."""
    paths = files_in(source, EVENTS)
    if not paths:
        raise ImportFailedError(f"{source} is not a folder of TensorBoard: no {EVENTS} file in it")
    runs: dict[str, list[Path]] = {}
    for path in paths:
        folder = path.parent.relative_to(source)
        runs.setdefault(source.name if folder == Path() else folder.as_posix(), []).append(path)
    return runs


def _scalars(path: Path, complaints: list[Complaint]) -> Iterator[Scalar]:
    try:
        data = memoryview(path.read_bytes())
    except OSError as error:
        raise ImportFailedError(f"cannot read {path}: {error.strerror}") from None
    at = 0
    while at < len(data):
        # A run that was killed leaves half a record; what is before it is sound.
        length = struct.unpack_from("<Q", data, at)[0] if at + HEADER <= len(data) else None
        if length is None or at + HEADER + length + FOOTER > len(data):
            complaints.append(Complaint(1, "the last record is cut short", str(path)))
            return
        try:
            yield from _event(data[at + HEADER : at + HEADER + length])
        except (ValueError, IndexError, struct.error):
            raise ImportFailedError(f"{path} is not an event file of TensorBoard") from None
        at += HEADER + length + FOOTER


def _event(record: memoryview) -> Iterator[Scalar]:
    """Event: 1 wall_time, 2 step, 5 summary; Summary: 1 value; Value: 1 tag, 2 number, 8 tensor."""
    seconds, step, summaries = 0.0, 0, []
    for number, value in fields(record):
        if number == 1 and isinstance(value, memoryview):
            (seconds,) = struct.unpack("<d", value)
        elif number == 2 and isinstance(value, int):
            step = varint_as_signed(value)
        elif number == 5 and isinstance(value, memoryview):
            summaries.append(value)
    for summary in summaries:
        for number, one in fields(summary):
            if number == 1 and isinstance(one, memoryview):
                tag, found = _value(one)
                if found is not None:
                    yield Scalar(tag, seconds, step, found)


def _value(data: memoryview) -> tuple[str, float | None]:
    tag, found = "", None
    for number, value in fields(data):
        if not isinstance(value, memoryview):
            continue
        if number == 1:
            tag = text(value)
        elif number == 2:
            (found,) = struct.unpack("<f", value)
        elif number == 8:
            numbers = floats(value)
            found = numbers[0] if len(numbers) == 1 else None
    return tag, found
