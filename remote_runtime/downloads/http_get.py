"""One GET request over HTTP or HTTPS, which follows redirects (target).

Imported only if something is downloaded, because importing the standard library's HTTP modules
takes time.
"""

import base64
import http.client
import urllib.request
from typing import Any, Optional, Tuple
from urllib.parse import quote, unquote, urljoin, urlsplit, urlunsplit

from remote_runtime.downloads.connection_guard import Guard
from remote_runtime.downloads.request import Request
from remote_runtime.errors import ResourceError
from remote_runtime.retries import TransientError
from remote_runtime.version import VERSION

FAILURES = (http.client.HTTPException, OSError, ValueError)  # urllib's own is an OSError
_REDIRECTS = (301, 302, 303, 307, 308)
_NO_HEADS = (405, 501)
_PASSING = (408, 425, 429)  # and all from 500 on
_MAX_REDIRECTS = 10
_DEFAULT_PORTS = {"http": 80, "https": 443}
_SAFE = "/%:@!$&'()*+,;=~-._"
_HINTS = {
    401: "check username and password, or the Authorization header",
    403: "the server denies access; check the credentials and the url",
    404: "check the url",
    407: "the proxy requires credentials; set them in http_proxy or https_proxy",
    410: "check the url",
}


class _Target(object):
    """A parsed URL: the request, and the credentials that it contained."""

    def __init__(self, url: str) -> None:
        parts = urlsplit(url)
        self.scheme = parts.scheme
        self.host = parts.hostname or ""
        self.port = parts.port or _DEFAULT_PORTS.get(parts.scheme, 0)
        place = parts.netloc.rpartition("@")[2]
        path, query = quote(parts.path or "/", _SAFE), quote(parts.query, _SAFE + "?/[]")
        self.url = urlunsplit((parts.scheme, place, path, query, ""))
        # A query often holds a token.
        self.shown = urlunsplit((parts.scheme, place, path, "", ""))
        self.credentials: Optional[Tuple[str, str]] = None
        if parts.username is not None:
            self.credentials = (unquote(parts.username), unquote(parts.password or ""))

    def trusts(self, other: "_Target") -> bool:
        """Return whether credentials for this server may be sent to the other."""
        if self.host != other.host:
            return False
        upgraded = (self.scheme, other.scheme) == ("http", "https")
        if upgraded and (self.port, other.port) == (80, 443):
            return True
        return (self.scheme, self.port) == (other.scheme, other.port)


def display_url(url: str) -> str:
    """Return a URL for people, without its credentials and its query, which often contains
    a token.
    """
    return _Target(url).shown


def redirected(request: Request, url: str) -> Request:
    """Return the request for another URL; credentials are sent only to the same server."""
    if _Target(request.url).trusts(_Target(url)):
        return request._replace(url=url, verified=False)
    return request._replace(url=url, verified=False, username=None, password="", headers={})


def fetch(guard: Guard, asked: Request, probe: bool = False) -> Tuple[Any, str]:
    """Request a file; return the open response, whose status is 200, and the form of its URL for
    messages.

    User and password for basic authentication take precedence over those in the URL. Neither they
    nor the headers are sent to another host. A checksum allows a redirect from https to http.
    ``probe``: only the head of the response is requested; its status may then show that the server
    does not support this.
    """
    target = _Target(asked.url)
    headers = dict(asked.headers)
    credentials = target.credentials
    if asked.username is not None:
        credentials = asked.username, asked.password
    if credentials is not None:
        pair = ("%s:%s" % credentials).encode("utf-8")
        headers["Authorization"] = "Basic " + base64.b64encode(pair).decode("ascii")
    opener = _opener(guard)
    for _ in range(_MAX_REDIRECTS + 1):
        method = "HEAD" if probe else "GET"
        request = urllib.request.Request(target.url, headers=headers, method=method)
        response = _open(opener, guard, target, request)
        if probe and response.status in _NO_HEADS:
            return response, target.shown
        if response.status not in _REDIRECTS:
            return _accepted(response, target), target.shown
        following = _Target(_location(response, target))
        if not target.trusts(following):
            headers = {}
        _refuse(target, following, asked.verified)
        target = following
    raise _failure("%s exceeded %d redirects" % (display_url(asked.url), _MAX_REDIRECTS))


def _failure(
    message: str, hint: str = "", slug: str = "http", passing: bool = False
) -> ResourceError:
    """Return the error of a response; ``passing``: another try may succeed."""
    error_class = TransientError if passing else ResourceError
    return error_class(message, kind="resource.download." + slug, hint=hint)


