"""What a directory resource manages below itself (target; imported for recurse and purge only)."""

import os
from typing import TYPE_CHECKING, Any, Dict, List, Sequence

from remote_runtime.base import Action, ResourceType
from remote_runtime.errors import ResourceError
from remote_runtime.lean.digest import sha256
from remote_runtime.resources.file import purge, recursion
from remote_runtime.resources.file.system_directories import is_of_system
from remote_runtime.resources.file.tree import Scope, Walk

if TYPE_CHECKING:
    from remote_runtime.system.paths import Status


class Below(object):
    """What was found below the directory of a resource."""

    def __init__(self, resource: ResourceType, status: "Status") -> None:
        given = resource.properties
        scope = Scope(
            given.get("recurse") is True, given.get("purge") is True, given.get("keep") or ()
        )
        self._resource = resource
        context, top = resource.context, resource.name
        real = context.places(top)[1] if context.noop else context.files.directory(top).path
        if is_of_system(real, scope.purge):
            raise ResourceError(
                "%s is %s, a directory of the system: its content is not managed as a whole"
                % (top, real),
                kind="resource.file.system",
                hint="use a directory of your own further down",
            )
        walk = Walk(context, top, real=real, status=status, scope=scope)
        self._unknown = walk.unknown
        self._extra = purge.extra(walk) if scope.purge else []
        gone = {entry.path for entry in self._extra}
        self._managed = [e for e in walk.entries if e.managed and e.path not in gone]

    def actions(self, own: Sequence[Action], uid: int, gid: int) -> List[Action]:
        """What is left to do, with the actions of the directory's ``own`` attributes.

        As root they come last: what is in a directory is changed while nobody else owns that.
        """
        found = purge.actions(self._resource, self._extra)
        found += recursion.actions(self._resource, self._differing(uid, gid))
        found = [*found, *own] if os.geteuid() == 0 else [*own, *found]
        if self._unknown is not None:
            self._unknown.would = found
            raise self._unknown
        return found

    def _differing(self, uid: int, gid: int) -> List[recursion.Differing]:
        wish = recursion.wish_of(self._resource.properties, uid, gid)
        return recursion.differing(wish, self._managed)

    def differences(self, uid: int, gid: int) -> Dict[str, Any]:
        """What is not as desired, for drift and plans; {} for nothing."""
        found: Dict[str, Any] = {}
        if self._extra:
            found["purge"] = sorted(os.fsencode(entry.shown).hex() for entry in self._extra)
        digest = sha256()
        differing = self._differing(uid, gid)
        for one in differing:
            status = one.entry.status
            told = (status.kind, status.uid, status.gid, status.mode, one.entry.shown)
            digest.update(os.fsencode("%s %d %d %o %s\0" % told))
        if differing:
            found["recurse"] = digest.hexdigest()
        return found
