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
    version: str
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
        self._asked: Set[str] = set()
        self._left: Set[str] = set()  # to us, and not told yet
        self._tried: Set[str] = set()
        self._known: Dict[str, deb_contents.Contents] = {}

    def contents(
        self, coming: Sequence[VersionChange], shown: str, native: str
    ) -> Dict[str, deb_contents.Contents]:
        """What the packages hold, by name; without those of which nothing could be learnt.

        ``shown`` is what the index says of them, as ``apt-cache show`` prints it.
        """
        wanted = indexed(coming, shown, native)
        unknown = [i for i in wanted if i.sha256 not in self._known]
        self._learn([i for i in unknown if i.sha256 not in self._asked])
        missing = [i for i in unknown if i.sha256 not in self._known]
        self._read(missing)
        found = {i.sha256: self._known[i.sha256].form() for i in missing if i.sha256 in self._known}
        self._shared.tell(found, self._left)
        self._left = set()
        return {i.name: self._known[i.sha256] for i in wanted if i.sha256 in self._known}

    def _learn(self, unknown: Sequence[Indexed]) -> None:
        """Take what other hosts have found; the rest is left to us."""
        shas = [i.sha256 for i in unknown]
        found = self._shared.known(shas)
        self._asked.update(shas)
        self._left = {sha for sha in shas if sha not in found}
        for one in unknown:
            try:
                told = deb_contents.parse(found.get(one.sha256))
            except ValueError:
                continue  # from a host that does not tell the truth: we look ourselves
            self._known[one.sha256] = told._replace(is_so=self._check(one, told))

    def _check(self, one: Indexed, told: deb_contents.Contents) -> Callable[[], bool]:
        """What looks whether another host's word is true."""

        def is_so() -> bool:
            self._read([one])
            return self._known[one.sha256] == told

        return is_so

    def _read(self, packages: Sequence[Indexed]) -> None:
        """Look into packages, once each, where they are not too large."""
        missing = [i for i in packages if i.sha256 not in self._tried]
        fits = sum(i.size for i in missing) <= MOST_DOWNLOADED
        if not (missing and fits and sum(i.unpacked for i in missing) <= MOST_UNPACKED):
            return
        self._tried.update(i.sha256 for i in missing)
        files = self._context.files
        folder = files.private_folder()
        try:
            self._context.progress("looking into %s" % ", ".join(i.name for i in missing))
            self._run(["download", *("%s=%s" % i[:2] for i in missing)], folder, _TIMEOUT)
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
