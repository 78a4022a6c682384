"""Answers of a host that would take a pattern very long, and with it all hosts of the run."""

from __future__ import annotations

import time
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
import yaml

from orchestrator.cli import data_output
from orchestrator.verify import language_packages
from orchestrator.verify.checks import authorized_key, timer
from orchestrator.verify.subject import Subject


def host(output: str) -> Any:
    """A host that gives the same answer to every command."""
    answer = SimpleNamespace(rc=0, stdout=f"Id=x\n{output}", stderr="")
    return SimpleNamespace(run=lambda *words: answer)


def requirements(lines: str) -> Any:
    """The unmet requirements of a text."""
    subject = Subject("x", {"requirements": f"{lines}\n"})
    return language_packages._unmet(host("Name: y\nlooked"), "/venv", subject)


CASES: dict[str, Callable[[], Any]] = {
    "quotes before a key": lambda: authorized_key._parsed('"\\""' * 2_000 + " x"),
    "an open quote": lambda: authorized_key._parsed('a="' + "\\" * 50_000),
    "schedules without an end": lambda: timer._calendars(host("OnCalendar=" * 30_000), "x"),
    "spans without an end": lambda: timer._spans(host("OnBootUSec=" * 30_000), "x", ()),
    "one long span": lambda: timer._spans(host("On" * 300_000), "x", ()),
    "a fact of many digits": lambda: data_output.yaml_text("1" * 50_000 + "x", yaml.SafeDumper),
    "blanks of a requirement": lambda: requirements("a" + " " * 200_000),
}


@pytest.mark.timeout(60)
@pytest.mark.parametrize("case", CASES)
def test_an_answer_takes_linear_time(case: str) -> None:
    """The time grows with the length of an answer, not faster."""
    began = time.process_time()
    CASES[case]()
    assert time.process_time() - began < 5


def test_quoted_options_are_read() -> None:
    """A quote and a backslash within the quotes of an option."""
    key = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIPbSNN0k5+0Y+ZLXOYrTqOBZ2kAlLwYGM9OVcMk8kq7H"
    options = 'command="echo \\"a b\\" \\n",environment="A=b",no-pty'
    (found,) = authorized_key._parsed(f"{options} {key} me")
    assert (found["options"], found["comment"]) == (options, "me")
    assert authorized_key._parsed(f'command="a\\" {key}') == []  # sshd: the quote is open


def test_schedules_are_read() -> None:
    """Every schedule that systemd shows."""
    shown = "TimersCalendar={ OnCalendar=Mon *-*-* 01:00:00 ; next_elapse=n/a }\n" * 2
    assert timer._calendars(host(shown), "x") == ["Mon *-*-* 01:00:00"] * 2
