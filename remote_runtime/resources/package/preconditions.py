"""Reasons why a package cannot be installed as requested, based on lists and holds (target)."""

from typing import TYPE_CHECKING, List, NamedTuple, Optional

from remote_runtime.packages.package_info import LATEST, PRESENT, Available, Installed

if TYPE_CHECKING:
    from remote_runtime.host.package_ports import PackageReader

_VERSIONS_SHOWN = 10


class FailedPrecondition(NamedTuple):
    """The obstacle, and a hint."""

    message: str
    hint: str


class Preconditions(object):
    """The preconditions of one package; ``ensure`` is the requested state, which differs from the
    installed one."""

    def __init__(self, package: "PackageReader", ensure: str) -> None:
        self._package, self._ensure = package, ensure

    def hold(self, installed: Installed) -> Optional[FailedPrecondition]:
        """Return the reason why its version must not change, None if it has no hold."""
        if not (installed.held and installed.version):
            return None
        name = self._package.title
        return FailedPrecondition(
            "%s is held at version %s" % (name, self._package.shown(installed.version)),
            "release it with `apt-mark unhold %s`" % name,
        )

    def downgrade(self, installed: Installed) -> FailedPrecondition:
        """Return the reason why an older version is not installed."""
        now = self._package.shown(installed.version)
        return FailedPrecondition(
            "a newer version of %s is installed (%s), and allow_downgrade is false"
            % (self._package.title, now),
            "request %s, or set allow_downgrade to true" % now,
        )

    def installation(
        self, installed: Installed, available: Available
    ) -> Optional[FailedPrecondition]:
        """Return the reason why it cannot be installed, None if no obstacle is known."""
        hold_problem = self.hold(installed)
        if hold_problem is not None:
            return hold_problem
        if not available.known:
            return self._excluded() or FailedPrecondition(*self._package.not_listed())
        if self._ensure not in (PRESENT, LATEST):
            return self._version(available)
        return None if available.candidate else self._candidate(available)

    def _excluded(self) -> Optional[FailedPrecondition]:
        exclusion = self._package.exclusion()
        return (
            FailedPrecondition(
                "%s is excluded by %s" % (self._package.title, exclusion[0]), exclusion[1]
            )
            if exclusion
            else None
        )

    def _version(self, available: Available) -> Optional[FailedPrecondition]:
        if self._package.matching(available, self._ensure) is not None:
            return None
        if not available.versions:
            return self._candidate(available)
        version_list = self._listed(available)
        if len(available.versions) > _VERSIONS_SHOWN:
            version_list += " and %d more" % (len(available.versions) - _VERSIONS_SHOWN)
        hint = "available: %s" % version_list
        exclusion = self._package.exclusion()
        if exclusion:
            hint += "; versions may be excluded by %s: %s" % exclusion
        return FailedPrecondition(
            "version %s of %s is not available" % (self._ensure, self._package.title), hint
        )

    def _listed(self, available: Available) -> str:
        versions: List[str] = [self._package.shown(v) for v in available.versions[:_VERSIONS_SHOWN]]
        return ", ".join(versions)

    def _candidate(self, available: Available) -> FailedPrecondition:
        if available.versions:
            exclusion = self._package.exclusion()
            hint = "the host's package preferences (pinning) exclude them; set the version"
            if exclusion:
                hint = "%s excludes them: %s, or set the version" % exclusion
            return FailedPrecondition(
                "%s has no installation candidate, although versions exist: %s"
                % (self._package.title, self._listed(available)),
                hint,
            )
        providers = ", ".join(self._package.providers_of())
        if not providers:
            return self._excluded() or FailedPrecondition(
                "%s has no installation candidate" % self._package.title,
                "only other packages refer to it; use another package",
            )
        return FailedPrecondition(
            "%s is a virtual package" % self._package.title,
            "use one of the packages that provide it: %s" % providers,
        )
