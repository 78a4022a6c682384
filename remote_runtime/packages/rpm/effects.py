"""The state of a host after new RPMs are installed (target)."""

from typing import AbstractSet, Dict, Mapping, Sequence, Set

from remote_runtime.effects import UNKNOWN, PathEffect, Uncertainty, UnknownEffect
from remote_runtime.packages import presets
from remote_runtime.packages.apt.effects import TransactionEffects
from remote_runtime.packages.dpkg.contents import SYSUSERS, Contents, Member
from remote_runtime.packages.dpkg.units import BOOTED, Units
from remote_runtime.packages.maintainer_scripts import accounts as script_accounts
from remote_runtime.packages.maintainer_scripts.scripts import UnitAndAccountCalls
from remote_runtime.packages.values import VersionChange

_TMPFILES = "/usr/lib/tmpfiles.d/"


class RpmEffects(TransactionEffects):
    """The effects as for Debian packages, except for configuration files and units."""

    def _installed(
        self, change: VersionChange, contents: Contents, calls: UnitAndAccountCalls
    ) -> None:
        super()._installed(change, contents, calls)
        self._made_by_rpm(change.name, contents, calls)

    def _arguments(self, change: VersionChange) -> Mapping[str, Sequence[str]]:
        """Return the scripts' arguments: the number of versions after the change."""
        count = ["2"] if change.before else ["1"]
        return {"preinst": count, "postinst": count}

    def _made_by_rpm(self, name: str, contents: Contents, calls: UnitAndAccountCalls) -> None:
        """Plan changes that a host's rpm or systemd may make to a package's files without a
        script."""
        made = {(account.kind, account.name) for account in calls.accounts.created}
        told = [m.text for m in contents.members if m.path.startswith(SYSUSERS)]
        declared = {a[:2] for text in told for a in script_accounts.sysusers(text)}
        maybe = set() if calls.sysusers else declared - made
        volatile = any(member.path.startswith(_TMPFILES) for member in contents.members)

        def covers(kind: str, value: str, present: bool) -> bool:
            if kind == "path":
                return volatile and not present and value.startswith(("/run/", "/var/"))
            return not present and (kind, value) in maybe

        if maybe or volatile:
            uncertainty = Uncertainty(UNKNOWN, "the installation of %s may create it" % name)
            self._scripted.append(UnknownEffect(uncertainty, covers))

    def _conffile(self, member: Member, registered: Dict[str, str], package: str) -> None:
        """Plan a configuration file: rpm does not change one that differs, and writes its own next
        to it.
        """
        files = self._context.files
        found = files.status(member.path)
        effect = self._file(member, package)
        if found is not None and found.kind != "file":
            effect = PathEffect(member.path, "something")
        elif found is not None and files.sha256(member.path, found) != member.sha256:
            effect = effect._replace(path=member.path + ".rpmnew")
        self._effects.append(effect)

    def _units_of(
        self, started: Dict[str, bool], own: Set[str], restarted: AbstractSet[str] = frozenset()
    ) -> Units:
        return RpmUnits(self._context, started, own, restarted)


class RpmUnits(Units):
    """Units as in Debian, with RPM's own rules for which are enabled and started."""

    def _is_to_enable(self, unit: str, links: Sequence[str], calls: UnitAndAccountCalls) -> bool:
        """Return whether the host's presets enable it; a masked unit stays masked."""
        if unit in calls.preset:
            return presets.wants(self._context.files, unit)
        return unit in calls.enabled

    def _is_to_start(self, unit: str, enabled: bool) -> bool:
        return self._context.files.is_directory(BOOTED)
