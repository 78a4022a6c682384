"""``ccm verify`` runs the user's own commands: guards and health checks."""

from __future__ import annotations

import pytest

from tests.push.command import Run
from tests.push.target import Target

SITE = """
ccm:
  resources:
    - exec:
        - make: {command: touch DIR/made, unless: test -f DIR/made}
        - wipe: {command: rm DIR/dirt, onlyif: "test -f dirt", cwd: DIR, provider: shell}
        - late: {command: touch DIR/late, unless: "test -f DIR/late", refresh_only: true}
    - file:
        - DIR/motd:
            content: hello
            owner: OWNER
            group: GROUP
            mode: "0644"
            health_checks:
              - {name: polite, command: grep -q hello DIR/motd}
              - {name: there, goss_rules: {file: {DIR/made: {exists: true}}}}
"""


def verify(target: Target, *options: str) -> Run:
    site = target.ccm.site(target.filled(SITE))
    return target.ccm.run("verify", "-i", str(target.inventory), "-l", "web1", *options, str(site))


@pytest.mark.long("local")
def test_guards_and_health_checks(target: Target) -> None:
    """What a guard would let run again fails, so does a check; verify itself changes nothing."""
    before = verify(target)
    assert before.code == 1, before.output
    assert target.names() == []
    assert target.push(SITE).code == 0
    done = verify(target, "-v")
    assert done.code == 0, done.output
    assert "web1  3 passed" in done.stdout
    assert "1 resource not checked: 1 without a check" in done.stdout
    target.path("made").unlink()
    target.write("dirt", "")
    broken = verify(target)
    assert broken.code == 1, broken.output
    assert "web1  3 failed" in broken.stdout
    lines = [line.strip() for line in broken.stdout.splitlines()]
    assert (
        "conditions: expected that 'unless' prevents the command, found that it would run" in lines
    )
    assert (
        "conditions: expected that 'onlyif' prevents the command, found that it would run" in lines
    )
    there = "health check 'there': expected OK, found CRITICAL"
    assert any(line.startswith(there) for line in lines)
    assert target.names() == ["dirt", "motd"]
