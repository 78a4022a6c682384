"""One module per package manager (target)."""

from remote_runtime.context import Context
from remote_runtime.packages.manager import PackageManager


def manager_of(context: Context, name: str) -> PackageManager:
    """Return the package manager of a run, by name."""
    found: PackageManager
    if name == "apt":
        from remote_runtime.packages.managers.apt import Apt

        found = context.one(Apt)
    elif name == "dnf":
        from remote_runtime.packages.managers.dnf import Dnf

        found = context.one(Dnf)
    elif name == "pip":
        from remote_runtime.packages.managers.pip import Pip

        found = context.one(Pip)
    else:
        from remote_runtime.packages.managers.npm import Npm

        found = context.one(Npm)
    return found
