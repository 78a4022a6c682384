"""Logins of users whose start files, environment or home are not as usual, on a real host."""

from pathlib import Path

import pytest

from tests.lab import Host, Lab
from tests.push.command import Ccm

SITE = """\
ccm:
  resources:
    - file:
        - /srv/made:
            owner: root
            group: root
            mode: "0644"
            content: "here\\n"
    - exec:
        - where:
            command: "pwd > /srv/where; env > /srv/env"
            provider: shell
            creates: /srv/where
"""
HOME = "/home/deploy"


def pushed(ccm: Ccm, lab: Lab, directory: Path, *options: str) -> int:
    inventory = lab.inventory(directory / "hosts.yaml", user="deploy", become=True)
    done = ccm.push(inventory, SITE, "-l", "web1", *options)
    print(done.output)
    return done.code


@pytest.mark.parametrize(
    "start",
    [
        "echo Welcome; echo careful >&2; printf 'no end of line'",
        "cd /tmp; umask 077; set -u",
        "export LD_PRELOAD=/nonexistent.so PYTHONPATH=/tmp/evil PYTHONHOME=/nonexistent",
        "export PYTHONSTARTUP=/tmp/evil/x.py PYTHONINSPECT=1 BASH_ENV=/tmp/evil/x ENV=/tmp/evil/x",
        "PATH=/nonexistent; alias python3=false; trap '' PIPE",
        '[ -n "$AGAIN" ] || AGAIN=1 exec dash -c "$BASH_EXECUTION_STRING"',
        "sleep 300 & disown",
    ],
)
def test_start_files_that_do_no_harm(
    ccm: Ccm, lab: Lab, host: Host, tmp_path: Path, start: str
) -> None:
    """They print, change the directory and the environment, or start another shell with it."""
    evil = "open('/srv/evil', 'w')\n"
    for name in ("json.py", "zlib.py", "sitecustomize.py", "usercustomize.py", "x.py"):
        host.write(f"/tmp/evil/{name}", evil)
    host.write(f"{HOME}/.bashrc", f"{start}\n")
    assert pushed(ccm, lab, tmp_path) == 0
    assert host.read("/srv/made") == "here\n"
    assert not host.exists("/srv/evil")
    assert "nonexistent" not in host.read("/srv/env")


@pytest.mark.parametrize("start", ["read -r line", "exec sleep 300", "exec dash"])
def test_start_files_that_take_the_command_away(
    ccm: Ccm, lab: Lab, host: Host, tmp_path: Path, start: str
) -> None:
    """A login that never comes to the command is given up in time, and nothing is changed."""
    host.write(f"{HOME}/.bashrc", f"{start}\n")
    assert pushed(ccm, lab, tmp_path, "--timeout", "6") == 3
    assert not host.exists("/srv/made")


@pytest.mark.parametrize(
    "change",
    [
        f"mount -t tmpfs -o size=4k,uid=$(id -u deploy) tmpfs {HOME}"
        f"; head -c 9k /dev/zero >{HOME}/x",
        f"mount -t tmpfs -o ro tmpfs {HOME}",
        f"mv {HOME} {HOME}.away",
    ],
    ids=["full", "read-only", "missing"],
)
@pytest.mark.parametrize("become", [True, False])
def test_a_home_that_keeps_nothing(
    ccm: Ccm, lab: Lab, host: Host, tmp_path: Path, change: str, become: bool
) -> None:
    """The runtime needs no home: its cache is left out."""
    keys = f"{HOME}/.ssh/authorized_keys"
    host.run(
        f"mkdir -p /etc/ssh/keys; cp {keys} /etc/ssh/keys/deploy; chmod 644 /etc/ssh/keys/deploy"
    )
    host.run(
        "echo 'AuthorizedKeysFile /etc/ssh/keys/%u' >> /etc/ssh/sshd_config; systemctl reload ssh"
    )
    host.run(f"{change}; true")
    site = "ccm: {resources: [{exec: [{t: {command: 'touch /tmp/made', creates: /tmp/made}}]}]}\n"
    inventory = lab.inventory(tmp_path / "hosts.yaml", user="deploy", become=become)
    done = ccm.push(inventory, site, "-l", "web1")
    assert done.code == 0, done.output
    assert host.exists("/tmp/made")


@pytest.mark.parametrize(("user", "become"), [("root", False), ("deploy", True), ("deploy", False)])
def test_a_daemon_outlives_the_login(
    ccm: Ccm, lab: Lab, host: Host, tmp_path: Path, user: str, become: bool
) -> None:
    """One that keeps the output open is not waited for, and both are there afterwards."""
    site = (
        "ccm: {resources: [{exec: ["
        "{holds: {command: 'sleep 471 & echo started', provider: shell}}, "
        "{leaves: {command: 'setsid sleep 472 >/dev/null 2>&1 </dev/null &', provider: shell}}"
        "]}]}\n"
    )
    inventory = lab.inventory(tmp_path / "hosts.yaml", user=user, become=become)
    done = ccm.push(inventory, site, "-l", "web1")
    assert done.code == 0, done.output
    found = host.run("pgrep -a sleep").stdout
    assert "sleep 471" in found
    assert "sleep 472" in found


def test_files_that_grow_are_fetched_within_their_bound(
    ccm: Ccm, lab: Lab, host: Host, tmp_path: Path
) -> None:
    """A file that never ends is refused by its size, a pipe by its kind; neither is waited for."""
    inventory = lab.inventory(tmp_path / "hosts.yaml")
    host.run("mkfifo /srv/pipe; (timeout 30 yes > /srv/endless) >/dev/null 2>&1 & sleep 1")
    options = ("-i", str(inventory), "-l", "web1", "-d", str(tmp_path / "out"))
    done = ccm.run("fetch", *options, "--max-size", "1M", "/srv/endless", "/srv/pipe")
    host.run("pkill -x yes; true")
    assert done.code == 1, done.output
    assert "--max-size" in done.output
    assert "/srv/pipe is not a regular file" in done.output
