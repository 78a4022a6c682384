"""dnf's view of packages: downloads and archives (target)."""

import os
import re
from typing import TYPE_CHECKING, Callable, Dict, Sequence

from remote_runtime.changes import Unknowable
from remote_runtime.errors import CcmError, ResourceError
from remote_runtime.packages.dpkg.package_contents import Contents
from remote_runtime.packages.package_inspection import TIMEOUT, Indexed, Packages, counted
from remote_runtime.packages.rpm import package_contents as rpm_contents

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.system.process.commands import Result

LIMIT = 16 << 20  # bytes of a query's output
_FORM = rpm_contents.FORMAT + rpm_contents.END
HEADER = ("rpm", "-qp", "--nosignature", "--nodigest", "--queryformat", _FORM)


# Failures that do not depend on whether the network works at that moment.
_FINAL = re.compile(
    r"Status code: 4(?:0[34]|10)\b|No such file|incorrect checksum|Couldn't (?:read|open) a file"
    r"|[Cc]hecksum doesn't match|Download(?:ing)? successful, but checksum"
)


class Rpms(Packages):
    """RPMs, examined with dnf. ``fetch(wanted, directory)`` has dnf download the transactions of
    these packages to a directory.
    """

    suffix = ".rpm"

    def __init__(self, context: "Context", fetch: Callable[[Sequence[Indexed], str], None]) -> None:
        self._context, self._fetch = context, fetch
        self._headers: Dict[str, str] = {}  # by path

    def download(self, packages: Sequence[Indexed], directory: str) -> None:
        self._fetch(packages, directory)

    def unpack(self, path: str, directory: str) -> Contents:
        """Read an RPM: rpm reads the header without the host's settings, once for all RPMs in its
        directory; rpm2archive unpacks the files.
        """
        run, parent = self._context.commands.run, os.path.dirname(path)
        if not self._headers:
            names = [name for name in sorted(os.listdir(parent)) if name.endswith(self.suffix)]
            self._headers = self._read([os.path.join(parent, name) for name in names])
        if path not in self._headers:  # perhaps because of another one
            self._headers.update(self._read([path]))
        header = self._headers.setdefault(path, "")
        if not header or run(rpm_contents.unpacking(path, directory), timeout=TIMEOUT).code != 0:
            raise ValueError("rpm cannot unpack it")
        return rpm_contents.Header(header).contents(directory)

    def unpacked_size(self, path: str) -> int:
        return counted(self._context.commands, 'rpm2cpio "$1"', path)

    def _read(self, paths: Sequence[str]) -> Dict[str, str]:
        """Return rpm's output about the header of each RPM; nothing if one cannot be read."""
        from remote_runtime.packages.dnf.isolated_run import isolated

        argv = isolated(self._context, (*HEADER, *paths))
        found = self._context.commands.run(argv, timeout=TIMEOUT, limit=64 << 20)
        text, end, _ = found.stdout.rpartition(rpm_contents.END)
        texts = text.split(rpm_contents.END) if len(paths) > 1 else [text]
        read = found.code == 0 and end and len(texts) == len(paths)
        return dict(zip(paths, texts)) if read else {}


def refuse(error: CcmError, result: "Result") -> None:
    """Raise the ``error`` of a failed download that a push would have, too; ``Unknowable`` if the
    network may work by then. Return if there is another cause.
    """
    if isinstance(error, Unknowable):
        raise error
    if error.kind != "package.download":
        return
    if _FINAL.search(result.stdout + result.stderr):
        raise error
    raise Unknowable(error.message)


def confirm(context: "Context", printed: str, query: Callable[..., str]) -> None:
    """Let the controller compare the contents that previews used for packages with the installed
    ones.

    ``printed`` is dnf's output about the transaction; ``query`` queries its index.
    """
    from remote_runtime.packages.dnf import transaction as dnf_transaction

    new_packages = dnf_transaction.new_packages(printed)
    if not new_packages:
        return
    names = [one.spec for one in new_packages]
    try:
        index = query(*names, form=dnf_transaction.INDEX)
    except ResourceError:  # the installation itself went well
        return
    digests = {one.name: one.sha256 for one in dnf_transaction.indexed(index, new_packages)}
    result = context.commands.run((*rpm_contents.INSTALLED, *names), limit=LIMIT)
    prints = rpm_contents.fingerprints(result.stdout)
    both = [(digests[name], print_) for name, print_ in prints.items() if name in digests]
    context.shared().confirm(dict(both))
