"""Selects the changed contents that may and can be shown (target)."""

from typing import Optional

from remote_runtime.changes import HASHED, Unknowable, content_before
from remote_runtime.content import Content
from remote_runtime.context import Context
from remote_runtime.plan_item import Item
from remote_runtime.reporting import text_diff
from remote_runtime.system.paths import Status

MAX_BYTES = 512 << 10
"""The total size in bytes of the contents for which one resource's diffs are created, so that its
event stays small.
"""

_OTHERS_READ = 0o004


class Diffs(object):
    """Creates the diffs of one resource, under the rules for files."""

    def __init__(self, context: Context, item: Item) -> None:
        self._context = context
        self._possible = context.options.diff and not item.sensitive
        self._left = MAX_BYTES

    def wants(self, old: Optional[Status], size: int, mode: int) -> bool:
        """Return whether the new content of a file, of ``size`` bytes, is needed for a diff;
        ``old`` is the node at its path.
        """
        if not self._possible or not self._may(old, mode):
            return False
        before = old.size if old is not None else 0
        if max(before, size) > text_diff.LARGEST or before + size > self._left:
            return False
        self._left -= before + size
        return True

    def _may(self, old: Optional[Status], mode: int) -> bool:
        """Return whether other users can read the file, now and after the change."""
        readable = mode & _OTHERS_READ and (old is None or old.mode & _OTHERS_READ)
        return bool(readable or self._context.options.diff_private)

    def make(self, path: str, content: Content, mode: int, node: Optional[Status]) -> Optional[str]:
        """The difference; sizes and hashes if it is too large; None if none may be shown.

        ``node`` is at the path.
        """
        old = node if node is not None and node.kind == "file" else None
        if not self._possible or not self._may(old, mode):
            return None
        files = self._context.files
        if not self.wants(old, content.size, mode):
            before = None
            if old is not None:
                before = (old.size, content_before(files, path, old, content.size))
            return text_diff.summary(before, (content.size, HASHED + content.sha256))
        try:
            text = None if old is None else files.read(path, text_diff.LARGEST)
            return text_diff.unified(text, content.read(), path)
        except Unknowable:  # of a package that is planned, only the hash may be known
            return None
