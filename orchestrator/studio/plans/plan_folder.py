"""The plan files in a project, with their signatures (controller).

The names come from a browser, so no link is followed and only files with the suffix of plans are
read.
"""

import contextlib
import hashlib
import os
from pathlib import Path
from typing import NamedTuple

from orchestrator.plan_files import signing
from orchestrator.plan_files.detection import SUFFIX
from orchestrator.studio.files_below import content_of, folder_below, is_name, names_below
from remote_runtime.errors import InputError

MAX_FILES = 200
MAX_BYTES = 64 << 20

Stamp = tuple[int, ...]


class StoredPlan(NamedTuple):
    """A plan file on disk, and the content of its signature file."""

    name: str
    text: bytes
    signatures: bytes

    @property
    def digest(self) -> str:
        """The SHA-256 of all bytes of the plan."""
        return hashlib.sha256(self.text).hexdigest()


class PlanFolder:
    """The plans in the directory ``root``."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))

    def names(self) -> list[str]:
        """The plans by their path relative to the root, newest first."""
        found = [
            (stamp, name)
            for name in names_below(self.root)
            if _is_possible(name) and (stamp := self.stamp(name))
        ]
        return [name for _, name in sorted(found, reverse=True)[:MAX_FILES]]

    def stamp(self, name: str) -> Stamp | None:
        """A stamp of the version of a plan; None if there is no plan."""
        return self._stamp(name) if _is_possible(name) else None

    def signature_stamp(self, name: str) -> Stamp | None:
        """A stamp of the signatures of a plan; None if there are none."""
        return self._stamp(name + signing.SUFFIX) if _is_possible(name) else None

    def _stamp(self, name: str) -> Stamp | None:
        with contextlib.suppress(OSError, InputError), folder_below(self.root, name) as folder:
            if folder is not None:
                found = os.stat(os.path.basename(name), dir_fd=folder, follow_symlinks=False)
                return found.st_mtime_ns, found.st_size, found.st_ino, found.st_ctime_ns
        return None

    def read(self, name: str) -> StoredPlan | None:
        """Return a plan; None if none has that name. InputError, OSError."""
        if not _is_possible(name):
            return None
        with folder_below(self.root, name) as folder:
            if folder is None:
                return None
            text = content_of(folder, name, MAX_BYTES, f"ccm plan show {name} shows it")
            if text is None:
                return None
            beside, maximum = name + signing.SUFFIX, signing.MAX_BYTES
            signatures = content_of(folder, beside, maximum, "remove it and sign again")
        return StoredPlan(name, text, signatures or b"")


def _is_possible(name: str) -> bool:
    return name.endswith(SUFFIX) and is_name(name)
