"""Compares host keys with known_hosts, and writes trusted ones (controller)."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Literal, NamedTuple

from orchestrator.support.atomic_file import replacing
from orchestrator.transport.host_keys.known_hosts import (
    KnownHosts,
    Line,
    entry_name,
    fingerprint,
    hashed,
    name_matches,
    parse_line,
)
from orchestrator.transport.host_keys.revoked_keys import revoked_lines
from orchestrator.transport.route import Route
from remote_runtime.errors import InputError, Problem, UnreachableError

State = Literal["new", "same", "certified", "changed", "revoked"]


class ScannedKey(NamedTuple):
    """The key of a host, and its entries in known_hosts.

    ``before`` has the lines that a changed key replaces.
    """

    route: Route
    key_type: str
    blob: bytes
    state: State
    before: tuple[Line, ...] = ()

    @property
    def fingerprint(self) -> str:
        """The fingerprint as ssh shows it."""
        return fingerprint(self.blob)


class ScanFailure(NamedTuple):
    """A host that showed no key."""

    label: str
    error: UnreachableError


def compare_key(route: Route, key_type: str, blob: bytes, certified: bool = False) -> ScannedKey:
    """Compare a key with the known keys of the host. UnreachableError if that cannot be known.

    ``certified``: the host has a certificate of a known CA, so its key may be unknown.
    """
    lines = KnownHosts(route.known_hosts).lookup(route.key_name, route.key_port)
    revoked = revoked_lines(route.label, route.revoked)
    same = [line for line in [*lines, *revoked] if line.blob == blob]
    known = tuple(line for line in lines if not line.marker)
    scanned = ScannedKey(route=route, key_type=key_type, blob=blob, state="new")
    if any(line.marker == "@revoked" for line in same):
        return scanned._replace(state="revoked")
    if any(not line.marker for line in same):
        return scanned._replace(state="same")
    if certified:
        return scanned._replace(state="certified")
    return scanned._replace(state="changed", before=known) if known else scanned


def trust(shown: Iterable[ScannedKey]) -> list[Path]:
    """Write the keys into the first known_hosts file of each host; return the written files.

    The rest of a file is not changed. A changed key replaces the old ones of that host, which are
    removed from each file before the new ones are written. InputError for a file that cannot be
    written.
    """
    wanted = [one for one in shown if one.state in ("new", "changed")]
    by_file: dict[Path, list[ScannedKey]] = {}
    for one in wanted:
        for line in one.before:
            by_file.setdefault(Path(line.path), [])
    for one in wanted:
        path = _file_for(one.route)
        by_file[path] = [*by_file.pop(path, []), one]  # after files that only lose lines
    changed = {_name(key) for key in wanted if key.state == "changed"}
    for path, keys in by_file.items():
        try:
            _rewrite(path, keys, changed)
        except OSError as error:
            message = f"{path} cannot be written: {error.strerror}"
            hint = (
                ""
                if keys
                else ("it contains an old key: remove that line manually, then try again")
            )
            problem = Problem(message, hint=hint)
            raise InputError([problem], "transport.known_hosts") from error
    return list(by_file)


def _file_for(route: Route) -> Path:
    if not route.known_hosts:
        message = f"{route.label} has no known_hosts file (UserKnownHostsFile none)"
        raise InputError([Problem(message)], "transport.known_hosts")
    return route.known_hosts[0]


def _rewrite(path: Path, keys: list[ScannedKey], changed: set[str]) -> None:
    target = Path(os.path.realpath(path))
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    old = target.read_text("utf-8-sig", "surrogateescape") if target.exists() else ""
    lines = [kept for line in old.splitlines() for kept in _without(line, changed)]
    lines += [_line(key) for key in keys]
    text = "".join(f"{line}\n" for line in dict.fromkeys(lines))
    with replacing(target, durable=True) as out:
        out.write(text.encode("utf-8", "surrogateescape"))
        os.fchmod(out.fileno(), target.stat().st_mode & 0o777 if target.exists() else 0o600)


def _name(key: ScannedKey) -> str:
    return entry_name(key.route.key_name, key.route.key_port)


def _line(key: ScannedKey) -> str:
    import base64

    name = hashed(_name(key)) if key.route.hash_names else _name(key)
    return f"{name} {key.key_type} {base64.b64encode(key.blob).decode()}"


def _without(text: str, changed: set[str]) -> list[str]:
    """The line without the hosts whose keys are replaced; empty if it names no others."""
    parsed = parse_line(text)
    if parsed is None or parsed.marker:
        return [text]
    kept = [
        name
        for name in parsed.names
        if not any(char in name for char in "*?!")
        and not any(name_matches(host, name) for host in changed)
    ]
    patterns = [name for name in parsed.names if any(char in name for char in "*?!")]
    if len(kept) + len(patterns) == len(parsed.names):
        return [text]
    names = ",".join(name for name in parsed.names if name in kept or name in patterns)
    return [names + text.strip()[len(",".join(parsed.names)) :]] if names else []
