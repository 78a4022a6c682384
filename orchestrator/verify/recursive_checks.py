"""Checks of the content of a directory with recurse or purge (controller)."""

import fnmatch
import posixpath
import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from orchestrator.verify.expectation import Expectation, Host
from orchestrator.verify.paths import mode_and_mask
from orchestrator.verify.subject import Subject

_SHOWN = 3  # paths of a report
_FORM = r"%y %u %U %g %G %m %P\0"
_BACKUP = re.compile(r"\.(.+)\.~[0-9]{1,18}~", re.DOTALL)

_NO_PATH = re.compile("[\n\0]")
_AT_ONCE = 200  # paths of one command


class PathRecord(NamedTuple):
    """One line of the output of ``find``: the kind of a path as a letter, and the names and numbers
    of its owners.
    """

    kind: str
    user: str
    uid: str
    group: str
    gid: str
    mode: str
    path: str


def recursive_checks(subject: Subject) -> list[Expectation]:
    """The expectations of ``recurse`` and ``purge``."""
    expectations = []
    if subject.get("recurse"):
        expectations.append(_attributes(subject))
    if subject.get("purge"):
        expectations.append(_no_others(subject))
    return expectations


def _attributes(subject: Subject) -> Expectation:
    owner, group = subject.text("owner"), subject.text("group")
    modes = {
        "d": subject.text("dir_mode") or subject.text("mode"),
        "f": subject.text("file_mode"),
    }
    words = [f"owner {owner}", f"group {group}", f"directories {modes['d']}"]
    words += [f"files {modes['f']}"] if modes["f"] else []

    def find(host: Host) -> list[str]:
        """The paths with other attributes."""
        return [one.path for one in _left(host, subject, _owned(subject)) if not fits(one)]

    def fits(one: PathRecord) -> bool:
        """Whether a path has the attributes; devices, sockets and pipes are ignored."""
        if one.kind not in "fdl":
            return True
        names = (owner in ("", one.uid if owner.isdecimal() else one.user)) and (
            group in ("", one.gid if group.isdecimal() else one.group)
        )
        if not modes.get(one.kind):
            return names
        wanted, mask = mode_and_mask(modes[one.kind], one.kind == "d")
        return names and int(one.mode, 8) & mask == wanted

    return Expectation(
        "below", ", ".join(words), find=find, holds=lambda found: not found, tell=first_of
    )


def _no_others(subject: Subject) -> Expectation:
    keep = [str(pattern) for pattern in subject.get("keep") or ()]

    def find(host: Host) -> list[str]:
        """The paths that a purge would remove."""
        named = _named(host, subject)
        left, held = [], {parent for path in named for parent in _parents(path)}
        for one in reversed(_left(host, subject, named, keep)):
            if one.path not in held and one.kind:
                left.append(one.path)
            else:
                held.add(posixpath.dirname(one.path))
        return sorted(left)

    return Expectation(
        "other files", "none", find=find, holds=lambda found: not found, tell=first_of
    )


def first_of(host: Host, found: Sequence[str]) -> str:
    """The first of these paths, and the number of remaining ones."""
    more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
    return ", ".join(found[:_SHOWN]) + more


def _left(
    host: Host, subject: Subject, others: set[str], keep: Sequence[str] | None = None
) -> list[PathRecord]:
    """The remaining paths below the directory, outer ones first. An unmanaged path has no kind for
    a purge (``keep``), and is omitted otherwise.
    """
    top = subject.name
    real = str(host.check_output("cd %s && pwd -P", top)).strip()
    points = _mount_points(str(host.check_output("cat /proc/self/mountinfo")), real)
    listed = str(host.check_output("find %s -xdev -printf %s", f"{top}/.", _FORM))
    paths = [PathRecord(*line.split(" ", 6)) for line in listed.split("\0") if line]
    if not any(one.path == "" for one in paths):
        raise RuntimeError("find did not list the directory")
    backed = _inside(
        subject, (item.name for item in subject.run if item.properties.get("backup") is True)
    )
    alone: set[str] = set()
    result = []
    for one in sorted((p for p in paths if p.path), key=lambda one: one.path.split("/")):
        directory, name = posixpath.split(one.path)
        if directory in alone:
            alone.add(one.path)
            continue
        backup = _BACKUP.fullmatch(name)
        is_backup = backup is not None and posixpath.join(directory, backup.group(1)) in backed
        if one.path in others | points or is_backup or _is_kept(one.path, keep or ()):
            alone.add(one.path)
            if keep is not None:
                result.append(one._replace(kind=""))
            continue
        result.append(one)
    return result


