"""The commands that change packages with apt (target)."""

from typing import Dict, List, Optional, Sequence

from remote_runtime.packages.package_info import Operation

ENVIRONMENT = {
    "DEBIAN_FRONTEND": "noninteractive",
    "APT_LISTBUGS_FRONTEND": "none",
    "APT_LISTCHANGES_FRONTEND": "none",
    # Restarts of services that nobody planned: not at all, and where an old hook does not know
    # that variable, listed only.
    "NEEDRESTART_SUSPEND": "1",
    "NEEDRESTART_MODE": "l",
}
# Without the option a repository that cannot be reached is only a warning, and the lists stay old.
UPDATE = ("apt-get", "update", "-q", "-o", "APT::Update::Error-Mode=any")
# Without files in /var/cache/apt that apt reads faster than the lists.
UNCACHED = ("-o", "Dir::Cache::pkgcache=", "-o", "Dir::Cache::srcpkgcache=")
KEEPING = "--force-confold"
# Without a separate terminal for dpkg: a script that reads from /dev/tty would wait forever.
_NO_TERMINAL = ("-o", "Dpkg::Use-Pty=0")
INSTALL = ("apt-get", "install", "-y", "-q", *_NO_TERMINAL, "-o", "DPkg::Options::=" + KEEPING)
PURGE = ("apt-get", "-q", "-y", *_NO_TERMINAL, "purge")
REMOVE = ("apt-get", "-q", "-y", *_NO_TERMINAL, "remove")
_RECOMMENDS: Dict[Optional[bool], List[str]] = {
    None: [],
    True: ["--install-recommends"],
    False: ["--no-install-recommends"],
}


def words(operations: Sequence[Operation]) -> List[str]:
    """Return the command that carries out operations of one kind; "" lets apt choose
    the version.
    """
    if operations[0].removal:
        command = PURGE if operations[0].purge else REMOVE
        return [*command, *(operation.name for operation in operations)]
    downgrades = ["--allow-downgrades"] if any(one.exact for one in operations) else []
    wanted = [one.file or "=".join(filter(None, (one.name, one.version))) for one in operations]
    return [*INSTALL, *downgrades, *_RECOMMENDS[operations[0].recommends], *wanted]
