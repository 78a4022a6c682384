"""Runs that ccm, or an attacker, posts to a studio."""

from __future__ import annotations

import asyncio
import gzip
import http.client
import json
import os
import stat
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from orchestrator.fleet.store.outcome_selection import PastRuns
from orchestrator.fleet.store.stored_runs import saved_run, saved_runs
from orchestrator.history.factory import copy_of, run_source_of
from orchestrator.history.location import HistoryError, HistoryLocation
from orchestrator.history.run_copy import MARK
from orchestrator.history.run_names import OWNER
from orchestrator.studio.web import request_checks
from orchestrator.studio.web.api import POSTED
from orchestrator.studio.web.request_checks import Guard
from tests.orchestrator.studio.sharing.conftest import RUN, Studio, kept, post

PATH = f"/api/v1/runs/{RUN}"


class Client:
    """Requests with a token, of any kind."""

    def __init__(self, studio: Studio, token: str) -> None:
        self._address = urlsplit(studio.address)
        self._token = token

    def __call__(
        self, path: str, body: bytes | None = None, method: str = "", **headers: str
    ) -> tuple[int, Any]:
        port = self._address.port
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=20)
        given = {"Authorization": f"Bearer {self._token}"} if self._token else {}
        given |= {name.replace("_", "-"): text for name, text in headers.items()}
        try:
            connection.request(method or ("GET" if body is None else "POST"), path, body, given)
            response = connection.getresponse()
            text = response.read()
        finally:
            connection.close()
        try:
            return response.status, json.loads(text)
        except ValueError:
            return response.status, text


@pytest.fixture
def alice(studio: Studio) -> Client:
    """Somebody who may post runs of all hosts."""
    return Client(studio, studio.token("alice"))


def about(source: Path, **members: Any) -> bytes:
    """The run.json of a run, with other members."""
    found = {**json.loads((source / "run.json").read_text()), "end": None, **members}
    return json.dumps(found).encode()


def stored(studio: Studio) -> list[str]:
    """The runs of the studio."""
    return sorted(os.listdir(studio.runs)) if studio.runs.exists() else []


