"""The state of a host after Debian packages are installed or removed, by that host's own rules
(target).
"""

import hashlib
import os
from typing import TYPE_CHECKING, Callable, Dict, List, Mapping, Optional, Sequence, Set, Tuple

from remote_runtime.changes import HASHED
from remote_runtime.effects import Effect, PathEffect, UnknownEffect
from remote_runtime.packages.apt.effects import TransactionEffects
from remote_runtime.packages.dpkg import database as dpkg_database
from remote_runtime.packages.dpkg import new_users
from remote_runtime.packages.dpkg import triggers as dpkg_triggers
from remote_runtime.packages.dpkg.installed_packages import Installations, InstalledPackage
from remote_runtime.packages.dpkg.package_contents import (
    CONFIG,
    TRIGGERS,
    Contents,
    Member,
    may_be,
)
from remote_runtime.packages.maintainer_scripts import account_commands as script_accounts
from remote_runtime.packages.maintainer_scripts import conditional_expressions as script_tests
from remote_runtime.packages.maintainer_scripts import maintscript_helper, script_sequence
from remote_runtime.packages.maintainer_scripts import uncertainty as script_uncertainty
from remote_runtime.packages.maintainer_scripts import unit_and_account_calls as deb_scripts
from remote_runtime.packages.maintainer_scripts.effects import Declared
from remote_runtime.packages.maintainer_scripts.script_sequence import Declare
from remote_runtime.packages.maintainer_scripts.shell import Call
from remote_runtime.packages.package_info import VersionChange
from remote_runtime.system.paths import Status
from remote_runtime.uncertainty import ASSUMED, UNKNOWN, Uncertainty

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.overlay.host_overlay import HostOverlay
    from remote_runtime.packages.dpkg.host_rules import HostRules
    from remote_runtime.system.account_files import User

_NEW = "newconffile"  # dpkg's word for the hash of one that it has not put there yet
_DIST, _OLD = ".dpkg-dist", ".dpkg-old"


