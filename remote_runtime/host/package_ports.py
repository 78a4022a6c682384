"""The ports through which a repository reaches package lists (target).

See ``ports`` for what all of them have in common.
"""


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
