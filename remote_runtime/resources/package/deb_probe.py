"""How apt has its packages: what its index says of them, downloads, archives (target)."""

from typing import TYPE_CHECKING, Callable, List, Sequence

from remote_runtime.resources.package import apt_simulation, deb_contents
from remote_runtime.resources.package.deb_contents import Contents
from remote_runtime.resources.package.probing import TIMEOUT, Indexed, Packages
from remote_runtime.resources.package.provider import VersionChange

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.system.commands import Result

Run = Callable[..., "Result"]


class Debs(Packages):
    """``run(words, cwd, timeout)`` runs apt-get with the options that leave the host's caches
    alone."""

    suffix = ".deb"

    def __init__(self, context: "Context", run: Run) -> None:
        self._context, self._run = context, run

    def download(self, wanted: Sequence[Indexed], folder: str) -> None:
        self._run(["download", *("%s=%s" % one[:2] for one in wanted)], folder, TIMEOUT)

    def unpack(self, path: str, folder: str) -> Contents:
        argv = ("dpkg-deb", "--raw-extract", path, folder)
        if self._context.commands.run(argv, timeout=TIMEOUT).code != 0:
            raise ValueError("dpkg-deb cannot unpack it")
        return deb_contents.read(folder)


def indexed(coming: Sequence[VersionChange], shown: str, native: str) -> List[Indexed]:
    """The packages that come, as far as ``shown``, what the index says of them, has them."""
    known = apt_simulation.by_version(shown, native)
    found = []
    for change in coming:
        stanza = known.get((change.name, change.after), "")
        sha, size = apt_simulation.field(stanza, "SHA256"), apt_simulation.field(stanza, "Size")
        unpacked = apt_simulation.field(stanza, "Installed-Size") or "0"
        if sha and size.isdigit() and unpacked.isdigit():
            found.append(
                Indexed(
                    change.name,
                    change.after,
                    sha256=sha,
                    size=int(size),
                    unpacked=int(unpacked) << 10,
                )
            )
    return found
