"""The state of a host after packages are installed or removed (target): files, units
and accounts.
"""

import os
from typing import (
    TYPE_CHECKING,
    AbstractSet,
    Callable,
    Dict,
    List,
    Mapping,
    Optional,
    Sequence,
    Set,
    Tuple,
)

from remote_runtime.changes import HASHED
from remote_runtime.effects import (
    AccountEffect,
    Covers,
    Effect,
    PackageEffect,
    PathEffect,
    UnitEffect,
    UnknownEffect,
)
from remote_runtime.packages.destination_checks import DestinationChecks
from remote_runtime.packages.dpkg.installed_packages import (
    Installations,
    InstalledPackage,
    units_below,
)
from remote_runtime.packages.dpkg.package_contents import (
    SYSUSERS,
    UNIT_DIRECTORIES,
    ContentReader,
    Contents,
    Member,
    PackagedFile,
)
from remote_runtime.packages.dpkg.package_units import LINKS, MASKED, Units, stopped_for_upgrade
from remote_runtime.packages.maintainer_scripts import account_commands as script_accounts
from remote_runtime.packages.maintainer_scripts import script_sequence
from remote_runtime.packages.maintainer_scripts import uncertainty as script_uncertainty
from remote_runtime.packages.maintainer_scripts import unit_and_account_calls as deb_scripts
from remote_runtime.packages.maintainer_scripts.effects import Open
from remote_runtime.packages.maintainer_scripts.script_sequence import Declare, Run
from remote_runtime.packages.manager import installed_coverage
from remote_runtime.packages.package_info import VersionChange
from remote_runtime.uncertainty import ASSUMED, UNKNOWN, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.system.account_files import User

# Files that dpkg removes with a configuration file.
_COPIES = ("~", ".~", ".bak", "%", ".dpkg-tmp", ".dpkg-new", ".dpkg-old", ".dpkg-dist")


