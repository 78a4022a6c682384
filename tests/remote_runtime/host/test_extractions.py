"""A preview of extractions comes to what the machine comes to, or says that it does not know."""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.host.download_ports import Extraction
from remote_runtime.host.ports import Host
from tests.remote_runtime.archive.making import directory, member, tar
from tests.remote_runtime.host import differential
from tests.remote_runtime.host.random_cases import Case, Step, drawn, placed

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")

PLACES = ("disk", "flags", "acls")
GOOD = tar([directory("new"), member("new/file", b"x")])


class Extracting(Step):
    """A call of the port for archives: of which one, and into which directory."""

    def on(self, host: Host, root: str) -> None:
        archive, parent, creates = (placed(one, root) for one in self.given)
        how = Extraction("tar.gz", parent, creates, 60.0, 1 << 20, 100)
        try:
            host.archives.extract(archive, how)
        except Unknowable:
            raise
        except ResourceError as error:
            raise ResourceError("refused", kind=error.kind) from error  # each names another path


@pytest.fixture(scope="module")
def archives() -> Iterator[list[str]]:
    """An archive that is whole, one that is cut off, and one that leads outside."""
    with tempfile.TemporaryDirectory(prefix="ccm-test-") as made:
        os.chmod(made, 0o755)
        found = []
        for name, data in (
            ("good", GOOD),
            ("broken", GOOD[:-20]),
            ("evil", tar([member("../x", b"x")])),
        ):
            found.append(f"{made}/{name}.tar.gz")
            Path(found[-1]).write_bytes(data)
        yield found


def extracting(case: Case, archives: list[str]) -> Case:
    """The case with extractions in place of what it writes."""

    def step(number: int, one: Step) -> Step:
        if (one.port, one.call) != ("files", "write"):
            return one
        archive, parent = archives[0 if number % 3 else number % 2 + 1], one.given[0]
        return Extracting("archives", "extract", (archive, parent, f"{parent}/new/file"))

    return case._replace(steps=tuple(step(n, one) for n, one in enumerate(case.steps)))


def test_random_extractions(archives: list[str]) -> None:
    """Every step ends alike, and leaves the same to be read, what is extracted left open."""
    differential.prepare()
    counts: Counter[str] = Counter()
    for seed in range(1, 25):
        outcome = differential.run(extracting(drawn(seed, PLACES), archives))
        assert outcome.differs == "", seed
        counts.update(outcome.counts)
    assert counts["unknown reads"] < counts["reads"] / 2, counts
