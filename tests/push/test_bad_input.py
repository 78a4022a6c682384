"""Input that is refused before any host is contacted: exit 2, all mistakes at their places."""

import os
import resource
import socket
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.push.bad_sites import DEFAULTS, SITES
from tests.push.command import Ccm
from tests.push.target import Target

FINE = """\
ccm:
  resources:
    - exec:
        - "true": {}
"""


@pytest.fixture
def untouched(tmp_path: Path) -> Iterator[Path]:
    """An inventory whose only host fails the test when it is contacted."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        inventory = tmp_path / "hosts.yaml"
        port = server.getsockname()[1]
        inventory.write_text(f"hosts: {{web1: {{address: 127.0.0.1, port: {port}}}}}\n")
        yield inventory
        with pytest.raises(BlockingIOError):
            server.accept()


@pytest.mark.parametrize("name", SITES)
def test_sites(ccm: Ccm, untouched: Path, name: str) -> None:
    """A mistake in a manifest is told with file, line, column and what was expected."""
    site, fragments = SITES[name]
    done = ccm.push(untouched, site)
    assert done.code == 2, done.output
    assert done.stdout == ""
    for fragment in fragments:
        assert fragment in done.stderr, done.stderr
    assert "\x1b" not in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(ccm.scratch.glob("state/ccm/runs/*"))


def test_all_mistakes_at_once(ccm: Ccm, untouched: Path) -> None:
    """Mistakes of every kind in one manifest are counted and told together."""
    site = (
        "ccm:\n  resources:\n    - exec:\n        - a: {comand: x}\n        - b: {returns: no}\n"
        "        - c: {require: [exec#zzz]}\n        - d: {command: '{{ 1 + }}'}\n"
        "    - nothing:\n        - e: {}\n"
    )
    done = ccm.push(untouched, site)
    assert done.code == 2
    assert "5 errors" in done.stderr
    for line in (4, 5, 6, 7, 8):
        assert f"site.yaml:{line}:" in done.stderr


INVENTORIES = {
    "a cycle of groups": (
        "hosts: {a: {}}\ngroups:\n  x: {hosts: [a], children: [y]}\n  y: {children: [x]}\n",
        ["hosts.yaml:", "x", "y", "cycle"],
    ),
    "an unknown group": (
        "hosts: {a: {}}\ngroups:\n  web: {hosts: [a], children: [edeg]}\n  edge: {hosts: [a]}\n",
        ["hosts.yaml:3:", "edeg", "edge"],
    ),
    "a misspelt property": ("hosts:\n  a: {adress: x}\n", ["hosts.yaml:2:", "adress", "address"]),
    "a wrong type": ("hosts:\n  a: {port: ssh}\n", ["hosts.yaml:2:", "port"]),
    "a name like an option": ("hosts:\n  -oProxyCommand=x: {}\n", ["hosts.yaml:2:", "dash"]),
    "control characters": ('hosts:\n  "a\\u001b[31m": {}\n', ["hosts.yaml:2:"]),
    "a password": ("hosts:\n  a: {password: secret}\n", ["hosts.yaml:2:", "password"]),
    "no host": ("groups: {}\n", ["hosts"]),
}


@pytest.mark.parametrize("name", INVENTORIES)
def test_inventories(ccm: Ccm, name: str) -> None:
    """A mistake in an inventory is told with file, line and column too."""
    text, fragments = INVENTORIES[name]
    inventory = ccm.site(text, "hosts.yaml")
    done = ccm.push(inventory, FINE)
    assert done.code == 2, done.output
    for fragment in fragments:
        assert fragment in done.stderr, done.stderr
    assert "\x1b" not in done.stderr


OPTIONS = {
    "json and events on stdout": (["--json", "--events", "-"], ["--json", "--events"]),
    "quiet and verbose": (["-q", "-v"], ["-q", "-v"]),
    "no such option": (["--nope"], ["--nop"]),
    "forks that are none": (["--forks", "0"], ["--forks"]),
    "forks that are no number": (["--forks", "many"], ["--forks"]),
    "a timeout that is none": (["--timeout", "soon"], ["soon"]),
    "a pattern that matches nothing": (["-l", "db*"], ["db*"]),
    "a pattern of an unknown name": (["-l", "wbe1"], ["wbe1", "web1"]),
    "a file of names that is missing": (["-l", "@nowhere"], ["nowhere"]),
    "no run to repeat": (["-l", "failed"], ["failed"]),
    "data without a value": (["--data", "a"], ["--data", "a"]),
    "hiera that is missing": (["--hiera", "nowhere.yaml"], ["nowhere.yaml"]),
    "facts that are missing": (["--facts", "nowhere.yaml"], ["nowhere.yaml"]),
    "events that cannot be written": (["--events", "/nowhere/events"], ["/nowhere/events"]),
}


@pytest.mark.parametrize("name", OPTIONS)
def test_options(ccm: Ccm, untouched: Path, name: str) -> None:
    """An option that cannot be carried out is a usage error that names it."""
    options, fragments = OPTIONS[name]
    done = ccm.run("push", "-i", str(untouched), *options, str(ccm.site(FINE)))
    assert done.code == 2, done.output
    for fragment in fragments:
        assert fragment in done.stderr, done.stderr


def test_commands_and_files(ccm: Ccm, untouched: Path) -> None:
    """An unknown command has its nearest; a missing or unreadable file is named."""
    done = ccm.run("psuh", "-i", str(untouched), "site.yaml")
    assert (done.code, "push" in done.stderr) == (2, True), done.output
    for missing in ("nowhere.yaml", str(ccm.scratch)):
        done = ccm.run("push", "-i", str(untouched), missing)
        assert done.code == 2, done.output
        assert missing in done.stderr
    done = ccm.run("push", "-i", "nowhere.yaml", str(ccm.site(FINE)))
    assert (done.code, "nowhere.yaml" in done.stderr) == (2, True), done.output
    done = ccm.run("push", str(ccm.site(FINE)))
    assert (done.code, "-i" in done.stderr) == (2, True), done.output
    binary = ccm.scratch / "binary.yaml"
    binary.write_bytes(b"ccm: \xff\xfe\x00")
    done = ccm.run("push", "-i", str(untouched), str(binary))
    assert (done.code, "binary.yaml" in done.stderr) == (2, True), done.output


@pytest.mark.skipif(os.getuid() == 0, reason="root reads everything")
def test_an_unreadable_source(ccm: Ccm, untouched: Path) -> None:
    """A source that may not be read is told at its place."""
    (ccm.scratch / "secret").write_text("x")
    (ccm.scratch / "secret").chmod(0)
    site = f"ccm:\n  resources:\n    - file:\n        - defaults: {DEFAULTS}\n"
    done = ccm.push(untouched, site + "        - /a: {source: secret}\n")
    assert (done.code, "site.yaml:5:24" in done.stderr) == (2, True), done.output


def test_more_forks_than_descriptors(ccm: Ccm, untouched: Path) -> None:
    """--forks beyond the hard limit on open files is refused with the number that would do."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))

    done = subprocess.run(
        ccm.argv("push", "-i", str(untouched), "--forks", "500", str(ccm.site(FINE))),
        env=ccm.environment,
        capture_output=True,
        text=True,
        timeout=60,
        preexec_fn=limit,
    )
    assert done.returncode == 2, done.stderr
    assert "--forks 38 or less" in done.stderr
    assert "256" in done.stderr


