"""The questions of ``ccm init``, answered by flags, by a person or with defaults (controller)."""

from __future__ import annotations

import argparse
import os
import re
import sys
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.cli.init_hosts import THIS_MACHINE, host_lines
from orchestrator.support.plain_text import plain
from remote_runtime.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.cli.init_ansible import Converted

_FORGES = ("github", "gitlab", "both", "none")
_YES, _NO = ("y", "yes"), ("n", "no")


class Answers(NamedTuple):
    """The inventory of a new project: its lines, or an Ansible inventory to convert."""

    hosts: list[str]
    local: bool
    become: bool
    ci: str
    converted: Converted | None = None


def read_answers(args: argparse.Namespace, directory: str) -> Answers:
    """The answers from the flags. The others are prompted for on a terminal; without one, they are
    defaults, which are listed on standard error. UsageError.
    """
    asks = sys.stdin.isatty()
    assumed = []
    local = bool(args.local)
    if not asks and not (local or args.host or args.ssh_config or args.ansible):
        local = True
        assumed.append("this machine as the only host (change with --host NAME or --ssh-config)")
    hosts = [f"{THIS_MACHINE}: {{connection: local}}"] if local else []
    if not (local or args.ansible):
        hosts = host_lines(args.host, ssh_config=args.ssh_config)
    become = args.become
    if become is None and asks and not local:
        become = _asked_for_sudo()
    elif become is None:
        become = not (local and os.geteuid() == 0)
        if not asks and become:
            assumed.append("sudo (change with --no-become)")
    forge = args.ci
    if forge is None:
        detected = forge_of(directory)
        forge = _asked_for_forge(detected) if asks else detected
        if not asks:
            files = "no CI files" if detected == "none" else f"CI files for {detected}"
            assumed.append(f"{files} (change with --ci FORGE)")
    if assumed:
        text = f"stdin is not a terminal; using these defaults: {'; '.join(assumed)}"
        print(plain(text), file=sys.stderr)
    converted = None
    if args.ansible:
        from orchestrator.cli.init_ansible import convert_inventory

        converted = convert_inventory(args.ansible, become)
        for note in converted.notes:
            print(plain(f"note: {note}"), file=sys.stderr)
    return Answers(hosts, local, become, forge, converted)


def forge_of(directory: str) -> str:
    """The forge of the repository's remotes; ``none`` if it is ambiguous."""
    above = os.path.abspath(directory)
    while not os.path.isdir(os.path.join(above, ".git")):
        above, below = os.path.dirname(above), above
        if above == below:
            return "none"
    try:
        with open(
            os.path.join(above, ".git", "config"), encoding="utf-8", errors="replace"
        ) as file:
            urls = " ".join(re.findall(r"^\s*url\s*=\s*(.*)$", file.read(), re.MULTILINE))
    except OSError:
        return "none"
    forges = [name for name in ("github", "gitlab") if name in urls.lower()]
    return forges[0] if len(forges) == 1 else "none"


def _asked(question: str) -> str:
    print(plain(question), end="", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip().lower()


def _asked_for_sudo() -> bool:
    word = _asked("Manage them as root with sudo? [Y/n]: ")
    if word and word not in _YES + _NO:
        hint = "enter y or n, or use --become or --no-become"
        raise UsageError(f"{word[:40]!r} is neither y nor n", hint=hint)
    return word not in _NO


def _asked_for_forge(forge: str) -> str:
    word = _asked(f"CI file for github, gitlab, both or none? [{forge}]: ") or forge
    if word not in _FORGES:
        hint = f"enter {', '.join(_FORGES[:-1])} or {_FORGES[-1]}, or use --ci"
        raise UsageError(f"{word[:40]!r} is not a forge that ccm init supports", hint=hint)
    return word
