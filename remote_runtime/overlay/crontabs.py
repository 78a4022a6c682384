"""The predicted crontabs of users when a resource runs (target)."""

import os
from typing import TYPE_CHECKING, Callable, Optional

from remote_runtime.changes import Unknowable
from remote_runtime.overlay.uncertainty import UnknownRegions
from remote_runtime.system.process.crontabs import Crontabs, spool

if TYPE_CHECKING:
    from remote_runtime.overlay.accounts import OverlayAccounts
    from remote_runtime.overlay.file_overlay import FileOverlay

_LARGEST = 1 << 20


class OverlayCrontabs(Crontabs):
    """The crontabs of the host, each read once, and the planned ones, which are files of
    the layer.
    """

    def __init__(
        self,
        host: "Callable[[], Crontabs]",
        layer: "FileOverlay",
        unknown_regions: UnknownRegions,
        accounts: "OverlayAccounts",
    ) -> None:
        self._host = host
        self._layer, self._unknown_regions, self._accounts = layer, unknown_regions, accounts

    def text(self, user: str) -> Optional[str]:
        """See the base class. ``Unknowable`` for a crontab that a command writes, and for the file
        of an earlier user.
        """
        path = "%s/%s" % (spool(), user)
        node = self._layer.nodes.get(path)
        there = node.kind != "absent" if node is not None else os.path.lexists(path)
        since = 0
        if node is not None:  # only a header, which is not part of the text, is uncertain
            since = node.since + (node.content is not None and node.content.uncertainty is not None)
        self._unknown_regions.record_read("path", path, there, since)
        if node is None and not self._accounts.is_new("user", user):
            return self._host().text(user)
        if node is None and there:
            raise Unknowable("%s belongs to a previous user named %s" % (path, user))
        if node is None:
            return None
        if node.kind == "absent":
            return None
        data = None if node.content is None else node.content.data(_LARGEST)
        if data is None:
            raise Unknowable("the result of %s for %s is not known" % (node.by, path))
        return data.decode("utf-8", "surrogateescape")

    def set_text(self, user: str, text: str) -> None:
        """Not called in a preview, which records an effect instead."""
        raise NotImplementedError("a preview installs nothing")
