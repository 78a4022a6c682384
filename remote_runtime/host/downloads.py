"""The ports to servers that files are downloaded from, and to archives (target): see ``ports``."""

from typing import TYPE_CHECKING, NamedTuple, Optional

from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.retries import ONCE, RetryPolicy

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.downloads.request import Request

_SECONDS = 60.0  # for a small file


class Extraction(NamedTuple):
    """Where an archive is extracted, and how: ``kind`` is that of its name, such as tar.gz.

    What is in the directory ``parent`` stays; ``creates`` is put there last, "" for anything.
    ``timeout`` in seconds, ``max_size`` in bytes.
    """

    kind: str
    parent: str
    creates: str
    timeout: float
    max_size: int
    max_members: int


class NewDownload(NamedTuple):
    """A file that is to be put at a path: what a server sends.

    ``checksum`` is what it must have, in the canonical form: nothing is replaced by anything else.
    ``listed`` asks for a file of checksums, which says it. ``maximum`` bytes are accepted.
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
    extraction: Optional[Extraction] = None


class Archives(object):
    """Extracts archives."""

    def extract(self, path: str, how: Extraction, checksum: str = "") -> None:
        """Extract an archive. Nothing is written before all members are found harmless, and nothing
        in the directory is replaced before all of them are written.

        ``checksum``: it has had this SHA-256, and is to have it still. A preview looks at an
        archive that is there, and knows of what it brings nothing but ``creates``.
        """
        raise NotImplementedError


class DownloadReader(object):
    """Asks servers, and keeps nothing of their answers.

    A preview asks no server for ``listed`` and ``checksum``: both return "", and the prediction is
    unknown.
    """

    def __init__(self, context: "Context") -> None:
        self._context = context

    def read(self, url: str, limit: int) -> bytes:
        """The content at a URL of http or https, of at most ``limit`` bytes; in a preview, too.
        ``Unknowable`` where a planned change may let that succeed."""
        from remote_runtime.downloads import url_probe

        try:
            return _read(self._context, url, limit)
        except ResourceError as error:
            if self._context.noop and url_probe.may_change(self._context, error, url):
                raise Unknowable("%s (asked before the push)" % error.message) from error
            raise

    def listed(self, request: "Request", path: str, tries: RetryPolicy = ONCE) -> str:
        """The checksum that the file of checksums at the URL of a request has for the path of
        another URL, in its canonical form."""
        raise NotImplementedError

    def checksum(self, request: "Request", path: str, tries: RetryPolicy = ONCE) -> str:
        """The SHA-256 of what a server sends for the file ``path``, in its canonical form."""
        raise NotImplementedError


class Downloads(DownloadReader):
    """Downloads files."""

    def _require_place(self, path: str) -> None:
        """``ResourceError`` where no file can be put."""
        raise NotImplementedError

    def fetch(self, wanted: NewDownload) -> str:
        """Put what a server sends at a path, in one rename once all of it is there.

        Extended attributes and ACL of a replaced file are kept.
        The parent directory must exist; a symlink at the path is replaced; refused over a
        directory. With an ``extraction``, it is extracted before it is put there.

        Returned is its checksum. A preview checks the path, and knows no more of the content than
        ``checksum``; with ``--probe-urls``, it asks the server for the head of its answer.
        """
        self._require_place(wanted.path)
        return self._fetch(wanted)

    def _fetch(self, wanted: NewDownload) -> str:
        """See ``fetch``; the path may be used."""
        raise NotImplementedError


def _read(context: "Context", url: str, limit: int) -> bytes:
    from remote_runtime.downloads import http_get, response_body
    from remote_runtime.downloads.request import Request

    asked = Request(url, _SECONDS, "the speed")
    return response_body.text_of(context, http_get.display_url(url), asked, limit)
