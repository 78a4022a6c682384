"""What is on a host once Debian packages have come or gone, by that host's own rules (target)."""

import hashlib
import os
from typing import TYPE_CHECKING, Callable, Dict, List, Optional, Sequence, Set, Tuple

from remote_runtime.base import Doubt, Effect, Fog, PathEffect
from remote_runtime.changes import HASHED
from remote_runtime.effects import ASSUMED, UNKNOWN
from remote_runtime.resources.package import deb_scripts
from remote_runtime.resources.package.apt_effects import Consequences
from remote_runtime.resources.package.deb_contents import Contents, Member
from remote_runtime.resources.package.deb_installed import Installations, Kept
from remote_runtime.resources.package.provider import VersionChange
from remote_runtime.system.files import Status

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.resources.package.deb_host_rules import HostRules

_NEW = "newconffile"  # dpkg's word for the hash of one that it has not put there yet
_DIST, _OLD = ".dpkg-dist", ".dpkg-old"


class DebConsequences(Consequences):
    """Makes the effects of one transaction of dpkg's; ``rules`` are the host's."""

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
        """See the base class. What a script that came earlier in the plan diverts may lie
        elsewhere; what comes by rules that a command may have changed is as sure as those."""
        before = list(self._planned.items())
        self._versions = {change.name: change.after for change in changes}
        found = super().of(changes)
        paths = [effect.path for effect in found if isinstance(effect, PathEffect)]
        for (name, _), contents in before:
            diverted = deb_scripts.diverted_by(contents.scripts)
            moved = {path for path in paths if diverted.has(path)}
            if moved:
                doubt = Doubt(UNKNOWN, "the scripts of the package %s may divert it" % name)
                found.append(_fog(doubt, moved | diverted.named))
        read = self._context.doubt
        if read.level == ASSUMED:
            found.append(_fog(read, set(paths)))
        return found

    def _on_host(self, contents: Contents, package: str) -> Contents:
        return self._rules.applied(contents, package)

    def _place(self, path: str, package: str) -> str:
        return self._rules.place(path, package)

    def _kept(self, change: VersionChange) -> Kept:
        """See the base class. A file that another package of the plan has taken over is not its."""
        kept = super()._kept(change)
        if not kept.paths:
            return kept
        world = self._context.world
        effects = world.packages if world is not None else {}
        versions = dict({n: e.version for n, e in effects.items()}, **self._versions)
        taken = {
            self._place(member.path, name)
            for (name, version), contents in self._planned.items()
            for member in contents.members
            if name != change.name and versions.get(name) == version and member.kind != "directory"
        }
        return kept._replace(paths=[path for path in kept.paths if path not in taken])

    # -- configuration files ----------------------------------------------------------------------

    def _conffile(self, member: Member, registered: Dict[str, str], package: str) -> None:
        """As dpkg does: what nobody edited is replaced, and of what somebody did it would ask."""
        files = self._context.files
        found = self._status(member.path)
        if found is not None and found.kind == "symlink":
            self._linked(member.path)
            return
        if found is not None and found.kind != "file":
            return  # dpkg warns and leaves it alone
        if found is not None and files.sha256(member.path, found) == member.sha256:
            return
        came_with = registered.get(member.path, _NEW)
        if found is None and (came_with == _NEW or self._rules.forces("confmiss")):
            self._effects.append(self._file(member, package))
        elif found is not None and came_with != _NEW and self._is(member.path, came_with):
            self._effects.append(self._replaced(member, package))
        else:
            self._edited(member, package, found=found, differs=_differs(member, came_with))

    def _is(self, path: str, came_with: str) -> bool:
        if came_with.startswith(HASHED):
            return HASHED + self._context.files.sha256(path) == came_with
        digest = hashlib.new("md5")
        for block in self._context.files.blocks(path):
            digest.update(block)
        return digest.hexdigest() == came_with

    def _replaced(self, member: Member, package: str) -> PathEffect:
        """It keeps owner and mode of what is there."""
        return self._file(member, package)._replace(mode=None, uid=None, gid=None)

    def _edited(
        self, member: Member, package: str, *, found: Optional[Status], differs: Optional[bool]
    ) -> None:
        """Somebody edited or deleted it; ``differs``: from the one that came last, None where that
        cannot be told."""
        if not (differs is not False or self._rules.forces("confask")):
            return
        path, files = member.path, self._context.files
        if differs is None and not self._rules.forces("confask"):
            doubt = Doubt(UNKNOWN, "whether %s differs from the one before is not known" % path)
            self._scripted.append(_fog(doubt, {path, path + _DIST, path + _OLD}))
            return
        takes = self._rules.forces("confnew") and not self._rules.forces("confdef")
        gone, made = (path + _DIST, path + _OLD) if takes else (path + _OLD, path + _DIST)
        for beside in (gone, made):
            if files.is_there(beside):
                self._effects.append(PathEffect(beside, "absent"))
        new = self._file(member, package)
        if found is None:
            self._effects.append(new if takes else new._replace(path=made))
            return
        kept = PathEffect(made, "file", mode=found.mode, uid=found.uid, gid=found.gid)
        if takes:
            self._effects += [kept, self._replaced(member, package)]
        else:
            self._effects.append(kept._replace(content=new.content))

    def _linked(self, path: str) -> None:
        """Which versions of dpkg replace what a link leads to, and which nothing, is not told."""
        leads = os.path.normpath(
            os.path.join(os.path.dirname(path), self._context.files.link(path))
        )
        doubt = Doubt(UNKNOWN, "%s is a link, and a configuration file of a package" % path)
        beside = (".dpkg-new", _DIST, _OLD)
        self._scripted.append(
            _fog(doubt, {one + ending for one in (path, leads) for ending in ("", *beside)})
        )


def _differs(member: Member, came_with: str) -> Optional[bool]:
    """Whether a package has another configuration file than the one that came last."""
    if came_with == _NEW:
        return True
    if came_with.startswith(HASHED):
        return HASHED + member.sha256 != came_with
    text = member.text.encode("utf-8", "surrogateescape")
    return hashlib.new("md5", text).hexdigest() != came_with if len(text) == member.size else None


def _fog(doubt: Doubt, paths: Set[str]) -> Fog:
    return Fog(doubt, lambda kind, value, present: kind == "path" and value in paths)
