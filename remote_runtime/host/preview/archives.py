"""Archives in a preview (target): none is extracted, but the results of extraction are recorded."""

import os
from typing import TYPE_CHECKING, Optional

from remote_runtime import missing_parents
from remote_runtime.effects import Below, PathEffect, UnknownEffect
from remote_runtime.host import download_ports
from remote_runtime.host.download_ports import Extraction
from remote_runtime.host.machine.archives import PARENT_MODE, ArchiveReader
from remote_runtime.host.preview.change_record import Record
from remote_runtime.uncertainty import UNKNOWN, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.context import Context


class Archives(ArchiveReader, download_ports.Archives):
    """Records the known effects of an extraction."""

    def __init__(self, context: "Context", record: Record) -> None:
        super().__init__(context, record.overlay.files, record.overlay.commands)
        self._record = record

    def extract(self, path: str, how: Extraction, checksum: str = "") -> None:
        """See the base class. Reads the archive if the host already has it, and refuses what the
        push would refuse.
        """
        if self._record.checks:
            self.require(how)
            if self._record.overlay.layer.find(path, True).node is None:
                self.survey(path, how)
            self.require_place(how)
        self.record(how)

    def require_place(self, how: Extraction) -> None:
        """``ResourceError`` if nothing can be written into the directory."""
        inside = how.parent.rstrip("/") + "/x"
        self._files.status(inside)  # refuses links that are not to be trusted
        if not self._files.exists(how.parent):
            self._files.obstacles(how.parent).making(mode=PARENT_MODE)
        self._files.obstacles(inside).writing(0)

    def record(self, how: Extraction) -> None:
        """Record the effects of an extraction; the other contents of the archive are unknown before
        the push."""
        mode: Optional[int] = None
        if not self._files.exists(how.parent):
            mode = PARENT_MODE
            above = missing_parents.parents(self._files, os.path.normpath(how.parent), mode)
            self._record.add(*above)
        by = self._record.by
        reason = "the files that %s extracts into %s are not known yet" % (by, how.parent)
        self._record.add(
            PathEffect(how.parent, "directory", mode, firm=False),
            UnknownEffect(Uncertainty(UNKNOWN, reason), Below(how.parent)),
        )
        if how.creates:
            self._record.add(PathEffect(how.creates, "something"))
