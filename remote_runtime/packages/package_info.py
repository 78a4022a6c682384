"""The values that the package type and package managers exchange (target)."""

from typing import NamedTuple, Optional, Sequence

DOWNLOAD = "package.download"  # the kind of a failure before any change
PRESENT, ABSENT, LATEST = "present", "absent", "latest"
PLACES = ("environment", "path", "global")
"""The properties of packages outside the system: those of pip and npm."""
CONFIG_FILES = "config-files"  # of a package that was removed but not purged


class Installed(NamedTuple):
    """The entry of one package in the package manager's database on this host.

    ``version`` is "" for a package that is not fully installed, and ``status`` is its state in the
    words of the package manager. ``others`` are further installed versions. ``automatic``: it is
    installed for another package, and is removed once nothing needs it.
    """

    version: str = ""
    status: str = "not-installed"
    held: bool = False
    others: Sequence[str] = ()
    architecture: str = ""
    automatic: bool = False


class Available(NamedTuple):
    """The entry of one package in the package lists.

    ``known`` is false for a name that is not in the lists. ``candidate`` is the version that an
    installation would choose, "" for none; ``versions`` are all available versions, the newest
    first.
    """

    known: bool = False
    candidate: str = ""
    versions: Sequence[str] = ()


class VersionChange(NamedTuple):
    """A change of one package in a transaction; "" means that it is not installed."""

    name: str
    before: str
    after: str


class EarlyChange(NamedTuple):
    """The change made for a later resource, and the version that was installed before."""

    before: Installed
    changes: Sequence[VersionChange]


class PackageFile(NamedTuple):
    """A package file with its metadata; ``path`` is "" if the file is not on the host.

    ``name`` is as in transactions, ``version`` as in ``Installed``. ``control`` is the metadata of
    a Debian package.
    """

    path: str
    name: str
    version: str
    architecture: str = ""
    control: str = ""


class Answer(NamedTuple):
    """The answer to a question of debconf, as debconf stores it: ``value`` is one line."""

    question: str
    type: str
    value: str


class Operation(NamedTuple):
    """A change of one package: to a version, or its ``removal``.

    ``version`` "" lets the package manager choose; ``exact``: exactly this version was requested,
    so it may be older than the installed one. A removal keeps the package's configuration files,
    unless it is a ``purge``. ``file`` is the package file, which may not be in any repository.
    ``recommends``: whether recommended packages are installed, too; None for the host's setting.
    """

    name: str
    version: str = ""
    exact: bool = False
    removal: bool = False
    recommends: Optional[bool] = None
    purge: bool = False
    file: str = ""

    def __str__(self) -> str:
        doing = "removing" if self.removal else "installing"
        doing = "purging" if self.purge else doing
        return " ".join(filter(None, (doing, self.name, self.version)))
