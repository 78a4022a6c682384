"""A preview of the trees of a scaffold comes to what the machine comes to."""

from __future__ import annotations

import os
from collections import Counter

import pytest

from remote_runtime.changes import Unknowable
from remote_runtime.content import Bytes
from remote_runtime.errors import ResourceError
from remote_runtime.host.ports import Host
from tests.remote_runtime.host import differential
from tests.remote_runtime.host.random_cases import Step, drawn, placed

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")


class _Tree(Step):
    """A call for a file or directory of a tree, in place of the one that it is drawn from."""

    def on(self, host: Host, root: str) -> None:
        path, mode = placed(self.given[0], root), dict(self.named)["mode"] & 0o777
        try:
            if self.call == "write":
                host.files.put(path, Bytes(self.given[1]), mode=mode, uid=-1, gid=-1)
            elif self.call == "mkdir":
                host.files.make_directory(path, mode & 0o755 | 0o700)  # of parents, too
            else:
                host.files.set_mode(path, mode)
        except Unknowable:
            raise
        except ResourceError as error:
            raise ResourceError("refused") from error  # one looks at links first


def test_random_trees() -> None:
    """Every step ends alike, and leaves the same to be read."""
    differential.prepare()
    counts: Counter[str] = Counter()
    for seed in range(1, 41):
        case = drawn(seed)
        steps = [
            _Tree(*one) if one.call in ("write", "mkdir", "set_attributes") else one
            for one in case.steps
        ]
        outcome = differential.run(case._replace(steps=tuple(steps)))
        assert outcome.differs == "", seed
        counts.update(outcome.counts)
    assert counts["unknown reads"] < counts["reads"] / 2, counts
