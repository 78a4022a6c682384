"""Downloads to the machine (target); modules for HTTP are imported on first use."""

from typing import TYPE_CHECKING, Callable

from remote_runtime.downloads.checksums import checksum_in, hasher
from remote_runtime.host import download_ports
from remote_runtime.retries import ONCE, RetryPolicy, is_transient, retry

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.downloads.request import Request
    from remote_runtime.host.machine.archives import Archives
    from remote_runtime.host.machine.files import Files

_LISTED = 4 << 20  # bytes of a checksum file
_LARGE = 1 << 30  # a guess where the server does not say


class DownloadReader(download_ports.DownloadReader):
    """Downloads on the machine; each checksum file is fetched once per run."""

    def listed(self, request: "Request", path: str, tries: RetryPolicy = ONCE) -> str:
        """See the base class. A checksum file is downloaded once per run."""
        from remote_runtime.downloads import http_get, response_body

        def ask(number: int) -> bytes:
            return response_body.text_of(self._context, path, request, _LISTED)

        held, key = self._context.checksum_files, repr(request)
        if key not in held:
            held[key] = retry(self._context, tries, ask, is_transient)
        return checksum_in(held[key], path, http_get.display_url(request.url))

    def checksum(self, request: "Request", path: str, tries: RetryPolicy = ONCE) -> str:
        """See the base class. Downloads and hashes all of it; nothing is stored."""
        from remote_runtime.downloads import response_body

        def ask(number: int) -> str:
            digest = hasher("sha256", _LARGE)
            response_body.receive(self._context, path, request, response_body.Body(digest.update))
            return "sha256:%s" % digest.hexdigest()

        return retry(self._context, tries, ask, is_transient)


class Downloads(DownloadReader, download_ports.Downloads):
    """Streams each download to a temporary file next to its destination; ``count`` receives the
    number of the try, and ``archives`` extracts.
    """

    def __init__(
        self,
        context: "Context",
        files: "Files",
        count: Callable[[int], None],
        archives: "Callable[[], Archives]",
    ) -> None:
        super().__init__(context)
        self._paths, self._count, self._archives = files, count, archives

    def _require_place(self, path: str) -> None:
        self._paths.require_file_place(path)

    def _fetch(self, wanted: download_ports.NewDownload) -> str:
        from remote_runtime.downloads import response_body
        from remote_runtime.system.extended_attributes import Attributes

        context, path, tries = self._context, wanted.path, wanted.tries
        checksum, extraction = wanted.checksum, wanted.extraction
        attributes = wanted.uid, wanted.gid, wanted.mode

        def require(size: int) -> None:
            context.files.obstacles(path).writing(size, *attributes)

        def fetch(number: int) -> response_body.Download:
            """Download the file once; ``number`` counts the tries."""
            self._count(number if tries.maximum > 1 else 0)
            return response_body.download(
                context,
                path,
                request=wanted.request,
                checksum=checksum,
                maximum=wanted.maximum,
                require=require,
            )

        if extraction is not None:
            self._archives().require(extraction)
        require(0)
        if wanted.listed is not None:
            checksum = self.listed(wanted.listed, wanted.request.path, tries)
        done = retry(context, tries, fetch, is_transient)
        try:
            if extraction is not None:
                self._archives().unpack(path, extraction, done.file.reopened())
            done.file.finish(*attributes, Attributes(context.commands))
            done.file.commit()
        finally:
            done.file.discard()
        context.changed_paths.add(path)
        return done.checksum
