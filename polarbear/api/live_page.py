"""The page of a race that is running: written to a file, or served to browsers on this machine."""

from __future__ import annotations

import secrets
import sys
import threading
from collections.abc import Callable
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from polarbear.api.listening import Listener
from polarbear.driver.race_progress import Watcher
from polarbear.errors import PolarBearError, ReportError
from polarbear.racing import RoundRecord
from polarbear.report.context import gather
from polarbear.report.page import is_page, page, write_page
from polarbear.store import Store
from polarbear.store.lock import holder

OVER = "over"
TAG = "PolarBear-Round"  # the header that says which round a page shows
HERE = "127.0.0.1"  # not reachable from other machines
IDLE_SECONDS = 30.0  # after which a connection without a request is closed


def check_place(path: Path) -> None:
    """Raise an error if the path exists and is not a page, before anything is run."""
    if path.is_dir():
        raise ReportError(f"--page {path} is a folder; name a file")
    if not path.parent.is_dir():
        raise ReportError(f"--page: there is no folder {path.parent}; create it first")
    if path.exists() and not is_page(path):
        raise ReportError(f"--page {path} exists and is not a PolarBear page; name another file")


class LivePage(Watcher):
    """Writes the page after each round; the first failure to do so is a warning."""

    wants_draws = True

    def __init__(self, store: Store, path: Path, listener: Listener) -> None:
        self._store, self._path, self._listener = store, path, listener
        self._failed = False

    def ends(self, record: RoundRecord) -> None:
        self.write(follows=True)

    def write(self, follows: bool) -> None:
        """Write the page of the current state of the store."""
        try:
            write_page(gather(self._store), self._path, force=True, follows=follows)
        except PolarBearError as error:
            if not self._failed:
                self._listener.warn(f"the page was not written: {error}")
            self._failed = True


class StorePage:
    """The page of a store, built again only after a change."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._state: object = None
        self._page = b""

    def now(self) -> bytes:
        """The current page; it follows the race while a process writes to the store.

        During a race it shows the newest round whose draws are stored, so that it is complete.
        """
        with self._lock:
            store, follows = self._look()
            tag = _tag(store, follows)
            state = (tag, store.posteriors.stored())
            if state != self._state:
                made = page(gather(store), follows, served=tag)
                self._page = made.encode("utf-8", "replace")
                self._state = state
            return self._page

    def tag(self) -> str:
        """The round that an open page compares with its own."""
        return _tag(*self._look())

    def _look(self) -> tuple[Store, bool]:
        store = Store.open(self._path)
        follows = holder(self._path / "lock") is not None
        return (store.with_draws() if follows else store), follows


def _tag(store: Store, follows: bool) -> str:
    """The round that a page shows, and whether its draws are stored; OVER after the race."""
    last = store.rounds.last()
    if not follows:
        return OVER
    if last is None:
        return "0"
    there = last.posterior in store.posteriors.stored()
    return f"{last.state.round}{'' if there else ' without draws'}"


class Server(ThreadingHTTPServer):
    """A server for which a client that disconnects, or sends nothing, is no error."""

    def handle_error(self, request: object, client_address: object) -> None:
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class Watch:
    """Serves the page of a store at ``address`` until it is closed.

    The address has a secret part: other users of the machine can reach the port, but not the page.
    """

    def __init__(self, path: Path, port: int = 0) -> None:
        Store.open(path)  # raises an error if it is not a store
        live, place = StorePage(path), f"/{secrets.token_urlsafe(16)}/"

        class Handler(BaseHTTPRequestHandler):
            timeout = IDLE_SECONDS

            def do_GET(self) -> None:
                self._answer(live.now)

            def do_HEAD(self) -> None:
                """The request of an open page before it reloads."""
                self._answer(lambda: b"")

            def _answer(self, held: Callable[[], bytes]) -> None:
                # DNS rebinding: pages of another site may resolve to this address.
                named = (self.headers.get("Host") or "").rpartition(":")[0]
                if named not in (HERE, "localhost"):
                    self.send_error(HTTPStatus.FORBIDDEN)
                elif not secrets.compare_digest(
                    self.path.partition("?")[0].encode(), place.encode()
                ):
                    self.send_error(HTTPStatus.NOT_FOUND)
                else:
                    try:
                        self._send(HTTPStatus.OK, "text/html", held(), live.tag())
                    except PolarBearError as error:  # for example while a round is being written
                        words = f"{error}\n".encode()
                        self._send(HTTPStatus.SERVICE_UNAVAILABLE, "text/plain", words, "")

            def _send(self, status: HTTPStatus, kind: str, held: bytes, tag: str) -> None:
                self.send_response(status)
                self.send_header("Content-Type", f"{kind}; charset=utf-8")
                self.send_header("Content-Length", str(len(held)))
                self.send_header("Cache-Control", "no-store")
                self.send_header(TAG, tag)
                self.end_headers()
                self.wfile.write(held)

            def log_message(self, format: str, *args: object) -> None:
                """Requests are not logged."""

        try:
            self._server = Server((HERE, port), Handler)
        except OSError as error:
            raise ReportError(
                f"cannot serve on port {port}: {error.strerror}; choose another with --port"
            ) from None
        self.address = f"http://{HERE}:{self._server.server_port}{place}"

    def serve(self) -> None:
        """Answer requests until ``close`` is called, or until an interrupt."""
        self._server.serve_forever()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()
