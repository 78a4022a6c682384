"""Installs eight missing packages by a push and by hand, in pairs.

Needs root and the lab. Each pair is on one host: the packages are removed between the two, and who
comes first alternates. The figure is the median of push over hand, over all pairs.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
import time
from pathlib import Path

from tests.lab import Host, Lab, Package
from tests.push.command import Ccm

COUNT = 8
NAMES = [f"ccm-bench-{number}" for number in range(COUNT)]
_SITE = "ccm: {resources: [{package: [%s]}]}\n"


def packages(pause: float) -> list[Package]:
    """Eight packages with a dependency each, a conffile, a script of ``pause`` seconds."""
    found = []
    for name in NAMES:
        files = {f"/usr/share/{name}/{part}": f"{part}\n" for part in range(40)}
        files[f"/etc/{name}.conf"] = f"name = {name}\n"
        scripts = {"postinst": f"mkdir -p /var/lib/{name}\nsleep {pause}\n"}
        found.append(Package(name, "1.0-1", files, scripts, fields={"Depends": f"{name}-lib"}))
        found.append(Package(f"{name}-lib", "1.0-1", {f"/usr/lib/{name}/x": "x\n"}))
    return found


def by_hand(lab: Lab, host: Host) -> float:
    """Seconds of one apt-get in a login over SSH, with the same key and known_hosts."""
    command = "DEBIAN_FRONTEND=noninteractive apt-get install -yq " + " ".join(NAMES)
    began = time.monotonic()
    trusted = f"UserKnownHostsFile={lab.known_hosts}"
    argv = ["ssh", "-F", "none", "-i", str(lab.key_file), "-o", "BatchMode=yes", "-o", trusted]
    subprocess.run([*argv, f"root@{host.address}", command], check=True, capture_output=True)
    return time.monotonic() - began


def by_push(ccm: Ccm, lab: Lab, host: Host) -> float:
    """Seconds of the whole push."""
    site = _SITE % ", ".join(f"{{{name}: {{}}}}" for name in NAMES)
    began = time.monotonic()
    ran = ccm.push(lab.inventory(), site, "-l", host.name)
    took = time.monotonic() - began
    if ran.code != 0:
        raise SystemExit(ran.output)
    return took


def transactions(host: Host) -> int:
    """How many transactions apt has in its log."""
    told = host.run("grep -c ^Start-Date /var/log/apt/history.log || true").stdout
    return int(told.strip() or 0)


def main() -> None:
    """Print each pair and the medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-n", type=int, default=5, metavar="PAIRS")
    parser.add_argument("--pause", type=float, default=0.2, help="seconds of each postinst")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch, Lab(1) as lab:
        host = next(iter(lab.hosts.values()))
        host.publish(*packages(given.pause))
        host.run("apt-get update -q", timeout=120)
        ccm = Ccm(Path(scratch))
        remove = "apt-get purge -yq 'ccm-bench-*' >/dev/null"
        ccm.push(lab.inventory(), "ccm: {resources: [{exec: [{'true': {}}]}]}\n", "-l", host.name)
        ratios = []
        for pair in range(given.n):
            seconds = {}
            for who in ("hand", "push") if pair % 2 else ("push", "hand"):
                before = transactions(host)
                seconds[who] = by_hand(lab, host) if who == "hand" else by_push(ccm, lab, host)
                count = transactions(host) - before
                print(f"{who}: {seconds[who]:.2f} s, {count} transactions", flush=True)
                host.run(remove, timeout=120)
            ratios.append(seconds["push"] / seconds["hand"])
        print(f"median of push/hand over {given.n} pairs: {statistics.median(ratios):.2f}")


if __name__ == "__main__":
    main()
