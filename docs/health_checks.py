"""The tables of docs/reference/health-checks.md, from the runtime's own."""

from __future__ import annotations

from remote_runtime.health.kinds import NAMES, load
from remote_runtime.health.matchers import MATCHERS
from schemas.tables import table

KINDS = {
    "addr": "an address can be connected to; the key is `tcp://HOST:PORT` or `udp://HOST:PORT`",
    "command": "how a command ends and what it prints; `/bin/sh -c` runs it",
    "dns": "what a name resolves to; the key may begin with a type, as in `MX:example.net`",
    "file": "what is at an absolute path, symlinks themselves",
    "group": "a group of the system",
    "http": "what a web server answers",
    "interface": "a network interface",
    "kernel-param": "a value of `sysctl`",
    "matching": "a value of the manifest itself, such as a template's",
    "mount": "what is mounted at a path; `usage` is in percent",
    "package": "what dpkg's or rpm's database says is installed",
    "port": "a local port is listened on; the key is `tcp:22`, `tcp6:22`, `udp:53` or `udp6:53`",
    "process": "a program of that name runs; zombies do not count",
    "service": "a systemd unit",
    "user": "an account of the system, also one of a directory service",
}

MEANINGS = {
    "equal": ("Exactly this value or list", "equal: [a, b]"),
    "have-prefix": ("A text begins so", "have-prefix: nginx/"),
    "have-suffix": ("A text ends so", "have-suffix: .conf"),
    "match-regexp": ("A regular expression of Go is found in a text", "match-regexp: '^v[0-9]+'"),
    "contain-substring": ("A text holds this one", "contain-substring: ready"),
    "gt": ("More than a number", "gt: 10"),
    "ge": ("At least a number", "ge: 10"),
    "lt": ("Less than a number", "lt: 95"),
    "le": ("At most a number", "le: 95"),
    "contain-element": ("One entry is as this value or matcher", "contain-element: root"),
    "contain-elements": ("Each of these has an entry of its own", "contain-elements: [a, b]"),
    "consist-of": ("The same, and there are no others", "consist-of: [127.0.0.1]"),
    "have-len": ("A text, list or map is that long", "have-len: 3"),
    "have-key": ("A map has a key as this value or matcher", "have-key: name"),
    "have-key-with-value": ("A map has these keys with such values", "have-key-with-value: {a: 1}"),
    "have-patterns": ("The lines of a text satisfy these patterns", "have-patterns: [/^ok/]"),
    "semver-constraint": ("All versions are within a range", "semver-constraint: '>=1.2.0 <2.0.0'"),
    "and": ("All of these", "and: [{gt: 1}, {lt: 5}]"),
    "or": ("One of these", "or: [{have-prefix: a}, b]"),
    "not": ("Not so", "not: {have-prefix: a}"),
}  # fmt: skip


def parts() -> dict[str, str]:
    """The table of the kinds and the table of the matchers; KeyError for one that is not here."""
    return {"kinds": _kinds(), "matchers": _matchers()}


def _kinds() -> str:
    rows = []
    for name in NAMES:
        kind = load(name)
        first, *others = [f"`{attribute}`" for attribute in kind.attributes]
        compared = ", ".join([f"**{first}**" if kind.gate else first, *others])
        settings = [word for word in (kind.identity, *kind.settings) if word]
        rows.append([f"`{name}`", KINDS[name], compared, ", ".join(f"`{s}`" for s in settings)])
    return table(["Kind", "Whether", "Compared", "Settings"], rows)


def _matchers() -> str:
    rows = [[f"`{name}`", MEANINGS[name][0], f"`{MEANINGS[name][1]}`"] for name in MATCHERS]
    return table(["Matcher", "Fits when", "Example"], rows)
