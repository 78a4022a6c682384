"""Deliveries of a webhook, and the guarantees for a receiver."""

from __future__ import annotations

import hmac
import json
import sqlite3
import threading
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest

from orchestrator.studio.index.reader import IndexReader
from orchestrator.studio.index.updater import IndexKeeper
from orchestrator.studio.pages.page_context import RUN_COLUMNS
from orchestrator.studio.sharing.feed import run_item
from orchestrator.studio.sharing.webhook import Webhook, WebhookTarget, signature, webhook_target
from orchestrator.studio.web.start import StudioOptions, assemble
from orchestrator.verify.assessment import Assessment
from orchestrator.verify.stored_results import VerifyFile
from remote_runtime.errors import UsageError
from tests.orchestrator.history.test_studio_client import Server, answer
from tests.orchestrator.studio.sharing.conftest import kept
from tests.texts import expect_text

SECRET = "0123456789abcdef" * 2


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    yield made
    made.close()


class Told:
    """Collects what a webhook says of its deliveries."""

    def __init__(self) -> None:
        self.problems: list[str] = []
        self._more = threading.Semaphore(0)

    def __call__(self, run_id: str, problem: str) -> None:
        self.problems.append(problem)
        self._more.release()

    def wait(self) -> str:
        """The problem of the next delivery."""
        assert self._more.acquire(timeout=60)
        return self.problems[-1]


def webhook(address: str, told: Told) -> Webhook:
    made = Webhook(WebhookTarget(address, SECRET), lambda run: {"id": run}, told, pauses=(0, 0))
    made.start()
    return made


def test_a_delivery_is_signed(server: Server) -> None:
    """The receiver can check who sent it, that it is new, and that nothing in it was changed."""
    seen: list[tuple[Any, bytes]] = []

    def reply(request: BaseHTTPRequestHandler) -> None:
        seen.append((request.headers, server.bodies[-1]))
        answer(request, 204, b"")

    server.reply = reply
    told = Told()
    made = webhook(server.address + "/hook", told)
    made.add("run-1")
    assert told.wait() == ""
    made.stop()
    headers, body = seen[0]
    assert json.loads(body) == {"type": "run.ended", "run": {"id": "run-1"}}
    at, delivery = headers["x-ccm-timestamp"], headers["x-ccm-delivery"]
    assert abs(time.time() - int(at)) < 3600
    found = headers["x-ccm-signature"]
    assert hmac.compare_digest(found, signature(SECRET, at, delivery, body))
    for changed in (
        signature(SECRET, str(int(at) + 1), delivery, body),
        signature(SECRET, at, f"{delivery}0", body),
        signature(SECRET, at, delivery, body + b" "),
        signature(SECRET[::-1], at, delivery, body),
    ):
        assert found != changed


@pytest.mark.parametrize(
    ("status", "attempts"), [(500, 3), (503, 3), (429, 3), (400, 1), (404, 1), (302, 1), (307, 1)]
)
def test_attempts_are_bounded(server: Server, status: int, attempts: int) -> None:
    """A failing receiver gets three attempts, a refusing one gets one, and no other host any."""
    other = Server()
    server.reply = lambda request: answer(request, status, b"", Location=f"{other.address}/x")
    told = Told()
    made = webhook(server.address, told)
    made.add("run-1")
    assert told.wait() == f"the receiver responded with {status}"
    made.stop()
    assert (len(server.seen), other.seen) == (attempts, [])
    other.close()


def test_a_receiver_that_is_away() -> None:
    """The audit log has the failure, and the next run is posted."""
    told = Told()
    made = webhook("http://127.0.0.1:1", told)
    made.add("run-1")
    assert told.wait() == "Connection refused"
    made.add("run-2")
    assert told.wait() == "Connection refused"
    made.stop()


