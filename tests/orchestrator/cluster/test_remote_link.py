"""The controller's end of what leads to a worker."""

import json
import threading
from types import SimpleNamespace
from typing import Any

import pytest

from orchestrator.cluster import frames, remote_link
from orchestrator.cluster.remote_link import RemoteLink
from orchestrator.cluster.sealing import Box, KeyPair

RUN = "20260314T091502Z-aaaaaa"


class Line:
    """Takes the place of the door to the scheduler; frames are noted."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, bytes]] = []

    def send(self, hand: str, data: bytes) -> None:
        self.sent.append((hand, data))


def greeted() -> tuple[RemoteLink, Box]:
    """A link to a worker that has greeted, and what that seals with."""
    papers: Any = SimpleNamespace(run_id=RUN, spec=b"{}")
    line: Any = Line()
    link, theirs = RemoteLink("w1", line, papers), KeyPair()
    link.take(frames.HELLO + theirs.public)
    box = theirs.box(link.keys.public, RUN, leads=False)
    assert box.open(line.sent[0][1][1:]) == b"{}"
    return link, box


def test_why_a_worker_ends_is_told_whoever_is_first_to_notice() -> None:
    """What came before is heard; then it is over, for the reason that it gave itself."""
    link, box = greeted()
    for text in ("first", "!" + json.dumps("it cannot work here: why")):
        link.take(frames.SEALED + box.seal(text.encode()))
    link.take(frames.ENDED + b"code 1")
    assert link.receive() == "first"
    with pytest.raises(EOFError):
        link.receive()
    assert link.ending() == "it cannot work here: why"


def test_a_reason_that_makes_no_sense_is_an_end() -> None:
    """Whatever a worker seals, the link is over and says what it was."""
    for reason in (b"!{", b"!" + b"[" * 100_000):
        link, box = greeted()
        link.take(frames.SEALED + box.seal(reason))
        with pytest.raises(EOFError):
            link.receive()
        assert link.ending().startswith("its data was corrupted")


def test_a_reason_acts_on_no_terminal() -> None:
    """Neither that of a worker nor one that comes unsealed, which the scheduler may have made."""
    link, box = greeted()
    link.take(frames.SEALED + box.seal(b"!" + json.dumps("a\x1b[2Jb\nc").encode()))
    assert link.ending() == "ab c"
    link, _ = greeted()
    link.take(frames.ENDED + b"code\x1b]0;x\x07 1")
    assert link.ending() == "its process has ended, code 1"


def test_what_waits_to_be_read_is_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """Who brings more waits until something is read, or the worker is over."""
    monkeypatch.setattr(remote_link, "MAX_INBOX", 10)
    link, box = greeted()
    frames_of_it = [frames.SEALED + box.seal(b"x" * 8) for _ in range(5)]

    def bring() -> None:
        for frame in frames_of_it:
            link.take(frame)

    thread = threading.Thread(target=bring)
    thread.start()
    thread.join(0.2)
    assert (thread.is_alive(), link._inbox.qsize()) == (True, 2)
    assert link.receive() == "x" * 8
    thread.join(0.2)
    assert (thread.is_alive(), link._inbox.qsize()) == (True, 2)
    link.end("gone")
    thread.join(60)
    assert not thread.is_alive()
    assert link._inbox.qsize() <= 4
