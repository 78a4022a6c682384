"""Hosts of this machine, and what a command tells of them without what differs in any two runs."""

import contextlib
import getpass
import grp
import json
import os
import pwd
import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.orchestrator.transport.sshd import Sshd
from tests.push.command import Ccm, Run

LOCAL = 5
SSH = "far"
# Members that have times and numbers of a run.
_OWN = (
    "event_id", "timestamp", "duration", "run_id", "seconds", "start", "end", "phases", "at",
    "again", "until", "applied_at",
)  # fmt: skip
_RUN_ID = re.compile(r"\d{8}T\d{6}Z-[0-9a-f]{7}")
_TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")
_ENGINE = re.compile(r"--engine \S+")
_CHANCE = re.compile("waiting for run|^Time |and \\d+ more on ")
_NUMBER = re.compile(r"\d+(\.\d+)?(e-\d+)?")


class Fleet:
    """``h0`` to ``h4`` without a connection and ``far`` over SSH; ``engine`` works on them.

    ``closed`` is an inventory of ``shut``, which lets nobody in. DIR in a site is a directory of
    theirs, OWNER and GROUP who runs the tests.
    """

    def __init__(self, scratch: Path) -> None:
        self.scratch = scratch
        self.engine = "threads"
        self.ccm = Ccm(scratch)
        self.directory = scratch / "hosts"
        self.sites = scratch / "sites"
        self.sites.mkdir()
        self.inventory = scratch / "hosts.json"
        self._server = server = Sshd(scratch / "sshd")
        far = {
            "connection": "ssh",
            "address": "127.0.0.1",
            "port": server.port,
            "user": getpass.getuser(),
            "key_file": str(server.user_key),
            "known_hosts": str(server.known_hosts),
        }
        self.closed = scratch / "closed.json"
        shut = {**far, "key_file": str(server.host_keys[0])}
        self.closed.write_text(json.dumps({"hosts": {"shut": shut}}), encoding="utf-8")
        hosts: dict[str, Any] = {f"h{n}": {"vars": {"n": n, "rack": n % 2}} for n in range(LOCAL)}
        hosts[SSH] = {**far, "vars": {"n": LOCAL, "rack": 0}}
        text = json.dumps({"defaults": {"connection": "local"}, "hosts": hosts})
        self.inventory.write_text(text, encoding="utf-8")
        self._who = {
            "DIR": str(self.directory),
            "OWNER": pwd.getpwuid(os.geteuid()).pw_name,
            "GROUP": grp.getgrgid(os.getegid()).gr_name,
        }

    def play(self, scene: Callable[["Fleet"], Any], engine: str) -> Any:
        """What a scene comes to with an engine, on hosts as new."""
        self.engine = engine
        for directory in (self.directory, self.scratch / "state", self.scratch / "out"):
            shutil.rmtree(directory, ignore_errors=True)
        self.directory.mkdir()
        return scene(self)

    def site(self, text: str, name: str = "site.yaml") -> str:
        """A manifest in a file."""
        for word, value in self._who.items():
            text = text.replace(word, value)
        return str(self.ccm.site(text, f"{self.sites.name}/{name}"))

    def words(self, command: str, *words: str) -> list[str]:
        """A command on all hosts with the engine."""
        return [command, "-i", str(self.inventory), "--engine", self.engine, *words]

    def run(self, command: str, *words: str) -> Run:
        """The command, carried out."""
        return self.ccm.run(*self.words(command, *words))

    def document(self, command: str, *words: str) -> dict[str, Any]:
        """What it says with ``--json``."""
        done = self.run(command, "--json", *words)
        assert done.stdout, done.stderr
        return told(done.stdout)

    def files(self) -> dict[str, str]:
        """All that is on the hosts."""
        found = {}
        for path in sorted(self.directory.iterdir()):
            with contextlib.suppress(FileNotFoundError):  # a temporary file that has gone since
                found[path.name] = path.read_text()
        return found

    def close(self) -> None:
        """End the server."""
        self._server.stop()


def told(text: str) -> dict[str, Any]:
    """A document without times and ids, and with the events of each host in their order."""
    document: dict[str, Any] = without_own(json.loads(text))
    document.pop("options", None)
    document["events"] = by_host(document["events"])
    for failure in document["failures"]:
        # They stand in the order of their ends, and the words are those of the first one.
        words = [_NUMBER.sub("#", text) for text in failure["errors"]]
        failure.update(host="", hosts=sorted(failure["hosts"]), errors=words)
    document["failures"].sort(key=lambda failure: failure["hosts"])
    return document


def by_host(events: list[dict[str, Any]]) -> dict[str, list[Any]]:
    """The events of each host, without times and ids."""
    found: dict[str, list[Any]] = {}
    for event in events:
        found.setdefault(event["host"], []).append(without_own(event))
    return found


def without_own(value: Any) -> Any:
    """A value without what is different in any two runs."""
    if isinstance(value, dict):
        return {key: without_own(one) for key, one in value.items() if key not in _OWN}
    if isinstance(value, str):
        return _TIME.sub("TIME", _RUN_ID.sub("RUN", value))
    return [without_own(one) for one in value] if isinstance(value, list) else value


def shown(text: str) -> list[str]:
    """The lines that people see, in any order, without ids, times and numbers, and without what
    depends on who comes first."""
    text = _ENGINE.sub("--engine ENGINE", _RUN_ID.sub("RUN", text))
    lines = (line for line in text.splitlines() if not _CHANCE.search(line))
    return sorted(_NUMBER.sub("#", line) for line in lines)


def differing(found: Any, expected: Any, at: str = "") -> list[str]:
    """Where two values differ, and in what."""
    if isinstance(found, dict) and isinstance(expected, dict) and found.keys() == expected.keys():
        pairs = [(f"{at}.{key}", found[key], expected[key]) for key in found]
    elif isinstance(found, list | tuple) and isinstance(expected, list | tuple):
        if len(found) != len(expected):
            return [f"{at}: {found} is not {expected}"]
        both = zip(found, expected, strict=True)
        pairs = [(f"{at}[{place}]", *pair) for place, pair in enumerate(both)]
    else:
        return [] if found == expected else [f"{at}: {found!r} is not {expected!r}"]
    return [text for place, one, other in pairs for text in differing(one, other, place)]
