"""Downloads to the machine (target); what speaks HTTP is imported with the first one."""

from typing import TYPE_CHECKING, Callable

from remote_runtime.changes import Unknowable
from remote_runtime.downloads.checksums import checksum_in, hasher
from remote_runtime.errors import ResourceError
from remote_runtime.host import downloads
from remote_runtime.retries import ONCE, RetryPolicy, is_transient, retry

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.downloads.request import Request
    from remote_runtime.host.machine.archives import Archives
    from remote_runtime.host.machine.files import Files

_SECONDS = 60.0  # for a small file
_LISTED = 4 << 20  # bytes of a file of checksums
_LARGE = 1 << 30  # a guess where the server does not say


class DownloadReader(downloads.DownloadReader):
    """Asks servers from the machine; a file of checksums is asked for once in a run."""

    def __init__(self, context: "Context") -> None:
        self._context = context

    def read(self, url: str, limit: int) -> bytes:
        """See the base class."""
        return read(self._context, url, limit)

    def listed(self, request: "Request", path: str, tries: RetryPolicy = ONCE) -> str:
        """See the base class."""
        from remote_runtime.downloads import http_get, response_body

        def ask(number: int) -> bytes:
            return response_body.text_of(self._context, path, request, _LISTED)

        held, key = self._context.checksum_files, repr(request)
        if key not in held:
            held[key] = retry(self._context, tries, ask, is_transient)
        return checksum_in(held[key], path, http_get.display_url(request.url))

    def checksum(self, request: "Request", path: str, tries: RetryPolicy = ONCE) -> str:
        """See the base class."""
        from remote_runtime.downloads import response_body

        def ask(number: int) -> str:
            digest = hasher("sha256", _LARGE)
            response_body.receive(self._context, path, request, response_body.Body(digest.update))
            return "sha256:%s" % digest.hexdigest()

        return retry(self._context, tries, ask, is_transient)


def read(context: "Context", url: str, limit: int) -> bytes:
    """A small file at a URL. ``Unknowable`` where a planned change may let a preview succeed."""
    from remote_runtime.downloads import url_probe

    try:
        return _read(context, url, limit)
    except ResourceError as error:
        if context.noop and url_probe.may_change(context, error, url):
            raise Unknowable("%s (asked before the push)" % error.message) from error
        raise


def _read(context: "Context", url: str, limit: int) -> bytes:
    from remote_runtime.downloads import http_get, response_body
    from remote_runtime.downloads.request import Request

    asked = Request(url, _SECONDS, "the speed")
    return response_body.text_of(context, http_get.display_url(url), asked, limit)


class Downloads(DownloadReader, downloads.Downloads):
    """Streams each to a temporary file beside its place; ``count`` gets the number of the try, and
    ``archives`` extracts."""

    def __init__(
        self,
        context: "Context",
        files: "Files",
        count: Callable[[int], None],
        archives: "Callable[[], Archives]",
    ) -> None:
        DownloadReader.__init__(self, context)
        downloads.Downloads.__init__(self, files.require_file_place)
        self._count, self._archives = count, archives

    def _fetch(self, wanted: downloads.NewDownload) -> str:
        from remote_runtime.downloads import response_body
        from remote_runtime.system.attributes import Attributes

        context, path, tries = self._context, wanted.path, wanted.tries
        checksum, extraction = wanted.checksum, wanted.extraction
        attributes = wanted.uid, wanted.gid, wanted.mode

        def require(size: int) -> None:
            context.files.obstacles(path).writing(size, *attributes)

        def fetch(number: int) -> response_body.Download:
            self._count(number if tries.most > 1 else 0)
            return response_body.download(
                context,
                path,
                request=wanted.request,
                checksum=checksum,
                most=wanted.most,
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
