"""The messages of processes about runs, and an outcome as bytes.

The process that executes a run also executes the user's code. What it sends is therefore framed by
a secret and read as plain numbers and texts: anything else is recognised, and nothing is unpickled.
"""

import json
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from polarbear.errors import PolarBearError
from polarbear.execution.host import Where
from polarbear.execution.outcome import Outcome, Status, Task

SECRET_BYTES = 16
LENGTH_BYTES = 8
HEADER_BYTES = SECRET_BYTES + LENGTH_BYTES
READ_BYTES = 2**16
UNCHANGED = b"="  # begins an encoded outcome if the run left its process as it was
CHANGED = b"!"
UNREADABLE = "killed because it wrote into the connection of its process"


class UnreadableError(PolarBearError):
    """A process sent bytes that are no message."""


@dataclass(frozen=True)
class WorkerSetup:
    """The settings that a worker receives before its first run."""

    name: str
    tag: str  # which its descendants inherit in their environment
    journal: Path
    log: Path
    modules: Path  # a folder on the path for imports, for modules that are files of the user
    problems: bytes  # the pickled suite and setting
    folder: str  # of the configuration
    has_user_problems: bool  # building a problem executes code of the user
    import_path: tuple[str, ...]
    variables: Mapping[str, str | None]  # of the environment of runs; None for one to delete


@dataclass(frozen=True)
class Assignment:
    """A run that a worker shall execute."""

    task: bytes  # pickled
    process_key: str  # runs of one key may share a process
    is_alone: bool  # the process serves no other run


@dataclass(frozen=True)
class RunEnd:
    """The end of a run, as its worker reports it."""

    outcome: bytes = b""  # encoded; empty if the process has sent none
    status: Status = Status.KILLED  # and message, if there is no outcome
    message: str = ""
    warm: Mapping[str, int] = field(default_factory=dict)  # kept processes by their keys


def encode(outcome: Outcome, is_unchanged: bool) -> bytes:
    """An outcome without its task, and whether the run left its process as it was."""
    where = outcome.where
    header = {
        "status": outcome.status.value,
        "message": outcome.message,
        "points": len(outcome.times),
        "has_violations": outcome.violations is not None,
        "objectives": outcome.improvements.n_objectives,
        "evaluations": outcome.evaluations,
        "reached": outcome.reached,
        "seconds": outcome.seconds,
        "invalid": outcome.invalid,
        "started": outcome.started,
        "repeats_itself": outcome.repeats_itself,
        "where": [where.host, where.cpu, where.load, where.worker],
    }
    mark = UNCHANGED if is_unchanged else CHANGED
    line = json.dumps(header).encode() + b"\n"
    columns = [outcome.times, outcome.values]
    if outcome.violations is not None:
        columns.append(outcome.violations)
    return mark + line + b"".join(column.T.tobytes() for column in columns)


def decode(data: bytes, task: Task) -> Outcome:
    """The outcome of a task; raise UnreadableError if the bytes are none."""
    line, _, numbers = data.partition(b"\n")
    try:
        header = json.loads(line[1:])
        points = int(header["points"])
        has_violations = header["has_violations"] is True
        n_objectives = int(header["objectives"])
        n_columns = n_objectives + (2 if has_violations else 1)
        trajectory = np.frombuffer(numbers, dtype=np.float64).reshape(n_columns, points)
        values = trajectory[1] if n_objectives == 1 else trajectory[1 : n_objectives + 1].T
        host, cpu, load, worker = header["where"]
        return Outcome(
            task,
            Status(header["status"]),
            str(header["message"]),
            trajectory[0].copy(),
            values.copy(),
            int(header["evaluations"]),
            float(header["reached"]),
            float(header["seconds"]),
            int(header["invalid"]),
            float(header["started"]),
            Where(str(host), str(cpu), float(load), str(worker)),
            header["repeats_itself"],
            trajectory[-1].copy() if has_violations else None,
        )
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise UnreadableError(f"this is no outcome: {error}") from None


def leaves_unchanged(data: bytes) -> bool:
    """Whether the sender of an encoded outcome is as it was before the run."""
    return data.startswith(UNCHANGED)


class Channel:
    """One end of a socket between a worker and a process that executes runs."""

    def __init__(self, end: socket.socket, secret: bytes) -> None:
        self._end = end
        self._secret = secret
        self._received = bytearray()

    def fileno(self) -> int:
        return self._end.fileno()

    def close(self) -> None:
        self._end.close()

    def send(self, message: bytes) -> None:
        """Send a message; raise OSError if there is nobody to receive it."""
        self._end.sendall(self._secret + len(message).to_bytes(LENGTH_BYTES) + message)

    def receive(self) -> bytes:
        """Wait for the next message; raise EOFError if the other end is closed."""
        while True:
            message = self._next_message()
            if message is not None:
                return message
            self._read()

    def receive_part(self) -> bytes | None:
        """Read what has arrived, at least one byte; return a message once it is complete."""
        self._read()
        return self._next_message()

    def _read(self) -> None:
        data = self._end.recv(READ_BYTES)
        if not data:
            raise EOFError
        self._received += data

    def _next_message(self) -> bytes | None:
        """The first message, if it is complete; raise UnreadableError if the bytes are none."""
        beginning = bytes(self._received[:SECRET_BYTES])
        if not self._secret.startswith(beginning):
            raise UnreadableError("these bytes do not begin as a message does")
        if len(self._received) < HEADER_BYTES:
            return None
        length = int.from_bytes(self._received[SECRET_BYTES:HEADER_BYTES])
        if len(self._received) < HEADER_BYTES + length:
            return None
        message = bytes(self._received[HEADER_BYTES : HEADER_BYTES + length])
        del self._received[: HEADER_BYTES + length]
        return message
