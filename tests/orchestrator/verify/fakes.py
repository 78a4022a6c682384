"""A host that answers from a script, and this machine as a host."""

from __future__ import annotations

import subprocess
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from orchestrator.transport import Connector, Credentials, Settings
from orchestrator.verify.expectation import Expectation, Mismatch, judge
from orchestrator.verify.host_check import observe
from orchestrator.verify.shell import Answer, Shell, image
from remote_runtime.plan_item import Item
from remote_runtime.reporting.masking import Mask
from tests.orchestrator.transport.fakes import image as runtime_image
from tests.orchestrator.transport.fakes import local

Said = tuple[int, str] | tuple[int, str, str]
"""An exit code, what went to stdout and, if anything, to stderr."""

DEBIAN: Mapping[str, tuple[int, str]] = {
    "uname -s": (0, "Linux\n"),
    "uname -m": (0, "x86_64\n"),
    "cat /etc/os-release": (0, 'ID=debian\nVERSION_ID="12"\n'),
    "test -d /run/systemd/system/": (0, ""),
}
FEDORA = {**DEBIAN, "cat /etc/os-release": (0, "ID=fedora\nVERSION_ID=41\n")}


class Script:
    """Answers commands as they stand in it; what does not is 127, as a shell says."""

    def __init__(self, answers: Mapping[str, Said], system: Any = DEBIAN) -> None:
        self._answers = {**system, **answers}
        self.rounds: list[list[str]] = []

    def read_all(self, commands: Sequence[bytes]) -> list[Answer]:
        self.rounds.append([command.decode() for command in commands])
        return [self._answer(command.decode()) for command in commands]

    def _answer(self, command: str) -> Answer:
        code, out, *err = self._answers.get(command, (127, "", "sh: not found"))
        return Answer(code, out.encode(), "".join(err).encode())


def run_here(commands: Sequence[bytes]) -> list[Answer]:
    """This machine's own answers."""
    found = []
    for command in commands:
        done = subprocess.run(["sh", "-c", command], capture_output=True)
        found.append(Answer(done.returncode, done.stdout, done.stderr))
    return found


def mismatches(
    expectations: Sequence[Expectation], read_all: Any = run_here, hidden: bool = False
) -> list[Mismatch]:
    """What a verify would say of one resource."""
    (answers,) = observe("web1", [expectations], read_all)
    return judge(expectations, answers, Mask(), hidden)


def said(expectations: Sequence[Expectation], read_all: Any = run_here) -> list[str]:
    """The same, as it is written."""
    return [str(one) for one in mismatches(expectations, read_all)]


def local_shell(home: Path, timeout: float = 20.0, python: str | None = None) -> Shell:
    """A shell on this machine, over ``connection: local``."""
    connector = Connector(Settings(), Credentials(environ={}), runtime_image(home))
    host = local()
    host.python = python
    link = connector.login(host, lambda phase: None).start(image())
    return Shell("web1", link, timeout)


def item(type_: str, name: str, index: int = 0, **fields: Any) -> Item:
    """A resource of a plan."""
    fields.setdefault("properties", {})
    return Item(index=index, type=type_, name=name, **fields)
