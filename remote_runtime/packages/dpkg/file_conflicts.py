"""Files of a package that already belong to another package, which dpkg refuses (target; in
previews only).
"""

import re
from typing import TYPE_CHECKING, Callable, Dict, List, Mapping, Sequence, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.packages.apt import simulation as apt_simulation
from remote_runtime.packages.dpkg.package_contents import Contents
from remote_runtime.packages.maintainer_scripts import unit_and_account_calls as deb_scripts
from remote_runtime.packages.package_info import VersionChange

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.packages.dpkg.host_rules import HostRules

_OWNED = re.compile(r"(?P<owner>[a-z0-9][a-z0-9+.-]*)(?::[a-z0-9-]+)?: (?P<path>/.*)")
_PATTERN = set("*?[\\")
_LIMIT = 500  # paths in one question

Planned = Mapping[Tuple[str, str], Contents]


def refuse(
    context: "Context",
    incoming: Mapping[str, Contents],
    *,
    changes: Sequence[VersionChange],
    planned: Planned,
    shown: Callable[[], str],
    rules: "HostRules",
) -> None:
    """Raise ``ResourceError`` if dpkg would refuse to unpack one of the new packages.

    ``planned`` has the packages installed earlier in the plan; ``shown`` returns the output of
    ``apt-cache show`` about the new packages.
    """
    if rules.forces("overwrite"):
        return
    moved = {change.name for change in changes}
    for name, contents in sorted(incoming.items()):
        owners = _owners(context, _already_there(context, contents, rules), planned)
        own = name.partition(":")[0]
        clashes = {
            path: owner
            for path, owner in owners.items()
            if owner not in moved and rules.diverter(path) not in (owner, own)
        }
        for scripts in [one.scripts for one in (contents, *planned.values())] if clashes else ():
            diverted = deb_scripts.diverted_by(scripts)
            clashes = {p: owner for p, owner in clashes.items() if not diverted.has(p)}
        allowed = _replaces(shown(), name) if clashes else []
        for path, owner in sorted(clashes.items()):
            if owner not in allowed:
                raise ResourceError(
                    "%s cannot be installed: %s already belongs to package %s"
                    % (name, path, owner),
                    kind="package.conflict",
                    hint=(
                        "the two packages cannot be installed together; keep only one "
                        "of them in the manifest"
                    ),
                )


def _already_there(context: "Context", contents: Contents, rules: "HostRules") -> List[str]:
    """Return the paths of a package at which another package may have something, or which it
    diverts.
    """
    files = context.files
    paths = [
        member.path
        for member in contents.members
        if member.kind != "directory"
        and (rules.diverts(member.path) or files.is_there(member.path))
    ]
    return [path for path in paths if not (set(path) & _PATTERN or files.is_directory(path))]


def _owners(context: "Context", paths: Sequence[str], planned: Planned) -> Dict[str, str]:
    """Return the packages that own these files; those of the plan come before those of the host."""
    owners: Dict[str, str] = {}
    for at in range(0, len(paths), _LIMIT):
        command = ("dpkg-query", "--search", "--", *paths[at : at + _LIMIT])
        for line in context.commands.run(command).stdout.splitlines():
            fits = _OWNED.match(line)
            if fits:
                owners[fits.group("path")] = fits.group("owner")
    versions = context.overlay.packages if context.overlay is not None else {}
    for (name, version), contents in planned.items():
        effect = versions.get(name)
        if effect is not None and effect.version == version:
            owners.update((m.path, name) for m in contents.members if m.path in set(paths))
    return owners


def _replaces(show_output: str, name: str) -> List[str]:
    """Return the packages whose files this one may overwrite."""
    names: List[str] = []
    for stanza in apt_simulation.stanzas(show_output):
        if apt_simulation.field(stanza, "Package") == name.partition(":")[0]:
            words = apt_simulation.field(stanza, "Replaces").split(",")
            names += [word.split()[0] for word in words if word.strip()]
    return names
