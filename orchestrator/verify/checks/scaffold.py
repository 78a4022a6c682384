"""scaffold: every rendered file and, with purge, no others (controller)."""

import fnmatch
import posixpath
from collections.abc import Callable, Iterable
from typing import Any

from orchestrator.verify.expectation import Expectation, Host, equal
from orchestrator.verify.paths import absent, content, directory, regular
from orchestrator.verify.recursive_checks import first_of
from orchestrator.verify.subject import Subject, content_hash


def expectations(subject: Subject) -> list[Expectation]:
    """The expectations for the files of the tree, as rendered for the host."""
    source = subject.get("source")
    files = source["files"] if isinstance(source, dict) else []
    top = subject.name
    if subject.get("ensure", "present") == "absent":
        return [one for file in files for one in _grouped(absent, top, file["path"])]
    patterns = [pattern for entry in subject.get("post") or () for pattern in entry]
    result = directory(top)
    above = (posixpath.dirname(file["path"]) for file in files)
    for path in dict.fromkeys([*filter(None, above), *source["directories"]]):
        result += _grouped(directory, top, path)
    for file in files:
        result += _file(top, file, patterns)
    if subject.get("purge"):
        result.append(_no_others(top, {file["path"] for file in files}))
    return result


def _grouped(
    made: Callable[[str, str], list[Expectation]], top: str, path: str
) -> list[Expectation]:
    return [one._replace(group=path) for one in made(f"{top}/{path}", path)]


def _file(top: str, file: dict[str, Any], patterns: Iterable[str]) -> list[Expectation]:
    """The expectation for one file; the result of a command in ``post`` is not known here."""
    path, full = file["path"], f"{top}/{file['path']}"
    result = regular(full, path)
    if not any(fnmatch.fnmatch(posixpath.basename(path), pattern) for pattern in patterns):
        result.append(content(full, content_hash(file), f"{path} content"))
    wanted = bool(file.get("executable"))
    words = {True: "executable", False: "not executable"}
    result.append(
        equal(
            f"{path} mode",
            wanted,
            lambda host: bool(host.file(full).mode & 0o111),
            words.__getitem__,
        )
    )
    return [one._replace(group=path) for one in result]


def _no_others(top: str, wanted: set[str]) -> Expectation:
    """The paths that ``purge`` would have removed."""

    def find(host: Host) -> list[str]:
        """The files that the scaffold does not contain."""
        listed = host.check_output("cd %s && find . -path . -print0 -o ! -type d -print0", top)
        names = set(filter(None, listed.split("\0")))
        if "." not in names:
            raise RuntimeError("find did not list the directory")
        return sorted({name.removeprefix("./") for name in names - {"."}} - wanted)

    return Expectation(
        "other files", "none", find=find, holds=lambda others: not others, tell=first_of
    )
