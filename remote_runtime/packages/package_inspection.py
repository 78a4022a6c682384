"""Examines packages before they are installed (target), for previews only."""

import os
from typing import TYPE_CHECKING, AbstractSet, Callable, Dict, NamedTuple, Optional, Sequence, Set

from remote_runtime.errors import CcmError
from remote_runtime.packages.dpkg import package_contents as deb_contents
from remote_runtime.packages.dpkg.package_contents import ContentReader, Contents
from remote_runtime.reporting import text_diff

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.system.process.commands import Commands

MAX_DOWNLOADED = 64 << 20  # bytes, of one transaction
MAX_UNPACKED = 256 << 20
MAX_SHARE = 2  # at most 1/2 of the free space for temporary files
MAX_SHOWN = 8 << 20  # bytes of a package's files that a diff may show
TIMEOUT = 60.0  # seconds for a download, and for unpacking


class Indexed(NamedTuple):
    """The entry of a package in the host's own index."""

    name: str
    version: str
    sha256: str
    size: int
    unpacked: int


class Packages(object):
    """Access to the package files of one package manager."""

    suffix = ""

    def download(self, wanted: Sequence[Indexed], directory: str) -> None:
        """Download these into a directory, possibly with others. ``ResourceError``."""
        raise NotImplementedError

    def unpack(self, path: str, directory: str) -> Contents:
        """Read a downloaded package; ``directory`` is for temporary files. ``OSError``,
        ``ValueError``."""
        raise NotImplementedError

    def unpacked_size(self, path: str) -> int:
        """Return the bytes that a package unpacks to, at most a little more than allowed.
        ``ValueError``."""
        raise NotImplementedError


class FromFile(Packages):
    """A package file on the host; ``unpack`` is that of ``kind``."""

    def __init__(self, path: str, kind: Packages) -> None:
        self._path, self._kind, self.suffix = path, kind, kind.suffix

    def download(self, wanted: Sequence[Indexed], directory: str) -> None:
        os.symlink(self._path, os.path.join(directory, "package" + self.suffix))

    def unpack(self, path: str, directory: str) -> Contents:
        """Read the package, unless it is too large: no index has its size."""
        unpacked = self._kind.unpacked_size(path)
        if not _fits([Indexed("", "", sha256="", size=0, unpacked=unpacked)]):
            raise ValueError("it is too large")
        return self._kind.unpack(path, directory)


