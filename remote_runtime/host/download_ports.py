"""The ports for downloads from servers, and for archives (target): see ``ports``."""

from typing import TYPE_CHECKING, NamedTuple, Optional

from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.retries import ONCE, RetryPolicy

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.downloads.request import Request

_SECONDS = 60.0  # for a small file


class Extraction(NamedTuple):
    """Where and how to extract an archive: ``kind`` is derived from its name, such as tar.gz.

    Other files in the directory ``parent`` are kept; ``creates`` is put there last, "" for any
    order. ``timeout`` in seconds, ``max_size`` in bytes.
    """

    kind: str
    parent: str
    creates: str
    timeout: float
    max_size: int
    max_members: int


class NewDownload(NamedTuple):
    """A file to download from a server.

    ``checksum`` is its required checksum in the canonical form: a file with a different checksum is
    not put in place. ``listed`` requests a checksum file that contains it. At most ``maximum``
    bytes are accepted. ``firm``: each run sets its owner, group and mode again.
    """

    request: "Request"
    path: str
    mode: int
    uid: int = -1
    gid: int = -1
    checksum: str = ""
    listed: "Optional[Request]" = None
    maximum: Optional[int] = None
    tries: RetryPolicy = ONCE
    firm: bool = True
    extraction: Optional[Extraction] = None


class Archives(object):
    """Extracts archives."""

    def extract(self, path: str, how: Extraction, checksum: str = "") -> None:
        """Extract an archive. Nothing is written before all members are found harmless, and nothing
        in the directory is replaced before all of them are written.

        ``checksum`` is the SHA-256 that it had and must still have. A preview checks an existing
        archive; it knows only ``creates`` of the content.
        """
        raise NotImplementedError


class DownloadReader(object):
    """Queries servers without storing their responses.

    A preview does not query a server for ``listed`` and ``checksum``: both return "", and the
    prediction is unknown.
    """

    def __init__(self, context: "Context") -> None:
        self._context = context

    def read(self, url: str, limit: int) -> bytes:
        """The content at an http or https URL, at most ``limit`` bytes, even in a preview.
        ``Unknowable`` if it fails and a planned change may fix that.
        """
        from remote_runtime.downloads import url_probe

        try:
            return _read(self._context, url, limit)
        except ResourceError as error:
            if self._context.noop and url_probe.may_change(self._context, error, url):
                raise Unknowable("%s (checked during the preview)" % error.message) from error
            raise

    def listed(self, request: "Request", path: str, tries: RetryPolicy = ONCE) -> str:
        """The checksum for the path of another URL in the checksum file at the URL of a request, in
        its canonical form."""
        raise NotImplementedError

    def checksum(self, request: "Request", path: str, tries: RetryPolicy = ONCE) -> str:
        """The SHA-256 of the server's content for the file ``path``, in its canonical form."""
        raise NotImplementedError


class Downloads(DownloadReader):
    """Downloads files."""

    def _require_place(self, path: str) -> None:
        """``ResourceError`` if a file cannot be put in place."""
        raise NotImplementedError

    def fetch(self, wanted: NewDownload) -> str:
        """Download to a path, in one rename once the file is complete.

        Extended attributes and ACL of a replaced file are kept. The parent directory must exist; a
        symlink at the path is replaced; refused if the path is a directory. With an ``extraction``,
        it is extracted before it is put there.

        Returns its checksum. A preview checks the path, and knows only the ``checksum`` of the
        content; with ``--probe-urls``, it sends a HEAD request to the server.
        """
        self._require_place(wanted.path)
        return self._fetch(wanted)

    def _fetch(self, wanted: NewDownload) -> str:
        """See ``fetch``; the path has been checked."""
        raise NotImplementedError


def _read(context: "Context", url: str, limit: int) -> bytes:
    from remote_runtime.downloads import http_get, response_body
    from remote_runtime.downloads.request import Request

    request = Request(url, _SECONDS, "the speed of the connection")
    return response_body.text_of(context, http_get.display_url(url), request, limit)
