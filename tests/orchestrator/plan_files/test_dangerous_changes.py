"""What a change removes, interrupts or opens is seen in the event of a preview."""

from typing import Any

import pytest

from orchestrator.plan_files.dangerous_changes import (
    ACCOUNTS,
    HIDDEN,
    MODES,
    PACKAGES,
    REBOOTS,
    REMOVES,
    RESTARTS,
    STOPS,
    Danger,
    dangers_of,
    is_widened,
    runs_command,
    unknown_of,
)
from remote_runtime.reporting.masking import MASKED
from tests.orchestrator.plan_files.made import event
from tests.texts import expect_text


def told(type_: str, name: str, *changes: tuple[str, Any, Any], **members: Any) -> dict[str, Any]:
    """The event of a resource that would change so."""
    records = [{"what": what, "from": old, "to": new} for what, old, new in changes]
    return {**event("web1", name, type=type_, changes=records), "noop_message": "", **members}


def effect(kind: str, name: str, state: str = "absent") -> dict[str, str]:
    return {"kind": kind, "name": name, "state": state}


GONE = ("ensure", "present", "absent")


@pytest.mark.parametrize(
    ("of", "found"),
    [
        (told("file", "/x", GONE), [Danger(REMOVES, "file#/x")]),
        (told("file", "/x", ("ensure", "absent", "present")), []),
        (told("file", "/x", GONE, status="stable"), []),
        (told("file", "/x", GONE, status="skipped"), []),
        # What is done before a resource fails is done.
        (told("file", "/x", GONE, status="failed"), [Danger(REMOVES, "file#/x")]),
        (
            told(
                "file",
                "/x",
                ("ensure", "directory", "absent"),
                noop_message="Would have recursively removed the directory",
            ),
            [Danger(REMOVES, "file#/x", how="with its contents")],
        ),
        (
            told("scaffold", "/d", ("a.conf", "present", "absent"), ("b", "0600", "0640")),
            [
                Danger(REMOVES, "a.conf", "scaffold#/d"),
                Danger(MODES, "b", "scaffold#/d", "0600 → 0640"),
            ],
        ),
        # What a directory manages in itself.
        (
            told("file", "/d", ("/d/a", "file", "absent"), ("mode of b, c/", "0600", "0640")),
            [
                Danger(REMOVES, "/d/a", "file#/d"),
                Danger(MODES, "mode of b, c/", "file#/d", "0600 → 0640"),
            ],
        ),
        (told("file", "/d", ("group of b", "1000", "1007")), []),
        (
            told("file", "/x", ("mode", "0600", "4755")),
            [Danger(MODES, "file#/x", how="0600 → 4755")],
        ),
        (
            told("acl", "x", ("/srv/a", "0600", "0644")),
            [Danger(MODES, "/srv/a", "acl#x", "0600 → 0644")],
        ),
        (told("acl", "x", ("mode", "0600", "0644")), [Danger(MODES, "acl#x", how="0600 → 0644")]),
        # Digits that are no mode: groups, versions, and properties other than mode.
        (told("acl", "x", ("port", "1000", "1007"), ("umask", "0022", "0027")), []),
        (told("file", "/x", ("group", "1000", "1007")), []),
        (told("scaffold", "/d", ("group", "1000", "1007")), []),
        (told("link", "/x", ("target", "100", "107")), []),
        (told("user", "x", ("comment", "1000", "1007"), ("uid", "1000", "1007")), []),
        (told("package", "a", ("ensure", "1000", "1007"), ("package b", "100", "107")), []),
        (told("service", "x", ("enable", True, False)), []),
        (told("reboot", "k", ("ensure", None, "rebooted")), [Danger(REBOOTS, "reboot#k")]),
    ],
)
def test_changes(of: dict[str, Any], found: list[Danger]) -> None:
    """Each change is evaluate by what it comes from and leads to."""
    assert dangers_of(of) == found


def test_a_package_that_goes() -> None:
    """It is a package by its effects, which also name what goes with it; each counts once."""
    effects = [effect("package", "a"), effect("package", "b:i386"), effect("package", "c")]
    of = told("package", "a", ("ensure", "1.2", "absent"), ("package c", "1", "absent"))
    assert dangers_of({**of, "effects": effects}) == [
        Danger(PACKAGES, "package#a"),
        Danger(PACKAGES, "c", "package#a"),
        Danger(PACKAGES, "b:i386", "package#a"),
    ]


def test_an_installation_that_removes() -> None:
    """What the transaction of another package removes is a removal."""
    of = told("package", "a", ("ensure", "absent", "2"), ("package old", "1", "absent"))
    assert dangers_of({**of, "effects": [effect("package", "old")]}) == [
        Danger(PACKAGES, "old", "package#a")
    ]


def test_an_account_that_goes() -> None:
    """It goes with what its removal takes along."""
    effects = [effect("user", "bob"), effect("group", "bob"), effect("path", "/home/bob")]
    assert dangers_of({**told("user", "bob", GONE), "effects": effects}) == [
        Danger(ACCOUNTS, "user#bob"),
        Danger(ACCOUNTS, "group bob", "user#bob"),
        Danger(REMOVES, "/home/bob", "user#bob"),
    ]


def test_units() -> None:
    """A service that restarts counts once; units that it stops, or that scripts restart, count."""
    service = told("service", "ssh", ("ensure", "running", "restarted"), refreshed=True)
    effects = [effect("unit", "sshd.service", "restarted"), effect("unit", "x.mount", "stopped")]
    assert dangers_of({**service, "effects": effects}) == [
        Danger(RESTARTS, "service#ssh"),
        Danger(STOPS, "x.mount", "service#ssh"),
    ]
    package = told("package", "a", ("ensure", "1", "2"))
    assert dangers_of({**package, "effects": effects[:1]}) == [
        Danger(RESTARTS, "sshd.service", "package#a")
    ]


@pytest.mark.parametrize(
    ("before", "after", "widened"),
    [
        ("0600", "0640", True),
        ("0600", "0604", True),
        ("0755", "4755", True),
        ("0755", "2755", True),
        ("1777", "0777", True),
        ("1755", "0755", False),
        ("0644", "0600", False),
        ("0400", "0700", False),
        ("0640", "0604", True),
        ("0600", MASKED, False),
        (600, "0644", False),
        (None, "0644", False),
    ],
)
def test_modes(before: Any, after: Any, widened: bool) -> None:
    """More for the group or others, a program that runs as somebody else, a lost sticky bit."""
    assert is_widened(before, after) is widened


def test_what_is_not_known() -> None:
    """An unknown prediction, effects that nobody can tell and hidden values are never nothing."""
    change = ("ensure", "1", "2")
    assert unknown_of(told("package", "a", change)) == ""
    reason = {"prediction": "unknown", "prediction_reason": "the lists are outdated"}
    expect_text(unknown_of(told("package", "a", change, **reason)))
    expect_text(unknown_of(told("file", "/x", prediction="unknown")))
    effects = [effect("unknown", "scripts run x", "unknown")]
    assert unknown_of({**told("package", "a", change), "effects": effects}) == "scripts run x"
    assert unknown_of(told("scaffold", "/d", ("a.conf", MASKED, MASKED))) == HIDDEN
    assert unknown_of(told("file", "/x", ("content", MASKED, MASKED))) == ""


def test_commands() -> None:
    """A command may do anything; a property that has this name is none."""
    assert runs_command(told("exec", "x", ("command", None, "rm -rf /")))
    assert runs_command(told("exec", "x", ("command", MASKED, MASKED)))
    assert not runs_command(told("cron", "x", ("command", "a", "b")))
