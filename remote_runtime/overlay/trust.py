"""Which planned links are followed and which files are read, as ``walk`` decides (target)."""

import errno
import os
from typing import List, Optional, Sequence, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.overlay.layer import Layer
from remote_runtime.overlay.planned_nodes import Found, shared
from remote_runtime.system.errno_messages import many_names, refusal
from remote_runtime.system.files import Files
from remote_runtime.system.paths import is_within
from remote_runtime.system.walk import Link, is_shared, of_another, planted

_MOST_LINKS = 40  # as in Linux


class Trust(object):
    """The rules of links and of files with several names, over what is planned."""

    def __init__(self, host: Files, layer: Layer) -> None:
        self._host, self._layer = host, layer

    def require_followed(self, path: str, found: Found) -> None:
        """``ResourceError`` where one of the links to what was found is not to be trusted."""
        links = [Link(at, self._owner(at)) for at, _ in found.links]
        end = self._layer.find(path, follow=False).path
        chain: Optional[Link] = None
        at_end = False
        for link in links:
            at_end = at_end or link.path == end
            folder = os.path.dirname(link.path)
            trusted = link.owner in (0, os.geteuid())
            if trusted and self._is_shared(folder, sticky=True):
                raise planted(link, self._target(link.path), folder, self._owner(folder))
            if chain is not None and chain.owner != link.owner:
                raise of_another(chain, link.path, link.owner)
            if trusted:
                continue
            chain = link if at_end else None
            self._require_owned(link, [found.path] if at_end else self._folders(link, found))
        if len(links) >= _MOST_LINKS:
            raise refusal("inspect", path, errno.ELOOP)

    def _require_owned(self, link: Link, places: Sequence[str]) -> None:
        for place in places:
            owner = self._owner(place)
            if owner not in (-1, link.owner):
                raise of_another(link, place, owner)

    def _folders(self, link: Link, found: Found) -> List[str]:
        """The folder that a link on the way leads to, and those below it on the way."""
        target = self._layer.find(link.path, follow=True).path
        folders, folder = [target], os.path.dirname(found.path)
        while is_within(folder, target) and folder != target:
            folders.append(folder)
            folder = os.path.dirname(folder)
        return folders

    def require_own_name(self, path: str, found: Found) -> None:
        """``ResourceError`` for a file that will have several names where others can write."""
        if not self._layer.nodes or (found.node is not None and found.node.inode is None):
            return
        inode = shared(found.path)
        if inode is None:
            return
        names = os.lstat(found.path).st_nlink
        for at, node in self._layer.nodes.items():
            if node.opaque and os.path.isdir(at) and not os.path.islink(at):
                raise Unknowable("how many names %s will have is not known" % path)
            names -= int(node.inode != inode and shared(at) == inode)
        if names > 1 and self._is_shared(os.path.dirname(found.path), sticky=False):
            raise many_names("read", path, names)
        if self._host.in_shared_folder(found.path):
            raise Unknowable("what %s holds is not read while it has several names" % path)

    def _owner(self, path: str) -> int:
        return self._attributes(path)[0]

    def _attributes(self, path: str) -> Tuple[int, int, int]:
        """Owner, group and mode of what will be at a path without links; -1 where nothing is."""
        place = self._layer.find(path, follow=False)
        node = place.node
        if node is not None:
            return (-1, -1, 0) if node.kind == "absent" else (node.uid, node.gid, node.mode)
        if not place.there:
            return -1, -1, 0
        try:
            found = os.lstat(path)
        except OSError:
            return -1, -1, 0
        return found.st_uid, found.st_gid, found.st_mode

    def _target(self, path: str) -> str:
        node = self._layer.nodes.get(path)
        if node is not None:
            return node.target
        try:
            return os.readlink(path)
        except OSError:
            return ""

    def _is_shared(self, folder: str, sticky: bool) -> bool:
        uid, gid, mode = self._attributes(folder)
        return is_shared(uid, gid, mode=mode, path=folder, sticky=sticky)
