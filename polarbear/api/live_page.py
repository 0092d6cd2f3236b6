"""The page of a race that is running: written to a file, or served to browsers on this machine."""

import secrets
import sys
import threading
from functools import partial
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

from polarbear.api.listening import Listener
from polarbear.driver.race_progress import Watcher
from polarbear.errors import PolarBearError, ReportError
from polarbear.racing import RoundRecord
from polarbear.report.context import gather
from polarbear.report.figures.figure_files import write_text
from polarbear.report.page.build import is_page, page
from polarbear.store import StoreOnDisk
from polarbear.store.writer import holder

OVER = "over"
TAG = "PolarBear-Round"  # the header that says which round a page shows
HERE = "127.0.0.1"  # not reachable from other machines


def check_place(path: Path) -> None:
    """Raise an error if the page cannot be written there, before anything is run."""
    if not path.parent.is_dir():
        raise ReportError(f"--page: there is no folder {path.parent}; create it first")
    if path.is_dir() or (path.exists() and not is_page(path)):
        raise ReportError(f"--page {path} exists and is not a PolarBear page; name another file")


class LivePage(Watcher):
    """Writes the page after each round; the first failure to do so is a warning."""

    wants_draws = True

    def __init__(self, store: StoreOnDisk, path: Path, listener: Listener) -> None:
        self._store = store
        self._path = path
        self._listener = listener
        self._has_failed = False

    def ends(self, record: RoundRecord) -> None:
        self.write(follows=True)

    def write(self, follows: bool) -> None:
        """Write the page of the current state of the store."""
        try:
            render = partial(page, gather(self._store), follows)
            write_text(render, self._path, force=True)
        except PolarBearError as error:
            if not self._has_failed:
                self._listener.warn(f"the page was not written: {error}")
            self._has_failed = True


class StorePage:
    """The page of a store, built again only after a change."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._lock = threading.Lock()
        self._state: object = None
        self._page = b""

    def now(self) -> bytes:
        """The current page; it follows the race while a process writes to the store."""
        with self._lock:
            store, tag = self._look()
            state = (tag, store.posteriors.stored())
            if state != self._state:
                html = page(gather(store), tag != OVER, served=tag)
                self._page = html.encode("utf-8", "replace")
                self._state = state
            return self._page

    def tag(self) -> str:
        """The round that an open page compares with its own."""
        return self._look()[1]

    def _look(self) -> tuple[StoreOnDisk, str]:
        """The store, and the round that its page shows; OVER if no process writes to it.

        During a race it is the newest round whose draws are stored, so that its page is complete.
        """
        store = StoreOnDisk.open(self._path)
        if holder(self._path / "lock") is None:
            return store, OVER
        store = store.with_draws()
        last = store.rounds.last()
        if last is None:
            return store, "0"
        tag = str(last.state.round)
        if last.posterior not in store.posteriors.stored():
            tag = f"{tag} without draws"
        return store, tag


class Watch(ThreadingHTTPServer):
    """Serves the page of a store at ``address``, by `serve_forever`.

    The address has a secret part: other users of the machine can reach the port, but not the page.
    """

    def __init__(self, path: Path, port: int = 0) -> None:
        StoreOnDisk.open(path)  # raises an error if it is not a store
        self.live = StorePage(path)
        self.secret_path = f"/{secrets.token_urlsafe(16)}/"
        try:
            super().__init__((HERE, port), _Handler)
        except OSError as error:
            raise ReportError(
                f"cannot serve on port {port}: {error.strerror}; choose another with --port"
            ) from None
        self.address = f"http://{HERE}:{self.server_port}{self.secret_path}"

    def handle_error(self, request: object, client_address: object) -> None:
        """A client that disconnects, or sends nothing, is no error."""
        if not isinstance(sys.exception(), OSError):
            super().handle_error(request, client_address)  # type: ignore[arg-type]


class _Handler(BaseHTTPRequestHandler):
    server: Watch
    timeout = 30.0  # seconds after which a connection without a request is closed

    def do_GET(self) -> None:
        self._answer(with_page=True)

    def do_HEAD(self) -> None:
        """The request of an open page before it reloads."""
        self._answer(with_page=False)

    def _answer(self, with_page: bool) -> None:
        path = self.path.partition("?")[0]
        live = self.server.live
        # DNS rebinding: pages of another site may resolve to this address.
        if (self.headers.get("Host") or "").rpartition(":")[0] not in (HERE, "localhost"):
            self.send_error(HTTPStatus.FORBIDDEN)
            return
        if not secrets.compare_digest(path.encode(), self.server.secret_path.encode()):
            self.send_error(HTTPStatus.NOT_FOUND)
            return
        status = HTTPStatus.OK
        kind = "text/html"
        tag = ""
        try:
            content = live.now() if with_page else b""
            tag = live.tag()
        except PolarBearError as error:  # for example while a round is being written
            status = HTTPStatus.SERVICE_UNAVAILABLE
            kind = "text/plain"
            content = str(error).encode()
        self.send_response(status)
        self.send_header("Content-Type", f"{kind}; charset=utf-8")
        self.send_header("Content-Length", str(len(content)))
        self.send_header("Cache-Control", "no-store")
        self.send_header(TAG, tag)
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *args: object) -> None:
        """Requests are not logged."""
