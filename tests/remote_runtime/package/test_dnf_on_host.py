"""Packages of dnf on a real host, with the real runtime."""

from __future__ import annotations

from typing import Any

import pytest

from ...lab import Host, Lab
from ..on_host import apply, resource


@pytest.fixture(scope="module")
def rpms(lab: Lab) -> Host:
    """One fresh host for the tests below; each uses packages of its own."""
    lab.hosts["web2"].reset()
    return lab.hosts["web2"]


def package(name: str, **properties: Any) -> dict[str, Any]:
    return {**resource("package", name, **properties), "provider": "dnf"}


def one(host: Host, name: str, **properties: Any) -> dict[str, Any]:
    plan = {key: properties.pop(key) for key in ("noop", "lock_timeout") if key in properties}
    return apply(host, package(name, **properties), **plan).events[f"package#{name}"]


def installed(host: Host, name: str) -> str:
    query = f"rpm -q --queryformat '%|EPOCH?{{%{{EPOCH}}:}}|%{{VERSION}}-%{{RELEASE}}' {name}"
    done = host.run(query, check=False)
    return done.stdout if done.returncode == 0 else ""


def test_each_version_in_turn_and_then_none(rpms: Host) -> None:
    """Install, upgrade, downgrade, latest and removal each change once and are stable then."""
    for ensure, version in (
        ("1.1-1.el9", "1.1-1.el9"),
        ("0:2.0-1.el9", "2.0-1.el9"),
        ("1.0", "1.0-1.el9"),
        ("2.0~rc1", "2.0~rc1-1.el9"),
        ("latest", "2.0-2.el9"),
        ("absent", ""),
        ("present", "2.0-2.el9"),
    ):
        event = one(rpms, "ccm-hello", ensure=ensure)
        assert (event["failed"], event["changed"]) == (False, True), event
        assert event["final_ensure"] == (version or "absent")
        assert installed(rpms, "ccm-hello").removeprefix("0:") == version
        again = one(rpms, "ccm-hello", ensure=ensure)
        assert (again["failed"], again["changed"]) == (False, False), again
