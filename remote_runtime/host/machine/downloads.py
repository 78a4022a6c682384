"""Small files of web servers (target). They are read into memory, in a preview as in a push."""

from typing import TYPE_CHECKING

from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.host import package_ports

if TYPE_CHECKING:
    from http.client import HTTPResponse

    from remote_runtime.context import Context

_SECONDS = 60.0
_BLOCK = 64 << 10


class Downloads(package_ports.Downloads):
    """Reads with the HTTP client of archives."""

    def __init__(self, context: "Context") -> None:
        self._context = context

    def read(self, url: str, limit: int) -> bytes:
        """See the base class. ``Unknowable`` where a planned change may let a preview succeed."""
        from remote_runtime.resources.archive.probing import may_change

        try:
            return self._read(url, limit)
        except ResourceError as error:
            if self._context.noop and may_change(self._context, error, url):
                raise Unknowable("%s (asked before the push)" % error.message) from error
            raise

    def _read(self, url: str, limit: int) -> bytes:
        from remote_runtime.resources.archive import fetching, guard
        from remote_runtime.resources.archive.settings import settings

        bound = guard.Limit(self._context, _SECONDS, "the download of %s" % url, "the speed")
        with guard.Guard(self._context, bound) as guarded:
            response, shown = fetching.fetch(guarded, settings("key.tar", {"url": url}))
            try:
                return self._content(response, shown, limit)
            except fetching.FAILURES as error:
                raise fetching.explained(error, guarded, shown) from error
            finally:
                response.close()

    @staticmethod
    def _content(response: "HTTPResponse", shown: str, limit: int) -> bytes:
        data = b""
        while True:
            block = response.read(_BLOCK)
            data += block
            if len(data) > limit:
                raise ResourceError("%s is larger than %d bytes" % (shown, limit))
            if not block:
                return data
