"""Other files on a host that configure the same source (target)."""

import posixpath
from typing import Any, Iterator, List, Mapping, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.host.ports import HostReader
from remote_runtime.packages import repository_paths
from remote_runtime.resources.repository import deb822, repo_file

_ENDINGS = {"apt": (".list", ".sources"), "dnf": (".repo",)}


def find(host: HostReader, manager: str, name: str, state: Mapping[str, Any]) -> List[str]:
    """Return the duplicates, one line each. ``ResourceError`` for a problem that prevents apt from
    reading any source."""
    if not state["enabled"]:
        return []
    own = repository_paths.sources(manager, name)
    others = [(path, text) for path, text in _texts(host, manager) if path != own]
    return _of_apt(state, others) if manager == "apt" else _of_dnf(name, state, others)


def mentions(host: HostReader, manager: str, name: str, key: str) -> bool:
    """Return whether another repository uses a key."""
    own = repository_paths.sources(manager, name)
    return any(key in text for path, text in _texts(host, manager) if path != own)


def _texts(host: HostReader, manager: str) -> Iterator[Tuple[str, str]]:
    for place in repository_paths.others(manager):
        node = host.files.stat(place)
        if node is None:
            continue
        names = host.files.entries(place) if node.kind == "directory" else [""]
        for name in names:
            path = posixpath.join(place, name) if name else place
            if name and not name.endswith(_ENDINGS[manager]):
                continue
            status = host.files.stat(path)
            if status is not None and status.kind == "file":
                yield path, host.files.read(path).decode("utf-8", "replace")


def _of_apt(state: Mapping[str, Any], others: List[Tuple[str, str]]) -> List[str]:
    own = {(url, suite) for url in state["urls"] or () for suite in state["suites"] or ()}
    signed = " ".join(state["signed_by"] or ())
    result = []
    for path, text in others:
        for entry in deb822.entries(path, text):
            if (entry.url, entry.suite) not in own:
                continue
            what = "%s also has the suite %s of %s" % (entry.where, entry.suite, entry.url)
            if entry.signed_by != signed:
                with_key = "with the key %s" % entry.signed_by if entry.signed_by else "without key"
                raise ResourceError(
                    "%s, %s: apt could no longer read any source" % (what, with_key),
                    kind="resource.repository.conflict",
                    hint="use the same key, or let an earlier file resource make %s absent" % path,
                )
            result.append("%s; apt warns of sources that are configured twice" % what)
    return result


def _of_dnf(name: str, state: Mapping[str, Any], others: List[Tuple[str, str]]) -> List[str]:
    result = []
    urls = set(state["urls"] or ())
    for path, text in others:
        for section, lines in repo_file.sections(text).items():
            same = urls.intersection(repo_file.state_of(lines)["urls"] or ())
            if section == name:
                result.append("%s also configures %s; dnf uses the last one" % (path, name))
            elif section and same:
                result.append("%s has the same address as %s" % (path, section))
    return result