def test_a_run_that_cannot_be_read(server: Server) -> None:
    """The audit log has the reason, and the next run is posted."""
    told = Told()

    def item(run_id: str) -> dict[str, str]:
        if run_id == "run-1":
            raise sqlite3.OperationalError("database is locked")
        return {"id": run_id}

    server.reply = lambda request: answer(request, 204, b"")
    made = Webhook(WebhookTarget(server.address, SECRET), item, told, pauses=())
    made.start()
    made.add("run-1")
    expect_text(told.wait())
    made.add("run-2")
    assert told.wait() == ""
    made.stop()


@pytest.mark.parametrize(
    ("url", "secret", "words"),
    [
        ("http://hooks.example.net", SECRET, "without encryption"),
        ("https://me:pw@hooks.example.net", SECRET, "contains credentials"),
        ("hooks", SECRET, "is not an https address"),
        ("https://hooks.example.net/ü", SECRET, "must be percent-encoded"),
        ("https://hooks.example.net/a b", SECRET, "must be percent-encoded"),
        ("https://hooks..example.net", SECRET, "is not an address"),
        ("https://hooks.example.net", "short", "fewer than 32 characters"),
    ],
)
def test_unsafe_targets_are_refused(url: str, secret: str, words: str) -> None:
    """A target needs encryption and a secret that cannot be guessed."""
    with pytest.raises(UsageError, match=words) as caught:
        webhook_target(url, secret)
    assert "me:pw" not in str(caught.value)


def test_runs_that_end_are_posted(tmp_path: Path, server: Server) -> None:
    """Each run that ends from now on is posted once, with its result; the audit log has it."""
    kept("web1", run_id="20260921T133640Z-aaaaaa")  # long before the studio began
    state = tmp_path / "own" / "ccm"
    target = WebhookTarget(server.address, SECRET)
    options = StudioOptions(state, "127.0.0.1", 8700, webhook=target)
    parts = assemble(options, 8700, lambda _: None)
    parts.keeper.refresh()
    parts.keeper._begun = 0.0
    assert parts.webhook is not None
    parts.webhook.start()
    kept("web1", run_id="20260921T133641Z-aaaaaa")
    parts.keeper.refresh()
    (state / "runs/20260921T133641Z-aaaaaa/later.jsonl").write_text("")
    parts.keeper.refresh()
    end = time.monotonic() + 60
    audit = state / "studio/audit.jsonl"
    while not audit.exists() and time.monotonic() < end:
        time.sleep(0.05)
    parts.webhook.stop()
    parts.keeper.stop()
    (body,) = server.bodies
    run = json.loads(body)["run"]
    assert (run["id"], run["outcomes"]) == ("20260921T133641Z-aaaaaa", {"failed": 1})
    assert json.loads(audit.read_text())["action"] == "webhook"


def test_a_run_with_a_verify_is_posted_after_it(tmp_path: Path) -> None:
    """The delivery waits for the result of the verify, and for none that stays away for long."""
    state = tmp_path / "own" / "ccm"
    ended: list[str] = []
    keeper = IndexKeeper(state, ended=ended.append)
    keeper.verify_silence = 60.0
    keeper.refresh()
    keeper._begun = 0.0
    run = kept("web1", run_id="20260921T133641Z-aaaaaa")
    about = json.loads((run / "run.json").read_text())
    about["options"] = {**about.get("options", {}), "verify": True}
    (run / "run.json").write_text(json.dumps(about))
    file = VerifyFile(run)
    for _ in range(2):
        keeper.forget_pauses()
        keeper.refresh()
    assert ended == []
    file.finish(Assessment(1, []))
    keeper.forget_pauses()
    keeper.refresh()
    assert ended == [run.name]
    query = f"SELECT {RUN_COLUMNS} FROM runs WHERE id = ?"
    row = IndexReader(keeper.path).row(query, (run.name,))
    assert row is not None
    expect_text(run_item(row)["verify"])
    other = kept("web1", run_id="20260921T133642Z-aaaaaa")
    (other / "run.json").write_text(json.dumps({**about, "run_id": other.name}))
    keeper.verify_silence = 0.0
    keeper.forget_pauses()
    keeper.refresh()
    assert ended == [run.name, other.name]
    keeper.stop()
