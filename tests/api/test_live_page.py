"""The page of a race that is running: written after each round, or served on this machine."""

from __future__ import annotations

import socket
import struct
import threading
from collections.abc import Iterator
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any, cast
from urllib.parse import urlsplit

import pytest

from polarbear.api.configurations import read
from polarbear.api.listening import Listener
from polarbear.api.live_page import HERE, TAG, LivePage, StorePage, Watch, check_place
from polarbear.config import Overrides
from polarbear.driver.loop import Race
from polarbear.driver.race_progress import Watcher
from polarbear.errors import NotAStoreError, ReportError
from polarbear.racing import RoundRecord
from polarbear.report.page.build import is_page
from polarbear.store import Store
from tests.api.conftest import configuration, stored_runs


class Heard(Listener):
    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warn(self, text: str) -> None:
        self.warnings.append(text)


def test_the_page_follows_until_the_race_is_over_and_is_written_over(tmp_path: Path):
    store, page = stored_runs(tmp_path), tmp_path / "live.html"
    paged = LivePage(store, page, Heard())
    paged.ends(cast(Any, None))
    assert '"follows":true' in page.read_text()
    assert 'id="follow"' in page.read_text()
    check_place(page)  # a page may be written over
    paged.write(follows=False)
    assert '"follows":false' in page.read_text()
    assert 'id="follow"' not in page.read_text()
    assert is_page(page)


def test_a_page_that_cannot_be_written_is_one_warning_and_the_race_continues(tmp_path: Path):
    store, heard = stored_runs(tmp_path), Heard()
    paged = LivePage(store, tmp_path / "gone" / "live.html", heard)
    paged.ends(cast(Any, None))
    paged.ends(cast(Any, None))
    (said,) = heard.warnings
    assert said.startswith("the page was not written: there is no folder")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return stored_runs(tmp_path)


@pytest.fixture
def served(store: Store) -> Iterator[Watch]:
    watch = Watch(store.path)
    thread = threading.Thread(target=watch.serve_forever)
    thread.start()
    yield watch
    watch.shutdown()
    watch.server_close()
    thread.join()


def ask(served: Watch, path: str = "", **headers: str) -> tuple[int, str]:
    answer, text = asked(served, "GET", path, headers)
    return answer.status, text


def asked(
    served: Watch, method: str, path: str = "", headers: dict[str, str] | None = None
) -> tuple[HTTPResponse, str]:
    address = urlsplit(served.address)
    connection = HTTPConnection(HERE, address.port)
    connection.request(method, address.path + path, headers=headers or {})
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer, text


def test_the_page_is_served_to_this_machine_and_to_its_own_names_only(served: Watch):
    status, text = ask(served)
    assert status == 200
    assert text.startswith("<!doctype html>")
    assert ask(served, "?again")[0] == 200
    assert ask(served, "etc/passwd")[0] == 404
    assert ask(served, Host="elsewhere.example:80")[0] == 403


def test_the_page_is_not_served_without_the_secret_part_of_the_address(served: Watch, store: Store):
    connection = HTTPConnection(HERE, urlsplit(served.address).port)
    connection.request("GET", "/")
    assert connection.getresponse().status == 404
    connection.close()
    other = Watch(store.path)
    assert urlsplit(other.address).path != urlsplit(served.address).path
    other.server_close()


def test_a_client_that_disconnects_leaves_no_traceback(served: Watch, capfd):
    address = urlsplit(served.address)
    with socket.create_connection((HERE, address.port)) as client:
        client.sendall(f"GET {address.path} HTTP/1.1\r\nHost: {HERE}:1\r\n\r\n".encode())
        client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    assert ask(served)[0] == 200  # the server goes on
    assert "Traceback" not in capfd.readouterr().err


def test_a_page_follows_while_a_process_writes_to_the_store(store: Store):
    live = StorePage(store.path)
    before = live.now()
    assert b'"follows":false' in before
    assert live.now() is before  # nothing new, so it is not made again
    with store.writing():
        assert b'"follows":true' in live.now()
    assert b'"follows":false' in live.now()


def test_during_a_race_that_keeps_its_draws_the_page_has_the_selector_and_the_duels(tmp_path):
    config = read(configuration(race={"limits": {"rounds": 3}, "alpha": 0.999999}), Overrides())
    store = Store.open_or_create(tmp_path / "raced", config.plain())
    live, seen = StorePage(store.path), []

    class Looking(Watcher):
        wants_draws = True

        def ends(self, record: RoundRecord) -> None:
            page = live.now().decode()
            assert '"selector":{' in page
            assert '"closer":{' in page
            seen.append((live.tag(), page.count('"title":"Round ')))

    with store.writing():
        Race(config, store, [Looking()]).run()
    assert seen == [("1", 1), ("2", 2), ("3", 3)]
    assert live.tag() == "over"


def test_a_page_without_draws_is_outdated_as_soon_as_there_are_some(tmp_path):
    config = read(configuration(race={"limits": {"rounds": 1}, "alpha": 0.999999}), Overrides())
    store = Store.open_or_create(tmp_path / "raced", config.plain())
    live, seen = StorePage(store.path), []

    class Looking(Watcher):
        def ends(self, record: RoundRecord) -> None:
            seen.append(live.tag())
            assert f'"served":"{live.tag()}"' in live.now().decode()

    with store.writing():
        Race(config, store, [Looking()]).run()
        seen.append(live.tag())
    assert seen == ["1 without draws", "1"]


def test_an_open_page_asks_for_the_round_alone(served: Watch, store: Store):
    answer, text = asked(served, "HEAD")
    assert (answer.status, text, answer.headers[TAG]) == (200, "", "over")
    with store.writing():
        assert asked(served, "HEAD")[0].headers[TAG] == "0"
        assert "connect-src 'self'" in ask(served)[1]


def test_what_is_no_store_and_a_port_that_is_taken_are_said(served: Watch, store: Store, tmp_path):
    with pytest.raises(NotAStoreError):
        Watch(tmp_path / "nothing")
    port = urlsplit(served.address).port
    with pytest.raises(ReportError, match=f"cannot serve on port {port}: .*choose another"):
        Watch(store.path, port)
