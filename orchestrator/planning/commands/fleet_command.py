"""Plans of ``ccm run``: one command, the same on every host (controller).

The command has no templates, so it needs no facts: it runs exactly as the user wrote it.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

from orchestrator.fleet.host.host_facts import HostFacts
from orchestrator.planning.compiled_resource import CompleteResource
from orchestrator.planning.content.blobs import Blob, FileBlobs
from orchestrator.planning.host_plan import HostPlan
from remote_runtime.errors import UsageError
from remote_runtime.plan_item import Item
from remote_runtime.system.process.commands import WORDS_OF_SHELLS

TYPE = "exec"  # the name in its event
_SHELL = "/bin/sh"
_HEAD = 4096  # bytes of a script that contain its first line


class CommandSpec(NamedTuple):
    """A command as the user gave it: ``words``, which may be a ``line`` for the shell or the
    arguments of a ``script``; its ``timeout`` in seconds.
    """

    words: tuple[str, ...]
    timeout: float = 0.0
    line: bool = False
    script: str = ""


class FleetCommand:
    """A command with everything needed to run it; ``title`` is shown to users.

    UsageError for an invalid one.
    """

    def __init__(self, title: str, argv: Sequence[str], timeout: float = 0.0) -> None:
        self.title = title
        self.said = CommandSpec(tuple(argv), timeout)
        self._properties: dict[str, Any] = {"argv": list(argv)}
        if timeout:
            self._properties["timeout"] = f"{timeout:g}s"
        self._blobs: tuple[Blob, ...] = ()

    @classmethod
    def of(cls, spec: CommandSpec) -> FleetCommand:
        """The command as the user gave it."""
        if spec.script:
            return cls.of_script(Path(spec.script), spec.words, spec.timeout)
        return (cls.of_line if spec.line else cls.of_words)(spec.words, spec.timeout)

    @classmethod
    def of_words(cls, words: Sequence[str], timeout: float = 0.0) -> FleetCommand:
        """A program and its arguments."""
        if not words or not words[0]:
            raise UsageError(
                "run: the command is missing", hint="write it after --, such as -- uptime"
            )
        _check(words)
        if words[0] in WORDS_OF_SHELLS:
            raise UsageError(
                f"run: {words[0]} is a shell keyword, not a program", hint="use --shell"
            )
        if len(words) == 1 and len(words[0].split()) > 1:
            raise UsageError(
                f"run: {words[0][:60]!r} is one word, so it is the name of a program",
                hint="remove the quotes, or use --shell to run the line in a shell",
            )
        return cls(shlex.join(words), words, timeout)

    @classmethod
    def of_line(cls, words: Sequence[str], timeout: float = 0.0) -> FleetCommand:
        """A line for the shell of the host; several words are joined, as ssh does."""
        line = " ".join(words)
        if not line.strip():
            raise UsageError(
                "run: the command is missing", hint="write it after --, such as -- 'df | tail'"
            )
        _check(words)
        command = cls(line, [_SHELL, "-c", line], timeout)
        command.said = CommandSpec((line,), timeout, line=True)
        return command

    @classmethod
    def of_script(cls, path: Path, arguments: Sequence[str], timeout: float = 0.0) -> FleetCommand:
        """A local script, with the interpreter from its first line."""
        _check(arguments)
        try:
            blob = FileBlobs().get(path)
            with open(path, "rb") as file:
                head = file.read(_HEAD)
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise UsageError(
                f"--script {path}: {reason}", hint="specify a file that contains a script"
            ) from error
        command = cls(shlex.join([path.name, *arguments]), _interpreter(path, head), timeout)
        command._properties |= {
            "script": blob.reference,
            "file": path.name,
            "arguments": list(arguments),
        }
        command._blobs = (blob,)
        command.said = CommandSpec(tuple(arguments), timeout, script=os.path.abspath(path))
        return command

    def files(self) -> Sequence[Path]:
        """The script, if there is one."""
        return [Path(self.said.script)] if self.said.script else []

    def record(self) -> dict[str, Any]:
        """The record from which a worker creates the same command."""
        return self.said._asdict()

    def plan(self, host: Any, gathered: HostFacts) -> HostPlan:
        """The plan of any host."""
        item = Item(index=0, type=TYPE, name=self.title, properties=self._properties)
        whole = [CompleteResource.alone(item, self._blobs)]
        return HostPlan(whole, whole, declared=(), secrets=(), warnings=(), fail_on_error=False)


def _check(words: Sequence[str]) -> None:
    if any("\0" in word for word in words):
        raise UsageError("run: a command cannot contain a NUL character", hint="remove it")


def _interpreter(path: Path, head: bytes) -> list[str]:
    """The interpreter in the first line, with at most one argument."""
    if not head.startswith(b"#!"):
        if b"\0" in head:
            raise UsageError(
                f"--script {path} is a program, not a script",
                hint="copy it to the hosts with a file resource, and run it there",
            )
        return [_SHELL]
    line = head[2:].partition(b"\n")[0]
    if line.endswith(b"\r"):
        raise UsageError(
            f"--script {path}: it has Windows line endings",
            hint="convert it, for example with dos2unix",
        )
    words = line.decode("utf-8", "replace").split(None, 1)
    if not words:
        raise UsageError(f"--script {path}: #! without a program", hint="write #!/bin/sh")
    return [word.strip() for word in words]
