"""The feed of runs, and badges."""

from __future__ import annotations

from xml.dom import minidom

import pytest

from orchestrator.studio.sharing.feed import Badge, badge_image
from tests.orchestrator.studio.sharing.conftest import Studio, kept, post
from tests.orchestrator.studio.sharing.test_inbox import Client

FIRST, SECOND = "20260921T133640Z-aaaaaa", "20260921T133641Z-aaaaaa"
FEED = "/api/v1/feed"


@pytest.fixture
def reader(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> Client:
    """Somebody who reads a studio with a run of web1 and one of web1 and db1."""
    token = studio.token("alice")
    post(studio, kept("web1", run_id=FIRST), token, monkeypatch)
    post(studio, kept("web1", "db1", run_id=SECOND), token, monkeypatch)
    studio.parts.keeper.refresh()
    return Client(studio, studio.token("wall", reads_only=True))


def ids(client: Client, path: str = FEED) -> list[str]:
    return [run["id"] for run in client(path)[1]["runs"]]


def test_the_feed(reader: Client) -> None:
    """The feed has the newest runs, or those after a known one, with their results."""
    assert ids(reader) == [SECOND, FIRST]
    assert ids(reader, f"{FEED}?after={FIRST}") == [SECOND]
    assert ids(reader, f"{FEED}?after=none") == [SECOND, FIRST]
    run = reader(FEED)[1]["runs"][0]
    assert (run["hosts"], run["outcomes"], run["state"]) == (2, {"failed": 2}, "ended")
    assert run["path"] == f"/runs/{SECOND}"


def test_who_reads_what(studio: Studio, reader: Client) -> None:
    """A token of a group reads only its runs and hosts; nobody reads without a token."""
    web = Client(studio, studio.token("web", "web"))
    db = Client(studio, studio.token("db", "db"))
    assert ids(web) == [FIRST]
    assert ids(db) == []
    assert web("/badge.json")[1]["message"] == "1 of 1 host in trouble"
    assert db("/badge.json?group=web")[1]["message"] == "no runs"
    for path in (FEED, "/badge.json", "/badge.svg", "/badge.svg?group=web"):
        assert Client(studio, "")(path)[0] == 401
        assert Client(studio, "")(path, Origin="https://evil.example")[0] == 401


def test_badges(reader: Client) -> None:
    """A badge covers all hosts or a group; an unknown group has no runs."""
    assert reader("/badge.json") == (
        200,
        {"schemaVersion": 1, "label": "ccm", "message": "2 of 2 hosts in trouble", "color": "red"},
    )
    assert reader("/badge.json?group=db")[1]["message"] == "1 of 1 host in trouble"
    assert reader("/badge.json?group=@/etc/passwd")[1]["message"] == "no runs"
    status, image = reader("/badge.svg")
    assert (status, b"2 of 2 hosts in trouble" in image) == (200, True)


def test_a_badge_is_text() -> None:
    """Markup in a label stays text."""
    image = badge_image(Badge('<script>"&', "</text><x>", "red"))
    document = minidom.parseString(image)
    assert {node.tagName for node in document.getElementsByTagName("*")} == {"svg", "rect", "text"}
    texts = [node.firstChild for node in document.getElementsByTagName("text")]
    assert [getattr(text, "data", None) for text in texts] == [
        '<script>"&',
        "</text><x>",
    ]
