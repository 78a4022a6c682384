"""The processor time of an unchanged resource by type, as a ratio to that of ``file``.

Needs root and the lab. One host gets a site for each case, and each site is pushed again and again
in two sizes. A figure is the slope between the two: the processor time of the host, with sshd and
the runtime, for each further resource. What the first resource costs beyond that is a figure of its
own, over a push of one directory. Every round takes all cases, and a ratio is of one round.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from pathlib import Path
from typing import Any

from tests.lab import Host, Lab
from tests.push.command import Ccm

FEW = 40  # resources of a case that runs a program, or loads a unit, for each
TOP, WEB = "/srv/cost", "http://127.0.0.1:8000"
BASE, NONE = "file", ""
UNIT = "[Service]\nType=oneshot\nRemainAfterExit=yes\nExecStart=/bin/true\n"
MAKE_UNITS = "cat > /etc/systemd/system/cost@.service; systemctl daemon-reload"
CRONTAB = """\
#!/bin/sh
file=/var/spool/cron/crontabs/$2
case "$3" in -l) cat "$file" ;; -) cat > "$file" ;; esac
"""
SERVE = f"""\
install -m 755 /dev/null /usr/sbin/cron
mkdir -p /var/spool/cron/crontabs; touch /var/spool/cron/crontabs/root
mkdir -p /etc/cron.d {TOP}/www {TOP}/keys {TOP}/tree
echo x > {TOP}/www/x
tar -C {TOP} -cf {TOP}/www/x.tar www/x
git init -q -b main {TOP}/git
git -C {TOP}/git -c user.name=x -c user.email=x@y commit -q --allow-empty -m x
systemd-run -q python3 -m http.server --bind 127.0.0.1 --directory {TOP}/www 8000
"""
OWNED = {"owner": "root", "group": "root", "mode": "0644"}
PARAMETERS = "cd /proc/sys && grep -rsxE '[0-9]+' net/ipv4 net/ipv6 | sort"

Resources = dict[str, dict[str, Any]]


def key(number: int) -> str:
    """A public key that no other number has."""
    start = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAI"
    return f"{start}CWLfrJU26RdnLHGbvUJT3pF/2hm7puhxZ0+ij1E{number:04d}"


def of_files(names: list[str]) -> dict[str, tuple[str, Resources]]:
    """The cases whose resources are files of their own: the type and the resources, by case."""
    tar = {"url": f"{WEB}/x.tar", "extract_parent": TOP, "owner": "root", "group": "root"}
    apt = {"url": "http://127.0.0.1:9/", "suites": ["x"], "components": ["main"], "enabled": False}
    loaded = {"url": f"{WEB}/x", "checksum": f"sha256:{SUM}", **OWNED}
    job = {"schedule": "@daily", "user": "root"}
    few = names[:FEW]
    return {
        BASE: ("file", {f"{TOP}/{n}": {"content": f"x {n}\n", **OWNED} for n in names}),
        "link": ("link", {f"{TOP}/l{n}": {"target": n} for n in names}),
        "edit": ("edit", {f"{TOP}/e{n}": {"line": f"a = {n}", "create": True} for n in names}),
        "download": ("download", {f"{TOP}/d{n}": loaded for n in names}),
        "archive": ("archive", {f"{TOP}/{n}.tar": {**tar, "creates": TOP} for n in names}),
        "git": ("git", {f"{TOP}/tree/{n}": {"url": f"{TOP}/git", "update": False} for n in few}),
        "cron": ("cron", {f"c{n}": {**job, "command": f"true {n}"} for n in names}),
        "repository": ("repository", {f"r{n}": apt for n in names}),
        "credential": ("credential", {f"s{n}": {"value": f"abcd-{n}"} for n in few}),
        "authorized_key": (
            "authorized_key",
            {f"k{n}": {"user": "root", "key": key(1), "path": f"{TOP}/keys/{n}"} for n in names},
        ),
        "module": ("module", {f"m{n}": {"live": False} for n in names}),
    }


def of_one_state(names: list[str]) -> dict[str, tuple[str, Resources]]:
    """The cases whose resources have a state that one reading shows for all."""
    shared = {"user": "root", "path": f"{TOP}/keys/all"}
    tmpfs = {"device": "tmpfs", "type": "tmpfs", "options": "size=64k"}
    job = {"schedule": "@daily", "user": "root", "crontab": True}
    few = names[:FEW]
    return {
        "exec": ("exec", {f"e{n}": {"command": "true", "creates": TOP} for n in names}),
        "group": ("group", {f"g{n}": {} for n in names}),
        "user": ("user", {f"u{n}": {"create_home": False} for n in names}),
        "authorized_key, one file": (
            "authorized_key",
            {f"o{n}": {**shared, "key": key(int(n))} for n in names},
        ),
        "cron, one crontab": ("cron", {f"t{n}": {**job, "command": f"true {n}"} for n in names}),
        "timer": ("timer", {f"t{n}": {"schedule": "yearly", "command": "true"} for n in few}),
        "mount": ("mount", {f"/mnt/{n}": tmpfs for n in names}),
        "service": ("service", {f"cost@{n}": {"enable": True} for n in few}),
        "service, settings": (
            "service",
            {f"cost@s{n}": {"settings": {"Unit": {"Description": f"x {n}"}}} for n in few},
        ),
    }


SUM = "73cb3858a687a8494ca3323053016282f3dad39d42cf62ca4e79dda2aac7d9ac"  # of "x\n"


def of_host(host: Host, count: int) -> dict[str, tuple[str, Resources]]:
    """The cases of which a host has a limited number anyway."""
    installed = host.run("dpkg-query -W -f '${binary:Package}\\n'").stdout.split()
    lines = host.run(PARAMETERS).stdout.splitlines()
    found = {
        path: {"value": value, "live": False}
        for path, _, value in (line.partition(":") for line in lines[:count])
    }
    return {
        "package": ("package", {name.partition(":")[0]: {} for name in installed[:count]}),
        "sysctl": ("sysctl", found),
    }


def site(kind: str, resources: Resources, share: int = 1) -> str:
    """The manifest of these, or of the first ones: one of ``share``."""
    shown = [{name: given} for name, given in resources.items()][: len(resources) // share]
    top = [{TOP: {"ensure": "directory", **OWNED, "mode": "0755"}}]
    return json.dumps({"ccm": {"resources": [{"file": top}, *([{kind: shown}] if shown else [])]}})


class Bench:
    """A host with the resources of each case."""

    def __init__(self, scratch: Path, lab: Lab, host: Host) -> None:
        self.ccm, self.host = Ccm(scratch), host
        self.inventory = lab.inventory()
        self.share = 4  # of the resources of the large size, one of so many is in the small one

    def push(self, text: str, name: str, unchanged: bool = True) -> float:
        """Seconds of processor time that a push took on the host."""
        before = self.host.cpu_seconds()
        ran = self.ccm.push(self.inventory, self.ccm.site(text, f"{name}.yaml"))
        if ran.code != 0 or (unchanged and " changed" in ran.stdout):
            raise SystemExit(f"{name}: {ran.output}")
        return self.host.cpu_seconds() - before

    def first(self, cases: dict[str, tuple[str, Resources]]) -> None:
        """Make the state of all cases."""
        for name, (kind, resources) in cases.items():
            self.push(site(kind, resources), "first", unchanged=False)
            print(f"{len(resources)} of {name}", flush=True)

    def round(self, cases: dict[str, tuple[str, Resources]]) -> dict[str, tuple[float, float]]:
        """By case: microseconds for each further resource, and for the first one beyond that."""
        empty = self.push(site(NONE, {}), "empty")
        found = {}
        for name, (kind, resources) in cases.items():
            all_of_them, few = len(resources), len(resources) // self.share
            large = self.push(site(kind, resources), "large")
            small = self.push(site(kind, resources, self.share), "small")
            slope = (large - small) / (all_of_them - few)
            found[name] = slope * 1e6, (small - empty - few * slope) * 1e6
        return found


def table(rounds: list[dict[str, tuple[float, float]]]) -> str:
    """The medians by case, and the range of the ratio to ``file``."""
    lines = ["| Case | Each, µs | Of `file` | Range | First, ms |", "|---|--:|--:|--:|--:|"]
    for name in rounds[0]:
        ratios = [one[name][0] / one[BASE][0] for one in rounds]
        each, first = (statistics.median(one[name][at] for one in rounds) for at in (0, 1))
        figures = [
            f"{each:.0f}",
            f"{statistics.median(ratios):.2f}",
            f"{min(ratios):.2f} to {max(ratios):.2f}",
            f"{first / 1e3:.1f}",
        ]
        lines.append(f"| {name} | {' | '.join(figures)} |")
    return "\n".join(lines)


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=9, metavar="ROUNDS")
    parser.add_argument("--count", type=int, default=400, help="resources of each case")
    parser.add_argument("--only", default="", metavar="TYPE,TYPE", help="these and file")
    given = parser.parse_args()
    names = [f"{number:04d}" for number in range(given.count)]
    with tempfile.TemporaryDirectory() as scratch, Lab(1) as lab:
        host = lab.hosts["web1"]
        host.run(SERVE)
        host.write("/usr/bin/crontab", CRONTAB, 0o755)
        host.run(MAKE_UNITS, input=UNIT)
        cases = {**of_files(names), **of_one_state(names), **of_host(host, given.count)}
        if given.only:
            only = [BASE, *given.only.split(",")]
            cases = {name: one for name, one in cases.items() if one[0] in only}
        bench = Bench(Path(scratch), lab, host)
        bench.first(cases)
        bench.round(cases)
        rounds = [bench.round(cases) for _ in range(given.n)]
    print(table(rounds))


if __name__ == "__main__":
    main()
