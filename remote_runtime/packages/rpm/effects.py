"""The state of a host after RPMs are installed, changed or removed (target)."""

import os
from typing import AbstractSet, Dict, List, Mapping, Optional, Sequence, Set

from remote_runtime.changes import HASHED
from remote_runtime.effects import AccountEffect, Effect, PathEffect, UnknownEffect
from remote_runtime.errors import ResourceError
from remote_runtime.packages import presets
from remote_runtime.packages.apt.effects import TransactionEffects, declared_accounts
from remote_runtime.packages.dpkg.installed_packages import InstalledPackage, units_below
from remote_runtime.packages.dpkg.package_contents import (
    UNIT_DIRECTORIES,
    Contents,
    Member,
    may_be,
)
from remote_runtime.packages.dpkg.package_units import BOOTED, Units
from remote_runtime.packages.maintainer_scripts import script_sequence
from remote_runtime.packages.maintainer_scripts.script_sequence import Run
from remote_runtime.packages.maintainer_scripts.unit_and_account_calls import UnitAndAccountCalls
from remote_runtime.packages.package_info import VersionChange
from remote_runtime.packages.rpm import triggers
from remote_runtime.packages.rpm.package_contents import MISSINGOK, NOREPLACE
from remote_runtime.system.paths import Status
from remote_runtime.uncertainty import UNKNOWN, Uncertainty

_TMPFILES = "/usr/lib/tmpfiles.d/"
REMOVING: Mapping[str, Sequence[str]] = {"prerm": ["0"], "postrm": ["0"]}
NEW, SAVED, ORIGINAL = ".rpmnew", ".rpmsave", ".rpmorig"
BESIDE = (NEW, SAVED, ORIGINAL)
_LIMIT = 1 << 16  # bytes of a unit
_NO_PACKAGE = InstalledPackage((), {}, {})


