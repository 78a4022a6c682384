"""The cost of an unchanged resource by type, as a ratio to that of ``file``.

Needs root and the lab. One host gets many resources of each type; then it is pushed again and
again. A figure is the median over these pushes of the time that a resource of the type takes on the
host, the reading that all of them share included.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections.abc import Collection
from pathlib import Path
from typing import Any

from tests.lab import Lab
from tests.push.command import Ccm

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAICWLfrJU26RdnLHGbvUJT3pF/2hm7puhxZ0+ij1EUs1c"
OWNED = {"owner": "root", "group": "root", "mode": "0644"}


def resources(count: int) -> list[dict[str, dict[str, Any]]]:
    """So many resources of each type, by type."""
    names = [f"{number:03d}" for number in range(count)]
    top, key = "/srv/cost", {"user": "root", "key": KEY}
    job = {"schedule": "@daily", "user": "root"}
    tmpfs = {"device": "tmpfs", "type": "tmpfs", "options": "size=64k"}
    apt = {"url": "http://127.0.0.1:9/", "suites": ["x"], "components": ["main"], "enabled": False}
    tar = {
        "url": "http://127.0.0.1:9/a.tar",
        "extract_parent": top,
        "owner": "root",
        "group": "root",
    }
    saved = {"value": 0, "live": False, "file": "/etc/sysctl.d/cost.conf"}
    return [
        {"file": {top: {"ensure": "directory", **OWNED, "mode": "0755"}}},
        {"file": {f"{top}/{n}": {"content": f"x {n}\n", **OWNED} for n in names}},
        {"link": {f"{top}/l{n}": {"target": n} for n in names}},
        {"edit": {f"{top}/e{n}": {"line": f"a = {n}", "create": True} for n in names}},
        {"exec": {f"e{n}": {"command": "true", "creates": f"{top}/{n}"} for n in names}},
        {"group": {f"g{n}": {} for n in names}},
        {"user": {f"u{n}": {"create_home": False} for n in names}},
        {"authorized_key": {f"k{n}": {**key, "path": f"{top}/k{n}"} for n in names}},
        {"cron": {f"c{n}": {**job, "command": f"true {n}"} for n in names}},
        {"sysctl": {f"net.ipv4.conf.lo.{k}": saved for k in ("rp_filter", "arp_ignore")}},
        {"timer": {f"t{n}": {"schedule": "yearly", "command": "true"} for n in names}},
        {"credential": {f"s{n}": {"value": f"abcd-{n}"} for n in names}},
        {"module": {f"m{n}": {"live": False} for n in names}},
        {"archive": {f"{top}/{n}.tar": {**tar, "creates": f"{top}/{n}"} for n in names}},
        {"mount": {f"/mnt/{n}": tmpfs for n in names}},
        {"repository": {f"r{n}": apt for n in names}},
        {"service": {n: {"ensure": "running"} for n in ("systemd-journald", "ssh", "dbus")}},
        {"package": {n: {} for n in ("bash", "coreutils", "dpkg", "grep", "sed", "tar")}},
    ]


def site(count: int, only: Collection[str] = ()) -> str:
    """The manifest of these; ``only`` of some types, and ``file``."""
    lists = [
        {kind: [{name: given} for name, given in each.items()]}
        for one in resources(count)
        for kind, each in one.items()
        if not only or kind in ("file", *only)
    ]
    return json.dumps({"ccm": {"resources": lists}})


def costs(ccm: Ccm) -> dict[str, float]:
    """Microseconds per resource of the last run, by type."""
    found: dict[str, list[float]] = {}
    for line in ccm.run("report", "--events").stdout.splitlines():
        event = json.loads(line)
        if "duration" in event and "type" in event:
            found.setdefault(event["type"], []).append(event["duration"] / 1000)
    return {name: statistics.fmean(times) for name, times in found.items()}


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=9, metavar="PUSHES")
    parser.add_argument("--count", type=int, default=100, help="resources of each type")
    parser.add_argument("--only", default="", metavar="TYPE,TYPE", help="these and file")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, Lab(1) as lab:
        lab.hosts["web1"].run("mkdir -p /etc/cron.d; install -m 755 /dev/null /usr/sbin/cron")
        ccm, text = (
            Ccm(Path(scratch)),
            site(given.count, [one for one in given.only.split(",") if one]),
        )
        rounds: list[dict[str, float]] = []
        for number in range(given.n + 2):
            ran = ccm.push(lab.inventory(), text)
            if ran.code != 0 or (number > 0 and " changed" in ran.stdout):
                raise SystemExit(ran.output)
            if number > 1:
                rounds.append(costs(ccm))
        base = statistics.median(one["file"] for one in rounds)
        print("| type | µs | of file |\n| --- | ---: | ---: |")
        for name in sorted(rounds[0]):
            middle = statistics.median(one[name] for one in rounds)
            print(f"| {name} | {middle:.0f} | {middle / base:.2f} |")


if __name__ == "__main__":
    main()
