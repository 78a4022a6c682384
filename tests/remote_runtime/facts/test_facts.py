"""The budget, and what becomes of a family that does not keep it."""

import json
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import remote_runtime
from remote_runtime.facts import Family, Gathered, all_families, gather, size_limit
from remote_runtime.facts.fact_source import Source
from remote_runtime.protocol import wire
from tests.texts import expect_text

REPOSITORY = str(Path(remote_runtime.__file__).parents[1])


def frame(gathered: Gathered) -> bytes:
    """Return the frame that the session sends."""
    return wire.encode(dict(gathered._asdict(), t="facts"))


@pytest.fixture
def hanging() -> Iterator[Any]:
    """A reader that answers only when the test is over."""
    over = threading.Event()
    yield lambda source: over.wait(3600)
    over.set()


def test_a_hanging_family_costs_only_itself(hanging: Any) -> None:
    """A family that is not ready in time is unavailable under its path, the others are there."""
    families: list[Family] = [
        ("partition", "partition", hanging),
        ("host", "host.info", hanging),
        ("cpu", "cpu", lambda source: {"info": []}),
    ]
    begin = time.monotonic()
    gathered = gather(0.3, Source(), families)
    assert time.monotonic() - begin >= 0.3
    assert gathered.unavailable == {
        "partition": "not ready within 0.3 s",
        "host.info": "not ready within 0.3 s",
    }
    assert gathered.facts == {"cpu": {"info": []}}


def test_hanging_custom_facts_are_unavailable(hanging: Any) -> None:
    """Custom facts that are not read in time stand as custom among the unavailable."""
    gathered = gather(0.1, Source(), [("custom", "custom", hanging)])
    assert list(gathered.unavailable) == ["custom"]


def test_a_late_answer_changes_nothing() -> None:
    """What a family says after its time is not added behind the caller's back."""
    over = threading.Event()
    gathered = gather(0.1, Source(), [("cpu", "cpu", lambda source: over.wait(60) and {"x": 1})])
    before = dict(gathered._asdict(), facts=dict(gathered.facts))
    over.set()
    time.sleep(0.1)
    assert gathered._asdict() == before


def test_a_hanging_family_does_not_hold_the_exit() -> None:
    """The process ends at once although a family still hangs."""
    program = (
        "import sys, time; sys.path.insert(0, sys.argv[1])\n"
        "from remote_runtime.facts import gather\n"
        "from remote_runtime.facts.fact_source import Source\n"
        "hang = lambda source: time.sleep(600)\n"
        "print(gather(0.2, Source(), [('partition', 'partition', hang)]).unavailable)\n"
    )
    command = [sys.executable, "-I", "-S", "-c", program, REPOSITORY]
    done = subprocess.run(command, capture_output=True, text=True, timeout=30)
    assert (done.returncode, done.stderr) == (0, "")
    expect_text(done.stdout)


def test_an_error_without_a_text_is_named() -> None:
    """A family that fails without a word is unavailable with the kind of its error."""

    def fail(source: Source) -> None:
        raise MemoryError

    gathered = gather(5, Source(), [("cpu", "cpu", fail)])
    assert gathered.unavailable == {"cpu": "MemoryError"}


def test_the_paths_of_the_families() -> None:
    """Each family is unavailable under its own fact path."""
    paths = [path for _name, path, _read in all_families()]
    assert paths == ["host.info", "cpu", "memory", "network", "partition", "custom"]


def test_no_family_at_all() -> None:
    """Asked for no family, nothing is gathered."""
    assert gather(1, Source(), [])._asdict() == {
        "facts": {},
        "unavailable": {},
        "custom": [],
        "warnings": [],
    }


def test_a_family_too_large_for_the_frame_is_named() -> None:
    """The largest family is left out and named when the facts would not fit into one frame."""
    families: list[Family] = [
        ("memory", "memory", lambda source: {"x": "m" * 1000}),
        ("cpu", "cpu", lambda source: {"info": ["flag"] * (wire.MAX_FROM_TARGET // 6)}),
    ]
    gathered = gather(30, Source(), families)
    assert list(gathered.facts) == ["memory"]
    expect_text(gathered.unavailable["cpu"])
    assert len(frame(gathered)) < wire.MAX_FROM_TARGET


def test_custom_facts_fit_into_the_frame() -> None:
    """Custom texts that grow beyond the frame by JSON's escapes are left out with a warning."""
    files = [{"path": f"/f/{n}", "text": "\u00e9\n" * 50000} for n in range(5)]
    gathered = gather(30, Source(), [("custom", "custom", lambda source: (files, []))])
    assert [entry["path"] for entry in gathered.custom] == ["/f/0", "/f/1"]
    assert len(gathered.warnings) == 3
    assert "/f/2 is omitted: it needs" in gathered.warnings[0]
    assert len(frame(gathered)) < wire.MAX_FROM_TARGET


def test_the_worst_of_everything_fits_into_the_frame() -> None:
    """Facts, custom texts and warnings that are each at their limit still make one legal frame."""
    big = "x" * (size_limit.LIMIT - 100)
    bad = ["\u00e9" * 5000] * 1000
    families: list[Family] = [
        ("cpu", "cpu", lambda source: big[: size_limit.LIMIT // 2]),
        ("custom", "custom", lambda source: ([{"path": "/f", "text": big[: len(big) // 2]}], bad)),
    ]
    gathered = gather(30, Source(), families)
    assert gathered.facts
    assert gathered.custom
    expect_text(gathered.warnings[-1])
    data = frame(gathered)
    assert len(data) < wire.MAX_FROM_TARGET
    (message,) = wire.Decoder(wire.MAX_FROM_TARGET).feed(data)
    assert message == json.loads(json.dumps(dict(gathered._asdict(), t="facts")))
