"""One module per package manager (target)."""

from remote_runtime.context import Context
from remote_runtime.packages.manager import PackageManager


def manager_of(context: Context, name: str) -> PackageManager:
    """Return the package manager of a run, by name."""
    manager: PackageManager
    if name == "apt":
        from remote_runtime.packages.managers.apt import Apt

        manager = context.one(Apt)
    elif name == "dnf":
        from remote_runtime.packages.managers.dnf import Dnf

        manager = context.one(Dnf)
    elif name == "pip":
        from remote_runtime.packages.managers.pip import Pip

        manager = context.one(Pip)
    else:
        from remote_runtime.packages.managers.npm import Npm

        manager = context.one(Npm)
    return manager
