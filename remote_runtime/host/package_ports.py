"""The ports for packages and package lists (target).

See ``ports`` for what all of them have in common.
"""

from typing import TYPE_CHECKING, Dict, Optional, Sequence, Tuple

from remote_runtime.item import Properties

if TYPE_CHECKING:
    from remote_runtime.errors import ResourceError
    from remote_runtime.packages.values import (
        Answer,
        Available,
        Installed,
        Operation,
        PackageFile,
        VersionChange,
    )


class PackageListReader(object):
    """Reads how old the package lists are. ``manager`` is apt or dnf."""

    def pending(self, manager: str) -> bool:
        """Whether this resource must refresh the lists: a repository has changed since the last
        refresh, and no other repository follows before the next package, or the end."""
        raise NotImplementedError


class PackageLists(PackageListReader):
    """Reads and refreshes the package lists."""

    def outdate(self, manager: str, repository: str) -> None:
        """Note that a repository of the package manager has changed."""
        raise NotImplementedError

    def refresh(self, manager: str) -> None:
        """Fetch the lists. A preview fetches nothing: its prediction assumes that this succeeds."""
        raise NotImplementedError


class PackageSource(object):
    """The package file of a resource."""

    def look(self) -> "PackageFile":
        """Which package it contains. It is downloaded if that is not known yet.

        ``ResourceError``; ``Missing`` and ``Unknowable`` if an earlier change decides.
        """
        raise NotImplementedError

    def fetch(self) -> "PackageFile":
        """Like ``look``, with the file on the host."""
        raise NotImplementedError

    def discard(self) -> None:
        """Remove the download."""
        raise NotImplementedError


class PackageReader(object):
    """The package of one resource, read only.

    ``title`` is its name in reports. ``purges``: a removal can also remove configuration files.
    ``asks``: scripts of packages ask questions through debconf. ``marks_changed``: an upgrade or
    downgrade also marks the package as manually installed.
    """

    title = ""
    purges = False
    asks = False
    marks_changed = True

    def compare(self, left: str, right: str) -> int:
        """Order two versions: -1, 0 or 1."""
        raise NotImplementedError

    def shown(self, version: str) -> str:
        """The version in the form of events and previews."""
        raise NotImplementedError

    def told(self, before: str, after: str) -> Tuple[str, str]:
        """Two versions in the form of change records."""
        raise NotImplementedError

    def is_secret(self, value: str) -> bool:
        """Whether a text contains a secret of the run."""
        raise NotImplementedError

    def matching(self, available: "Available", wanted: str) -> Optional[str]:
        """The available version that is equal to ``wanted``, as the lists write it."""
        raise NotImplementedError

    # -- the installed package --------------------------------------------------------------------

    def changed_before(self) -> "Optional[Installed]":
        """What was installed before an earlier resource made this resource's change, or None."""
        raise NotImplementedError

    def installed(self) -> "Installed":
        """What is installed; in a preview, what will be installed."""
        raise NotImplementedError

    def status(self) -> "Installed":
        """What is installed now."""
        raise NotImplementedError

    def has_version(self, installed: "Installed", wanted: str) -> bool:
        """Whether the wanted version is one of the installed versions."""
        raise NotImplementedError

    def is_held(self, installed: "Installed") -> bool:
        """Whether the package is on hold. ``installed`` is its installed version."""
        raise NotImplementedError

    def hold_trouble(self) -> "Optional[ResourceError]":
        """Why this host cannot put packages on hold; None if it can."""
        raise NotImplementedError

    def answers(self, questions: Sequence[str]) -> Dict[str, str]:
        """The answers of debconf to these questions, in a preview the predicted ones; without
        unanswered questions."""
        raise NotImplementedError

    def answers_now(self, questions: Sequence[str]) -> Dict[str, str]:
        """Like ``answers``, for the current host."""
        raise NotImplementedError

    # -- available packages -----------------------------------------------------------------------

    def needs_lists(self, ensure: str, installed: "Installed") -> bool:
        """Whether the next step depends on the package lists."""
        raise NotImplementedError

    def outdated(self, age: Optional[float]) -> str:
        """Why lists that may be ``age`` seconds old must be refreshed, or ""."""
        raise NotImplementedError

    def freshen(self, age: Optional[float]) -> str:
        """Refresh lists that are older; None accepts any age. In a preview: why only a push
        could."""
        raise NotImplementedError

    def available(self) -> "Available":
        """What could be installed."""
        raise NotImplementedError

    def available_now(self) -> "Available":
        """What the current lists contain of it."""
        raise NotImplementedError

    def source(self) -> PackageSource:
        """The package file of the resource."""
        raise NotImplementedError

    def not_listed(self) -> Tuple[str, str]:
        """The error for a package that is not in the lists, and its hint."""
        raise NotImplementedError

    def exclusion(self) -> Optional[Tuple[str, str]]:
        """The setting of this host that excludes versions of the package, and a hint; None if there
        is no such setting."""
        raise NotImplementedError

    def providers_of(self) -> Sequence[str]:
        """The packages that provide a virtual package, a few at most."""
        raise NotImplementedError

    def promised(self, operation: "Operation", releases: bool) -> "Sequence[VersionChange]":
        """What ``change`` would change, if this run is bound to a plan file."""
        raise NotImplementedError


class Package(PackageReader):
    """The package of one resource."""

    def refresh_lists(self) -> None:
        """Fetch the package lists."""
        raise NotImplementedError

    def change(
        self,
        operation: "Operation",
        before: "Installed",
        *,
        releases: bool = False,
        questions: Sequence[str] = (),
    ) -> "Sequence[VersionChange]":
        """Install, upgrade, downgrade or remove the package; return everything that changes. The
        next resources may be changed in the same transaction.

        ``before`` is what is installed before that. ``releases``: a hold does not prevent it. The
        scripts of the package may change the answers to the ``questions``.
        """
        raise NotImplementedError

    def mark_manual(self) -> None:
        """Mark the package as manually installed."""
        raise NotImplementedError

    def hold(self, held: bool) -> None:
        """Set or release the hold of the package."""
        raise NotImplementedError

    def answer(self, answers: "Sequence[Answer]") -> None:
        """Set debconf answers for the package, which may not be installed."""
        raise NotImplementedError


class PackagesReader(object):
    """Finds packages, to read them."""

    def of(self, manager: str, name: str, properties: Properties) -> PackageReader:
        """The package of a resource with this name and these properties."""
        raise NotImplementedError


class Packages(PackagesReader):
    """Finds packages, to read or change them."""

    def of(self, manager: str, name: str, properties: Properties) -> Package:
        raise NotImplementedError
