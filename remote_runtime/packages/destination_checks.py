"""What keeps the files of packages from being put where they belong, or from being taken away
(target; in previews only)."""

import os
from typing import TYPE_CHECKING, Dict, FrozenSet, Hashable, List, Mapping, Optional, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.packages.dpkg.contents import Contents, Member
from remote_runtime.system import preconditions

if TYPE_CHECKING:
    from remote_runtime.system.files import Files

_BESIDE = "/.ccm-new"  # a name that nothing has, for one that a package manager gives what comes
_READ_ONLY = "erofs"


class DestinationChecks(object):
    """Looks at the host as it will be, at each directory once."""

    def __init__(self, files: "Files") -> None:
        self._files = files
        self._directories: Dict[str, Optional[ResourceError]] = {}
        self._flagged: Dict[str, Tuple[str, bool]] = {}
        self._points: Optional[FrozenSet[str]] = None

    def refuse(self, coming: Mapping[str, Contents]) -> None:
        """``ResourceError`` where files of a package cannot be put somewhere; ``Unknowable`` where
        that depends on the order in which packages come."""
        for name, contents in sorted(coming.items()):
            conffiles = set(contents.conffiles)
            for member in contents.members:
                try:
                    self._put(member, member.path in conffiles)
                except Unknowable:
                    raise
                except ResourceError as error:
                    raise _not_installed(name, error) from error
        self._fit(coming)

    def _put(self, member: Member, kept: bool) -> None:
        """A new file gets another name first, and then takes the place of an old one."""
        path = member.path
        if member.kind == "directory" and self._files.is_directory(path):
            return
        error = self._entering(os.path.dirname(path))
        if error is not None:
            raise error
        if member.kind != "directory" and not kept and self._is_fixed(path):
            self._files.obstacles(path).writing(0)

    def _entering(self, directory: str) -> Optional[ResourceError]:
        """What keeps a new name from being made in a directory."""
        if directory not in self._directories:
            self._directories[directory] = None
            try:
                self._files.obstacles(directory + _BESIDE).writing(0)
            except Unknowable:
                raise
            except ResourceError as error:
                self._directories[directory] = error
        return self._directories[directory]

    def _is_fixed(self, path: str) -> bool:
        """Whether what the host has at a path can be neither replaced nor removed."""
        place, flagged = self._place(os.path.dirname(path))
        real = os.path.join(place, os.path.basename(path))
        if self._is_mounted(real):
            return True
        return os.path.lexists(real) and (flagged or bool(preconditions.flags(real)))

    def _is_mounted(self, real: str) -> bool:
        """Whether the host has something mounted at a path without links."""
        if self._points is None:
            self._points = preconditions.mount_points()
        return real in self._points

    def _place(self, directory: str) -> Tuple[str, bool]:
        """Where the host has a directory, and whether names stay in it."""
        if directory not in self._flagged:
            real = os.path.realpath(directory)
            self._flagged[directory] = real, os.path.isdir(real) and bool(preconditions.flags(real))
        return self._flagged[directory]

    # -- space ------------------------------------------------------------------------------------

    def _fit(self, coming: Mapping[str, Contents]) -> None:
        """All new files of a package are there before the old ones go."""
        needed: Dict[Hashable, Dict[str, List[int]]] = {}
        spare: Dict[Hashable, preconditions.FreeSpace] = {}
        systems: Dict[str, Hashable] = {}
        for name, contents in sorted(coming.items()):
            for member in contents.members:
                directory = os.path.dirname(member.path)
                if directory not in systems:
                    found = self._files.obstacles(directory + _BESIDE).spare()
                    systems[directory] = found.system
                    spare[found.system] = found
                sums = needed.setdefault(systems[directory], {}).setdefault(name, [0, 0])
                if member.kind == "directory" and self._files.is_directory(member.path):
                    continue
                if member.kind == "file":
                    sums[0] += -(-member.size // preconditions.PAGE) * preconditions.PAGE
                sums[1] += 1
        for system, packages in needed.items():
            for name, (size, count) in sorted(packages.items()):
                if not spare[system].holds(size, count) and len(packages) == 1:
                    raise _too_much(name)
            total = [sum(sums[number] for sums in packages.values()) for number in (0, 1)]
            if not spare[system].holds(total[0], total[1]):
                raise Unknowable("cannot predict whether there is enough space for all packages")

    # -- what goes --------------------------------------------------------------------------------

    def stays(self, path: str) -> bool:
        """Whether dpkg goes on without having removed what is at a path."""
        return self._is_fixed(path)

    def refuse_removal(self, path: str) -> None:
        """``ResourceError`` where dpkg stops at what it cannot remove."""
        error = self._entering(os.path.dirname(path))
        if error is not None and error.kind.endswith(_READ_ONLY):
            self._files.obstacles(path).removing()
        if self._is_fixed(path) and not self._files.is_directory(path):
            real = os.path.join(self._place(os.path.dirname(path))[0], os.path.basename(path))
            if self._is_mounted(real):
                self._files.obstacles(path).removing()


def _not_installed(name: str, error: ResourceError) -> ResourceError:
    return ResourceError(
        "%s cannot be installed: %s" % (name, error.message), kind=error.kind, hint=error.hint
    )


def _too_much(name: str) -> ResourceError:
    return ResourceError(
        "%s cannot be installed: not enough space for its files" % name,
        kind="package.space",
        hint="free space on the host, or mount a larger file system",
    )
