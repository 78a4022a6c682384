"""Guards in a preview on a real Debian host, with the real runtime."""

from __future__ import annotations

from ...lab import Host
from ..on_host import apply, resource

_OWNED = {"owner": "root", "group": "root", "mode": "0644"}


def test_guards_see_what_is_planned(host: Host) -> None:
    """What earlier resources would write, make and remove counts; the push says the same, and the
    preview has left nothing."""
    host.write("/etc/app/old.conf", "old\n")
    plan = [
        resource("file", "/etc/app/new.conf", content="ready=yes\n", **_OWNED),
        resource("file", "/etc/app/old.conf", ensure="absent"),
        resource("file", "/run/app", ensure="directory", **{**_OWNED, "mode": "0755"}),
        resource("exec", "joins", command="true", onlyif="grep -q ready=yes /etc/app/new.conf"),
        resource("exec", "idle", command="true", unless="grep -q ready=yes /etc/app/new.conf"),
        resource("exec", "gone", command="true", onlyif="test -e /etc/app/old.conf"),
        resource("exec", "live", command="true", onlyif="sh -c 'systemctl is-active ssh'"),
    ]
    before = (host.read("/proc/1/mountinfo"), host.run("find /etc /mnt /run /tmp | sort").stdout)
    preview = apply(host, *plan, noop=True).events
    after = (host.read("/proc/1/mountinfo"), host.run("find /etc /mnt /run /tmp | sort").stdout)
    assert after == before
    said = {name: (e["changed"], e["failed"], e["prediction"]) for name, e in preview.items()}
    assert said["exec#joins"] == (True, False, "certain"), preview["exec#joins"]
    assert said["exec#idle"][0] is False
    assert said["exec#gone"][0] is False
    assert said["exec#live"][0] is True
    pushed = apply(host, *plan).events
    assert {name: e["changed"] for name, e in pushed.items()} == {
        name: e["changed"] for name, e in preview.items()
    }


def test_guards_that_write_leave_nothing(host: Host) -> None:
    """A guard that reads nothing planned and writes runs on the layer, by whichever program."""
    host.run(
        "mkdir -p /srv/d /opt/app; printf '#!/bin/sh\\necho left > /srv/d/cat\\n' > /opt/app/cat"
    )
    host.run("chmod 755 /opt/app/cat")
    plan = [
        resource("file", "/srv/d/a", content="x\n", **_OWNED),
        resource("exec", "one", command="true", onlyif="sh -c 'echo left > /srv/d/one'"),
        resource("exec", "two", command="true", onlyif="/opt/app/cat /etc/hostname"),
    ]
    events = apply(host, *plan, noop=True).events
    assert host.run("ls /srv/d").stdout == ""
    assert events["exec#one"]["changed"], events
    assert events["exec#two"]["changed"], events
