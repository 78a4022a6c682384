"""The paths that a directory resource manages within the directory (target; imported only for
recurse and purge).
"""

import os
from typing import TYPE_CHECKING, Any, Dict, List, Sequence

from remote_runtime.base import Properties
from remote_runtime.errors import ResourceError
from remote_runtime.resources.file import purge, recursive_attributes
from remote_runtime.resources.file.system_directories import is_of_system
from remote_runtime.resources.file.tree_scan import Scope, Walk
from remote_runtime.stdlib_light.sha256_digest import sha256
from remote_runtime.tasks import Task

if TYPE_CHECKING:
    from remote_runtime.host.file_ports import Node
    from remote_runtime.host.ports import HostReader


class Below(object):
    """The paths found in the directory of a resource. ``unknown`` is the reason why a preview does
    not know all of them, or None.
    """

    def __init__(self, host: "HostReader", top: str, properties: Properties, node: "Node") -> None:
        self._top, self._properties = top, properties
        scope = Scope(
            properties.get("recurse") is True,
            properties.get("purge") is True,
            properties.get("keep") or (),
        )
        real = host.files.real(top)
        if is_of_system(real, scope.purge):
            raise ResourceError(
                "%s is %s, a system directory: ccm does not manage its content as a whole"
                % (top, real),
                kind="resource.file.system",
                hint="use a directory further down",
            )
        walk = Walk(host, top, real=real, node=node, scope=scope)
        self.unknown = walk.unknown
        self._extra = purge.extra(walk) if scope.purge else []
        gone = {entry.path for entry in self._extra}
        self._managed = [e for e in walk.entries if e.managed and e.path not in gone]

    def tasks(self, host: "HostReader", own: Sequence[Task], uid: int, gid: int) -> List[Task]:
        """Return the remaining tasks, including those for the directory's ``own`` attributes.

        For root, those come last, so that the contents change before another user owns the
        directory.
        """
        result = purge.tasks(self._top, self._extra)
        differing = self._differing(uid, gid)
        result += recursive_attributes.tasks(host, self._top, self._properties, differing)
        return [*result, *own] if os.geteuid() == 0 else [*own, *result]

    def _differing(self, uid: int, gid: int) -> List[recursive_attributes.Differing]:
        wish = recursive_attributes.wish_of(self._properties, uid, gid)
        return recursive_attributes.differing(wish, self._managed)

    def differences(self, uid: int, gid: int) -> Dict[str, Any]:
        """Return the differences from the desired state, for drift and plans; {} if nothing
        differs."""
        result: Dict[str, Any] = {}
        if self._extra:
            result["purge"] = sorted(os.fsencode(entry.shown).hex() for entry in self._extra)
        digest = sha256()
        differing = self._differing(uid, gid)
        for one in differing:
            node = one.entry.node
            summary = (node.kind, node.uid, node.gid, node.mode, one.entry.shown)
            digest.update(os.fsencode("%s %d %d %o %s\0" % summary))
        if differing:
            result["recurse"] = digest.hexdigest()
        return result
