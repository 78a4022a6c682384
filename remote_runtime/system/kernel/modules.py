"""The modules of the kernel, and the files that load them at the next boot (target)."""

import os
from typing import Dict, List, NamedTuple

from remote_runtime.errors import ResourceError
from remote_runtime.system.paths import content_of

PROC = "/proc"
LIBRARY = "/lib/modules"
_MODULE_CAPABILITY = 16  # CAP_SYS_MODULE


class Module(NamedTuple):
    """A loaded module: its use count, and the modules that use it."""

    uses: int
    users: List[str]


def plain(name: str) -> str:
    """The name as the kernel writes it: dashes and underscores are equivalent."""
    return name.replace("-", "_")


def loaded() -> Dict[str, Module]:
    """Return the loaded modules by name, without built-in ones."""
    result = {}
    for line in _lines(os.path.join(PROC, "modules")):
        name, _, uses, users = (line.split() + [""] * 4)[:4]
        names = [one for one in users.split(",") if one not in ("", "-")]
        result[name] = Module(int(uses) if uses.isdigit() else 0, names)
    return result


def is_built_in(name: str) -> bool:
    """Return whether it is built into the kernel."""
    return any(_name_of(line) == plain(name) for line in _lines(_table("modules.builtin")))


def is_there(name: str) -> bool:
    """Return whether the running kernel can find a module, by its name or an alias."""
    if any(
        _name_of(line.partition(":")[0]) == plain(name) for line in _lines(_table("modules.dep"))
    ):
        return True
    words = (line.split() for line in _lines(_table("modules.alias")))
    return any(
        one[:1] == ["alias"] and plain(one[1]) == plain(name) for one in words if len(one) == 3
    )


def require_loading(name: str) -> None:
    """``ResourceError`` if modules can be neither loaded nor unloaded here."""
    if os.geteuid() != 0:
        reason = "only root may load or unload kernel modules"
        hint = "use become for the host, or connect as root"
    elif not _may_load():
        reason = "this host cannot load or unload modules; it may be a container"
        hint = "change modules on the container's host, or set live: false"
    else:
        return
    message = "the module %s: %s" % (name, reason)
    raise ResourceError(message, kind="resource.module", hint=hint)


def require_there(name: str) -> None:
    """``ResourceError`` for a module that the running kernel cannot find."""
    if not is_there(name):
        raise ResourceError(
            "the kernel %s has no module %s" % (os.uname().release, name),
            kind="resource.module",
            hint="check the name; install the package that has it in an earlier resource, or "
            "reboot into the kernel that has it",
        )


def require_unused(name: str, module: Module) -> None:
    """``ResourceError`` for a module that is in use."""
    if module.uses:
        users = ", ".join(module.users) or "%d user" % module.uses + (
            "s" if module.uses > 1 else ""
        )
        raise ResourceError(
            "the module %s is in use by %s" % (name, users),
            kind="resource.module",
            hint="stop what uses it first, or set live: false",
        )


def _may_load() -> bool:
    for line in _lines(os.path.join(PROC, "self/status")):
        if line.startswith("CapEff:"):
            return bool(int(line.split()[1], 16) >> _MODULE_CAPABILITY & 1)
    return True


def _table(name: str) -> str:
    return os.path.join(LIBRARY, os.uname().release, name)


def _name_of(path: str) -> str:
    return plain(os.path.basename(path.strip()).partition(".ko")[0])


def _lines(path: str) -> List[str]:
    """The lines of a table, none if it is missing, as in a container."""
    return content_of(path).decode("utf-8", "replace").splitlines()
