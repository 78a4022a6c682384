"""The body of a response (target), passed on in blocks and never kept as a whole."""

from typing import TYPE_CHECKING, Any, Callable, Generator, NamedTuple, Optional

from remote_runtime.downloads import http_get
from remote_runtime.downloads.checksums import algorithm_of, hasher
from remote_runtime.downloads.connection_guard import Guard
from remote_runtime.downloads.request import Request
from remote_runtime.downloads.time_limit import Limit, ProgressCheck
from remote_runtime.errors import ResourceError, UnsettledError
from remote_runtime.retries import TransientError

if TYPE_CHECKING:
    from remote_runtime.context import Context
    from remote_runtime.system.temporary_file import Temporary

BLOCK = 256 << 10
_LARGE = 1 << 30  # a guess where the server does not say
_GZIPPED = (".gz", ".tgz", ".svgz", ".gzip")  # files that are served compressed
_WITH_HEADER = 31  # what zlib calls the format of gzip


class Body(object):
    """Passes the body of one response to ``take``, at most ``maximum`` bytes of it.

    ``begin`` is called first with the number of bytes if the server sends it, otherwise with None.
    """

    def __init__(
        self,
        take: Callable[[bytes], object],
        begin: Callable[[Optional[int]], object] = lambda size: None,
        maximum: Optional[int] = None,
    ) -> None:
        self._take = take
        self._begin = begin
        self._maximum = maximum

    def pass_on(self, response: Any, request: Request, pulse: ProgressCheck, address: str) -> None:
        """Read the whole response. ``EOFError`` for an incomplete one; ``ResourceError`` if it is
        refused."""
        # The body of a chunked answer has no separate length.
        length_header = None if response.chunked else response.headers.get("Content-Length")
        expected = (
            int(length_header) if length_header is not None and length_header.isdigit() else None
        )
        coding = (response.headers.get("Content-Encoding") or "identity").strip().lower()
        # A redirect may lead to, or away from, a name that shows the type of the file.
        paths = (request.path.lower(), request._replace(url=address).path.lower())
        is_served_so = any(path.endswith(_GZIPPED) for path in paths)
        blocks = _blocks(response, expected, pulse)
        size: Optional[int] = expected
        if coding in ("gzip", "x-gzip") and not is_served_so:
            blocks, size = _unzipped(blocks), None
        elif coding not in ("identity", "gzip", "x-gzip"):
            raise ResourceError(
                "%s is encoded as %s, which was not requested" % (address, coding[:20]),
                kind="resource.download.http",
                hint="configure the server to send it unencoded",
            )
        self._require_size(size or 0, address)
        self._begin(size)
        passed = 0
        for block in blocks:
            passed += len(block)
            self._require_size(passed, address)
            self._take(block)

    def _require_size(self, size: int, address: str) -> None:
        if self._maximum is not None and size > self._maximum:
            raise ResourceError(
                "%s sends more than %d bytes" % (address, self._maximum),
                kind="resource.download.size",
                hint="check the url, or raise the limit of the resource, if it has one",
            )


def _blocks(
    response: Any, expected: Optional[int], pulse: ProgressCheck
) -> Generator[bytes, None, None]:
    size = 0
    while expected is None or size < expected:
        left = BLOCK if expected is None else min(BLOCK, expected - size)
        data = response.read1(left)
        if not data:
            break
        size += len(data)
        pulse.beat(size, expected)
        yield data
    if expected is not None and size < expected:
        raise EOFError("received %d of %d bytes" % (size, expected))
    pulse.beat(size, expected)


def _unzipped(blocks: Generator[bytes, None, None]) -> Generator[bytes, None, None]:
    """Yield the decompressed content of gzip data in blocks of bounded size; ``EOFError`` if its
    end is missing."""
    import zlib

    reader = zlib.decompressobj(_WITH_HEADER)
    try:
        for data in blocks:
            plain = b""
            # It may hold more than it gave.
            while data or (len(plain) == BLOCK and not reader.eof):
                if reader.eof:  # several may follow each other
                    reader = zlib.decompressobj(_WITH_HEADER)
                plain = reader.decompress(data, BLOCK)
                data = reader.unused_data if reader.eof else reader.unconsumed_tail
                if plain:
                    yield plain
    except zlib.error as error:
        raise EOFError("its gzip data is corrupt: %s" % error) from error
    if not reader.eof:
        raise EOFError("its gzip data is truncated")


def receive(context: "Context", path: str, request: Request, body: Body) -> None:
    """Pass the server's response for the file ``path`` to ``body``.

    ``TransientError`` if another try may help, otherwise ``ResourceError``; ``Cancelled``.
    """
    doing = "the download of %s" % path
    limit = Limit(context, request.timeout, doing, request.setting)
    pulse = ProgressCheck(context, limit, "downloading %s" % path)
    pulse.beat()
    with Guard(context, limit) as guarded:
        response, address = http_get.fetch(guarded, request)
        try:
            body.pass_on(response, request, pulse, address)
        except http_get.FAILURES as error:
            raise http_get.explained(error, guarded, address) from error
        except EOFError as error:
            limit.check()
            raise TransientError(
                "%s was interrupted: %s" % (address, error), kind="resource.download.http"
            ) from error
        finally:
            response.close()


class Download(NamedTuple):
    """A complete, verified download next to its destination: ``commit`` or ``discard`` the file."""

    file: "Temporary"
    checksum: str  # in its canonical form


def download(
    context: "Context",
    path: str,
    *,
    request: Request,
    checksum: str = "",
    maximum: Optional[int] = None,
    require: Callable[[int], object] = lambda size: None,
) -> Download:
    """Download a file next to ``path``. ``UnsettledError`` if it does not have the ``checksum``.

    ``require`` is called with the number of bytes if the server reports it, and raises an error if
    a file of this size cannot be written.
    """
    algorithm = algorithm_of(checksum) or "sha256"
    digests = []
    file = context.files.temporary(path)

    def begin(size: Optional[int]) -> None:
        digests.append(hasher(algorithm, _LARGE if size is None else size))
        if size:
            require(size)

    def take(block: bytes) -> None:
        digests[0].update(block)
        file.write(block)

    try:
        receive(context, path, request, Body(take, begin, maximum))
        found = "%s:%s" % (algorithm, digests[0].hexdigest())
        if checksum and found != checksum:
            raise mismatch(path, checksum, found)
    except BaseException:
        file.discard()
        raise
    return Download(file, found)


def mismatch(path: str, checksum: str, actual: str) -> UnsettledError:
    """Return the error of content whose checksum differs, whether it was sent or will be sent."""
    expected, got = checksum.rpartition(":")[2], actual.rpartition(":")[2]
    return UnsettledError(
        "checksum mismatch for %s: expected %s, got %s" % (path, expected, got),
        kind="resource.download.checksum",
        hint="nothing was replaced; check the url and the checksum",
    )


def text_of(context: "Context", path: str, request: Request, maximum: int) -> bytes:
    """Return a small file from a server, such as the checksum file for the file ``path``."""
    data = bytearray()
    receive(context, path, request, Body(data.extend, maximum=maximum))
    return bytes(data)
