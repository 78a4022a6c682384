"""The hosts of a new project: from flags, from a prompt, or from ~/.ssh/config (controller)."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from remote_runtime.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.transport.client_config.ssh_config import Section

THIS_MACHINE = "this-machine"
MAX_SHOWN = 8  # names in the question
_HOST = re.compile(
    r"(?:(?P<user>\w[\w.-]*)@)?(?P<name>\w[\w.-]*)(?:=(?P<address>[\w:][\w.:-]*))?\Z", re.ASCII
)
_NAMED = "--host web1 --host deploy@web2=192.0.2.10"


def host_lines(words: list[str], *, ssh_config: bool) -> list[str]:
    """The lines of an inventory below ``hosts:``, for these hosts, those of the SSH configuration,
    or entered ones. UsageError for an invalid name.
    """
    configured = list(dict.fromkeys(ssh_hosts())) if ssh_config or not words else []
    if ssh_config:
        words = [*words, *configured]
        if not words:
            raise UsageError("~/.ssh/config contains no hosts", hint=f"use {_NAMED}, or --local")
    return list(map(_line, words or _asked(configured)))


def ssh_hosts() -> Iterator[str]:
    """The names on ``Host`` lines of ~/.ssh/config, without patterns."""
    from orchestrator.transport.client_config.ssh_config import read_config

    directory = Path("~/.ssh").expanduser()
    yield from _names(read_config(directory / "config", directory))


def _names(sections: list[Section]) -> Iterator[str]:
    for section in sections:
        if section.condition is not None and section.condition.key == "host":
            yield from (word for word in section.condition.words if _HOST.match(word))
        for line in section.lines:
            if isinstance(line, list):
                yield from _names(line)


def _asked(configured: list[str]) -> list[str]:
    """The hosts that the user enters; an empty line means those of ~/.ssh/config."""
    names = ", ".join(configured[:MAX_SHOWN]) + (", …" if len(configured) > MAX_SHOWN else "")
    empty = f" [{names} from ~/.ssh/config]" if configured else ""
    question = f"Hosts, such as web1 deploy@web2=192.0.2.10{empty}: "
    print(question, end="", file=sys.stderr, flush=True)
    words = sys.stdin.readline().replace(",", " ").split() or configured
    if not words:
        raise UsageError("no hosts given", hint=f"use {_NAMED}, --ssh-config or --local")
    return words


def _line(word: str) -> str:
    match = _HOST.match(word)
    if match is None:
        raise UsageError(
            f"{word[:80]!r} is not a host", hint="write NAME, USER@NAME or USER@NAME=ADDRESS"
        )
    values = {key: match[key] for key in ("address", "user") if match[key]}
    return f"{json.dumps(match['name'])}: {json.dumps(values) if values else ''}".rstrip()
