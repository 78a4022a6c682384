"""The tables of docs/reference/health-checks.md, from the runtime's own."""

from __future__ import annotations

from remote_runtime.health.kinds import NAMES, load
from remote_runtime.health.matchers import MATCHERS
from schemas.tables import table

KINDS = {
    "addr": "a network address; the key is `tcp://HOST:PORT` or `udp://HOST:PORT`",
    "command": "exit status and output of a command; `/bin/sh -c` runs it",
    "dns": "a DNS name; the key can begin with a record type, as in `MX:example.net`",
    "file": "a file at an absolute path; symlinks are not followed",
    "group": "a group on the host",
    "http": "a response of a web server",
    "interface": "a network interface",
    "kernel-param": "a value of `sysctl`",
    "matching": "a value of the manifest, such as the result of a template",
    "mount": "a mounted file system; `usage` is in percent",
    "package": "a package in the database of dpkg or rpm",
    "port": "a local port; the key is `tcp:22`, `tcp6:22`, `udp:53` or `udp6:53`",
    "process": "a running program with that name; zombies do not count",
    "service": "a systemd unit",
    "user": "an account on the host or in a directory service",
}

MEANINGS = {
    "equal": ("The value or list is equal", "equal: [a, b]"),
    "have-prefix": ("A string starts with this", "have-prefix: nginx/"),
    "have-suffix": ("A string ends with this", "have-suffix: .conf"),
    "match-regexp": ("A string matches a Go regular expression", "match-regexp: '^v[0-9]+'"),
    "contain-substring": ("A string contains this", "contain-substring: ready"),
    "gt": ("Greater than a number", "gt: 10"),
    "ge": ("At least a number", "ge: 10"),
    "lt": ("Less than a number", "lt: 95"),
    "le": ("At most a number", "le: 95"),
    "contain-element": ("One entry matches this value or matcher", "contain-element: root"),
    "contain-elements": ("Each of these matches a different entry", "contain-elements: [a, b]"),
    "consist-of": ("The same, without other entries", "consist-of: [127.0.0.1]"),
    "have-len": ("A string, list or map has this length", "have-len: 3"),
    "have-key": ("A map has a key that matches", "have-key: name"),
    "have-key-with-value": ("A map has keys with these values", "have-key-with-value: {a: 1}"),
    "have-patterns": ("The lines of a string match these patterns", "have-patterns: [/^ok/]"),
    "semver-constraint": ("All versions are within a range", "semver-constraint: '>=1.2.0 <2.0.0'"),
    "and": ("All of these match", "and: [{gt: 1}, {lt: 5}]"),
    "or": ("At least one of these matches", "or: [{have-prefix: a}, b]"),
    "not": ("This does not match", "not: {have-prefix: a}"),
}


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
    return table(["Kind", "Checks", "Compared", "Settings"], rows)


def _matchers() -> str:
    rows = [[f"`{name}`", MEANINGS[name][0], f"`{MEANINGS[name][1]}`"] for name in MATCHERS]
    return table(["Matcher", "Matches when", "Example"], rows)
