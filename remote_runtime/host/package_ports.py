"""The ports to packages and to package lists (target).

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
        """Whether this turn has to refresh the lists: a repository has changed since they were
        refreshed, and no other repository has its turn before the next package, or the end."""
        raise NotImplementedError


class PackageLists(PackageListReader):
    """Reads and refreshes the package lists."""

    def outdate(self, manager: str, repository: str) -> None:
        """Note that a repository has changed whose lists the package manager reads."""
        raise NotImplementedError

    def refresh(self, manager: str) -> None:
        """Fetch the lists. A preview fetches nothing: its prediction assumes that this succeeds."""
        raise NotImplementedError


class PackageSource(object):
    """The file that a resource names, which is a package."""

    def look(self) -> "PackageFile":
        """Which package it is. It is fetched where that is not known yet.

        ``ResourceError``; ``Missing`` and ``Unknowable`` where an earlier change decides.
        """
        raise NotImplementedError

    def fetch(self) -> "PackageFile":
        """The same, with the file at hand."""
        raise NotImplementedError

    def discard(self) -> None:
        """Remove what was fetched for the push."""
        raise NotImplementedError


class PackageReader(object):
    """The package of one resource, which can be looked at.

    ``title`` is its name in reports. ``purges``: a removal can take configuration files along.
    ``asks``: scripts of packages ask questions through debconf. ``marks_changed``: a package that
    gets another version because it is asked for is marked as manual by that.
    """

    title = ""
    purges = False
    asks = False
    marks_changed = True

    def compare(self, left: str, right: str) -> int:
        """Order two versions: -1, 0 or 1."""
        raise NotImplementedError

    def shown(self, version: str) -> str:
        """The version as an event and a preview have it."""
        raise NotImplementedError

    def told(self, before: str, after: str) -> Tuple[str, str]:
        """Two versions as the record of a change has them."""
        raise NotImplementedError

    def is_secret(self, value: str) -> bool:
        """Whether a text holds a secret of the run."""
        raise NotImplementedError

    def matching(self, available: "Available", wanted: str) -> Optional[str]:
        """The available version that is equal to ``wanted``, in the spelling of the lists."""
        raise NotImplementedError

    # -- what is there ----------------------------------------------------------------------------

    def changed_before(self) -> "Optional[Installed]":
        """What was installed before this turn's change was made at an earlier turn, or None."""
        raise NotImplementedError

    def installed(self) -> "Installed":
        """What is installed, in a preview as it will be."""
        raise NotImplementedError

    def status(self) -> "Installed":
        """What is installed, as it is."""
        raise NotImplementedError

    def has_version(self, installed: "Installed", wanted: str) -> bool:
        """Whether the wanted version is among those that are installed."""
        raise NotImplementedError

    def is_held(self, installed: "Installed") -> bool:
        """Whether the package is kept at its version, where ``installed`` is what is there."""
        raise NotImplementedError

    def hold_trouble(self) -> "Optional[ResourceError]":
        """Why nothing can be put on hold on this host, None where it can."""
        raise NotImplementedError

    def answers(self, questions: Sequence[str]) -> Dict[str, str]:
        """What debconf has for these questions, in a preview as it will be; without those that
        have no answer yet."""
        raise NotImplementedError

    def answers_now(self, questions: Sequence[str]) -> Dict[str, str]:
        """The same, as it is."""
        raise NotImplementedError

    # -- what could be there ----------------------------------------------------------------------

    def needs_lists(self, ensure: str, installed: "Installed") -> bool:
        """Whether the package lists have a say in what is to be done."""
        raise NotImplementedError

    def outdated(self, age: Optional[float]) -> str:
        """Why lists that may be ``age`` seconds old have to be refreshed, or ""."""
        raise NotImplementedError

    def freshen(self, age: Optional[float]) -> str:
        """Have lists that are not older, None for any age. In a preview: why only a push could."""
        raise NotImplementedError

    def available(self) -> "Available":
        """What could be installed."""
        raise NotImplementedError

    def available_now(self) -> "Available":
        """What the lists say of it as they are."""
        raise NotImplementedError

    def source(self) -> PackageSource:
        """The file that the resource names."""
        raise NotImplementedError

    def not_listed(self) -> Tuple[str, str]:
        """The error for a package that no list has, and what to do."""
        raise NotImplementedError

    def exclusion(self) -> Optional[Tuple[str, str]]:
        """Which setting of this host keeps versions of it from being installed, and what to do
        about it; None where none is found."""
        raise NotImplementedError

    def providers_of(self) -> Sequence[str]:
        """The packages that provide it where it is a virtual one, at most a handful."""
        raise NotImplementedError

    def promised(self, operation: "Operation", releases: bool) -> "Sequence[VersionChange]":
        """What ``change`` would change, if this run is held to what was promised."""
        raise NotImplementedError


class Package(PackageReader):
    """The package of one resource, which can be changed."""

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
        """Install, upgrade, downgrade or remove it; all that changes then. The next resources may
        be changed in the same transaction.

        ``before`` is what is installed until then. ``releases``: a hold is no obstacle. The scripts
        of the package may choose other answers to the ``questions``.
        """
        raise NotImplementedError

    def mark_manual(self) -> None:
        """Have it count as installed for its own sake."""
        raise NotImplementedError

    def hold(self, held: bool) -> None:
        """Keep it at its version, or let it change again."""
        raise NotImplementedError

    def answer(self, answers: "Sequence[Answer]") -> None:
        """Set answers for it, which need not be there."""
        raise NotImplementedError


class PackagesReader(object):
    """Finds packages, which can be looked at."""

    def of(self, manager: str, name: str, properties: Properties) -> PackageReader:
        """The package of a resource with this name and these properties."""
        raise NotImplementedError


class Packages(PackagesReader):
    """Finds packages, which can be changed."""

    def of(self, manager: str, name: str, properties: Properties) -> Package:
        raise NotImplementedError
