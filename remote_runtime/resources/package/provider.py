"""What the package type asks of a package manager (target)."""

from typing import NamedTuple, Optional, Sequence

from ...base import Provider

PRESENT, ABSENT, LATEST = "present", "absent", "latest"


class Installed(NamedTuple):
    """What the package manager's database says of one package on this host.

    ``version`` is "" for a package that is not fully installed, and ``status`` says how far it is,
    in the package manager's own words.
    """

    version: str = ""
    status: str = "not-installed"
    held: bool = False

    @property
    def ensure(self) -> str:
        """The state as an event reports it: the version, or absent."""
        return self.version or ABSENT


class Available(NamedTuple):
    """What the package lists say of one package.

    ``known`` is false for a name that no list has. ``candidate`` is the version that an
    installation would take, "" for none; ``versions`` are all that can be had, the newest first.
    """

    known: bool = False
    candidate: str = ""
    versions: Sequence[str] = ()


class PackageProvider(Provider):
    """A package manager. Every method may raise ``ResourceError``."""

    def compare(self, left: str, right: str) -> int:
        """Order two versions: -1, 0 or 1. This is the order of a provider without its own."""
        from . import generic_version

        return generic_version.compare(left, right)

    def status(self, name: str) -> Installed:
        """What is installed. One query answers it for all packages of the plan."""
        raise NotImplementedError

    def available(self, name: str) -> Available:
        """What could be installed, according to the lists as they are on this host."""
        raise NotImplementedError

    def providers_of(self, name: str) -> Sequence[str]:
        """The packages that provide a virtual package, at most a handful."""
        raise NotImplementedError

    def lists_outdated(self, max_age: float) -> str:
        """Return why lists that may be ``max_age`` seconds old have to be refreshed, or ""."""
        raise NotImplementedError

    def refresh_lists(self, lock_timeout: float) -> None:
        """Download the package lists. The one thing here that is not counted as a change."""
        raise NotImplementedError

    def install(self, name: str, version: str, exact: bool, lock_timeout: float) -> None:
        """Install, upgrade or downgrade, never interrupted; "" leaves the version to the manager.

        ``exact`` says that this very version was asked for, so it may be older than what is there.
        """
        raise NotImplementedError

    def uninstall(self, name: str, lock_timeout: float) -> None:
        """Remove the package and leave its configuration files; never interrupted."""
        raise NotImplementedError

    def needs_lists(self, ensure: str, installed: Installed) -> bool:
        """Whether the package lists have a say in what is to be done."""
        if ensure == ABSENT:
            return False
        if not installed.version or ensure == LATEST:
            return True
        return ensure != PRESENT and self.compare(installed.version, ensure) != 0


def matching_version(provider: PackageProvider, available: Available, wanted: str) -> Optional[str]:
    """Return the available version that is equal to ``wanted``, in the spelling of the lists."""
    for version in available.versions:
        if version == wanted or provider.compare(version, wanted) == 0:
            return version
    return None
