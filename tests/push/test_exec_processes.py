"""What commands leave running and print: timeouts, daemons, floods."""

import pytest

from tests.push.target import Target

PROCESSES = """\
ccm:
  resources:
    - exec:
        - defaults: {provider: shell, cwd: DIR}
        - slow:
            command: |
              echo began; sh -c 'trap "" TERM; echo $$ > stubborn; sleep 200' &
              sleep 200 & echo $! > gentle; wait
            timeout: 1s
        - daemon: {command: "sh -c 'echo $$ > daemon; exec sleep 200' & echo started"}
        - detached: {command: "setsid sh -c 'echo $$ > detached; exec sleep 200' >detached.log &"}
        - no-stdin: {command: cat}
        - flood: {command: "yes flooding | head -c 60000000; echo the last words >&2; exit 9"}
        - binary: {command: "head -c 9999 /dev/urandom; printf '\\\\033[31mred\\\\007' >&2; exit 1"}
        - logs: {command: "echo one line; echo another line", logoutput: true}
        - after: {command: "touch after"}
"""


def alive(target: Target, name: str) -> bool:
    """Whether the process whose id stands in a file still runs, as the host sees it."""
    # One that has ended but was not reaped yet is a Z behind its name.
    look = f"grep -q ') [^Z]' /proc/{target.read(name).strip()}/stat && touch DIR/alive"
    properties = "{provider: shell, returns: [0, 1, 2]}"
    done = target.push(f"""ccm: {{resources: [{{exec: [{{"{look}": {properties}}}]}}]}}""")
    assert done.code == 0, done.output
    found = target.path("alive").exists()
    target.path("alive").unlink(missing_ok=True)
    return found


@pytest.mark.long("local")
def test_processes_are_looked_after(target: Target) -> None:
    """A timeout ends all it started, a daemon is let be, a flood is cut, output is plain text."""
    done = target.push(PROCESSES, "-v")
    assert done.code == 1, done.output
    assert "timed out after 1 s;" in done.event("exec#slow")["error"][0]
    assert not alive(target, "stubborn")
    assert not alive(target, "gentle")
    for name in ("daemon", "detached"):
        assert alive(target, name)
        target.push(f"ccm: {{resources: [{{exec: [{{kill {target.read(name).strip()}: }}]}}]}}")
    for name, seconds in (("daemon", 3), ("detached", 2), ("no-stdin", 1)):
        assert done.event(f"exec#{name}")["status"] == "changed"
        assert done.event(f"exec#{name}")["duration"] < seconds * 1e9
    flood = done.event("exec#flood")
    assert flood["error"] == [
        "desired state not achieved: exit code 9, expected 0",
        "the last words",
    ]
    assert len(done.output) < 50_000
    assert "\x1b" not in done.output
    assert "\x07" not in done.output
    assert "one line" in done.stdout
    assert "another line" in done.stdout
    assert target.path("after").exists()
