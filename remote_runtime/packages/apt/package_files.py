"""apt's view of packages: its index, downloads and archives (target)."""

import re
from typing import TYPE_CHECKING, Callable, Dict, List, Sequence

from remote_runtime.changes import Unknowable
from remote_runtime.errors import CcmError, ResourceError
from remote_runtime.packages.apt import errors as apt_errors
from remote_runtime.packages.apt import simulation as apt_simulation
from remote_runtime.packages.dpkg import package_contents as deb_contents
from remote_runtime.packages.dpkg.package_contents import Contents
from remote_runtime.packages.package_info import VersionChange
from remote_runtime.packages.package_inspection import TIMEOUT, Indexed, Packages, counted

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.system.process.commands import Result

_TARS = '{ dpkg-deb --ctrl-tarfile "$1"; dpkg-deb --fsys-tarfile "$1"; }'
ARCHIVES = "/var/cache/apt/archives"
# Failures that do not depend on whether the network works at that moment.
_FINAL = re.compile(r"404 +Not Found|File not found|Hash Sum mismatch|unexpected size|No such file")

Run = Callable[..., "Result"]


class Debs(Packages):
    """Debian packages, examined with apt. ``run(words, cwd, timeout)`` runs apt-get with the
    options that leave the host's caches alone.
    """

    suffix = ".deb"

    def __init__(self, context: "Context", run: Run) -> None:
        self._context, self._run = context, run

    def download(self, packages: Sequence[Indexed], directory: str) -> None:
        result = self._run(
            ["download", *("%s=%s" % one[:2] for one in packages)], directory, TIMEOUT
        )
        if result.code != 0 and not any(self._is_cached(one) for one in packages):
            raise _not_fetched(result)

    def _is_cached(self, one: Indexed) -> bool:
        """Return whether apt has the package in its cache, so that an installation need not
        download it.
        """
        begins = "%s_%s_" % (one.name.partition(":")[0], one.version.replace(":", "%3a"))
        files = self._context.files
        names = files.entries(ARCHIVES) if files.is_directory(ARCHIVES) else ()
        return any(name.startswith(begins) for name in names)

    def unpack(self, path: str, directory: str) -> Contents:
        """Read a package: dpkg-deb unpacks the files together with the scripts and fields of the
        package.
        """
        argv = ("dpkg-deb", "--raw-extract", path, directory)
        if self._context.commands.run(argv, timeout=TIMEOUT).code != 0:
            raise ValueError("dpkg-deb cannot unpack it")
        return deb_contents.read(directory)

    def unpacked_size(self, path: str) -> int:
        return counted(self._context.commands, _TARS, path)


def _not_fetched(result: "Result") -> CcmError:
    """Return the error that a push would have, too; ``Unknowable`` if the network may work
    by then.
    """
    error = apt_errors.explain("downloading packages", result)
    if _FINAL.search(result.stdout + result.stderr):
        return error
    return Unknowable(error.message)


def indexed(changes: Sequence[VersionChange], show_output: str, native: str) -> List[Indexed]:
    """Return the index entries of the new packages, as far as ``show_output``, the index's text
    about them, contains them.
    """
    known = apt_simulation.by_version(show_output, native)
    entries = []
    for change in changes:
        stanza = known.get((change.name, change.after), "")
        sha, size = apt_simulation.field(stanza, "SHA256"), apt_simulation.field(stanza, "Size")
        unpacked = apt_simulation.field(stanza, "Installed-Size") or "0"
        if sha and size.isdigit() and unpacked.isdigit():
            entries.append(
                Indexed(
                    change.name,
                    change.after,
                    sha256=sha,
                    size=int(size),
                    unpacked=int(unpacked) << 10,
                )
            )
    return entries


def confirm(
    context: "Context",
    new_packages: Sequence[VersionChange],
    *,
    show: Callable[[Dict[str, str]], str],
    native: str,
) -> None:
    """Let the controller compare the contents that previews used for these packages with the
    installed ones.

    ``show`` returns the lists' text about these versions.
    """
    if not new_packages:
        return
    from remote_runtime.packages.dpkg.installed_packages import Registry

    try:
        show_output = show({change.name: change.after for change in new_packages})
    except ResourceError:  # the installation itself went well
        return
    registry = Registry(native)
    entries = indexed(new_packages, show_output, native)
    context.shared().confirm(
        {one.sha256: registry.fingerprint(one.name, deb_contents.SCRIPTS) for one in entries}
    )
