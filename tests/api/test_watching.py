"""A store's page on this machine's own address."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.client import HTTPConnection
from pathlib import Path

import pytest

from polarbear.api.watching import HERE, LivePage, Watch
from polarbear.errors import NotAStoreError, ReportError
from polarbear.store import Store
from tests.driver.test_posteriors import synthetic


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return synthetic(tmp_path, instances=2)


@pytest.fixture
def served(store: Store) -> Iterator[Watch]:
    watch = Watch(store.path)
    thread = threading.Thread(target=watch.serve)
    thread.start()
    yield watch
    watch.close()
    thread.join()


def ask(served: Watch, path: str = "/", **headers: str) -> tuple[int, str]:
    port = int(served.address.rstrip("/").rpartition(":")[2])
    connection = HTTPConnection(HERE, port)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    found = answer.status, answer.read().decode()
    connection.close()
    return found


def test_the_page_is_served_to_this_machine_and_to_its_own_names_only(served: Watch):
    status, text = ask(served)
    assert status == 200
    assert text.startswith("<!doctype html>")
    assert ask(served, "/?again")[0] == 200
    assert ask(served, "/etc/passwd")[0] == 404
    assert ask(served, Host="elsewhere.example:80")[0] == 403


def test_a_page_follows_while_somebody_writes_to_the_store(store: Store):
    live = LivePage(store.path)
    before = live.now()
    assert b'"follows":false' in before
    assert live.now() is before  # nothing new, so it is not made again
    with store.writing():
        assert b'"follows":true' in live.now()
    assert b'"follows":false' in live.now()


def test_what_is_no_store_and_a_port_that_is_taken_are_said(served: Watch, store: Store, tmp_path):
    with pytest.raises(NotAStoreError):
        Watch(tmp_path / "nothing")
    port = int(served.address.rstrip("/").rpartition(":")[2])
    with pytest.raises(ReportError, match=f"cannot serve on port {port}: .*choose another"):
        Watch(store.path, port)
