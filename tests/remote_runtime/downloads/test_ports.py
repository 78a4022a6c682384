"""A preview of downloads comes to what the machine comes to, or says that it does not know."""

from __future__ import annotations

import hashlib
import os
from collections import Counter
from collections.abc import Iterator

import pytest

from remote_runtime.downloads.request import Request
from remote_runtime.host.download_ports import NewDownload
from tests.remote_runtime.archive.server import Web, content
from tests.remote_runtime.host import differential
from tests.remote_runtime.host.random_cases import Case, Step, drawn

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")

EMPTY = hashlib.sha256(b"").hexdigest()
PLACES = ("disk", "flags", "acls")


@pytest.fixture(scope="module")
def url() -> Iterator[str]:
    """That of a file with nothing in it: a preview does not know the size of any other."""
    web = Web()
    web.answers["/file"] = content(b"")
    yield web.url("/file")
    web.close()


def downloading(case: Case, url: str) -> Case:
    """The case with downloads in place of what it writes."""
    request = Request(url, 30.0, "timeout")

    def step(one: Step) -> Step:
        if (one.port, one.call) != ("files", "write"):
            return one
        named = dict(one.named, checksum=f"sha256:{EMPTY}")
        return Step("downloads", "fetch", (NewDownload(request, one.given[0], **named),), ())

    return case._replace(steps=tuple(step(one) for one in case.steps))


def test_random_downloads(url: str) -> None:
    """Every step ends alike, whatever is at the path, and leaves the same to be read."""
    differential.prepare()
    counts: Counter[str] = Counter()
    for seed in range(1, 25):
        outcome = differential.run(downloading(drawn(seed, PLACES), url))
        assert outcome.differs == "", seed
        counts.update(outcome.counts)
    assert counts["unknown reads"] < counts["reads"] / 10, counts
