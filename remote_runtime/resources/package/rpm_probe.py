"""How dnf has its packages: downloads and archives (target)."""

from typing import TYPE_CHECKING, Callable, Sequence

from remote_runtime.resources.package import rpm_contents
from remote_runtime.resources.package.deb_contents import Contents
from remote_runtime.resources.package.probing import TIMEOUT, Indexed, Packages

if TYPE_CHECKING:
    from remote_runtime.context import Context

HEADER = ("rpm", "-qp", "--nosignature", "--nodigest", "--queryformat", rpm_contents.FORMAT)


class Rpms(Packages):
    """``fetch(folder)`` has dnf download a transaction to a folder."""

    suffix = ".rpm"

    def __init__(self, context: "Context", fetch: Callable[[str], None]) -> None:
        self._context, self._fetch = context, fetch

    def download(self, wanted: Sequence[Indexed], folder: str) -> None:
        self._fetch(folder)

    def unpack(self, path: str, folder: str) -> Contents:
        from remote_runtime.resources.package.dnf_aside import aside

        run = self._context.commands.run
        header = run(aside(self._context, (*HEADER, path)), timeout=TIMEOUT, limit=64 << 20)
        if header.code != 0 or run(rpm_contents.unpacking(path, folder), timeout=TIMEOUT).code != 0:
            raise ValueError("rpm cannot unpack it")
        return rpm_contents.Header(header.stdout).contents(folder)
