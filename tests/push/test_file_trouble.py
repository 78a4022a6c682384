"""Files where the host makes it hard: attributes to keep, mounts, full disks, interruptions."""

import contextlib
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.lab import Host
from tests.push.command import runtimes
from tests.push.target import Target

KEPT = """\
ccm:
  resources:
    - file:
        - defaults: {owner: root, group: root, mode: "0640"}
        - /srv/t/with-acl: {content: "new\\n"}
        - /srv/t/with-xattr: {content: "new\\n"}
        - /srv/t/capable: {content: "new\\n", mode: "0755"}
        - /srv/t/root-of-all: {ensure: directory, mode: "0755"}
        - /srv/t/sticky: {ensure: directory, mode: "0777"}
"""


def test_extended_attributes_are_kept(remote: Target, host: Host) -> None:
    """A replaced file keeps its ACL and its attributes, but no capability; the mode is as asked."""
    for name in ("with-acl", "with-xattr", "capable"):
        remote.write(name, "old\n", 0o644)
    host.run("mkdir -m 3777 /srv/t/sticky")
    host.run(
        "setfacl -m u:deploy:r /srv/t/with-acl; setfattr -n user.note -v kept /srv/t/with-xattr"
    )
    host.run(
        "python3 -c \"import os; os.setxattr('/srv/t/capable', 'security.capability', "
        "bytes.fromhex('0100000200040000000000000000000000000000'))\""
    )
    done = remote.push(KEPT)
    assert done.code == 0, done.output
    assert remote.read("with-acl") == remote.read("with-xattr") == "new\n"
    assert "user:deploy:r--" in host.run("getfacl -p /srv/t/with-acl").stdout
    assert "user:deploy" not in host.run("getfacl -p /srv/t/with-xattr").stdout
    assert 'user.note="kept"' in host.run("getfattr -d /srv/t/with-xattr").stdout
    assert host.run("getfattr -n security.capability /srv/t/capable", check=False).returncode != 0
    assert host.run("stat -c %a /srv/t/with-acl /srv/t/sticky").stdout == "640\n3777\n"
    again = remote.push(KEPT)
    assert set(remote.statuses(again).values()) == {"stable"}, again.output


def test_a_file_of_the_kernel(remote: Target) -> None:
    """Where no file can be made the directory is named, not a missing file."""
    site = """
ccm:
  resources:
    - file:
        - /proc/sys/kernel/hostname: {content: x, owner: root, group: root, mode: "0644"}
"""
    done = remote.push(site)
    assert done.code == 1, done.output
    error = done.event("file#/proc/sys/kernel/hostname")["error"][0]
    assert "cannot create files in /proc/sys/kernel" in error
    assert "use an exec" in error


MOUNTED = """\
ccm:
  resources:
    - file:
        - defaults: {owner: root, group: root, mode: "0644"}
        - /srv/t/bound: {content: "new\\n"}
        - /srv/t/read-only/file: {content: "new\\n"}
        - /srv/t/read-only/new: {content: "new\\n"}
        - /srv/t/read-only/attributes: {mode: "0600"}
        - /srv/t/read-only/gone: {ensure: absent}
        - /srv/t/read-only/folder: {ensure: directory}
        - /srv/t/full/file: {source: big}
        - /srv/t/full/small: {content: "fits\\n"}
        - /srv/t/immutable: {content: "new\\n"}
        - /srv/t/last: {content: "fine\\n"}
"""

SAID = {
    "bound": "mount",
    "read-only/file": "read-only",
    "read-only/new": "read-only",
    "read-only/attributes": "read-only",
    "read-only/gone": "read-only",
    "read-only/folder": "read-only",
    "full/file": "disk is full",
}


