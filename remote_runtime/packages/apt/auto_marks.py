"""The packages that apt considers installed only for others, and so may remove with
them (target).
"""

from typing import TYPE_CHECKING, Mapping, Set

from remote_runtime.packages.apt import simulation as apt_simulation
from remote_runtime.system.paths import content_of

if TYPE_CHECKING:
    from remote_runtime.system.process.commands import Commands

FILE = "/var/lib/apt/extended_states"
MANUAL = ("apt-mark", "manual")
_HOLDS = {True: "hold", False: "unhold"}


def automatic(path: str = FILE) -> Set[str]:
    """Return their names; empty if apt has no such file."""
    text = content_of(path).decode("utf-8", "replace")
    return {
        apt_simulation.field(stanza, "Package")
        for stanza in apt_simulation.stanzas(text)
        if apt_simulation.field(stanza, "Auto-Installed") == "1"
    }


def mark(commands: "Commands", name: str, environment: Mapping[str, str]) -> None:
    """Mark a package as manually installed. ``ResourceError``."""
    from remote_runtime.packages.apt import errors as apt_errors

    result = commands.run([*MANUAL, name], env=environment)
    if result.code != 0:
        raise apt_errors.explain("marking %s as installed manually" % name, result)


def hold(commands: "Commands", name: str, held: bool, environment: Mapping[str, str]) -> None:
    """Hold a package at its version, or release the hold. ``ResourceError``."""
    from remote_runtime.packages.apt import errors as apt_errors

    result = commands.run(["apt-mark", _HOLDS[held], name], env=environment)
    if result.code != 0:
        raise apt_errors.explain("apt-mark %s %s" % (_HOLDS[held], name), result)
