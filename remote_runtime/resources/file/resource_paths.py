"""The paths in a directory that other resources of a run name (target)."""

import os
import re
from typing import TYPE_CHECKING, Any, Iterator, List, Set

from remote_runtime import registry
from remote_runtime.plan_item import Item
from remote_runtime.system.paths import is_within, parents

if TYPE_CHECKING:
    from remote_runtime.host.ports import HostReader

_ATTRIBUTES = ("owner", "group", "mode")
_BACKUP = re.compile(r"\.(.+)\.~[0-9]{1,18}~\Z", re.DOTALL)

_NO_PATH = re.compile("[\n\0]")


class Others(object):
    """The paths, relative to a directory, that belong to other resources.

    ``named`` are the paths that any resource names; ``owned`` are those whose attributes another
    resource manages. Resources that a control or a selection skips are included. ``unknown`` has
    the scaffolds whose files are not in the plan and may be below the directory.
    """

    def __init__(self, host: "HostReader", top: str, real: str) -> None:
        self._files = host.files
        self._tops = [directory.rstrip("/") + "/" for directory in (top, real)]
        self.named: Set[str] = set()
        self.owned: Set[str] = set()
        self.unknown: List[str] = []
        self._backed: Set[str] = set()
        for item in host.resources:
            self._add(item)
        self.above = {above for path in self.named for above in parents(path)}

    def _add(self, item: Item) -> None:
        self.named.update(self._inside(_paths(item), follow=True))
        if item.type == "scaffold" and self._hides_files(item):
            self.unknown.append(item.id)
        if not item.name.startswith("/"):
            return
        its_own = self._inside([item.name], follow=item.properties.get("ensure") == "directory")
        if item.type == "file" or any(key in item.properties for key in _ATTRIBUTES):
            self.owned.update(its_own)
        if item.properties.get("backup") is True:
            self._backed.update(its_own)

    def _hides_files(self, item: Item) -> bool:
        """Return whether a scaffold at or above the directory was not rendered: its files are
        unknown."""
        properties = item.properties
        source = properties.get("source")
        if properties.get("ensure") == "absent" or (isinstance(source, dict) and "$tree" in source):
            return False
        ways = (item.name, self._files.followed(item.name))
        return any(is_within(top, way) for top in self._tops for way in ways)

    def _inside(self, paths: List[str], follow: bool) -> List[str]:
        """Return those below the directory, under every path; ``follow``: also follow a link at
        their end.
        """
        result = []
        for path in paths:
            directory, name = os.path.split(path)
            ways = [path, os.path.join(self._files.followed(directory), name)]
            ways += self._files.links(path if follow else directory)
            if follow:
                ways.append(self._files.followed(path))
            for way in ways:
                result += [way[len(top) :] for top in self._tops if way.startswith(top)][:1]
        return result

    def is_backup(self, path: str) -> bool:
        """Return whether it is a backup of another resource's file."""
        directory, name = os.path.split(path)
        match = _BACKUP.match(name)
        return match is not None and os.path.join(directory, match.group(1)) in self._backed


def _paths(item: Item) -> List[str]:
    """Return every path that a resource names: its own, the paths that it ensures, and those in
    properties.
    """
    properties = item.properties
    kind = registry.resource_class(item.type)
    found = [path for path, _ in kind.managed_paths(item.name, properties)]
    found += kind.claims(item.name, properties)
    found += [item.name, *_texts(properties)]
    target = properties.get("target")
    if item.type == "link" and isinstance(target, str):
        found.append(os.path.join(os.path.dirname(item.name), target))
    for value in properties.values():
        if isinstance(value, dict) and "$tree" in value:
            entries = [entry["path"] for entry in value.get("files", ())]
            entries += value.get("directories", ())
            found += [os.path.join(item.name, entry) for entry in entries]
    paths = [text.partition("#")[2] if "#/" in text else text for text in found]
    return [
        os.path.normpath(path)
        for path in paths
        if path.startswith("/") and not _NO_PATH.search(path)
    ]


def _texts(value: Any) -> Iterator[str]:
    """The strings in a property value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for one in value.values():
            for text in _texts(one):
                yield text
    elif isinstance(value, list):
        for one in value:
            for text in _texts(one):
                yield text