def test_mounts_and_full_disks(remote: Target, host: Host) -> None:
    """Each is a clear error of its resource; the old content stays, nothing temporary is left."""
    (remote.ccm.scratch / "big").write_bytes(bytes(range(256)) * 16_000)
    host.run(
        "cd /srv/t; echo source > source; echo > bound; mount --bind source bound; "
        "mkdir read-only full; "
        "mount -t tmpfs none full -o size=1m; mount -t tmpfs none read-only; "
        "for f in file attributes gone; do echo old > read-only/$f; done; echo old > full/file; "
        "mount -o remount,ro read-only; echo old > immutable"
    )
    site = MOUNTED.replace('        - /srv/t/immutable: {content: "new\\n"}\n', "")
    done = remote.push(site)
    assert done.code == 1, done.output
    for name, word in SAID.items():
        event = remote.event(done, f"file#{name}")
        assert event["failed"], name
        assert len(event["error"]) == 1, event["error"]
        assert word in event["error"][0], event["error"]
        assert f"/srv/t/{name}" in event["error"][0]
    assert remote.statuses(done)["file#full/small"] == "changed"
    assert remote.statuses(done)["file#last"] == "changed"
    assert host.run("cat /srv/t/source /srv/t/bound").stdout == "source\nsource\n"
    assert host.run("cat /srv/t/full/*").stdout == "old\nfits\n"
    assert host.run("cat /srv/t/read-only/*").stdout == "old\n" * 3
    assert host.run("find /srv/t -name '.*'").stdout == ""
    # The runtime's own cache may not be writable either: the run goes on from memory.
    host.run("rm -rf /root/.cache; mkdir /root/.cache; mount -t tmpfs none /root/.cache -o ro")
    again = remote.push(site)
    assert remote.statuses(again)["file#last"] == "stable", again.output


def test_a_full_root_file_system(remote: Target, host: Host) -> None:
    """With no space for the runtime's cache or anything else, the error is the file's alone."""
    host.run("mkdir -p /root/.cache; mount -t tmpfs none /root/.cache -o size=4k")
    done = remote.push(
        "ccm: {resources: [{file: [{/srv/t/made: {content: x, owner: root, group: root, "
        'mode: "0644"}}]}]}\n'
    )
    assert done.code == 0, done.output
    assert remote.read("made") == "x"


BIG = """\
ccm:
  resources:
    - file:
        - /srv/t/before: {content: x, owner: root, group: root, mode: "0644"}
        - /srv/t/big: {source: big, owner: root, group: root, mode: "0644"}
        - /srv/t/after: {content: x, owner: root, group: root, mode: "0644"}
"""


@contextlib.contextmanager
def halfway(remote: Target, host: Host) -> Iterator["subprocess.Popen[str]"]:
    """A push in whose middle a large blob is on its way. Its runtime on the host is stopped."""
    with (remote.ccm.scratch / "big").open("wb") as big:
        big.truncate(1 << 31)  # more than arrives until somebody ends it
    remote.write("big", "old\n")
    site = remote.ccm.site(remote.filled(BIG))
    push = remote.ccm.start("push", "-i", str(remote.inventory), "-l", "web1", str(site))
    try:
        deadline = time.monotonic() + 300  # the source is hashed first
        while not any(path.stat().st_size > 4 << 20 for path in temporary(remote)):
            assert time.monotonic() < deadline, "nothing arrived"
            assert push.poll() is None, push.communicate()
            time.sleep(0.05)
        # The rest fills the pipes and no more, however slow this machine and fast the host.
        host.run("pkill -STOP -f '[v]ersion_info<'")
        yield push
    finally:
        host.run("pkill -CONT -f '[v]ersion_info<' || true")
        if push.poll() is None:
            push.kill()
        push.communicate()


def temporary(remote: Target) -> list[Path]:
    return list(remote.path("").glob(".*"))


@pytest.mark.long("15")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_interrupted_in_a_large_file(remote: Target, host: Host, number: signal.Signals) -> None:
    """However the controller ends, the file is the old one, whole, and nothing is left behind."""
    with halfway(remote, host) as push:
        assert runtimes(host)
        push.send_signal(number)
        with contextlib.suppress(subprocess.TimeoutExpired):
            push.wait(timeout=2)  # it may wait for its runtime
        host.run("pkill -CONT -f '[v]ersion_info<' || true")
        code = push.wait(timeout=20)
        if number == signal.SIGINT:
            assert code == 130
    deadline = time.monotonic() + 10
    while temporary(remote) or runtimes(host):
        assert time.monotonic() < deadline, temporary(remote)
        time.sleep(0.2)
    assert remote.path("big").stat().st_size == len(
        "old\n"
    )  # to show what else it holds takes room
    assert remote.read("big") == "old\n"
    assert remote.read("before") == "x"
    assert not remote.path("after").exists()
