"""Stages over SSH: a host that vanishes and comes back in the middle of a wave."""

import getpass
import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.orchestrator.transport.sshd import Sshd
from tests.push.command import Ccm
from tests.push.test_stages import Release

SECONDS = 150


class Flickering(Release):
    """Six hosts behind one server, which goes away and comes back when a host's turn says so."""

    def __init__(self, ccm: Ccm, directory: Path) -> None:
        super().__init__(ccm, directory)
        self.server = Sshd(directory / "sshd")
        document = json.loads(self.inventory.read_text(encoding="utf-8"))
        document["defaults"] = {
            "address": "127.0.0.1",
            "port": self.server.port,
            "user": getpass.getuser(),
            "key_file": str(self.server.user_key),
            "known_hosts": str(self.server.known_hosts),
        }
        self.inventory.write_text(json.dumps(document), encoding="utf-8")
        self.asked = directory / "asked"

    def hook(self, gone: str, back: str) -> str:
        """Before the host ``gone`` the server is stopped, before the host ``back`` it is begun."""
        return (
            f'read told; case "$told" in *\'"name": "{gone}"\'*) echo stop;; '
            f'*\'"name": "{back}"\'*) echo start;; esac > {self.asked}.new; '
            f"test -s {self.asked}.new || exit 0; mv {self.asked}.new {self.asked}; "
            f"while test -e {self.asked}; do sleep 0.1; done"
        )

    def flicker(self, *options: str) -> dict[str, Any]:
        """Push, doing what the hook asks for; the document of the run."""
        words = ("push", "-i", str(self.inventory), "--json", *options)
        process = self.ccm.start(*words, str(self.directory / "release.yaml"))
        end = time.monotonic() + SECONDS
        try:
            while process.poll() is None and time.monotonic() < end:
                if self.asked.exists():
                    word = self.asked.read_text(encoding="utf-8").strip()
                    getattr(self.server, word)()
                    self.asked.unlink()
                time.sleep(0.05)
            stdout, stderr = process.communicate(timeout=10)
        finally:
            process.kill()
        assert process.returncode == 3, stderr
        found: dict[str, Any] = json.loads(stdout)
        return found


@pytest.fixture
def release(ccm: Ccm, tmp_path: Path) -> Iterator[Flickering]:
    """A stage in two waves, of which one host may fail, and one behind it."""
    made = Flickering(ccm, tmp_path / "release")
    web = {"name": "web", "hosts": "h[0-4]", "manifest": made.manifest("web")}
    last = {"name": "last", "hosts": "h[3-5]", "manifest": made.manifest("last")}
    made.write({**web, "waves": "3,100%", "max_fail": 1}, last)
    yield made
    made.server.stop()


def test_a_host_that_comes_back_within_its_wave(release: Flickering) -> None:
    """It fails once, those behind it in the wave have their turn, and the stage is through with
    the budget that it has. By what hosts have noted nobody has two turns, and what goes on touches
    that host alone."""
    told = release.flicker("--forks", "1", "--before-host", release.hook("h1", "h2"))
    assert release.turns() == [
        *("web h0", "web h2", "web h3", "web h4"),
        *("last h3", "last h4", "last h5"),
    ]
    wrong = {name for name, how in told["hosts"].items() if how["outcome"] != "ok"}
    assert wrong == {"web/h1"}
    again = release.push("-l", f"run:{told['run_id']}:undone", "--from", "web")
    assert again.code == 0, again.output
    assert release.turns()[7:] == ["web h1"]


def test_a_host_that_comes_back_too_late(release: Flickering) -> None:
    """Two are gone before it is back: nobody begins any more, of that wave or behind it."""
    told = release.flicker("--forks", "1", "--before-host", release.hook("h1", "h3"))
    assert release.turns() == ["web h0"]
    outcomes = {name: how["outcome"] for name, how in told["hosts"].items()}
    assert outcomes.pop("web/h0") == "ok"
    assert {outcomes.pop(name) for name in ("web/h1", "web/h2")} == {"unreachable"}
    assert set(outcomes.values()) == {"held"}
    release.server.start()
    again = release.push("-l", f"run:{told['run_id']}:undone", "--from", "web")
    assert again.code == 0, again.output
    assert sorted(release.turns()[1:5]) == ["web h1", "web h2", "web h3", "web h4"]
    assert sorted(release.turns()[5:]) == ["last h3", "last h4", "last h5"]