def _is_kept(path: str, keep: Sequence[str]) -> bool:
    parts = path.split("/")
    for pattern in keep:
        if "/" not in pattern:
            if fnmatch.fnmatchcase(parts[-1], pattern):
                return True
            continue
        wanted = pattern.strip("/").split("/")
        if len(wanted) == len(parts) and all(map(fnmatch.fnmatchcase, parts, wanted)):
            return True
    return False


def _mount_points(text: str, real: str) -> set[str]:
    points = (line.split(" ")[4] for line in text.splitlines() if line.count(" ") > 4)
    plain = (
        re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), point) for point in points
    )
    inside = real.rstrip("/") + "/"
    return {point.removeprefix(inside) for point in plain if point.startswith(inside)}


def _inside(subject: Subject, paths: Iterator[str]) -> set[str]:
    top = subject.name.rstrip("/") + "/"
    plain = (posixpath.normpath(path) for path in paths if path.startswith("/"))
    return {path.removeprefix(top) for path in plain if path.startswith(top)}


def _owned(subject: Subject) -> set[str]:
    """The paths whose attributes another resource manages."""

    own = {"owner", "group", "mode"}
    return _inside(
        subject, (item.name for item in subject.run if not own.isdisjoint(item.properties))
    )


def _named(host: Host, subject: Subject) -> set[str]:
    """Every path that a resource names, including those reached through links."""

    def paths() -> Iterator[str]:
        """Names, paths in properties, and the files of a tree."""
        for item in subject.run:
            yield item.name
            target = item.properties.get("target")
            if isinstance(target, str):
                yield posixpath.join(posixpath.dirname(item.name), target)
            for text in _texts(item.properties):
                yield text.partition("#")[2] if "#/" in text else text
            for value in item.properties.values():
                if isinstance(value, dict) and "$tree" in value:
                    inner = [entry["path"] for entry in value["files"]]
                    for path in [*inner, *value["directories"]]:
                        yield posixpath.join(item.name, path)

    plain = {posixpath.normpath(path) for path in paths() if path.startswith("/")}
    usable = sorted(path for path in plain if not _NO_PATH.search(path))
    top = posixpath.normpath(subject.name)
    followed = _followed(host, sorted({top, *usable, *map(posixpath.dirname, usable)}))
    ways = {*plain, *(followed[path] for path in usable)}
    for path in usable:
        directory, name = posixpath.split(path)
        ways.add(posixpath.join(followed[directory], name))
    tops = [one.rstrip("/") + "/" for one in (top, followed[top])]
    return {way.removeprefix(one) for way in ways for one in tops if way.startswith(one)}


def _followed(host: Host, paths: Sequence[str]) -> dict[str, str]:
    """The real path of each path on the host, with all links followed."""
    result: dict[str, str] = {}
    for start in range(0, len(paths), _AT_ONCE):
        some = paths[start : start + _AT_ONCE]
        told = str(host.check_output("realpath -mz --" + " %s" * len(some), *some))
        ends = told.split("\0")[:-1]
        if len(ends) != len(some):
            raise RuntimeError("realpath did not resolve every path")
        result.update(zip(some, ends, strict=True))
    return result


def _texts(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _texts(one)


def _parents(path: str) -> list[str]:
    parts = path.split("/")
    return ["/".join(parts[:count]) for count in range(1, len(parts))]