class RpmEffects(TransactionEffects):
    """The effects as for Debian packages, except for configuration files, scripts and units."""

    _before: Dict[str, InstalledPackage] = {}  # the previous versions of the packages that change
    _brought: AbstractSet[str] = frozenset()  # the paths of all packages that come
    _leaving: AbstractSet[str] = frozenset()  # packages whose installed version goes
    _accounts_made: Sequence[AccountEffect] = ()  # by scripts before the files are installed

    def of(self, changes: Sequence[VersionChange]) -> List[Effect]:
        """See the base class. Also reads the installed versions of the packages that change."""
        coming = [change for change in changes if change.after]
        self._before = {
            change.name: self._registry.kept(change.name) for change in coming if change.before
        }
        contents_by_name = {change.name: self._contents(change.name) for change in coming}
        self._brought = {
            m.path for c in contents_by_name.values() if c is not None for m in c.members
        }
        self._leaving = {
            c.name for c in changes if not c.after or contents_by_name[c.name] is not None
        }
        self._accounts_made = [
            effect
            for change in coming
            for effect in self._made_first(change, contents_by_name[change.name])
        ]
        return super().of(changes)

    def _made_first(
        self, change: VersionChange, contents: Optional[Contents]
    ) -> List[AccountEffect]:
        """Return the accounts that the first script of a package creates."""
        if contents is None:
            return []
        runs = super()._runs(change, contents)
        calls = script_sequence.calls_of_scripts([run for run in runs if run.name == "preinst"])
        return self._new_accounts(calls, contents)

    def _on_host(self, contents: Contents, package: str) -> Contents:
        """See the base class. The numbers of owners depend on the host."""
        if not any(member.owner or member.group for member in contents.members):
            return contents
        known = self._context.overlay_with(self._accounts_made).accounts

        def owned(member: Member) -> Member:
            uid = known.number("user", member.owner) if member.owner else 0
            gid = known.number("group", member.group) if member.group else 0
            if uid is None or gid is None:
                return member._replace(kind="something")
            return member._replace(uid=uid, gid=gid)

        return contents._replace(members=[owned(member) for member in contents.members])

    def _installed(
        self, change: VersionChange, contents: Contents, calls: UnitAndAccountCalls
    ) -> None:
        super()._installed(change, contents, calls)
        self._made_by_rpm(change.name, contents, calls)

    # -- scripts ----------------------------------------------------------------------------------

    def _arguments(self, change: VersionChange) -> Mapping[str, Sequence[str]]:
        """Return the scripts' arguments: the number of versions after the change."""
        count = ["2"] if change.before else ["1"]
        return {"preinst": count, "postinst": count}

    def _runs(self, change: VersionChange, contents: Contents) -> List[Run]:
        """See the base class. The scripts of the previous version run last."""
        before = self._before.get(change.name, _NO_PACKAGE)
        leaving = {"prerm": ["1"], "postrm": ["1"]}
        return [
            *super()._runs(change, contents),
            *script_sequence.runs(change.name, before.scripts, leaving),
        ]

    def _stopped_before(self, change: VersionChange, before: InstalledPackage) -> Set[str]:
        return set()

    def _removing(self) -> Mapping[str, Sequence[str]]:
        return REMOVING

    def _removed(self, change: VersionChange) -> None:
        package = self._kept(change)
        scripts = script_sequence.runs(change.name, package.scripts, REMOVING)
        disabled = script_sequence.calls_of_scripts(scripts).disabled
        units = RpmUnits(self._context, {}, set())
        links = [
            link
            for path in package.paths
            for unit in units_below([path], UNIT_DIRECTORIES)
            if unit in disabled
            for link in units.links(unit, path)
        ]
        super()._removed(change)
        self._effects += [PathEffect(link, "absent") for link in links]

    def _triggered(
        self, changes: Sequence[VersionChange], incoming: Mapping[str, Contents]
    ) -> None:
        """See the base class. Only removals are considered; what triggers do is unknown."""
        removed = [change.name for change in changes if not change.after]
        runs = self._registry.triggers_of_removal(removed)
        self._scripted += triggers.effects(self._context, runs, self._effects)

    def _made_by_rpm(self, name: str, contents: Contents, calls: UnitAndAccountCalls) -> None:
        """Plan changes that a host's rpm or systemd may make to a package's files without a
        script."""
        accounts = {(account.kind, account.name) for account in calls.accounts.created}
        declared = {account[:2] for account in declared_accounts(contents)}
        maybe = set() if calls.sysusers else declared - accounts
        volatile = any(member.path.startswith(_TMPFILES) for member in contents.members)

        def covers(kind: str, value: str, present: bool) -> bool:
            if kind == "path":
                return volatile and not present and value.startswith(("/run/", "/var/"))
            return not present and (kind, value) in maybe

        if maybe or volatile:
            uncertainty = Uncertainty(UNKNOWN, "the installation of %s may create it" % name)
            self._scripted.append(UnknownEffect(uncertainty, covers))

    def _member(self, member: Member, package: str) -> None:
        """See the base class. rpm replaces no directory by anything else."""
        status = self._context.files.look(member.path)
        if status is not None and status.kind == "directory" and member.kind != "directory":
            raise ResourceError(
                "%s cannot be installed: %s is a directory, but not in the package"
                % (package, member.path),
                kind="package.files",
                hint="move the directory away in an earlier resource",
            )
        super()._member(member, package)

    # -- configuration files ----------------------------------------------------------------------

    def _erased(self, package: InstalledPackage) -> None:
        """See the base class. rpm removes configuration files too, and saves edited ones."""
        self._left_out(package, package.paths)

    def _left_out(self, before: InstalledPackage, leaving: Sequence[str]) -> None:
        """See the base class. A path that another package brings, or also owns, does not go."""
        leaving = [path for path in leaving if path not in self._brought]
        owned = self._registry.owned_by_others(leaving, self._leaving)
        leaving = [path for path in leaving if path not in owned]
        saved = [path for path in leaving if path in before.conffiles and self._save(path, before)]
        directories = {os.path.dirname(path) for path in saved}
        gone = self._without(leaving, directories)
        self._effects += [PathEffect(path, "absent") for path in gone]

    def _keeps_link(self, below: Sequence[str], gone: AbstractSet[str]) -> bool:
        """See the base class. rpm keeps a link that is in place of a directory of the package."""
        return bool(below)

    def _save(self, path: str, before: InstalledPackage) -> bool:
        """Plan the copy of a configuration file that goes, if it was edited."""
        status = self._context.files.look(path)
        if status is None:
            return False
        edited = self._differs(path, status, before.conffiles[path])
        if edited is None:
            self._unclear(path)
        if edited:
            self._effects.append(self._moved_away(path, status, SAVED))
        return bool(edited)

    def _differs(self, path: str, status: Status, came_with: str) -> Optional[bool]:
        """Return whether a file differs from its packaged version; None if that is unknown."""
        if not came_with:
            return None
        return status.kind != "file" or HASHED + self._context.files.sha256(path) != came_with

    def _unclear(self, path: str) -> None:
        uncertainty = Uncertainty(UNKNOWN, "cannot predict whether rpm keeps %s" % path)
        paths = {path, *(path + ending for ending in BESIDE)}
        self._scripted.append(
            UnknownEffect(
                uncertainty, lambda kind, value, present: kind == "path" and value in paths
            )
        )

    def _moved_away(self, path: str, status: Status, ending: str) -> PathEffect:
        """Return the effect of a path that gets another name."""
        from remote_runtime.host.machine.contents import LocalContent

        files, there = self._context.files, path + ending
        if status.kind == "symlink":
            return PathEffect(there, "symlink", target=files.link(path))
        if status.kind != "file":
            return PathEffect(there, "something")
        return PathEffect(
            there,
            "file",
            mode=status.mode,
            uid=status.uid,
            gid=status.gid,
            content=LocalContent(path, files),
        )

    def _conffile(self, member: Member, registered: Dict[str, str], package: str) -> None:
        """Plan a configuration file: an edited one stays, or is moved away, if the package has
        another one than before.
        """
        files, path = self._context.files, member.path
        status = files.look(path)
        before = self._before.get(package, _NO_PACKAGE)
        known = path in before.paths
        if status is None:
            if not (known and MISSINGOK in member.config.split()):
                self._member(member, package)
            return
        if member.kind != "file" or (known and not registered.get(path)):
            self._unclear(path)
            return
        new = self._file(member, package)
        same = status.kind == "file" and may_be(member, status.size)
        same = same and files.sha256(path, status) == member.sha256
        if same or (known and not self._differs(path, status, registered[path])):
            self._effects.append(new)
        elif known and registered[path] == HASHED + member.sha256:
            return  # the same as before, so the edited one stays
        elif NOREPLACE in member.config.split():
            self._effects.append(new._replace(path=path + NEW))
        else:
            ending = SAVED if known else ORIGINAL
            self._effects += [self._moved_away(path, status, ending), new]

    # -- units ------------------------------------------------------------------------------------

    def _units_of(
        self, started: Dict[str, bool], own: Set[str], restarted: AbstractSet[str] = frozenset()
    ) -> Units:
        return RpmUnits(self._context, started, own, restarted)


class RpmUnits(Units):
    """Units as in Debian, with RPM's own rules for which are enabled and started."""

    def links(self, unit: str, path: str) -> List[str]:
        """Return the existing links that enable a unit, whose file is at the path."""
        member = Member(path, "file", 0o644, 0, 0)
        files = self._context.files
        status = files.status(path, follow=True)
        if status is not None and status.kind == "file":
            text = files.read(path, _LIMIT, follow=True).decode("utf-8", "replace")
            member = member._replace(text=text)
        return [link for link in self.wanted(unit, member) if files.is_there(link)]

    def _is_to_enable(self, unit: str, links: Sequence[str], calls: UnitAndAccountCalls) -> bool:
        """Return whether the host's presets enable it; a masked unit stays masked."""
        if unit in calls.preset:
            return presets.wants(self._context.files, unit)
        return unit in calls.enabled

    def _is_to_start(self, unit: str, enabled: bool) -> bool:
        return self._starts(unit)

    def _allowed(self) -> Optional[bool]:
        """See the base class. Nothing but a missing systemd keeps scripts from starting units."""
        return self._context.files.is_directory(BOOTED)
