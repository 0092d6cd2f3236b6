"""The page of a race that is running: written after each round, or served on this machine."""

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
from polarbear.config.configuration import Overrides
from polarbear.driver.loop import Race
from polarbear.driver.race_progress import Watcher
from polarbear.errors import NotAStoreError, ReportError
from polarbear.racing import RoundRecord
from polarbear.report.page.build import is_page
from polarbear.store import StoreOnDisk
from tests.api.conftest import configuration, stored_runs


class Heard(Listener):
    def __init__(self) -> None:
        self.warnings: list[str] = []

    def warn(self, text: str) -> None:
        self.warnings.append(text)


@pytest.fixture
def store(tmp_path: Path) -> StoreOnDisk:
    return stored_runs(tmp_path)


def test_the_page_follows_until_the_race_is_over_and_is_written_over(
    store: StoreOnDisk, tmp_path: Path
):
    page = tmp_path / "live.html"
    paged = LivePage(store, page, Heard())
    paged.ends(cast(Any, None))
    assert '"follows":true' in page.read_text()
    assert 'id="follow"' in page.read_text()
    check_place(page)  # a page may be written over
    paged.write(follows=False)
    assert '"follows":false' in page.read_text()
    assert 'id="follow"' not in page.read_text()
    assert is_page(page)


def test_a_page_that_cannot_be_written_is_one_warning_and_the_race_continues(store, tmp_path):
    heard = Heard()
    paged = LivePage(store, tmp_path / "gone" / "live.html", heard)
    paged.ends(cast(Any, None))
    paged.ends(cast(Any, None))
    (said,) = heard.warnings
    assert said.startswith("the page was not written: there is no folder")


@pytest.fixture
def served(store: StoreOnDisk) -> Iterator[Watch]:
    watch = Watch(store.path)
    thread = threading.Thread(target=watch.serve_forever)
    thread.start()
    yield watch
    watch.shutdown()
    watch.server_close()
    thread.join()


def ask(
    served: Watch, path: str = "", method: str = "GET", **headers: str
) -> tuple[HTTPResponse, str]:
    """The answer to a request, and its text."""
    address = urlsplit(served.address)
    connection = HTTPConnection(HERE, address.port)
    connection.request(method, address.path + path, headers=headers)
    answer = connection.getresponse()
    text = answer.read().decode()
    connection.close()
    return answer, text


def test_the_page_is_served_to_this_machine_and_to_its_own_names_only(served: Watch):
    answer, text = ask(served)
    assert answer.status == 200
    assert text.startswith("<!doctype html>")
    assert ask(served, "?again")[0].status == 200
    assert ask(served, "etc/passwd")[0].status == 404
    assert ask(served, Host="elsewhere.example:80")[0].status == 403


def test_the_page_is_not_served_without_the_secret_part_of_the_address(
    served: Watch, store: StoreOnDisk
):
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
    assert ask(served)[0].status == 200  # the server goes on
    assert "Traceback" not in capfd.readouterr().err


def test_a_page_follows_while_a_process_writes_to_the_store(store: StoreOnDisk):
    live = StorePage(store.path)
    before = live.now()
    assert b'"follows":false' in before
    assert live.now() is before  # nothing new, so it is not made again
    with store.writing():
        assert b'"follows":true' in live.now()
    assert b'"follows":false' in live.now()


def live_race(
    folder: Path, rounds: int, with_draws: bool
) -> tuple[StorePage, list[str], list[str]]:
    """The page of a race, and its tags and texts after each round."""
    rules = {"limits": {"rounds": rounds}, "alpha": 0.999999}
    config = read(configuration(race=rules), Overrides())
    store = StoreOnDisk.create(folder, config.stored())
    live = StorePage(store.path)
    tags: list[str] = []
    texts: list[str] = []

    class Looking(Watcher):
        wants_draws = with_draws

        def ends(self, record: RoundRecord) -> None:
            tags.append(live.tag())
            texts.append(live.now().decode())

    with store.writing():
        Race(config, store, [Looking()]).run()
        tags.append(live.tag())
    return live, tags, texts


def test_during_a_race_that_keeps_its_draws_the_page_has_the_selector_and_the_duels(tmp_path):
    live, tags, texts = live_race(tmp_path / "raced", 3, with_draws=True)
    assert all('"selector":{' in text and '"closer":{' in text for text in texts)
    assert tags[:3] == ["1", "2", "3"]
    assert [text.count('"title":"Round ') for text in texts] == [1, 2, 3]
    assert live.tag() == "over"


def test_a_page_without_draws_is_outdated_as_soon_as_there_are_some(tmp_path: Path):
    _, tags, texts = live_race(tmp_path / "raced", 1, with_draws=False)
    assert tags == ["1 without draws", "1"]
    assert '"served":"1 without draws"' in texts[0]


def test_an_open_page_asks_for_the_round_alone(served: Watch, store: StoreOnDisk):
    answer, text = ask(served, method="HEAD")
    assert (answer.status, text, answer.headers[TAG]) == (200, "", "over")
    with store.writing():
        assert ask(served, method="HEAD")[0].headers[TAG] == "0"
        assert "connect-src 'self'" in ask(served)[1]


def test_watch_refuses_a_folder_that_is_no_store_and_a_used_port(
    served: Watch, store: StoreOnDisk, tmp_path
):
    with pytest.raises(NotAStoreError):
        Watch(tmp_path / "nothing")
    port = urlsplit(served.address).port
    with pytest.raises(ReportError, match=f"cannot serve on port {port}: .*choose another"):
        Watch(store.path, port)