UNDEFINED = """\
data: {known: x}
ccm:
  resources:
    - file:
        - defaults: {owner: OWNER, group: GROUP, mode: "{{ Data.mode }}"}
        - DIR/first: {content: x, mode: "0644"}
        - DIR/second: {content: x}
        - DIR/third: {content: x, owner: "{{ lookup('facts.nothing.here') }}"}
"""


def test_undefined_data_ends_a_host_before_it_is_changed(target: Target) -> None:
    """What is undefined where it is needed for the plan is that host's error, with all places."""
    done = target.push(UNDEFINED)
    assert done.code == 1, done.output
    assert target.names() == []
    assert done.events == []
    shown = done.output.replace("\n", " ")
    assert "mode" in shown
    assert "facts.nothing.here" in shown
    assert "site.yaml:" in shown


def test_a_control_that_is_not_boolean(target: Target) -> None:
    """A control that comes to text is refused before anything is changed."""
    done = target.push(
        "ccm: {resources: [{file: [{DIR/a: {ensure: directory, owner: OWNER, group: GROUP, "
        "mode: '755'}}]}, {exec: [{'true': {control: {if: Host.name}}}]}]}\n"
    )
    assert done.code == 1, done.output
    assert target.names() == []
    assert "Host.name" in done.output
    assert "true or false" in done.output.replace("\n", " ")