class TransactionEffects(object):
    """Predicts the effects of one transaction, by Debian's rules.

    ``contents`` returns the known contents of a new package by name, or None; ``planned`` has the
    contents of packages installed earlier in the plan, by name and version.
    """

    def __init__(
        self,
        context: "Context",
        registry: Installations,
        contents: Callable[[str], Optional[Contents]],
        planned: Dict[Tuple[str, str], Contents],
    ) -> None:
        self._context = context
        self._registry = registry
        self._contents = contents
        self._planned = planned
        self._effects: List[Effect] = []
        self._uncertain: List[Effect] = []
        self._scripted: List[Effect] = []
        self._reach = DestinationChecks(context.files)
        self._units = self._units_of({}, set())
        self._owners: Optional[Dict[str, int]] = None
        self._looks: Dict[str, Optional[ContentReader]] = {}
        self.purging = False  # removed packages lose their configuration files too
        self._moved: Set[str] = (
            set()
        )  # where a link gives way to a directory, or a directory to a link

    def of(self, changes: Sequence[VersionChange]) -> List[Effect]:
        """Return all effects: the unknown ones, then removals, then additions."""
        known = {c.name: self._contents(c.name) for c in changes if c.after}
        packed = {name: contents for name, contents in known.items() if contents is not None}
        self._looks = {name: contents.look for name, contents in packed.items()}
        incoming = {name: self._on_host(contents, name) for name, contents in packed.items()}
        by_name = {change.name: change for change in changes}
        calls = {
            name: script_sequence.calls_of_scripts(self._runs(by_name[name], contents))
            for name, contents in incoming.items()
        }
        # One package may start the unit of another, as nginx does.
        started = {unit: False for done in calls.values() for unit in done.started}
        started.update((unit, True) for done in calls.values() for unit in done.forced)
        own = {
            unit
            for contents in packed.values()
            for unit in units_below([member.path for member in contents.members], UNIT_DIRECTORIES)
        }
        restarted = {unit for done in calls.values() for unit in done.restarted}
        self._units = self._units_of(started, own, restarted)
        for change in sorted(changes, key=lambda change: bool(change.after)):
            contents = incoming.get(change.name)
            is_so = contents.is_so if contents is not None else None
            if change.before or change.after:
                self._effects.append(PackageEffect(change.name, change.after, is_so))
            if not change.after:
                self._removed(change)
            elif contents is None:
                self._unknown(change)
            else:
                self._installed(change, contents, calls[change.name])
                self._planned[change.name, change.after] = packed[change.name]
        for change in changes:
            contents = incoming.get(change.name)
            if contents is not None:
                self._configured(change, contents)
                self._scripted += self._unverified(change, contents)
        self._triggered(changes, incoming)
        # Known effects override unknown ones, so they come later; scripts run when all is unpacked.
        effects = self._units.uncertain + self._uncertain + self._effects + self._scripted
        return effects + self._units.begun(effects)

    def _units_of(
        self, started: Dict[str, bool], own: Set[str], restarted: AbstractSet[str] = frozenset()
    ) -> Units:
        return Units(self._context, started, own, restarted)

    def _on_host(self, contents: Contents, package: str) -> Contents:
        """Return the contents that a package installs on this host, at their paths there."""
        return contents

    def _place(self, path: str, package: str) -> str:
        """Return where a path of a package is on this host."""
        return path

    # -- scripts ----------------------------------------------------------------------------------

    def _arguments(self, change: VersionChange) -> Mapping[str, Sequence[str]]:
        """Return the scripts that run when a package is installed, with their arguments."""
        raise NotImplementedError

    def _runs(self, change: VersionChange, contents: Contents) -> List[Run]:
        return script_sequence.runs(change.name, contents.scripts, self._arguments(change))

    def _declared(self, change: VersionChange) -> Declare:
        """Return a function that predicts the declarative calls of a package's scripts."""
        return lambda overlay, call: None

    def _declared_before(self, change: VersionChange, contents: Contents) -> Declare:
        """Do the same for the scripts that run before the package is unpacked."""
        return lambda overlay, call: None

    def _prepared(
        self, change: VersionChange, contents: Contents, package: InstalledPackage
    ) -> None:
        """Plan the known effects of the scripts that run before a package is unpacked."""
        declare = self._declared_before(change, contents)
        known = {member.path for member in contents.members}
        for run in self._runs(change, contents):
            if run.name == "preinst":
                result = script_sequence.follow(self._context, self._effects, run, declare)
                mixed = [effect.path for effect in result.effects if effect.path in known]
                self._effects += [effect for effect in result.effects if effect.path not in known]
                self._open(
                    change.name, [*result.open, Open("", mixed)] if mixed else result.open, contents
                )

    def _configured(self, change: VersionChange, contents: Contents) -> None:
        """Plan the known effects of a package's scripts after all packages are unpacked."""
        declare = self._declared(change)
        for run in self._runs(change, contents):
            if run.name != "preinst":
                result = script_sequence.follow(self._context, self._effects, run, declare)
                self._effects += result.effects
                self._open(change.name, result.open, contents)

    def _open(self, name: str, calls: Sequence[Open], contents: Contents) -> None:
        own = [member.path for member in contents.members if member.kind != "directory"]
        self._scripted += script_uncertainty.unknown_effect(name, calls, own)

    def _triggered(
        self, changes: Sequence[VersionChange], incoming: Mapping[str, Contents]
    ) -> None:
        """Plan the effects of other packages' scripts that these changes trigger."""

    # -- what goes --------------------------------------------------------------------------------

    def _kept(self, change: VersionChange) -> InstalledPackage:
        package = self._listed(change)
        return InstalledPackage(
            [self._place(path, change.name) for path in package.paths],
            {self._place(path, change.name): hashed for path, hashed in package.conffiles.items()},
            package.scripts,
        )

    def _listed(self, change: VersionChange) -> InstalledPackage:
        """Return the package manager's list of the package, regardless of its source."""
        earlier = self._planned.get((change.name, change.before))
        if earlier is None:
            return self._registry.kept(change.name, ("prerm", "postrm"))
        hashes = {member.path: HASHED + member.sha256 for member in earlier.members}
        conffiles = {path: hashes.get(path, "") for path in earlier.conffiles}
        return InstalledPackage(
            [member.path for member in earlier.members], conffiles, earlier.scripts
        )

    def _removed(self, change: VersionChange) -> None:
        package = self._kept(change)
        self._erased(package)
        removing = self._removing() if change.before else {}
        scripts = script_sequence.runs(change.name, package.scripts, removing)
        calls = script_sequence.calls_of_scripts(scripts)
        self._follow(change, scripts, package.paths)
        if self.purging:
            self._purged(change, package)
        units = units_below(package.paths, UNIT_DIRECTORIES)
        self._effects += [self._units.stop(unit) for unit in calls.stopped - set(units)]
        for unit in units:
            stops = unit in calls.stopped
            self._effects.append(self._units.stop(unit) if stops else UnitEffect(unit))
            own = os.path.join(LINKS, unit)
            if unit in calls.masked and not self._context.files.is_there(own):
                self._effects.append(PathEffect(own, "symlink", target="/dev/null"))
                self._effects.append(PathEffect(os.path.join(MASKED, unit), "something"))

    def _removing(self) -> Mapping[str, Sequence[str]]:
        """Return the scripts that run when a package is removed, with their arguments."""
        return {"prerm": ["remove"], "postrm": ["remove"]}

    def _erased(self, package: InstalledPackage) -> None:
        """Plan the removal of the files of a package, which keeps its configuration files."""
        for path in package.paths:
            if path not in package.conffiles and self._context.files.is_there(path):
                self._reach.refuse_removal(path)
        gone = self._without(package.paths, set(package.conffiles))
        self._effects += [PathEffect(path, "absent") for path in gone]

    def _follow(self, change: VersionChange, scripts: Sequence[Run], paths: Sequence[str]) -> None:
        """Plan the effects of the scripts of a removed package."""
        for run in scripts:
            result = script_sequence.follow(
                self._context, self._effects, run, lambda overlay, call: None
            )
            self._effects += result.effects
            self._scripted += script_uncertainty.unknown_effect(change.name, result.open, paths)
        accounts = script_sequence.calls_of_scripts(scripts).accounts
        self._scripted += script_uncertainty.of_accounts(change.name, accounts)

    def _purged(self, change: VersionChange, package: InstalledPackage) -> None:
        """Plan the removal of a package's configuration: its files, their copies, and the files
        that its script removes."""
        copies = [path + end for path in package.conffiles for end in _COPIES]
        for path in (*package.conffiles, *copies):
            if self._context.files.is_there(path):
                self._reach.refuse_removal(path)
        paths = [*package.paths, *package.conffiles, *copies]
        self._effects += [PathEffect(path, "absent") for path in self._without(paths, set())]
        scripts = script_sequence.runs(change.name, package.scripts, {"postrm": ["purge"]})
        self._follow(change, scripts, package.paths)

    def _without(self, paths: Sequence[str], staying: Set[str]) -> List[str]:
        """Return the paths that are removed with a package; the content of a directory comes before
        it.
        """
        files = self._context.files
        gone: Set[str] = set()
        removed_paths: List[str] = []
        for path in sorted(paths, reverse=True):
            status = files.look(path)
            if status is None or path in staying or self._reach.stays(path):
                continue
            if status.kind == "directory":
                remaining_names = [
                    n for n in files.entries(path) if os.path.join(path, n) not in gone
                ]
                if remaining_names or self._shared(path):
                    continue
            elif files.is_directory(path):
                below = [one for one in paths if one.startswith(path + "/")]
                if self._shared(path) or self._keeps_link(below, gone):
                    continue
            gone.add(path)
            removed_paths.append(path)
        return removed_paths

    def _keeps_link(self, below: Sequence[str], gone: AbstractSet[str]) -> bool:
        """Return whether a link to a directory stays: dpkg keeps it while one of the paths of the
        package ``below`` it remains."""
        return any(one not in gone and self._context.files.is_there(one) for one in below)

    def _shared(self, path: str) -> bool:
        if self._owners is None:
            self._owners = self._registry.owners()
        return self._owners.get(path, 0) > 1 or (
            sum(any(m.path == path for m in c.members) for c in self._planned.values()) > 1
        )

    # -- what comes -------------------------------------------------------------------------------

    def _installed(
        self,
        change: VersionChange,
        contents: Contents,
        calls: deb_scripts.UnitAndAccountCalls,
    ) -> None:
        before = self._kept(change) if change.before else InstalledPackage((), {}, {})
        registered = (before if change.before else self._kept(change)).conffiles
        self._prepared(change, contents, before)
        new = {member.path for member in contents.members}
        self._left_out(before, [path for path in before.paths if path not in new])
        conffiles = set(contents.conffiles)
        for member in contents.members:
            if member.path in conffiles:
                self._conffile(member, registered, change.name)
            else:
                self._member(member, change.name)
        self._accounts(change.name, calls, contents)
        stopped = self._stopped_before(change, before)
        self._effects += [self._units.stop(unit) for unit in sorted(stopped)]
        self._effects += self._units.brought(contents, calls)
        self._scripted += self._units.of_others(change.name, calls)
        self._scripted += self._units.stopped(change.name, calls)

    def _left_out(self, before: InstalledPackage, leaving: Sequence[str]) -> None:
        """Plan the removal of those paths of the previous version that the new one lacks."""
        staying = set(before.conffiles)
        self._effects += [PathEffect(p, "absent") for p in self._without(leaving, staying)]

    def _stopped_before(self, change: VersionChange, before: InstalledPackage) -> Set[str]:
        """Return the units that the previous version stops before the new one is installed."""
        return stopped_for_upgrade(change.name, before.scripts.get("prerm", ""), change.after)

    def _member(self, member: Member, package: str) -> None:
        if member.kind == "directory":
            moved = member.path in self._moved
            if self._context.files.is_directory(member.path) and not moved:
                return  # dpkg does not change an existing directory, or a link to one
            effect = PathEffect(
                member.path, "directory", mode=member.mode, uid=member.uid, gid=member.gid
            )
        elif member.kind == "symlink":
            if self._context.files.is_directory(member.path) and member.path not in self._moved:
                return
            effect = PathEffect(member.path, "symlink", target=member.target)
        elif member.kind == "something":
            effect = PathEffect(member.path, "something")
        else:
            effect = self._file(member, package)
        self._effects.append(effect)

    def _file(self, member: Member, package: str) -> PathEffect:
        content = PackagedFile(member, package, self._looks.get(package))
        return PathEffect(
            member.path, "file", mode=member.mode, uid=member.uid, gid=member.gid, content=content
        )

    def _conffile(self, member: Member, registered: Dict[str, str], package: str) -> None:
        """Plan whether a new configuration file is installed, and the fate of an existing one.

        ``registered`` has the hash of each packaged file: an MD5, or a SHA-256 marked as such.
        """
        raise NotImplementedError

    def _accounts(
        self, package: str, calls: deb_scripts.UnitAndAccountCalls, contents: Contents
    ) -> None:
        self._effects += self._new_accounts(calls, contents)
        self._scripted += script_uncertainty.of_accounts(package, calls.accounts)
        failing = self._failing(calls.accounts.created)
        self._scripted += script_uncertainty.of_taken_numbers(package, failing)

    def _new_accounts(
        self, calls: deb_scripts.UnitAndAccountCalls, contents: Contents
    ) -> List[AccountEffect]:
        """Return the accounts that scripts create. A tool fails if another account has the number,
        but sysusers then chooses another one.
        """
        failing = self._failing(calls.accounts.created)
        accounts = [account for account in calls.accounts.created if account not in failing]
        if calls.sysusers:
            for account in declared_accounts(contents):
                accounts.append(account._replace(number=-1) if self._is_taken(account) else account)
        lacking = self._context.accounts.lacking
        amended = calls.accounts.amended
        return [
            AccountEffect(
                *account[:3],
                entry=None
                if amended is None or account.name in amended
                else self._user_entry(account, accounts),
            )
            for account in accounts
            if lacking(*account[:2])[0]
        ]

    def _user_entry(
        self, account: script_accounts.Account, created: Sequence[script_accounts.Account]
    ) -> "Optional[User]":
        """Return the entry of a new user; None for a group, and if the entry is not known."""
        return None

    def _failing(self, created: Sequence[script_accounts.Account]) -> List[script_accounts.Account]:
        """Return the accounts that are not created because another one has the number; the group
        of a user is not created either.
        """
        names = {account.name for account in created if self._is_taken(account)}
        return [account for account in created if account.name in names]

    def _is_taken(self, account: script_accounts.Account) -> bool:
        accounts = self._context.accounts
        name_of = accounts.user_name if account.kind == "user" else accounts.group_name
        own = (str(account.number), account.name)
        return account.number >= 0 and name_of(account.number) not in own

    # -- unknown effects ---------------------------------------------------------------------------

    def _unverified(self, change: VersionChange, contents: Contents) -> List[Effect]:
        """Return an effect that assumes the contents of a package that only one other host
        reported.
        """
        if contents.is_so is None:
            return []
        paths = {member.path for member in contents.members}
        reason = "the contents of the package %s are known from only one other host" % change.name
        return [UnknownEffect(Uncertainty(ASSUMED, reason), self._brought_by(change, paths))]

    def _unknown(self, change: VersionChange) -> None:
        """Add an unknown effect: any path that does not exist yet may belong to the package."""
        uncertainty = Uncertainty(
            UNKNOWN, "the changes of the package %s are not known" % change.name
        )
        self._uncertain.append(UnknownEffect(uncertainty, self._brought_by(change, set())))

    def _brought_by(self, change: VersionChange, paths: Set[str]) -> Covers:
        """Return the coverage of a package: the paths that it may create or change, including the
        reported paths in ``paths``."""
        own = set(self._kept(change).paths) | paths if change.before else paths
        units = set(units_below(sorted(own), UNIT_DIRECTORIES))

        def covers(kind: str, value: str, present: bool) -> bool:
            if kind == "host" or not present:
                return kind != "package" and installed_coverage(kind, value, present)
            return value in (units if kind == "unit" else own)

        return covers


def declared_accounts(contents: Contents) -> List[script_accounts.Account]:
    """Return the accounts in a package's files for sysusers."""
    texts = [member.text for member in contents.members if member.path.startswith(SYSUSERS)]
    return [account for text in texts for account in script_accounts.sysusers(text)]
