"""The manifests that a run takes from archives on other machines (controller)."""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from threading import Lock
from typing import NamedTuple

from orchestrator.sources.address import Address, SourceError, parse_address

MAX_ARCHIVE = 32 << 20
NAMES = ("manifest.yaml", "site.yaml")
"""The manifest of an archive whose URL does not name one."""


class Unpacked(NamedTuple):
    """An archive's directory, and the path of its manifest in it."""

    directory: str
    manifest: str

    @property
    def path(self) -> Path:
        """The manifest."""
        return Path(self.directory, self.manifest)


class Archives:
    """The archives of one run, each read once. Thread-safe.

    ``known`` has archives that were already read. Without ``contact``, no machine is contacted.
    """

    def __init__(
        self, contact: bool = True, known: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        self._contact = contact
        self._lock = Lock()
        self._known = {url: Unpacked(*one) for url, one in (known or {}).items()}

    def get(self, url: str) -> Unpacked | None:
        """The archive of a URL with a digest; None if no machine may be contacted for it.

        SourceError.
        """
        with self._lock:
            if url not in self._known:
                found = _unpacked(url, self._contact)
                if found is None:
                    return None
                self._known[url] = found
            return self._known[url]

    def known(self) -> dict[str, Unpacked]:
        """The archives that were read so far, by URL."""
        with self._lock:
            return dict(self._known)

    def holding(self, path: Path) -> Path | None:
        """The directory of the archive that contains a manifest; None if no archive does."""
        for one in self.known().values():
            if one.path == path:
                return Path(one.directory)
        return None


def check_archive(url: str) -> Address:
    """Return the address of an archive; SourceError if no manifest may name it."""
    address = parse_address(url)
    if address.scheme == "kv" or not address.digest:
        raise SourceError(
            f"{address.shown} has no digest, and a manifest can run any command",
            hint="append #sha256=HEX of an archive that you have reviewed",
        )
    if "?" in url:
        hint = "use a URL without a query: events and reports would show it"
        raise SourceError(f"the URL {address.shown} of a manifest has a query", hint=hint)
    return address


def _unpacked(url: str, contact: bool) -> Unpacked | None:
    from orchestrator.sources.unpacking import files_of
    from orchestrator.sources.url_text import Access, read_bytes

    address = check_archive(url)
    data = read_bytes(address, Access(contact=contact), MAX_ARCHIVE)
    if data is None:
        return None
    files = files_of(data, address.shown)
    manifest = _manifest(address, list(files))
    from orchestrator.sources.cache import cache_directory
    from orchestrator.sources.unpacking import is_below, write
    from orchestrator.support.state_directory import make_private

    directory = cache_directory() / f"{address.digest}.files"
    try:
        make_private(directory.parent)
        if not directory.exists():
            new = directory.with_name(f".{directory.name}.{os.urandom(6).hex()}")
            try:
                write(files, new)
                os.rename(new, directory)
            except OSError:
                import shutil

                shutil.rmtree(new, ignore_errors=True)
                if not directory.exists():  # else another run was faster
                    raise
        os.utime(directory)
    except OSError as error:
        raise SourceError(f"cannot write {directory}: {error.strerror}") from error
    if not is_below(files, directory):
        hint = f"remove it: rm -r {directory}"
        raise SourceError(f"{directory} differs from the content of {address.shown}", hint=hint)
    return Unpacked(str(directory), manifest)


def _manifest(address: Address, names: Sequence[str]) -> str:
    """The path of the manifest in an archive with these files; SourceError."""
    if address.manifest:
        if address.manifest in names:
            return address.manifest
        message = f"the archive {address.shown} has no file {address.manifest!r}"
        raise SourceError(message, hint="manifest= is a path relative to the archive's top level")
    tops = {name.partition("/")[0] for name in names}
    above = f"{tops.pop()}/" if len(tops) == 1 and "/" in names[0] else ""
    for name in NAMES:
        if above + name in names:
            return above + name
    message = f"the archive {address.shown} has neither {' nor '.join(NAMES)} at its top level"
    raise SourceError(message, hint="specify the manifest: #sha256=HEX&manifest=PATH")
