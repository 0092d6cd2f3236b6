"""One worker process, as the pool sees it that has started it."""

from __future__ import annotations

import os
import socket
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import psutil

from polarbear.execution.outcome import Task
from polarbear.execution.ready import Parcels

LARGEST_LOG = 64 * 2**20  # bytes of what a run prints; more would fill the disk for all


@dataclass
class Worker:
    """One process, what it is doing, and where it leaves its traces."""

    name: str
    process: Any
    known: psutil.Process | None  # by more than its number, which others get once it is dead
    connection: Connection
    journal: Path
    log: Path
    mark: str
    unread: int  # bytes that may lie in its connection without anybody waiting to send more
    family: list[psutil.Process] = field(default_factory=list)  # what it was last seen to have
    given: Parcels = field(default_factory=Parcels)
    since: float = field(default_factory=time.monotonic)
    ready: bool = False
    deaf: bool = False  # dead, which the end of its connection will tell
    looks: int = 0

    @property
    def task(self) -> Task | None:
        """The run it is at."""
        return self.given[0].task if self.given else None

    @property
    def seconds(self) -> float:
        """How long it has been at it."""
        return time.monotonic() - self.since

    def received(self) -> list[Any]:
        """What it has told meanwhile, one message at least; an error of the connection at once only
        if there was none before it."""
        told = [self.connection.recv()]
        with suppress(EOFError, OSError):
            while self.connection.poll():
                told.append(self.connection.recv())
        return told

    def begins(self) -> None:
        """It is at another run than before."""
        self.since, self.looks = time.monotonic(), 0


def unread_bytes(connection: Connection) -> int:
    """Bytes that a connection surely takes while nobody reads: whoever sends must never wait, as
    the other may be waiting to send, too. What the system adds to each message is left room for."""
    with socket.socket(fileno=os.dup(connection.fileno())) as end:
        return end.getsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF) // 8


def memory_of(processes: Iterable[psutil.Process]) -> int:
    """Bytes that processes use, as far as they are still there."""
    used = 0
    for process in processes:
        with suppress(psutil.Error):
            used += process.memory_info().rss if process.is_running() else 0
    return used


def bound(log: Path) -> None:
    """Start a log over that has grown too large; only its end would be quoted."""
    with suppress(OSError):
        if log.stat().st_size > LARGEST_LOG:
            os.truncate(log, 0)