def test_a_posted_run_is_the_run(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    """The studio has all files byte for byte; its readers, -l failed and reports see the run."""
    source = kept("web1", "db1")
    post(studio, source, studio.token("alice"), monkeypatch)
    names = {path.name for path in source.iterdir()} - {MARK}
    assert {path.name for path in (studio.runs / RUN).iterdir()} == {*names, OWNER}
    assert all((studio.runs / RUN / n).read_bytes() == (source / n).read_bytes() for n in names)
    modes = {stat.S_IMODE(path.stat().st_mode) for path in (studio.runs / RUN).iterdir()}
    assert modes == {0o600}
    folder = run_source_of(HistoryLocation(studio.address))
    assert list(saved_run(RUN, folder).events()) == list(saved_run(RUN).events())
    assert PastRuns(folder=folder).named("failed", RUN, ["web1", "web9"]) == {"web1"}


def test_a_run_is_read_while_it_is_posted(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    """Readers see that a run is in progress, and its end once that was posted."""
    source = kept("web1")
    whole = (source / "run.json").read_bytes()
    (source / "run.json").write_bytes(about(source))
    monkeypatch.setenv("CCM_HISTORY_TOKEN", studio.token("alice"))
    copy = copy_of(HistoryLocation(studio.address), source)
    copy.advance()
    assert saved_run(RUN, run_source_of(HistoryLocation(studio.address))).running
    (source / "run.json").write_bytes(whole)
    copy.finish()
    copy.close()
    run = saved_run(RUN, run_source_of(HistoryLocation(studio.address)))
    assert not run.running
    assert run.about["end"]


def test_posting_again_changes_nothing(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    """A post that was cut is continued, and a second one is idle."""
    source, token = kept("web1", "web2"), studio.token("alice")
    post(studio, source, token, monkeypatch)
    copy = studio.runs / RUN
    before = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in copy.iterdir()}
    post(studio, source, token, monkeypatch)
    after = {path.name: (path.stat().st_mtime_ns, path.read_bytes()) for path in copy.iterdir()}
    assert before == after


def test_the_studio_prunes(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    """It keeps the newest runs that were posted, refuses older ones, and leaves its own alone."""
    token = studio.token("alice")
    for second in (1, 2, 3, 4):
        post(studio, kept("web1", run_id=f"20260921T13364{second}Z-aaaaaa"), token, monkeypatch)
    assert stored(studio) == [f"20260921T13364{second}Z-aaaaaa" for second in (2, 3, 4)]
    with pytest.raises(HistoryError, match="does not keep runs that old"):
        post(studio, kept("web1", run_id="20260921T133640Z-aaaaaa"), token, monkeypatch)
    assert len(stored(studio)) == 3


def test_a_token_removes_no_runs_of_others(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    """Who posts many runs loses the own oldest ones; a new token still finds room."""
    alice, bob, carol = map(studio.token, ("alice", "bob", "carol"))
    post(studio, kept("web1", run_id="20260921T133640Z-aaaaaa"), alice, monkeypatch)
    for second in range(1, 6):
        post(studio, kept("web1", run_id=f"20260921T13364{second}Z-bbbbbb"), bob, monkeypatch)
    of_alice = "20260921T133640Z-aaaaaa"
    assert stored(studio) == [of_alice, *(f"20260921T13364{n}Z-bbbbbb" for n in (4, 5))]
    post(studio, kept("web1", run_id="20260921T133639Z-cccccc"), carol, monkeypatch)
    assert stored(studio) == ["20260921T133639Z-cccccc", of_alice, "20260921T133645Z-bbbbbb"]


@pytest.mark.parametrize("token", ["", "x", "ccm_000000000000_" + "A" * 43])
def test_without_a_valid_token(studio: Studio, token: str) -> None:
    """Nothing is read, nothing is stored, and no large body is accepted."""
    studio.token("alice")
    client = Client(studio, token)
    assert client("/api/v1/runs")[0] == 401
    assert client(PATH, b"{}")[0] == 401
    assert client(PATH, b"x" * (65 << 10))[0] == 413
    assert stored(studio) == []


def test_a_removed_and_an_expired_token(studio: Studio) -> None:
    """Both are refused from the next request on."""
    token = studio.token("alice")
    assert Client(studio, token)("/api/v1/runs")[0] == 200
    studio.file.remove("alice")
    assert Client(studio, token)("/api/v1/runs")[0] == 401
    old = studio.file.add("bob", (), -1.0, reads_only=False)
    assert Client(studio, old)("/api/v1/runs")[0] == 401


def test_tokens_are_stored_as_hashes(studio: Studio) -> None:
    """The file is private and does not contain a token."""
    token = studio.token("alice")
    text = studio.file.path.read_text()
    assert token.rpartition("_")[2] not in text
    assert stat.S_IMODE(studio.file.path.stat().st_mode) == 0o600


def test_a_reading_token_posts_nothing(studio: Studio) -> None:
    """It is refused before anything is stored."""
    client = Client(studio, studio.token("wall", reads_only=True))
    assert client(PATH, about(kept("web1")))[0] == 403
    assert stored(studio) == []


def test_the_index_names_the_token(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages show the name of the token, whatever user the run names."""
    post(studio, kept("web1"), studio.token("mallory"), monkeypatch)
    studio.parts.keeper.refresh()
    (row,) = studio.parts.pages.studio.reader.rows("SELECT who FROM runs")
    assert row["who"].endswith("[mallory]")


def test_a_token_is_no_session(studio: Studio, alice: Client) -> None:
    """Pages need a login."""
    assert alice("/runs")[0] == 303
    assert alice("/live")[0] == 401


def test_a_run_belongs_to_its_token(
    studio: Studio, alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Nobody else adds to it or ends it, nor to a run of the studio's own user."""
    source = kept("web1")
    assert alice(PATH, about(source))[0] == 200
    mallory = Client(studio, studio.token("mallory"))
    line = b'{"host": "", "level": "warning", "text": "x", "waits": false}\n'
    assert mallory(PATH, (source / "run.json").read_bytes())[0] == 403
    assert mallory(f"{PATH}/notices.jsonl?at=0", line)[0] == 404
    assert alice(f"{PATH}/notices.jsonl?at=0", line)[0] == 200
    (studio.runs / RUN / OWNER).unlink()
    assert alice(PATH, about(source))[0] == 403
    assert alice(f"{PATH}/notices.jsonl?at={len(line)}", line)[0] == 404


def test_a_token_of_one_group(
    studio: Studio, alice: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It neither posts nor reads runs of other hosts, nor learns that they exist."""
    source = kept("web1", "db1")
    post(studio, source, studio.token("bob"), monkeypatch)
    web = Client(studio, studio.token("web", "web"))
    assert web("/api/v1/runs") == (200, {"runs": []})
    assert web(f"{PATH}/events.jsonl")[0] == 404
    assert web(f"{PATH}/run.json") == web(f"/api/v1/runs/{RUN[:-1]}f/run.json")
    other = RUN.replace("40Z", "41Z")
    assert web(f"/api/v1/runs/{other}", about(source, run_id=other))[0] == 403
    for hosts, status in ((["web1", "web2"], 200), (["web1", "db1"], 403), (["new"], 403)):
        text = about(source, run_id=other, hosts=hosts)
        assert web(f"/api/v1/runs/{other}", text)[0] == status
    nobody = Client(studio, studio.token("none", "no-such-group"))
    assert nobody("/api/v1/runs") == (200, {"runs": []})
    assert alice("/api/v1/runs")[1]["runs"][1]["id"] == RUN


REPLAYS = {
    "the beginning": {},
    "another end": {"end": 1_790_000_099.0},
    "an interruption": {"end": 1_790_000_001.3, "interrupted": True},
}


@pytest.mark.parametrize("name", REPLAYS)
def test_an_ended_run_stays_as_it_is(
    studio: Studio, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    """A replayed or forged post does not open it again, nor change its end or its events."""
    source, token = kept("web1"), studio.token("alice")
    post(studio, source, token, monkeypatch)
    copy, client = studio.runs / RUN, Client(studio, token)
    before = {path.name: path.read_bytes() for path in copy.iterdir()}
    forged = name != "the beginning"
    assert client(PATH, about(source, **REPLAYS[name]))[0] == (403 if forged else 200)
    assert not client("/api/v1/runs")[1]["runs"][0]["active"]
    events = (source / "events.jsonl").read_bytes()
    assert client(f"{PATH}/events.jsonl?at=0", events) == (409, {"size": len(events)})
    assert client(f"{PATH}/events.jsonl?at={len(events)}", events)[0] == 409
    assert before == {path.name: path.read_bytes() for path in copy.iterdir()}


def test_a_post_of_another_offset_is_not_stored(studio: Studio, alice: Client) -> None:
    """A replay within a run, and one that would leave a gap, get the size that there is."""
    source = kept("web1")
    events = (source / "events.jsonl").read_bytes()
    alice(PATH, about(source))
    assert alice(f"{PATH}/events.jsonl?at=5", events) == (409, {"size": 0})
    assert alice(f"{PATH}/events.jsonl?at=0", events) == (200, {"size": len(events)})
    assert alice(f"{PATH}/events.jsonl?at=0", events) == (409, {"size": len(events)})
    assert (studio.runs / RUN / "events.jsonl").read_bytes() == events
    for at in ("-1", "x", "1e3", "9" * 20, "%00", "%D9%A3"):
        assert alice(f"{PATH}/events.jsonl?at={at}", events)[0] == 400


@pytest.mark.parametrize(
    "run",
    [
        "..", "%2e%2e", "..%2f..%2fetc", "20260921T133640Z-aaaaaa%2f..", "20260921T133640Z-AAAAAA",
        "20260921T133640Z-aaaaaa%00", "20269999T999999Z-aaaaaa", "%2fetc", "runs", ".", "a" * 300,
    ],
)  # fmt: skip
def test_no_run_id_is_a_path(studio: Studio, alice: Client, run: str) -> None:
    """Anything but a run ID is refused and names no file."""
    source = kept("web1")
    status, _ = alice(f"/api/v1/runs/{run}", about(source, run_id=run))
    assert status in (303, 400, 404, 405)
    assert alice(f"/api/v1/runs/{run}/run.json")[0] in (303, 400, 404, 405)
    assert stored(studio) == []
    assert sorted(path.name for path in studio.state.iterdir()) == ["hosts.yaml", "studio"]


@pytest.mark.parametrize(
    "name",
    [
        "received.json", "run.json", "..", "%2e%2e%2fstudio%2ftokens.json", "x.jsonl", ".",
        "events.jsonl%00", "EVENTS.JSONL", "..%2f..%2fstudio%2ftokens.json", "room", "history.json",
    ],
)  # fmt: skip
def test_no_file_name_is_a_path(studio: Studio, alice: Client, name: str) -> None:
    """Only the files of a run are written and read, and run.json only as a whole."""
    alice(PATH, about(kept("web1")))
    before = sorted(os.listdir(studio.runs / RUN))
    assert alice(f"{PATH}/{name}?at=0", b"{}\n")[0] in (303, 400, 404, 405)
    if name != "run.json":
        status, told = alice(f"{PATH}/{name}")
        assert status in (303, 404, 405)
        assert b"hash" not in json.dumps(told, default=repr).encode()
    assert sorted(os.listdir(studio.runs / RUN)) == before


def test_links_are_not_followed(studio: Studio, alice: Client, tmp_path: Path) -> None:
    """A link in the directory of runs is neither read nor written through."""
    victim = tmp_path / "victim"
    victim.mkdir()
    alice(PATH, about(kept("web1")))
    (victim / "secret").write_text("secret\n")
    (studio.runs / RUN / "notices.jsonl").symlink_to(victim / "secret")
    line = b'{"host": "", "level": "warning", "text": "x", "waits": false}\n'
    assert alice(f"{PATH}/notices.jsonl?at=0", line)[0] == 507
    assert alice(f"{PATH}/notices.jsonl")[0] in (404, 500, 507)
    assert (victim / "secret").read_text() == "secret\n"
    other = RUN.replace("40Z", "41Z")
    (studio.runs / other).symlink_to(victim)
    source = kept("web1", run_id=other)
    assert alice(f"/api/v1/runs/{other}", about(source))[0] in (403, 507)
    assert os.listdir(victim) == ["secret"]


BAD_ABOUT: dict[str, dict[str, Any]] = {
    "another run": {"run_id": "20260921T133641Z-aaaaaa"},
    "an unknown member": {"surprise": 1},
    "an unknown command": {"command": "rm"},
    "hosts twice": {"hosts": ["web1", "web1"]},
    "hosts that are no names": {"hosts": ["web1\n"]},
    "a host of escapes": {"hosts": ["\x1b[2Jweb1"]},
    "too long a host": {"hosts": ["w" * 301]},
    "too many hosts": {"hosts": [f"w{number}" for number in range(100_001)]},
    "no hosts": {"hosts": None},
    "deep options": {"options": json.loads("[" * 40 + "]" * 40)},
    "large options": {"options": {"a": "x" * (1 << 20)}},
    "an unknown origin": {"origin": {"user": "alice", "root": True}},
    "another start": {"start": 1.0},
    "a start to come": {"start": 1e11},
    "an end before the start": {"end": 5.0},
    "an end that never comes": {"end": 1e300},
    "a number that is none": {"start": True},
    "a long manifest": {"manifest": "m" * 10_001},
    "another format": {"format": 3},
}


@pytest.mark.parametrize("name", BAD_ABOUT)
def test_a_run_that_is_not_as_ccm_writes_it(studio: Studio, alice: Client, name: str) -> None:
    """The post is refused with the reason, and nothing is stored."""
    status, told = alice(PATH, about(kept("web1"), **BAD_ABOUT[name]))
    assert status == 400
    assert "surprise" not in told["problem"]
    assert stored(studio) == []


@pytest.mark.parametrize(
    "text",
    [b"", b"[]", b"{", b'{"a": NaN}', b"\xff\xfe", b"[" * 100_000, b'"' + b"x" * 1_000, b"null"],
)
def test_a_post_that_is_no_object(studio: Studio, alice: Client, text: bytes) -> None:
    """It is refused."""
    assert alice(PATH, text)[0] == 400
    assert stored(studio) == []


@pytest.mark.parametrize("seconds", [-86_400 * 500, 86_400])
def test_a_run_of_another_time(studio: Studio, alice: Client, seconds: int) -> None:
    """An ID far before or after the studio's clock is refused."""
    import time

    at = time.time() + seconds
    run = time.strftime("%Y%m%dT%H%M%SZ", time.gmtime(at)) + "-aaaaaa"
    text = about(kept("web1"), run_id=run, start=at)
    assert alice(f"/api/v1/runs/{run}", text)[0] == 400


_LINKS = b'"subscribed":[],"required":[],"applied":[]}\n'
BAD_LINES = {
    "half a line": ("notices.jsonl", b"{}"),
    "nothing": ("notices.jsonl", b""),
    "no JSON": ("events.jsonl", b"x\n"),
    "a host of no run": ("notices.jsonl", b'{"host":"x","level":"a","text":"","waits":true}\n'),
    "an unknown member": (
        "notices.jsonl",
        b'{"host":"","level":"a","text":"","waits":true,"more":1}\n',
    ),
    "a missing member": ("notices.jsonl", b'{"host":"","level":"a","text":""}\n'),
    "a phase": ("phases.jsonl", b'{"host":"web1","phase":"dancing","at":1}\n'),
    "a plan": ("phases.jsonl", b'{"plan":-1,"resources":[],' + _LINKS),
    "resources": ("phases.jsonl", b'{"plan":0,"resources":[1],' + _LINKS),
    "edges": (
        "phases.jsonl",
        b'{"plan":0,"resources":[],"subscribed":[],"required":[["a",1]],"applied":[]}\n',
    ),
    "members": (
        "phases.jsonl",
        b'{"plan":0,"resources":[],"subscribed":[],"required":[],"applied":[["a",1]]}\n',
    ),
    "a plan of another format": ("phases.jsonl", b'{"plan":0,"resources":[],"required":[]}\n'),
    "a step": ("rollout.jsonl", b'{"step":"RunFinished","at":1,"interrupted":false}\n'),
    "a step of other hosts": (
        "rollout.jsonl",
        b'{"step":"RolloutHeld","why":"","text":"","hosts":["x"],"at":1}\n',
    ),
    "a result": ("hosts.jsonl", b'{"host":"web1"}\n'),
    "an outcome": ("verify.jsonl", b'{"host":"web1","label":"a","status":1}\n'),
    "a total": ("verify.jsonl", b'{"found":{"hosts":1}}\n'),
    "a late state": ("later.jsonl", b'{"host":"web1","state":"dancing","at":1}\n'),
    "an event": ("events.jsonl", b'{"host":"web1","type":"file"}\n'),
    "rows of nothing": ("events.jsonl", b'{"stable":{"host":"web1"}}\n'),
    "rows without their texts": (
        "events.jsonl",
        b'{"stable":{"host":"web1","id":1,"at":1,"noop":false,"prediction":"",'
        b'"rows":[[0,1,"posix"]],"resources":[7]}}\n',
    ),
    "a resource": ("resources.jsonl", b'{"type":"file","name":"a","properties":{},"x":1}\n'),
    "depth": ("resources.jsonl", b'{"type":"f","name":"a","properties":' + b"[" * 99_999 + b"\n"),
    "huge numbers": ("phases.jsonl", b'{"host":"web1","phase":"running","at":1e999}\n'),
}


@pytest.mark.parametrize("case", BAD_LINES)
def test_lines_that_are_not_as_ccm_writes_them(studio: Studio, alice: Client, case: str) -> None:
    """The post is refused with the line, also behind a good one, and none of it is stored."""
    name, data = BAD_LINES[case]
    alice(PATH, about(kept("web1")))
    before = {path.name: path.stat().st_size for path in (studio.runs / RUN).iterdir()}
    status, told = alice(f"{PATH}/{name}?at=0", data)
    assert (status, bool(told["problem"])) == (400, True)
    good = b'{"host": "", "level": "warning", "text": "x", "waits": false}\n'
    if name == "notices.jsonl" and data:
        assert alice(f"{PATH}/{name}?at=0", good + data)[0] == 400
    after = {path.name: path.stat().st_size for path in (studio.runs / RUN).iterdir()}
    assert before == after


def test_events_of_another_run_or_host(studio: Studio, alice: Client) -> None:
    """An event is about a host of this run."""
    source = kept("web1")
    alice(PATH, about(source))
    line = (source / "events.jsonl").read_bytes().partition(b"\n")[0]
    for old, new in ((RUN.encode(), RUN.replace("40Z", "41Z").encode()), (b"web1", b"web2")):
        assert old in line
        assert alice(f"{PATH}/events.jsonl?at=0", line.replace(old, new) + b"\n")[0] == 400
    assert alice(f"{PATH}/events.jsonl?at=0", line + b"\n")[0] == 200


def test_large_and_compressed_bodies(studio: Studio, alice: Client) -> None:
    """A body beyond the limit is refused by its length, and a compressed one always."""
    source = kept("web1")
    bomb = gzip.compress(b"{" + b" " * (8 << 20) + b"}")
    assert alice(PATH, bomb, Content_Encoding="gzip")[0] == 415
    assert alice(PATH, bomb)[0] == 400
    assert alice(PATH, about(source))[0] == 200
    assert alice(f"{PATH}/events.jsonl", b"", method="POST", Content_Length="99999999")[0] == 413
    assert alice(f"{PATH}/events.jsonl", b"{}\n", method="PUT")[0] == 405


def test_a_slow_post_is_not_waited_for(studio: Studio) -> None:
    """A client with a token has a bounded time for a body, too."""
    token = studio.token("alice")
    headers = {"authorization": f"Bearer {token}"}
    app = Guard(
        studio.parts.app, ["x"], scheme="http", limit=lambda scope: POSTED._replace(seconds=0.05)
    )
    sent: list[Any] = []

    async def receive() -> Any:
        """A part of a body, never the last one."""
        await asyncio.sleep(0.02)
        return {"type": "http.request", "body": b"x", "more_body": True}

    async def send(message: Any) -> None:
        sent.append(message)

    pairs = [(b"host", b"x"), *((n.encode(), v.encode()) for n, v in headers.items())]
    scope = {
        "type": "http", "method": "POST", "path": PATH, "query_string": b"", "headers": pairs,
    }  # fmt: skip
    asyncio.run(app(scope, receive, send))
    assert sent[0]["status"] == 408


def test_a_body_that_ends_early_is_not_taken_for_complete() -> None:
    """If the client disconnects in the middle, nothing gets the part that arrived."""
    parts: list[Any] = [{"type": "http.disconnect"}]
    parts.append({"type": "http.request", "body": b"name=al", "more_body": True})
    passed_on: list[Any] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        passed_on.append(await receive())

    async def receive() -> Any:
        return parts.pop()

    async def send(message: Any) -> None:
        assert message["type"] in ("http.response.start", "http.response.body")

    scope = {
        "type": "http", "method": "POST", "path": "/", "query_string": b"",
        "headers": [(b"host", b"x")],
    }  # fmt: skip
    asyncio.run(Guard(app, ["x"], scheme="http")(scope, receive, send))
    assert (passed_on, parts) == ([], [])


def test_many_large_posts_at_once(studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    """They are refused once they take too much memory together; small ones are not."""
    monkeypatch.setattr(request_checks, "MAX_HELD_BYTES", 1 << 20)
    headers = [
        (b"host", b"x"),
        (b"authorization", f"Bearer {studio.token('alice')}".encode()),
    ]
    app = Guard(studio.parts.app, ["x"], scheme="http", limit=lambda scope: POSTED)
    scope = {
        "type": "http",
        "method": "POST",
        "path": PATH,
        "query_string": b"",
        "headers": headers,
    }

    async def status(size: int) -> int:
        """The answer to a body of this size, whose parts come with those of others."""
        sent: list[Any] = []
        parts = iter([b"x" * (16 << 10)] * (size >> 14) or [b"x" * size])

        async def receive() -> Any:
            await asyncio.sleep(0)
            part = next(parts, b"")
            return {"type": "http.request", "body": part, "more_body": bool(part)}

        async def send(message: Any) -> None:
            sent.append(message)

        await app(scope, receive, send)
        return int(sent[0]["status"])

    async def together(sizes: Sequence[int]) -> list[int]:
        return list(await asyncio.gather(*map(status, sizes)))

    found = asyncio.run(together([400 << 10] * 8 + [1 << 10]))
    read = 421  # the pages have another name
    assert set(found) == {503, read}
    assert found[-1] == read
    assert asyncio.run(together([400 << 10])) == [read]


def test_a_form_of_a_browser_is_no_post(studio: Studio, alice: Client) -> None:
    """A page of another site cannot use the API of a browser's network."""
    text = about(kept("web1"))
    assert alice(PATH, text, Origin="https://evil.example")[0] == 403
    assert alice(PATH, text, Sec_Fetch_Site="cross-site")[0] == 403
    assert alice("/api/v1/runs", Host="evil.example")[0] == 421


def test_posts_at_the_same_time(studio: Studio, alice: Client) -> None:
    """Of equal posts, one is stored."""
    source = kept("web1")
    alice(PATH, about(source))
    data = (source / "events.jsonl").read_bytes()
    found: list[int] = []
    threads = [
        threading.Thread(target=lambda: found.append(alice(f"{PATH}/events.jsonl?at=0", data)[0]))
        for _ in range(8)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == [200, *[409] * 7]
    assert (studio.runs / RUN / "events.jsonl").read_bytes() == data


def test_what_is_posted_is_text(studio: Studio, alice: Client) -> None:
    """Markup in a run is stored as it is, and never a template: pages escape it."""
    bad = "<script>alert(1)</script>{{7*7}}"
    assert alice(PATH, about(kept("web1"), manifest=bad))[0] == 200
    studio.parts.keeper.refresh()
    (run,) = saved_runs(folder_of_directory(studio))
    assert run.about["manifest"] == bad


def folder_of_directory(studio: Studio) -> Any:
    """The runs of the studio, read from its directory."""
    return run_source_of(HistoryLocation(str(studio.state)))


def test_silence_ends_a_run(studio: Studio, alice: Client) -> None:
    """A run whose client is silent stops being in progress."""
    alice(PATH, about(kept("web1")))
    assert alice("/api/v1/runs")[1]["runs"][0]["active"]
    inbox = studio.parts.inbox
    for active in inbox._active.values():
        active.last_received -= 1_000
    inbox.sweep()
    assert not alice("/api/v1/runs")[1]["runs"][0]["active"]
