"""Looks at the host that it runs on and writes what it found as JSON (target).

The arguments are the trees to walk and the paths to skip, both as JSON.
"""

from __future__ import annotations

import grp
import hashlib
import json
import os
import pwd
import stat
import subprocess
import sys
from typing import Any

_LIMITS = ("net/ipv4/ip_forward", "vm/swappiness", "vm/overcommit_memory")
_MAX_TEXT = 20_000
_EMPTY = ("", "*", "!", "!!", "!*")


def user(number: int) -> str:
    """The name of a user, or the number of one without a name."""
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)


def group(number: int) -> str:
    """The name of a group, or the number of one without a name."""
    try:
        return grp.getgrgid(number).gr_name
    except KeyError:
        return str(number)


def look(path: str) -> dict[str, Any]:
    """What is at a path, links not followed."""
    seen = os.lstat(path)
    owner = user(seen.st_uid)
    if stat.S_ISLNK(seen.st_mode):
        return {"kind": "link", "target": os.readlink(path), "owner": owner}
    mode = f"{stat.S_IMODE(seen.st_mode):04o}"
    found: dict[str, Any] = {"mode": mode, "owner": owner, "group": group(seen.st_gid)}
    if stat.S_ISDIR(seen.st_mode):
        return {**found, "kind": "directory"}
    if stat.S_ISREG(seen.st_mode):
        with open(path, "rb") as stream:
            data = stream.read()
        text = data[:_MAX_TEXT].decode("utf-8", "replace")
        return {**found, "kind": "file", "sha256": hashlib.sha256(data).hexdigest(), "text": text}
    return {**found, "kind": "other"}


def walk(path: str, skipped: set[str], files: dict[str, dict[str, Any]]) -> None:
    """Add what is at a path, and below a directory, to the files."""
    if path in skipped:
        return
    try:
        files[path] = look(path)
    except FileNotFoundError:
        return
    if files[path]["kind"] == "directory":
        for name in sorted(os.listdir(path)):
            walk(os.path.join(path, name), skipped, files)


def lines(*argv: str) -> list[str]:
    """The lines that a program writes; none where it is missing."""
    try:
        done = subprocess.run(argv, capture_output=True, text=True, check=False)
    except FileNotFoundError:
        return []
    return done.stdout.splitlines()


def read(path: str) -> list[str]:
    """The lines of a file."""
    with open(path, encoding="utf-8") as stream:
        return stream.read().splitlines()


def accounts() -> dict[str, str]:
    """Users, groups and the form of their passwords, which have random salts."""
    found = {}
    for line in read("/etc/passwd"):
        name, _, rest = line.partition(":")
        found[f"user {name}"] = rest
    for line in read("/etc/group"):
        name, _, number, members = line.split(":")
        found[f"group {name}"] = f"{number}:{','.join(sorted(members.split(',')))}"
    for line in read("/etc/shadow"):
        name, secret, _, rest = line.split(":", 3)
        found[f"shadow {name}"] = f"{secret if secret in _EMPTY else secret[:3]}:{rest}"
    return found


def installed() -> dict[str, str]:
    """Packages with state and version, and those that were asked for by name."""
    form = "${Package}:${Architecture}\\t${db:Status-Abbrev}${Version}\\n"
    found = dict(line.split("\t", 1) for line in lines("dpkg-query", "-W", "-f", form))
    found.update((f"manual {name}", "yes") for name in lines("apt-mark", "showmanual"))
    return found


def units() -> dict[str, str]:
    """Unit files with their state, and the units that are not inactive."""
    plain = ("--no-legend", "--no-pager", "--plain")
    found = {}
    for line in lines("systemctl", "list-unit-files", *plain):
        name, state, *_ = line.split()
        if state != "transient":
            found[f"file {name}"] = state
    kinds = "--type=service,socket,timer"
    for line in lines("systemctl", "list-units", "--all", kinds, *plain):
        name, _, active, sub, *_ = line.split()
        if active != "inactive":  # else it depends on who asked for it
            found[f"unit {name}"] = f"{active} {sub}"
    return found


def kernel() -> dict[str, str]:
    """Name, some parameters and the packet filter of the running system."""
    found = {"hostname": os.uname().nodename, "nft": "\n".join(lines("nft", "list", "ruleset"))}
    for name in _LIMITS:
        if os.path.exists(f"/proc/sys/{name}"):
            found[name] = " ".join(read(f"/proc/sys/{name}"))
    return found


def main() -> None:
    """Write the snapshot."""
    trees, skipped = json.loads(sys.argv[1]), set(json.loads(sys.argv[2]))
    files: dict[str, dict[str, Any]] = {}
    for tree in trees:
        walk(tree, skipped, files)
    found: dict[str, Any] = {"files": files, "accounts": accounts(), "packages": installed()}
    print(json.dumps({**found, "units": units(), "kernel": kernel()}))


if __name__ == "__main__":
    main()