class Probe(object):
    """Examines packages, and stores the results for the run."""

    def __init__(self, context: "Context") -> None:
        self._context = context
        self._shared = context.shared()
        self._asked: Set[str] = set()
        self._left: Set[str] = set()  # for this host, and not reported yet
        self._tried: Set[str] = set()
        self._failed: Dict[str, CcmError] = {}  # why these cannot be downloaded
        self._known: Dict[str, Contents] = {}
        self._alone: Dict[str, Contents] = {}  # reported by only one other host
        self._files: Dict[str, Dict[str, bytes]] = {}  # by hash and path, if requested

    def of_file(self, name: str, version: str, path: str, kind: Packages) -> Dict[str, Contents]:
        """Return the contents of a package whose file is on the host, by its name; see
        ``contents``.
        """
        size, sha = os.path.getsize(path), deb_contents.digest(path)
        one = Indexed(name, version, sha256=sha, size=size, unpacked=0)
        return self.contents([one], FromFile(path, kind))

    def contents(
        self, wanted: Sequence[Indexed], packages: Packages, soon: Sequence[Indexed] = ()
    ) -> Dict[str, Contents]:
        """Return the contents of the packages by name, without packages that could not
        be examined. If one is not known yet, this also examines those that will be needed
        ``soon``, unless they are too large.
        """
        unknown = [i for i in wanted if i.sha256 not in self._known]
        requested = self._asked.union(i.sha256 for i in wanted)
        more = [i for i in soon if i.sha256 not in requested] if unknown else []
        more = more if _fits([*unknown, *more]) else []
        self._learn([i for i in [*unknown, *more] if i.sha256 not in self._asked], packages)
        missing = [i for i in unknown if i.sha256 not in self._known]
        more = [i for i in more if i.sha256 not in self._known]
        self._read(missing, packages, more)
        forms = {sha: self._known[sha].form() for sha in self._left if sha in self._known}
        for one in [*missing, *more]:
            if one.sha256 in self._alone:
                self._known.setdefault(one.sha256, self._alone[one.sha256])
        self._shared.tell(forms, self._left)
        self._left = set()
        return {
            i.name: self._known[i.sha256]._replace(look=self._look_of(i, wanted, packages))
            for i in wanted
            if i.sha256 in self._known
        }

    def _look_of(
        self, one: Indexed, together: Sequence[Indexed], packages: Packages
    ) -> ContentReader:
        """Return a reader for the files of a package; usually only their hashes are stored."""

        def look(path: str) -> Optional[bytes]:
            if one.sha256 not in self._files:
                self._files[one.sha256] = {}
                if _fits(together):
                    self._opened([one], packages, self._keep)
            return self._files[one.sha256].get(path)

        return look

    def _keep(self, sha: str, directory: str, contents: Contents) -> None:
        """Keep the files of a package that a diff may show, the smallest first."""
        files = [m for m in contents.members if m.kind == "file" and m.size <= text_diff.LARGEST]
        remaining_size = MAX_SHOWN
        for member in sorted(files, key=lambda member: member.size):
            remaining_size -= member.size
            if remaining_size < 0:
                break
            with open(directory + member.path, "rb") as file:
                self._files[sha][member.path] = file.read()

    def _learn(self, unknown: Sequence[Indexed], packages: Packages) -> None:
        """Use the reports of other hosts; this host examines the rest.

        The report of a single host is used only if a second host examines the package, or if this
        one cannot.
        """
        shas = [i.sha256 for i in unknown]
        shared = self._shared.known(shas)
        self._asked.update(shas)
        ours = [sha for sha in shas if sha in shared.left or sha not in shared.alone]
        self._left = {sha for sha in ours if sha not in shared.known}
        for one in unknown:
            sha = one.sha256
            try:
                contents = deb_contents.parse(shared.known.get(sha) or shared.alone.get(sha))
            except ValueError:
                continue  # from a host that sends false data: examine it here
            if sha in shared.known:
                self._known[sha] = contents
                continue
            self._alone[sha] = contents._replace(is_so=self._check(one, contents, packages))
            if sha not in ours:
                self._known[sha] = self._alone[sha]

    def _check(self, one: Indexed, contents: Contents, packages: Packages) -> Callable[[], bool]:
        """Check another host's report."""

        def is_so() -> bool:
            self._read([one], packages)
            return self._known[one.sha256] == contents

        return is_so

    def _read(
        self, wanted: Sequence[Indexed], packages: Packages, soon: Sequence[Indexed] = ()
    ) -> None:
        """Examine packages, once each, if they are not too large, together with those
        needed ``soon``.

        A failed download fails everything that needs the package.
        """
        for one in wanted:
            if one.sha256 in self._failed:
                raise self._failed[one.sha256]
        missing = [i for i in wanted if i.sha256 not in self._tried]
        together = [*missing, *soon]
        if not (together and _fits(together)):
            return
        self._tried.update(i.sha256 for i in missing)

        def learn(sha: str, directory: str, contents: Contents) -> None:
            self._known[sha] = contents

        failed = self._opened(together, packages, learn)
        if soon:  # perhaps because of one of those
            missing = [i for i in missing if i.sha256 not in self._known]
            failed = self._opened(missing, packages, learn) if missing else None
        if failed is not None:
            lacking = (i.sha256 for i in missing if i.sha256 not in self._known)
            self._failed.update((sha, failed) for sha in lacking)
            raise failed

    def _opened(
        self,
        wanted: Sequence[Indexed],
        packages: Packages,
        use: Callable[[str, str, Contents], None],
    ) -> Optional[CcmError]:
        """Download packages and call ``use`` for each with the directory of its unpacked files.
        Return why some could not be downloaded.
        """
        files = self._context.files
        directory = files.private_directory()
        try:
            self._context.progress("reading %s" % ", ".join(i.name for i in wanted))
            failed = self._download(wanted, directory, packages)
            for name in sorted(os.listdir(directory)):
                if name.endswith(packages.suffix):
                    path = os.path.join(directory, name)
                    self._open(path, {i.sha256 for i in wanted}, packages, use)
        finally:
            files.remove_private_directory(directory)
        return failed

    @staticmethod
    def _download(
        wanted: Sequence[Indexed], directory: str, packages: Packages
    ) -> Optional[CcmError]:
        """Return the reason why some could not be downloaded; the others are in the directory."""
        try:
            packages.download(wanted, directory)
        except CcmError as error:
            return error
        return None

    @staticmethod
    def _open(
        path: str,
        wanted: AbstractSet[str],
        packages: Packages,
        use: Callable[[str, str, Contents], None],
    ) -> None:
        sha = deb_contents.digest(path)
        if sha not in wanted:
            return
        directory = path[: -len(packages.suffix)]
        try:
            use(sha, directory, packages.unpack(path, directory))
        except (OSError, ValueError):
            pass  # then it is unknown, as the prediction reports


def counted(commands: "Commands", script: str, path: str) -> int:
    """Return how many bytes a shell script prints for a package, at most a little more than
    allowed. ``ValueError``."""
    argv = ("sh", "-c", script + ' | head -c "$2" | wc -c', "ccm", path, str(MAX_UNPACKED + 1))
    printed = commands.run(argv, timeout=TIMEOUT).stdout.strip()
    if not printed.isdigit() or int(printed) == 0:
        raise ValueError("it cannot be unpacked")
    return int(printed)


def _fits(wanted: Sequence[Indexed]) -> bool:
    """Return whether these may be downloaded and unpacked for a preview, and enough room for
    temporary files of others remains.
    """
    import tempfile

    size, unpacked = sum(i.size for i in wanted), sum(i.unpacked for i in wanted)
    if size > MAX_DOWNLOADED or unpacked > MAX_UNPACKED:
        return False
    free = os.statvfs(tempfile.gettempdir())
    return size + unpacked <= free.f_bavail * free.f_frsize // MAX_SHARE