def _accepted(response: Any, target: _Target) -> Any:
    if response.status == 200:
        return response
    response.close()
    passing = response.status in _PASSING or response.status >= 500
    raise _failure(
        "GET %s returned status %d %s" % (target.shown, response.status, response.reason[:100]),
        _HINTS.get(response.status, "try again later" if passing else ""),
        passing=passing,
    )


def _location(response: Any, target: _Target) -> str:
    location = response.headers.get("Location")
    response.close()
    if not location:
        raise _failure(
            "GET %s returned status %d without a location" % (target.shown, response.status)
        )
    # A header arrives as Latin-1, regardless of its encoding.
    text = location.encode("latin-1", "replace").decode("utf-8", "replace")
    try:
        following = str(urljoin(target.url, text))
        parts = urlsplit(following)
        usable = parts.scheme in ("http", "https") and parts.hostname and parts.port != 0
    except ValueError:  # of the port as well
        usable = False
    if not usable:
        raise _failure("%s redirects to a URL that is not http or https" % target.shown)
    return following


def _refuse(target: _Target, following: _Target, downgrade: bool) -> None:
    if (target.scheme, following.scheme) == ("https", "http") and not downgrade:
        raise _failure(
            "%s redirects from https to %s, which is not encrypted"
            % (target.shown, following.shown),
            "set its checksum, or use a url that stays on https",
        )


def _open(opener: Any, guard: Guard, target: _Target, request: Any) -> Any:
    if target.scheme == "https" and not hasattr(urllib.request, "HTTPSHandler"):
        raise _failure(
            "%s requires TLS, but this host's Python was built without it" % target.shown,
            "install Python's ssl module, or use a Python that has it",
            "tls",
        )
    if not request.has_header("User-agent"):
        request.add_header("User-agent", "ccm/" + VERSION)
    try:
        return opener.open(request, timeout=guard.limit.left)
    except FAILURES as error:
        raise explained(error, guard, target.shown) from error


def explained(error: Exception, guard: Guard, address: str) -> ResourceError:
    """Return the error of a failed request or response; raise if the run was cancelled or the time
    has run out.
    """
    guard.limit.check()
    cause = getattr(error, "reason", None)
    if not isinstance(cause, Exception):
        cause = error  # urllib's own holds the error, one of TLS a word
    name = type(cause).__name__
    if "Cert" in name or "CERTIFICATE_VERIFY_FAILED" in str(cause):
        reason = getattr(cause, "verify_message", "") or str(cause)
        return _failure(
            "the certificate of %s is not trusted: %s" % (address, reason),
            "install the CA certificate in this host's certificate store",
            "tls",
        )
    if name.startswith("SSL"):
        return _failure("TLS with %s failed: %s" % (address, cause), slug="tls", passing=True)
    if name == "gaierror":
        host = urlsplit(address).hostname
        text = "cannot resolve the host %s of the url" % host
        return _failure(text, slug="connect", passing=True)
    if isinstance(cause, OSError) and not isinstance(cause, http.client.HTTPException):
        reason = cause.strerror or str(cause) or name
        return _failure(
            "could not download %s: %s" % (address, reason), slug="connect", passing=True
        )
    text = "%s sent an invalid HTTP response: %s %s" % (address, name, cause)
    return _failure(text, passing=True)


def _opener(guard: Guard) -> Any:
    """Return an opener that follows no redirect, raises for no status, and supports only http and
    https.
    """
    opener = urllib.request.OpenerDirector()
    for handler in (urllib.request.ProxyHandler(), urllib.request.UnknownHandler(), _Http(guard)):
        opener.add_handler(handler)
    if hasattr(urllib.request, "HTTPSHandler"):
        opener.add_handler(_https(guard))
    return opener


class _Http(urllib.request.HTTPHandler):
    def __init__(self, guard: Guard) -> None:
        super().__init__()
        self._guard = guard

    def http_open(self, req: Any) -> Any:
        return self.do_open(self._connection, req)

    def _connection(self, host: str, **settings: Any) -> Any:
        connection: Any = http.client.HTTPConnection(host, **settings)
        connection._create_connection = self._guard.connect
        return connection


def _https(guard: Guard) -> Any:
    import ssl

    context = ssl.create_default_context()

    class Https(urllib.request.HTTPSHandler):
        def https_open(self, req: Any) -> Any:
            return self.do_open(connection, req)

    def connection(host: str, **settings: Any) -> Any:
        opened: Any = http.client.HTTPSConnection(host, context=context, **settings)
        opened._create_connection = guard.connect
        return opened

    return Https(context=context)
