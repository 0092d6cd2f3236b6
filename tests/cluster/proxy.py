"""A network connection to a scheduler that can be interrupted and restored."""

import socket
import threading
from contextlib import suppress
from typing import Self


class Network:
    """Forwards connections to a scheduler; refuses them while it is interrupted."""

    def __init__(self, scheduler: str) -> None:
        host, _, port = scheduler.rpartition("://")[2].rpartition(":")
        self._target = (host, int(port))
        self._door = socket.create_server(("127.0.0.1", 0))
        self.address = f"tcp://127.0.0.1:{self._door.getsockname()[1]}"
        self._lock = threading.Lock()
        self._ends: list[socket.socket] = []
        self._is_connected = True
        self.turned_away = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Close all connections, and refuse new ones."""
        with self._lock:
            self._is_connected = False
            for end in self._ends:
                with suppress(OSError):
                    end.shutdown(socket.SHUT_RDWR)
            self._ends.clear()

    def restore(self) -> None:
        """Accept new connections again."""
        with self._lock:
            self._is_connected = True

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self._door.close()
        self.cut()

    def _accept(self) -> None:
        while True:
            try:
                caller, _ = self._door.accept()
            except OSError:
                return
            with self._lock:
                if not self._is_connected:
                    self.turned_away += 1
                    caller.close()
                    continue
                called = socket.create_connection(self._target)
                self._ends += [caller, called]
            for source, target in ((caller, called), (called, caller)):
                threading.Thread(target=_forward, args=(source, target), daemon=True).start()


def _forward(source: socket.socket, target: socket.socket) -> None:
    with suppress(OSError):
        while data := source.recv(65536):
            target.sendall(data)
    for end in (source, target):
        with suppress(OSError):
            end.shutdown(socket.SHUT_RDWR)
