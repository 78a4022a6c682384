"""dnf's view of packages: downloads and archives (target)."""

import re
from typing import TYPE_CHECKING, Callable, Sequence

from remote_runtime.changes import Unknowable
from remote_runtime.errors import CcmError, ResourceError
from remote_runtime.packages.dpkg.package_contents import Contents
from remote_runtime.packages.package_inspection import TIMEOUT, Indexed, Packages
from remote_runtime.packages.rpm import package_contents as rpm_contents

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.system.process.commands import Result

LIMIT = 16 << 20  # bytes of a query's output
HEADER = ("rpm", "-qp", "--nosignature", "--nodigest", "--queryformat", rpm_contents.FORMAT)


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

    def download(self, wanted: Sequence[Indexed], directory: str) -> None:
        self._fetch(wanted, directory)

    def unpack(self, path: str, directory: str) -> Contents:
        """Read an RPM: rpm reads the header without the host's settings; rpm2archive unpacks the
        files.
        """
        from remote_runtime.packages.dnf.isolated_run import isolated

        run = self._context.commands.run
        header = run(isolated(self._context, (*HEADER, path)), timeout=TIMEOUT, limit=64 << 20)
        if (
            header.code != 0
            or run(rpm_contents.unpacking(path, directory), timeout=TIMEOUT).code != 0
        ):
            raise ValueError("rpm cannot unpack it")
        return rpm_contents.Header(header.stdout).contents(directory)


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

    came = dnf_transaction.new_packages(printed)
    if not came:
        return
    names = [one.spec for one in came]
    try:
        index = query(*names, form=dnf_transaction.INDEX)
    except ResourceError:  # the installation itself went well
        return
    found = {one.name: one.sha256 for one in dnf_transaction.indexed(index, came)}
    result = context.commands.run((*rpm_contents.INSTALLED, *names), limit=LIMIT)
    prints = rpm_contents.fingerprints(result.stdout)
    both = [(found[name], print_) for name, print_ in prints.items() if name in found]
    context.shared().confirm(dict(both))
