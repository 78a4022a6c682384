"""Finds the ``ccm.yaml`` that applies, and checks whether it is trusted (controller).

The search starts next to the manifest and in the current directory, then continues in their
parents, up to the root of the repository. It ends before a directory that belongs to another owner
or that others can write to. The file may name programs that ccm runs, so only its user may be able
to write to it. As ssh does with its configuration, ccm checks the target of a link, and also the
directories and the owner of the link.
"""

import os
import stat
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from orchestrator.sources.address import is_url
from remote_runtime.errors import InputError, Problem

if TYPE_CHECKING:
    from orchestrator.support.file_trust import PathStatus

FILE = "ccm.yaml"
_REPOSITORIES = (".git", ".hg", ".jj", ".svn")
_WRITABLE = stat.S_IWGRP | stat.S_IWOTH


class ProjectFile(NamedTuple):
    """A file by its displayed name, and the real directory to which its paths are relative."""

    path: str
    directory: str


def project_files(manifest: str = "") -> list[ProjectFile]:
    """Return the project files of a manifest: none, one, or two that may differ.

    InputError for a file that is not trusted.
    """
    found: dict[str, ProjectFile] = {}
    for directory in ("" if is_url(manifest) else os.path.dirname(manifest), ""):
        path = _nearest(directory)
        if not path:
            continue
        real = os.path.realpath(path)
        if manifest and real == os.path.realpath(manifest):
            raise _refused(
                f"{path} is the name of the project file, not of a manifest",
                f"rename the manifest, for example to {os.path.join(directory, 'site.yaml')}",
                "input.project",
            )
        if real not in found:
            _require_trust(path)
            linked = os.path.islink(path)
            found[real] = ProjectFile(path, os.path.dirname(real if linked else path))
    return list(found.values())


def _nearest(start: str) -> str:
    """The file in a directory or in the nearest one above it that has one; "" for none."""
    path = os.path.normpath(os.path.join(start, FILE))
    if os.path.lexists(path):
        return path
    directory = os.path.abspath(start)
    try:
        owner = os.stat(directory).st_uid
        while not any(os.path.lexists(os.path.join(directory, name)) for name in _REPOSITORIES):
            directory, below = os.path.dirname(directory), directory
            status = os.stat(directory)
            if directory == below or status.st_uid != owner or status.st_mode & _WRITABLE:
                return ""
            path = os.path.join(directory, FILE)
            if os.path.lexists(path):
                return os.path.relpath(path)
    except OSError:  # other users of the directory report it
        pass
    return ""


def directories_above(manifest: str) -> list[Path]:
    """The directory of a manifest and those above it, up to that of the project or the repository.

    Without either, the directory and the one above it. It ends where the search for ``ccm.yaml``
    does.
    """
    directory = Path(os.path.abspath(manifest)).parent
    owner = directory.stat().st_uid
    found = [directory]
    while not any(os.path.lexists(directory / name) for name in (FILE, *_REPOSITORIES)):
        directory, below = directory.parent, directory
        status = directory.stat()
        if directory == below:
            return found[:2]
        if status.st_uid != owner or status.st_mode & _WRITABLE:
            return found[:2]
        found.append(directory)
    return found


def require_private(directory: str) -> None:
    """InputError for a directory in which others could create a file; OSError."""
    _require_own([(directory, os.stat(directory))])


def _require_trust(path: str) -> None:
    """InputError if another user wrote, or may have written, the file, or chose which file
    is used.
    """
    from orchestrator.support.file_trust import entries_above

    try:
        looked = entries_above(path)
    except OSError as error:
        hint = "fix the link, or remove it" if os.path.islink(path) else "check its permissions"
        raise _refused(f"cannot read {path}: {error.strerror}", hint, "input.unreadable") from error
    _require_own(looked)
    if not stat.S_ISREG(looked[-1][1].st_mode):
        raise _refused(f"{path} is not a regular file", "remove it", "input.unreadable")


def _require_own(looked: "list[PathStatus]") -> None:
    """InputError if one of these belongs to another user, or others can write to it."""
    from orchestrator.support.file_trust import require_own

    require_own(looked, "what ccm does in this project", "change to a directory that you own")


def _refused(message: str, hint: str, kind: str) -> InputError:
    return InputError([Problem(message, None, hint, kind)])
