"""Downloads one file over HTTPS, limited in size and time (controller)."""

from __future__ import annotations

import ssl
import threading
import time
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

from orchestrator.sources.address import Address, SourceError, parse_address
from orchestrator.support.plain_text import one_line

if TYPE_CHECKING:
    from urllib.request import OpenerDirector, Request

SECONDS = 60.0
_SILENCE = 20.0
_BLOCK = 1 << 16
_MAX_REDIRECTS = 5
_CODES = (301, 302, 303, 307, 308)


def check_trust(address: Address, hosts: Collection[str]) -> None:
    """SourceError for an address that has no digest and is not on a named host."""
    if address.digest:
        return
    if address.scheme == "http":
        raise SourceError(
            f"{address.shown}: plain http requires a digest, because anyone could change the "
            "content",
            hint="use https, or append #sha256=HEX",
        )
    if address.host not in hosts:
        raise SourceError(
            f"{address.shown} has no digest, and source_hosts does not list {address.host}",
            hint=f"append #sha256=HEX, or write source_hosts: [{address.host}] in ccm.yaml",
        )


def download(
    address: Address, hosts: Collection[str] = (), *, maximum: int, seconds: float = SECONDS
) -> bytes:
    """Return the bytes at an address, at most ``maximum``, within ``seconds``; SourceError.

    Each redirect must lead to an address that is itself allowed. The digest is not compared here.
    """
    check_trust(address, hosts)
    answers: list[bytes | BaseException] = []
    is_there = threading.Event()
    until = time.monotonic() + seconds

    def work() -> None:
        """Download, and pass on the content or the error."""
        try:
            answers.append(_Download(address, hosts, maximum, until).read())
        except BaseException as error:  # the waiting thread reports it
            answers.append(error)
        is_there.set()

    # A resolver or a server may keep it longer than anyone waits. It ends with its work: worker
    # processes are copies of a process that has no other thread.
    thread = threading.Thread(target=work, name="download", daemon=True)
    thread.start()
    if not is_there.wait(seconds):
        raise _late(address, seconds)
    thread.join()
    (answer,) = answers
    if isinstance(answer, bytes):
        return answer
    if isinstance(answer, SourceError):
        raise answer
    raise _told(address, answer, seconds) from answer


class _Download:
    """One download with its redirects."""

    def __init__(
        self, address: Address, hosts: Collection[str], maximum: int, until: float
    ) -> None:
        self._address = address
        self._hosts = hosts
        self._maximum = maximum
        self._until = until

    def read(self) -> bytes:
        """All bytes; SourceError, OSError and other errors that urllib raises."""
        from urllib.error import HTTPError

        here, opener = self._address, _opener()
        for _ in range(_MAX_REDIRECTS + 1):
            try:
                with opener.open(_request(here), timeout=_SILENCE) as response:
                    return self._body(response)
            except HTTPError as error:
                with error:
                    here = self._next(here, error)
        raise SourceError(f"{self._address.shown} redirects more than {_MAX_REDIRECTS} times")

    def _body(self, response: Any) -> bytes:
        parts: list[bytes] = []
        left = self._maximum
        while block := response.read1(_BLOCK):
            left -= len(block)
            if left < 0:
                text = f"{self._address.shown} is larger than {self._maximum >> 20} MiB"
                raise SourceError(text, hint="split it")
            if time.monotonic() > self._until:
                raise TimeoutError
            parts.append(block)
        expected = response.headers.get("Content-Length")
        if expected is not None and expected.strip() != str(self._maximum - left):
            raise SourceError(f"{self._address.shown} was truncated", hint="try again")
        return b"".join(parts)

    def _next(self, here: Address, error: Any) -> Address:
        """The target of a redirect; SourceError for any other response."""
        from urllib.parse import urljoin

        if error.code not in _CODES:
            text = f"{here.shown} responded with {error.code} {one_line(str(error.reason), 60)}"
            raise SourceError(text.rstrip(), hint=_ADVICE.get(error.code, "check the URL"))
        to = urljoin(here.url, error.headers.get("Location", "")).partition("#")[0]
        try:
            address = parse_address(to)._replace(digest=self._address.digest)
            if address.scheme == "kv" or (here.scheme == "https" and address.scheme != "https"):
                raise SourceError(f"{address.shown} is not https")
            check_trust(address, self._hosts)
        except SourceError as refused:
            text = f"{here.shown} redirects to an address that is refused: {refused.message}"
            raise SourceError(text, hint=refused.hint or "use the final URL") from refused
        return address


_ADVICE = {
    401: "add the credentials for this host to ~/.netrc",
    403: "check the credentials for this host in ~/.netrc",
    404: "check the URL",
}


def _opener() -> OpenerDirector:
    """An opener for HTTP, HTTPS and the proxies of the environment, without other
    schemes and redirects.
    """
    from urllib import request

    opener = request.OpenerDirector()
    for handler in (
        request.ProxyHandler(),
        request.HTTPHandler(),
        request.HTTPSHandler(context=ssl.create_default_context()),
        request.HTTPErrorProcessor(),
        request.HTTPDefaultErrorHandler(),
    ):
        opener.add_handler(handler)
    return opener


def _request(address: Address) -> Request:
    from urllib.request import Request

    headers = {"User-Agent": "ccm", "Accept-Encoding": "identity"}
    if address.scheme == "https":
        headers.update(_login(address))
    return Request(address.url, headers=headers)


def _login(address: Address) -> dict[str, str]:
    """The header with the login of a host in ``~/.netrc``; SourceError."""
    from base64 import b64encode
    from netrc import NetrcParseError, netrc

    try:
        known = netrc().hosts.get(address.host)
    except FileNotFoundError:
        return {}
    except (OSError, UnicodeDecodeError, NetrcParseError) as error:
        reason = error.msg if isinstance(error, NetrcParseError) else type(error).__name__
        raise SourceError(f"~/.netrc cannot be read: {one_line(str(reason), 120)}") from error
    if known is None:
        return {}
    login = b64encode(f"{known[0]}:{known[2]}".encode()).decode("ascii")
    return {"Authorization": f"Basic {login}"}


def _late(address: Address, seconds: float) -> SourceError:
    return SourceError(
        f"{address.shown} was not read within {seconds:g} s", hint="is the server reachable?"
    )


def _told(address: Address, error: BaseException, seconds: float) -> SourceError:
    """The message for a failure of urllib."""
    reason = getattr(error, "reason", error)
    if isinstance(reason, TimeoutError):
        return _late(address, seconds)
    if isinstance(reason, ssl.SSLCertVerificationError):
        text = f"{address.shown}: TLS certificate not trusted: {reason.verify_message}"
        return SourceError(text, hint="set SSL_CERT_FILE to a file that contains your CA")
    if isinstance(reason, ssl.SSLError):
        why = reason.reason or type(reason).__name__
        return SourceError(f"{address.shown}: TLS failed: {one_line(str(why), 120)}")
    why = getattr(reason, "strerror", None) or str(reason) or type(reason).__name__
    text = f"{address.shown} cannot be read: {one_line(str(why), 120)}"
    return SourceError(text, hint="is the URL correct, and is the server up?")
