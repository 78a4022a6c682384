"""What the package type and package managers tell each other (target)."""

from typing import NamedTuple, Optional, Sequence

DOWNLOAD = "package.download"  # the kind of a failure before anything was changed
PRESENT, ABSENT, LATEST = "present", "absent", "latest"
PLACES = ("environment", "path", "global")
"""The properties of packages that are not of the system: those of pip and npm."""
CONFIG_FILES = "config-files"  # of a package that was removed and not purged


class Installed(NamedTuple):
    """What the package manager's database says of one package on this host.

    ``version`` is "" for a package that is not fully installed, and ``status`` says how far it is,
    in the package manager's own words. ``others`` are versions that are installed beside it.
    ``automatic``: it is there for another package, and is removed once nothing needs it.
    """

    version: str = ""
    status: str = "not-installed"
    held: bool = False
    others: Sequence[str] = ()
    architecture: str = ""
    automatic: bool = False


class Available(NamedTuple):
    """What the package lists say of one package.

    ``known`` is false for a name that no list has. ``candidate`` is the version that an
    installation would take, "" for none; ``versions`` are all that can be had, the newest first.
    """

    known: bool = False
    candidate: str = ""
    versions: Sequence[str] = ()


class VersionChange(NamedTuple):
    """One package that a transaction changes; "" where it is not installed."""

    name: str
    before: str
    after: str


class EarlyChange(NamedTuple):
    """What was changed for a turn to come, by its index, and what was installed before."""

    before: Installed
    changes: Sequence[VersionChange]


class PackageFile(NamedTuple):
    """A file that is a package, and what it says of itself; ``path`` is "" where it is not at hand.

    ``name`` is as transactions report it, ``version`` as ``Installed`` has it. ``control`` is all
    that a Debian package says.
    """

    path: str
    name: str
    version: str
    architecture: str = ""
    control: str = ""


class Answer(NamedTuple):
    """The answer to a question of debconf, as that keeps it: ``value`` is one line."""

    question: str
    type: str
    value: str


class Operation(NamedTuple):
    """What a package manager is asked for: one package, in one version, or ``removal``.

    ``version`` "" leaves it to the manager; ``exact`` says that this very version was asked for, so
    it may be older than what is there. A removal leaves the package's configuration files, unless
    it is a ``purge``.
    ``file`` is the package itself, which need not be in a repository.
    ``recommends`` says whether what it recommends comes along, None for the host's own setting.
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
