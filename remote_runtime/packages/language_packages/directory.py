"""The directory of an environment: who owns it, and who else may change it (target).

Programs in it run as its owner. If the owner is root, nobody else may be able to replace these
programs.
"""

import os
from typing import TYPE_CHECKING, NamedTuple, Optional, Sequence, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.system import walk
from remote_runtime.system.accounts import own_group

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.system.files import Files
    from remote_runtime.system.paths import Status

KIND = "package.environment"


class Place(NamedTuple):
    """A directory, and its current or future user and group; a negative number means that of the
    run. ``is_there``: it need not be created.
    """

    path: str
    uid: int
    gid: int
    is_there: bool

    def identity(self) -> Tuple[Optional[str], Optional[str]]:
        """The user and group of its commands; None for those of the run."""
        if self.uid < 0 or self.uid == os.geteuid():
            return None, None
        return str(self.uid), own_group(self.uid, self.gid)

    @property
    def is_of_root(self) -> bool:
        """Whether its commands run as root."""
        return os.geteuid() == 0 and self.uid <= 0


def of(context: "Context", path: str, owner: Optional[str]) -> Place:
    """Return the place at a path; a new one belongs to ``owner``, or to the owner of its parent.

    ``ResourceError`` if it cannot be used.
    """
    status = context.files.status(path, follow=True)
    wanted = None if owner is None else context.accounts.uid(owner)
    if status is None:
        return Place(path, *_new(context, path, owner, wanted), is_there=False)
    if status.kind != "directory":
        raise ResourceError("%s is a %s, not a directory" % (path, status.kind), kind=KIND)
    if wanted is not None and wanted != status.uid:
        name = context.accounts.user_name(status.uid)
        raise ResourceError(
            "%s is owned by %s, not %s" % (path, name, owner),
            kind=KIND,
            hint="make that user the owner of the whole directory, or use another path",
        )
    if os.geteuid() not in (0, status.uid):
        raise ResourceError(
            "%s belongs to the user %s, and ccm runs as %s"
            % (path, *map(context.accounts.user_name, (status.uid, os.geteuid()))),
            kind=KIND,
            hint="set become: true for this host, or push as the owner",
        )
    return Place(path, status.uid, status.gid, is_there=True)


def _new(
    context: "Context", path: str, owner: Optional[str], wanted: Optional[int]
) -> Tuple[int, int]:
    """Return owner and group of a new directory; -1 for those of the run."""
    if owner is not None and wanted is not None:
        entry = None if owner.isdigit() else context.accounts.user(owner)
        return wanted, wanted if entry is None else entry.gid
    above = context.files.status(os.path.dirname(path), follow=True)
    if above is None or os.geteuid() != 0 or above.uid == 0:
        return -1, -1
    return above.uid, above.gid


def require_safe(context: "Context", place: Place, within: Sequence[str]) -> None:
    """Raise ``ResourceError`` for a directory in which root would run a command that another user
    may control.

    ``within`` are paths in it that determine what runs; missing ones are ignored. In a directory of
    a user, they must belong to that user or to root.
    """
    files = context.files
    if place.is_of_root:
        real = files.real(place.path) if place.is_there else place.path
        above = os.path.dirname(real)
        while True:
            _require_own(files, above, sticky=True)
            if above == "/":
                break
            above = os.path.dirname(above)
        for path in (place.path, *within) if place.is_there else ():
            _require_own(files, path, sticky=False)
        return
    for path in within if place.is_there else ():
        status = files.status(path)  # a link of the user may lead anywhere: the user follows it
        if status is not None and status.uid not in (0, place.uid):
            name = context.accounts.user_name
            raise ResourceError(
                "%s belongs to the user %s, but %s belongs to the user %s"
                % (path, name(status.uid), place.path, name(place.uid)),
                kind=KIND,
                hint="make one user the owner of the whole directory",
            )


def require_safe_program(context: "Context", place: Place, program: str) -> None:
    """Raise ``ResourceError`` for a program that root would run and another user can replace."""
    if not place.is_of_root:
        return
    real = context.files.real(program)
    above = real
    while above != "/":
        _require_own(context.files, above, sticky=above != real)
        above = os.path.dirname(above)


def require_readable(context: "Context", place: Place, path: str) -> None:
    """Raise ``ResourceError`` for a list of packages that the owner of a place must not use.

    The owner must be allowed to read it: it may name other files, and errors would show lines of
    them. Nobody else may choose what root installs.
    """
    require_safe_program(context, place, path)
    user, group = place.identity()
    if user is None:
        return
    from remote_runtime.overlay.permissions import Permissions

    rights = Permissions(context.files, context.accounts.identity(user, group))
    if not (rights.reach(path) and rights.read(path)):
        raise ResourceError(
            "the user %s, who owns %s, cannot read %s"
            % (context.accounts.user_name(place.uid), place.path, path),
            kind=KIND,
            hint="allow this user to read it, or use another file",
        )


def _require_own(files: "Files", path: str, sticky: bool) -> None:
    status = files.status(path, follow=True)
    if status is not None and _is_shared(status, files.real(path), sticky):
        raise ResourceError(
            "users other than root can change %s, and ccm would run programs as root there" % path,
            kind=KIND,
            hint="set owner to a regular user, or allow only root to write to it",
        )


def _is_shared(status: "Status", path: str, sticky: bool) -> bool:
    return walk.is_shared(status.uid, status.gid, mode=status.mode, path=path, sticky=sticky)
