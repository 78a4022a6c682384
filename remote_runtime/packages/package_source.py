"""A package from the file that its resource names (target).

The file is next to the manifest, on the host or at a URL. Its metadata is stored by its checksum,
so that nothing is downloaded to a host that already has the package.
"""

import os
from typing import TYPE_CHECKING, Callable, Dict, Iterable, List, Optional

from remote_runtime.changes import Missing, Unknowable
from remote_runtime.downloads.checksums import algorithm_of, hasher, parse_checksum
from remote_runtime.errors import ResourceError
from remote_runtime.packages.manager import PackageManager
from remote_runtime.packages.package_info import PackageFile
from remote_runtime.plan_item import Properties
from remote_runtime.protocol.blobs import is_blob
from remote_runtime.retries import is_transient, retry, tries_of

if TYPE_CHECKING:
    from remote_runtime.context import Context

_KIND, _RECORD, _LIMIT = "packages", "files", 500  # of the stored metadata
_SECONDS = 600.0  # for a download
_LARGEST = 4 << 30  # bytes

Take = Callable[[bytes], object]


class Source(object):
    """The package file of a resource."""

    def __init__(
        self, context: "Context", manager: PackageManager, name: str, properties: Properties
    ) -> None:
        self._context, self._manager = context, manager
        self._name, self._properties = name, properties
        self._given = properties["source"]
        checksum = properties.get("checksum")
        self._checksum = parse_checksum(str(checksum)) if checksum else ""
        self._directory = ""

    def look(self) -> PackageFile:
        """Return the package in the file.

        The file is downloaded if that is not known yet. ``ResourceError``; ``Missing`` and
        ``Unknowable`` if this depends on an earlier change.
        """
        if not self._manager.suffix:
            raise ResourceError(
                "%s installs no package files; omit source" % self._manager.name,
                kind="resource.unsupported",
            )
        key = self._key()
        known = self._manager.by_checksum.get(key) or (self._recalled(key) if key else None)
        if known is None:
            return self.fetch()
        return self._named(known)

    def fetch(self) -> PackageFile:
        """Do the same as ``look``, with the file on the host."""
        key = self._key()
        known = self._manager.by_checksum.get(key)
        if known is not None and known.path:
            return self._named(known)
        file = self._manager.read_file(self._at_hand())
        if key:
            self._manager.by_checksum[key] = file
            if not self._context.noop and self._recalled(key) is None:
                self._remember(key, file)
        self._manager.files[file.name, file.version] = file
        return self._named(file)

    def discard(self) -> None:
        """Remove the download."""
        if self._directory:
            self._context.files.remove_private_directory(self._directory)
            self._directory = ""
        key = self._key()
        if key in self._manager.by_checksum:
            self._manager.by_checksum[key] = self._manager.by_checksum[key]._replace(path="")

    def _key(self) -> str:
        """Return the checksum that is known before the file is read; "" for a file on the host."""
        if is_blob(self._given):
            return "sha256:" + str(self._given["$blob"])
        return "" if self._is_path() else self._checksum

    def _is_path(self) -> bool:
        return isinstance(self._given, str) and self._given.startswith("/")

    def _shown(self) -> str:
        if is_blob(self._given):
            return "the source"
        from remote_runtime.downloads import http_get

        return str(self._given) if self._is_path() else http_get.display_url(str(self._given))

    def _named(self, file: PackageFile) -> PackageFile:
        """Return the package, after checking that it is the one that the resource names."""
        name, manager = self._name, self._manager
        both = "%s.%s" % (file.name, file.architecture)
        if file.name != manager.plain(name) and both != name:
            raise ResourceError(
                "%s contains the package %s, not %s" % (self._shown(), file.name, name),
                hint="name the resource %s, or use another file" % file.name,
            )
        return file

    # -- the file itself --------------------------------------------------------------------------

    def _at_hand(self) -> str:
        context = self._context
        if self._is_path():
            return self._on_host(str(self._given))
        if context.noop and not context.options.package_probe:
            raise Unknowable("only a push reads %s" % self._shown())
        if is_blob(self._given):
            sha, size = self._given["$blob"], int(self._given["size"])
            return self._copied(lambda take: _pass(context.blobs.chunks(sha, size), take), "")
        return self._downloaded(str(self._given))

    def _on_host(self, path: str) -> str:
        files = self._context.files
        status = files.status(path, follow=True)
        if status is None:
            raise Missing(
                "the source %s does not exist on this host" % path,
                hint="a relative source is relative to the manifest; an absolute one is a path "
                "on the host",
            )
        if status.kind != "file":
            raise ResourceError("the source %s is not a regular file" % path)
        if not self._checksum and (self._context.overlay is None or not self._context.noop):
            return path
        # In a preview, the planned file; for a checksum, exactly those bytes.
        return self._copied(
            lambda take: _pass(files.reader(path, follow=True)(), take), self._checksum
        )

    def _downloaded(self, url: str) -> str:
        from remote_runtime.downloads import response_body, url_probe
        from remote_runtime.downloads.request import Request

        request = Request(url, _SECONDS, "the speed of the connection", verified=True)
        context, address = self._context, self._shown()

        def receive(take: Take) -> None:
            response_body.receive(
                context, address, request, response_body.Body(take, maximum=_LARGEST)
            )

        def fetch(number: int) -> str:
            return self._copied(receive, self._checksum)

        try:
            return retry(context, tries_of(self._properties), fetch, is_transient)
        except ResourceError as error:
            if context.noop and url_probe.may_change(context, error, url):
                raise Unknowable("%s (checked during the preview)" % error.message) from error
            raise

    def _copied(self, read: Callable[[Take], None], checksum: str) -> str:
        """Return the path of a private copy. ``ResourceError`` if it has another checksum."""
        from remote_runtime.downloads.response_body import mismatch

        if not self._directory:
            self._directory = self._context.files.private_directory()
        name = self._name.partition(":")[0] + self._manager.suffix
        path = os.path.join(self._directory, name)
        algorithm = algorithm_of(checksum) or "sha256"
        digest = hasher(algorithm)
        self._context.progress("reading %s" % self._shown())
        try:
            with open(path, "wb") as file:

                def take(data: bytes) -> None:
                    digest.update(data)
                    file.write(data)

                read(take)
        except OSError as error:
            raise ResourceError("cannot write %s: %s" % (path, error.strerror)) from error
        actual = "%s:%s" % (algorithm, digest.hexdigest())
        if checksum and actual != checksum:
            raise mismatch(self._shown(), checksum, actual)
        return path

    # -- stored metadata --------------------------------------------------------------------------

    def _recalled(self, key: str) -> Optional[PackageFile]:
        entry = self._remembered().get(key)
        if isinstance(entry, list) and len(entry) == 3 and all(isinstance(e, str) for e in entry):
            return PackageFile("", *entry)
        return None

    def _remembered(self) -> Dict[str, List[str]]:
        from remote_runtime.system.state_store import StateError, StateStore

        if not self._context.memory_directory:
            return {}
        try:
            record = StateStore(self._context.memory_directory).read(_KIND, _RECORD) or {}
        except StateError:
            return {}
        packages = record.get(self._manager.name)
        return dict(packages) if isinstance(packages, dict) else {}

    def _remember(self, key: str, file: PackageFile) -> None:
        from remote_runtime.system.state_store import StateError, StateStore

        if not self._context.memory_directory:
            return
        entries = list(self._remembered().items())[1 - _LIMIT :]
        entries.append((key, [file.name, file.version, file.architecture]))
        try:
            store = StateStore(self._context.memory_directory)
            store.write(_KIND, _RECORD, {self._manager.name: dict(entries)})
        except StateError as error:
            self._context.notice("warning", "could not record a package file: %s" % error)


def _pass(chunks: Iterable[bytes], take: Take) -> None:
    for chunk in chunks:
        take(chunk)