class DebEffects(TransactionEffects):
    """Predicts the effects of one transaction of dpkg; ``rules`` are the host's."""

    def __init__(
        self,
        context: "Context",
        registry: Installations,
        *,
        contents: Callable[[str], Optional[Contents]],
        planned: Dict[Tuple[str, str], Contents],
        rules: "HostRules",
    ) -> None:
        super().__init__(context, registry, contents, planned)
        self._rules = rules
        self._versions: Dict[str, str] = {}  # of the packages that change

    def of(self, changes: Sequence[VersionChange]) -> List[Effect]:
        """See the base class. Paths that a script earlier in the plan diverts may be elsewhere; if
        a command may have changed the rules, the effects are as uncertain as the rules.
        """
        before = list(self._planned.items())
        self._versions = {change.name: change.after for change in changes}
        effects = super().of(changes)
        paths = [effect.path for effect in effects if isinstance(effect, PathEffect)]
        for (name, _), contents in before:
            diverted = deb_scripts.diverted_by(contents.scripts)
            moved = {path for path in paths if diverted.has(path)}
            if moved:
                uncertainty = Uncertainty(
                    UNKNOWN, "the scripts of the package %s may divert it" % name
                )
                effects.append(_unknown_effect(uncertainty, moved | diverted.named))
        read = self._context.uncertainty
        if read.level == ASSUMED:
            effects.append(_unknown_effect(read, set(paths)))
        return effects

    def _user_entry(
        self, account: script_accounts.Account, created: Sequence[script_accounts.Account]
    ) -> "Optional[User]":
        return new_users.entry(account, created, self._context)

    def _on_host(self, contents: Contents, package: str) -> Contents:
        return self._rules.applied(contents, package)

    def _place(self, path: str, package: str) -> str:
        return self._rules.place(path, package)

    def _kept(self, change: VersionChange) -> InstalledPackage:
        """See the base class. A file that another package of the plan has taken over no longer
        belongs to this one.
        """
        package = super()._kept(change)
        if not package.paths:
            return package
        overlay = self._context.overlay
        effects = overlay.packages if overlay is not None else {}
        versions = dict({n: e.version for n, e in effects.items()}, **self._versions)
        taken = {
            self._place(member.path, name)
            for (name, version), contents in self._planned.items()
            for member in contents.members
            if name != change.name and versions.get(name) == version and member.kind != "directory"
        }
        return package._replace(paths=[path for path in package.paths if path not in taken])

    # -- scripts ----------------------------------------------------------------------------------

    def _before(self, change: VersionChange) -> str:
        """Return the version that scripts receive; for a package with only its configuration left,
        it may be any version.
        """
        has_remains = not change.before and bool(self._listed(change).paths)
        return script_tests.UNKNOWN if has_remains else change.before

    def _arguments(self, change: VersionChange) -> Mapping[str, Sequence[str]]:
        before = self._before(change)
        how = ["upgrade", before, change.after] if change.before else ["install", before]
        return {"preinst": how if before else ["install"], "postinst": ["configure", before]}

    def _declared(self, change: VersionChange) -> Declare:
        before, moved = self._before(change), self._moved
        package = self._kept(change) if change.before else InstalledPackage((), {}, {})
        old = maintscript_helper.Conffiles(
            set(package.paths),
            {p for p, h in package.conffiles.items() if self._is_as_it_came(p, h)},
        )

        def declare(overlay: "HostOverlay", call: Call) -> Optional[Declared]:
            wanted = maintscript_helper.request(call)
            if wanted is None:
                return None
            return maintscript_helper.declared(
                wanted, overlay.files, before=before, old=old, moved=moved
            )

        return declare

    def _declared_before(self, change: VersionChange, contents: Contents) -> Declare:
        """Return a function that predicts the declarative calls; the last script performs the
        requests of all scripts."""
        after = [run for run in self._runs(change, contents) if run.name == "postinst"]
        final_requests = script_sequence.requests(after)

        def declare(overlay: "HostOverlay", call: Call) -> Optional[Declared]:
            wanted = maintscript_helper.request(call)
            if wanted is None:
                return None
            done = wanted in final_requests or not change.before
            return Declared([], [] if done else wanted.touched)

        return declare

    def _is_as_it_came(self, path: str, came_with: str) -> bool:
        status = self._context.files.look(path)
        return status is not None and status.kind == "file" and self._is(path, came_with)

    def _prepared(
        self, change: VersionChange, contents: Contents, package: InstalledPackage
    ) -> None:
        """See the base class. The scripts of the previous version also run."""
        leaving = {"prerm": ["upgrade", change.after], "postrm": ["upgrade", change.after]}
        for run in script_sequence.runs(change.name, package.scripts, leaving):
            result = script_sequence.follow(
                self._context,
                self._effects,
                run,
                lambda overlay, call: script_sequence.no_declared(call),
            )
            opened = script_sequence.opened(result)
            self._scripted += script_uncertainty.unknown_effect(change.name, opened, package.paths)
        self._asked_before(change, contents)
        wanted = script_sequence.requests(self._runs(change, contents))
        moved = maintscript_helper.moves(
            wanted, self._context.files, self._before(change), set(package.paths)
        )
        self._moved |= moved
        self._effects += [PathEffect(path, "absent") for path in sorted(moved)]
        super()._prepared(change, contents, package)

    def _asked_before(self, change: VersionChange, contents: Contents) -> None:
        """Plan the possible effects of a package's ``config`` script. debconf runs it before the
        package is unpacked, or when its postinst starts to ask; whether, and how often, depends on
        the host's apt. The effects are therefore only possible.
        """
        arguments = {CONFIG: ["configure", self._before(change)]}
        for run in script_sequence.runs(change.name, contents.scripts, arguments):
            result = script_sequence.follow(
                self._context,
                self._effects,
                run,
                lambda overlay, call: script_sequence.no_declared(call),
            )
            self._open(change.name, script_sequence.opened(result), contents)

    def _triggered(
        self, changes: Sequence[VersionChange], incoming: Mapping[str, Contents]
    ) -> None:
        """Plan the triggers: dpkg runs the postinst of a package again if the package waits for a
        path or a name.
        """
        files = self._context.files
        paths: List[str] = []
        names: Set[str] = set()
        for change in changes:
            contents = incoming.get(change.name)
            if contents is not None:
                paths += [member.path for member in contents.members]
                control = contents.scripts.get(TRIGGERS, "")
                names |= set(dpkg_triggers.declared(control, "activate"))
                for run in self._runs(change, contents):
                    names |= dpkg_triggers.activated(run.calls())
            if change.before:
                paths += self._kept(change).paths
        waiting = dpkg_triggers.interests(files)
        overlay = self._context.overlay
        versions = (
            {n: e.version for n, e in overlay.packages.items()} if overlay is not None else {}
        )
        for (name, version), contents in self._planned.items():
            if versions.get(name) == version or name in incoming:
                for trigger in dpkg_triggers.declared(
                    contents.scripts.get(TRIGGERS, ""), "interest"
                ):
                    waiting.setdefault(trigger, set()).add(name)
        changed = {change.name for change in changes}
        left: Dict[str, List[str]] = {}
        if not versions:  # else an earlier transaction of the run completes them
            left = dpkg_triggers.pending(dpkg_database.text())
            names |= dpkg_triggers.unincorporated(files)
        hit = {**left, **dpkg_triggers.triggered(waiting, paths, names)}
        for name, triggers in sorted(hit.items()):
            if name in changed and name not in incoming:
                continue  # it is removed
            # A push may install what is planned already in the same transaction.
            comes = any(planned == name for planned, _ in self._planned)
            self._run_triggered(name, triggers, comes)

    def _run_triggered(self, name: str, triggers: Sequence[str], comes: bool) -> None:
        planned = [c for (n, _), c in self._planned.items() if n == name]
        if planned:
            scripts: Mapping[str, str] = planned[-1].scripts
            own: Sequence[str] = [member.path for member in planned[-1].members]
        else:
            package = self._registry.kept(name, ("postinst",))
            scripts, own = package.scripts, package.paths
        arguments = {"postinst": ["triggered", " ".join(triggers)]}
        for run in script_sequence.runs(name, scripts, arguments):
            result = script_sequence.follow(
                self._context,
                self._effects,
                run,
                lambda overlay, call: script_sequence.no_declared(call),
            )
            # One that is configured itself may have no need to run again.
            if not comes:
                self._effects += result.effects
            opened = script_sequence.opened(result) if comes else result.open
            self._scripted += script_uncertainty.unknown_effect(name, opened, own)

    # -- configuration files ----------------------------------------------------------------------

    def _conffile(self, member: Member, registered: Dict[str, str], package: str) -> None:
        """Plan dpkg's handling of a configuration file: it replaces an unedited file, and would
        prompt about an edited one.
        """
        files = self._context.files
        status = self._context.files.look(member.path)
        if status is not None and status.kind == "symlink":
            self._linked(member.path)
            return
        if status is not None and status.kind != "file":
            return  # dpkg warns and leaves it alone
        same = status is not None and may_be(member, status.size)
        if same and files.sha256(member.path, status) == member.sha256:
            return
        came_with = registered.get(member.path, _NEW)
        if status is None and (came_with == _NEW or self._rules.forces("confmiss")):
            self._effects.append(self._file(member, package))
        elif status is not None and came_with != _NEW and self._is(member.path, came_with):
            self._effects.append(self._replaced(member, package))
        else:
            self._edited(member, package, status=status, differs=_differs(member, came_with))

    def _is(self, path: str, came_with: str) -> bool:
        if came_with.startswith(HASHED):
            return HASHED + self._context.files.sha256(path) == came_with
        digest = hashlib.new("md5")
        for block in self._context.files.blocks(path):
            digest.update(block)
        return digest.hexdigest() == came_with

    def _replaced(self, member: Member, package: str) -> PathEffect:
        """Return the effect of a replaced file, which keeps its owner and mode."""
        return self._file(member, package)._replace(mode=None, uid=None, gid=None)

    def _edited(
        self, member: Member, package: str, *, status: Optional[Status], differs: Optional[bool]
    ) -> None:
        """Plan an edited or deleted file; ``differs``: the new file differs from the last installed
        one, None if unknown.
        """
        if not (differs is not False or self._rules.forces("confask")):
            return
        path, files = member.path, self._context.files
        if differs is None and not self._rules.forces("confask"):
            uncertainty = Uncertainty(
                UNKNOWN, "cannot predict whether %s differs from the previous version" % path
            )
            self._scripted.append(_unknown_effect(uncertainty, {path, path + _DIST, path + _OLD}))
            return
        takes = self._rules.forces("confnew") and not self._rules.forces("confdef")
        removed_path, new_path = (
            (path + _DIST, path + _OLD) if takes else (path + _OLD, path + _DIST)
        )
        for beside in (removed_path, new_path):
            if files.is_there(beside):
                self._effects.append(PathEffect(beside, "absent"))
        new = self._file(member, package)
        if status is None:
            self._effects.append(new if takes else new._replace(path=new_path))
            return
        copy = PathEffect(new_path, "file", mode=status.mode, uid=status.uid, gid=status.gid)
        if takes:
            self._effects += [copy, self._replaced(member, package)]
        else:
            self._effects.append(copy._replace(content=new.content))

    def _linked(self, path: str) -> None:
        """Plan a configuration file that is a link: it is unknown which versions of dpkg replace
        its target.
        """
        leads = os.path.normpath(
            os.path.join(os.path.dirname(path), self._context.files.link(path))
        )
        uncertainty = Uncertainty(
            UNKNOWN, "%s is a link and a configuration file of a package" % path
        )
        beside = (".dpkg-new", _DIST, _OLD)
        self._scripted.append(
            _unknown_effect(
                uncertainty, {one + ending for one in (path, leads) for ending in ("", *beside)}
            )
        )


def _differs(member: Member, came_with: str) -> Optional[bool]:
    """Return whether a package has a different configuration file than the last installed one."""
    if came_with == _NEW:
        return True
    if came_with.startswith(HASHED):
        return HASHED + member.sha256 != came_with
    text = member.text.encode("utf-8", "surrogateescape")
    return hashlib.new("md5", text).hexdigest() != came_with if len(text) == member.size else None


def _unknown_effect(uncertainty: Uncertainty, paths: Set[str]) -> UnknownEffect:
    return UnknownEffect(
        uncertainty, lambda kind, value, present: kind == "path" and value in paths
    )
