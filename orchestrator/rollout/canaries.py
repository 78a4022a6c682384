"""Canaries: one host of each cluster of hosts with the same changes goes first (controller)."""

from collections.abc import Collection, Sequence

from remote_runtime.errors import UsageError


class Canaries:
    """Clusters by the name of their canary, which is the first host of each."""

    def __init__(self, clusters: Sequence[Sequence[str]] = ()) -> None:
        self._behind = {names[0]: tuple(names[1:]) for names in clusters}

    def __bool__(self) -> bool:
        return bool(self._behind)

    def __contains__(self, host: str) -> bool:
        return host in self._behind

    def behind(self, failed: Collection[str]) -> set[str]:
        """The hosts that are not started if these canaries fail."""
        return {host for name in failed for host in self._behind.get(name, ())}


def check_clusters(clusters: Sequence[Sequence[str]], maximum: int) -> None:
    """UsageError if there are too many clusters."""
    if len(clusters) > maximum:
        raise UsageError(
            f"--canary: {len(clusters):,} groups of hosts would change differently, more than"
            f" {maximum:,}; nothing was changed",
            hint="raise --canary-max, select fewer hosts with -l, or use --waves",
        )
