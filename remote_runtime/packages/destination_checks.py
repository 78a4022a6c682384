"""Obstacles to the installation or removal of a package's files (target; in previews only)."""

import os
from typing import TYPE_CHECKING, Dict, FrozenSet, Hashable, List, Mapping, Optional, Tuple

from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.packages.dpkg.package_contents import Contents, Member
from remote_runtime.system import preconditions

if TYPE_CHECKING:
    from remote_runtime.system.files import Files

_BESIDE = "/.ccm-new"  # an unused name, like the temporary one of a package manager for a new file
_READ_ONLY = "erofs"


class DestinationChecks(object):
    """Checks the planned state of the host, each directory once."""

    def __init__(self, files: "Files") -> None:
        self._files = files
        self._directories: Dict[str, Optional[ResourceError]] = {}
        self._flagged: Dict[str, Tuple[str, bool]] = {}
        self._points: Optional[FrozenSet[str]] = None

    def refuse(self, incoming: Mapping[str, Contents]) -> None:
        """Raise ``ResourceError`` if a file of a package cannot be installed; ``Unknowable`` if
        that depends on the order of the packages.
        """
        for name, contents in sorted(incoming.items()):
            conffiles = set(contents.conffiles)
            for member in contents.members:
                try:
                    self._put(member, member.path in conffiles)
                except Unknowable:
                    raise
                except ResourceError as error:
                    raise _not_installed(name, error) from error
        self._fit(incoming)

    def _put(self, member: Member, exists_before: bool) -> None:
        """Check the path of a new file, which first gets a temporary name and then replaces the old
        file.
        """
        path = member.path
        if member.kind == "directory" and self._files.is_directory(path):
            return
        error = self._entering(os.path.dirname(path))
        if error is not None:
            raise error
        if member.kind != "directory" and not exists_before and self._is_fixed(path):
            self._files.obstacles(path).writing(0)

    def _entering(self, directory: str) -> Optional[ResourceError]:
        """Return the obstacle to a new name in a directory, or None."""
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
        """Return whether the path on the host can be neither replaced nor removed."""
        place, flagged = self._place(os.path.dirname(path))
        real = os.path.join(place, os.path.basename(path))
        if self._is_mounted(real):
            return True
        return os.path.lexists(real) and (flagged or bool(preconditions.flags(real)))

    def _is_mounted(self, real: str) -> bool:
        """Return whether the host has a mount at a path without links."""
        if self._points is None:
            self._points = preconditions.mount_points()
        return real in self._points

    def _place(self, directory: str) -> Tuple[str, bool]:
        """Return the path of a directory on the host, and whether its entries are kept."""
        if directory not in self._flagged:
            real = os.path.realpath(directory)
            self._flagged[directory] = real, os.path.isdir(real) and bool(preconditions.flags(real))
        return self._flagged[directory]

    # -- space ------------------------------------------------------------------------------------

    def _fit(self, incoming: Mapping[str, Contents]) -> None:
        """Check the free space: all new files of a package exist before the old ones
        are removed.
        """
        needed: Dict[Hashable, Dict[str, List[int]]] = {}
        spare: Dict[Hashable, preconditions.FreeSpace] = {}
        places: Dict[Hashable, preconditions.Preconditions] = {}
        systems: Dict[str, Hashable] = {}
        for name, contents in sorted(incoming.items()):
            for member in contents.members:
                directory = os.path.dirname(member.path)
                if directory not in systems:
                    place = self._files.obstacles(directory + _BESIDE)
                    space = place.spare()
                    systems[directory] = space.system
                    spare[space.system], places[space.system] = space, place
                sums = needed.setdefault(systems[directory], {}).setdefault(name, [0, 0])
                if member.kind == "directory" and self._files.is_directory(member.path):
                    continue
                if member.kind == "file":
                    sums[0] += -(-member.size // preconditions.PAGE) * preconditions.PAGE
                sums[1] += 1
        for system, packages in needed.items():
            for name, (size, count) in sorted(packages.items()):
                if not spare[system].holds(size, count) and len(packages) == 1:
                    places[system].spot.full()
                    raise _too_much(name)
            total = [sum(sums[number] for sums in packages.values()) for number in (0, 1)]
            if not spare[system].holds(total[0], total[1]):
                raise Unknowable("cannot predict whether there is enough space for all packages")

    # -- removals ---------------------------------------------------------------------------------

    def stays(self, path: str) -> bool:
        """Return whether dpkg continues although it cannot remove the path."""
        return self._is_fixed(path)

    def refuse_removal(self, path: str) -> None:
        """``ResourceError`` if dpkg stops at a path that it cannot remove."""
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
