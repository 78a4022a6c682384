"""Looks into Debian packages before they are installed (target), for previews only."""

import os
from typing import TYPE_CHECKING, AbstractSet, Callable, Dict, List, NamedTuple, Sequence, Set

from remote_runtime.resources.package import apt_simulation, deb_contents
from remote_runtime.resources.package.provider import VersionChange

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.system.commands import Result

MOST_DOWNLOADED = 64 << 20  # bytes, of one transaction
MOST_UNPACKED = 256 << 20
_TIMEOUT = 60.0  # seconds for a download, and for unpacking

Run = Callable[..., "Result"]


class Indexed(NamedTuple):
    """What the host's own index says of a package."""

    name: str
    sha256: str
    size: int
    unpacked: int


class Probe(object):
    """Keeps what it has read for the run.

    ``run(words, cwd, timeout)`` runs apt-get with the options that leave the host's caches alone.
    """

    def __init__(self, context: "Context", run: Run) -> None:
        self._context = context
        self._run = run
        self._shared = context.shared()
        self._left: Set[str] = set()
        self._known: Dict[str, deb_contents.Contents] = {}

    def contents(
        self, coming: Sequence[VersionChange], shown: str, native: str
    ) -> Dict[str, deb_contents.Contents]:
        """What the packages hold, by name; without those of which nothing could be learnt.

        ``shown`` is what the index says of them, as ``apt-cache show`` prints it.
        """
        wanted = indexed(coming, shown, native)
        versions = {change.name: change.after for change in coming}
        self._learn([i.sha256 for i in wanted if i.sha256 not in self._known])
        missing = [i for i in wanted if i.sha256 not in self._known]
        fits = sum(i.size for i in missing) <= MOST_DOWNLOADED
        if missing and fits and sum(i.unpacked for i in missing) <= MOST_UNPACKED:
            self._read(missing, ["%s=%s" % (i.name, versions[i.name]) for i in missing])
        found = {i.sha256: self._known[i.sha256].form() for i in missing if i.sha256 in self._known}
        self._shared.tell(found, {i.sha256 for i in missing} & self._left)
        return {i.name: self._known[i.sha256] for i in wanted if i.sha256 in self._known}

    def _learn(self, shas: Sequence[str]) -> None:
        """Take what other hosts have found; the rest is left to us."""
        found = self._shared.known(shas)
        self._left = {sha for sha in shas if sha not in found}
        for sha, form in found.items():
            try:
                self._known[sha] = deb_contents.parse(form)
            except ValueError:
                continue  # from a host that does not tell the truth: we look ourselves

    def _read(self, missing: Sequence[Indexed], words: Sequence[str]) -> None:
        files = self._context.files
        folder = files.private_folder()
        try:
            self._context.progress("looking into %s" % ", ".join(i.name for i in missing))
            self._run(["download", *words], folder, _TIMEOUT)
            for name in sorted(os.listdir(folder)):
                if name.endswith(".deb"):
                    self._look(os.path.join(folder, name), {i.sha256 for i in missing})
        finally:
            files.remove_private_folder(folder)

    def _look(self, path: str, wanted: AbstractSet[str]) -> None:
        digest = deb_contents.digest(path)
        folder = path[: -len(".deb")]
        if digest not in wanted:
            return
        argv = ("dpkg-deb", "--raw-extract", path, folder)
        if self._context.commands.run(argv, timeout=_TIMEOUT).code != 0:
            return
        try:
            self._known[digest] = deb_contents.read(folder)
        except (OSError, ValueError):
            pass  # then it is not known, which the prediction says


def indexed(coming: Sequence[VersionChange], shown: str, native: str) -> List[Indexed]:
    """The packages that come, as far as ``shown``, what the index says of them, has them."""
    known = apt_simulation.by_version(shown, native)
    found = []
    for change in coming:
        stanza = known.get((change.name, change.after), "")
        sha, size = apt_simulation.field(stanza, "SHA256"), apt_simulation.field(stanza, "Size")
        unpacked = apt_simulation.field(stanza, "Installed-Size") or "0"
        if sha and size.isdigit() and unpacked.isdigit():
            found.append(Indexed(change.name, sha, int(size), int(unpacked) << 10))
    return found
