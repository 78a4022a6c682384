"""What is sent of a command to every host, and what is refused before."""

import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.fleet.host.host_facts import HostFacts
from orchestrator.planning.commands.fleet_command import FleetCommand
from remote_runtime.errors import UsageError
from tests.texts import expect_text


def sent(command: FleetCommand) -> dict[str, Any]:
    """The one resource of the plan."""
    plan = json.loads(command.plan(None, HostFacts()).payload({}))
    (entry,) = plan["resources"]
    assert plan["secrets"] == []
    found: dict[str, Any] = entry
    return found


def refused(words: list[str]) -> str:
    with pytest.raises(UsageError) as caught:
        FleetCommand.of_words(words)
    return str(caught.value)


def test_words_are_sent_as_they_are() -> None:
    """Nothing is split, expanded or rendered; people read the words as a shell takes them."""
    words = ["echo", "a b", "{{ x }}", "*"]
    entry = sent(FleetCommand.of_words(words))
    assert (entry["type"], entry["name"]) == ("exec", "echo 'a b' '{{ x }}' '*'")
    assert entry["properties"] == {"argv": words}


def test_a_line_is_for_the_shell() -> None:
    """Several words of a line are joined, as ssh does."""
    command = FleetCommand.of_line(["df", "-h", "| tail"], timeout=90)
    entry = sent(command)
    assert entry["name"] == "df -h | tail"
    assert entry["properties"] == {"argv": ["/bin/sh", "-c", "df -h | tail"], "timeout": "90s"}
    assert command.plan(None, HostFacts()).longest() >= 90


@pytest.mark.parametrize(
    ("words", "told"),
    [
        ([], "the command is missing"),
        ([""], "the command is missing"),
        (["ls -l"], "use --shell"),
        (["cd", "/tmp"], "a shell keyword"),
        (["echo", "a\0b"], "NUL"),
    ],
)
def test_what_cannot_be_meant_is_refused(words: list[str], told: str) -> None:
    """A mistake costs no login."""
    assert told in refused(words)


def test_an_empty_line_is_refused() -> None:
    """A line of blanks is no command."""
    with pytest.raises(UsageError):
        FleetCommand.of_line([" "])


@pytest.mark.parametrize(
    ("head", "argv"),
    [
        ("#!/usr/bin/env python3\n", ["/usr/bin/env", "python3"]),
        ("#! /bin/bash -eu x\n", ["/bin/bash", "-eu x"]),
        ("echo hi\n", ["/bin/sh"]),
        ("", ["/bin/sh"]),
    ],
)
def test_a_scripts_first_line_says_what_runs_it(tmp_path: Path, head: str, argv: list[str]) -> None:
    """As the kernel reads it: a program and one argument; without such a line the shell."""
    path = tmp_path / "check me.sh"
    path.write_text(head)
    command = FleetCommand.of_script(path, ["a b"])
    entry = sent(command)
    properties = entry["properties"]
    expect_text(entry["name"])
    assert (properties["argv"], properties["arguments"]) == (argv, ["a b"])
    assert properties["file"] == "check me.sh"
    plan = command.plan(None, HostFacts())
    blob = plan.blob(properties["script"]["$blob"])
    assert b"".join(blob.chunks()).decode() == head


@pytest.mark.parametrize(
    ("content", "told"),
    [
        (b"#!/bin/sh\r\necho\r\n", "Windows line endings"),
        (b"\x7fELF\0\0", "is a program"),
        (b"#!\n", "without a program"),
    ],
)
def test_what_is_no_script_is_refused(tmp_path: Path, content: bytes, told: str) -> None:
    """A file that no host could run as it is meant costs no login."""
    path = tmp_path / "x"
    path.write_bytes(content)
    with pytest.raises(UsageError, match=told):
        FleetCommand.of_script(path, [])


def test_a_script_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """So is a directory."""
    for path in (tmp_path / "none", tmp_path):
        with pytest.raises(UsageError, match="--script"):
            FleetCommand.of_script(path, [])
