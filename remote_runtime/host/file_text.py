"""The content of a file as a value in a state (target)."""

from typing import Any, Optional

from remote_runtime.changes import HASHED
from remote_runtime.stdlib_light.sha256_digest import sha256

_OTHERS_READ = 0o004


class FileText(object):
    """The bytes of a file that a type changes in part, for the records of a state type.

    ``read`` and ``desired`` return one under a key such as ``content``.

    It is compared by its bytes. Change records, ``ccm status`` and plan files get its hash. A
    change record also gets a unified diff, like that of a ``file`` resource, unless the resource is
    sensitive or others may not read the file before or after the change (without
    ``--diff-private``). ``mode`` is the mode of the file, ``path`` its path; "" means the
    resource's name.
    """

    def __init__(self, data: bytes, mode: int, path: str = "") -> None:
        self.data = data
        self.mode = mode
        self.path = path
        self._hash = ""

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, FileText) and other.data == self.data

    def __hash__(self) -> int:
        return hash(self.data)

    @property
    def record(self) -> str:
        """Its form in records: its hash."""
        if not self._hash:
            self._hash = HASHED + str(sha256(self.data).hexdigest())
        return self._hash

    @property
    def is_private(self) -> bool:
        """Whether other users may not read it."""
        return not self.mode & _OTHERS_READ


def recorded(value: Any) -> Any:
    """A state value in the form used in records."""
    return value.record if isinstance(value, FileText) else value


def diff_of(
    before: Optional[FileText], after: Optional[FileText], path: str, private: bool
) -> Optional[str]:
    """A unified diff of two texts; None if it may not be shown.

    ``private``: diffs of private files may be shown. ``before`` and ``after`` are None for a file
    that does not exist.
    """
    from remote_runtime.reporting import text_diff

    sides = [side for side in (before, after) if side is not None]
    if not sides or (not private and any(side.is_private for side in sides)):
        return None
    path = sides[-1].path or path
    if max(len(side.data) for side in sides) <= text_diff.LARGEST:
        old, new = [None if side is None else side.data for side in (before, after)]
        return text_diff.unified(old, new, path)
    was, is_to_be = [
        None if side is None else (len(side.data), side.record) for side in (before, after)
    ]
    return text_diff.summary(was, is_to_be)
