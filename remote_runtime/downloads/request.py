"""The request to a server (target), and the rules for it (both sides)."""

from typing import Any, Mapping, NamedTuple, Optional

from remote_runtime.validation.rules import Problems

_TOKEN = "!#$%&'*+-.^_`|~"  # what a header's name may contain besides letters and digits
_OURS = ("host", "connection", "content-length", "transfer-encoding", "accept-encoding")


class Request(NamedTuple):
    """One GET request.

    ``timeout`` is the time limit for everything, in seconds, and ``setting`` the property that sets
    it. ``verified``: the content is compared with a checksum, so a redirect may lead from https to
    http. User and password for basic authentication take precedence over those in the URL.
    """

    url: str
    timeout: float
    setting: str
    username: Optional[str] = None
    password: str = ""
    headers: Mapping[str, str] = {}
    verified: bool = False

    @property
    def path(self) -> str:
        """The path of the URL, with escapes decoded."""
        from urllib.parse import unquote, urlsplit

        return unquote(urlsplit(self.url).path)

    @property
    def has_credentials(self) -> bool:
        """Whether the request contains secrets."""
        from urllib.parse import urlsplit

        return bool(self.username is not None or self.headers or "@" in urlsplit(self.url).netloc)


def request_of(
    properties: Mapping[str, Any], *, timeout: float, setting: str, verified: bool
) -> Request:
    """Return the request of a resource with ``url``, ``username``, ``password`` and ``headers``."""
    user, headers = properties.get("username"), properties.get("headers") or {}
    return Request(
        url=str(properties.get("url") or ""),
        timeout=timeout,
        setting=setting,
        username=None if user is None else str(user),
        password=str(properties.get("password") or ""),
        headers={str(key): str(value) for key, value in headers.items()},
        verified=verified,
    )


def url_problem(url: str) -> str:
    """Return the problem of a URL, "" for none. The message never contains credentials."""
    from urllib.parse import urlsplit

    if any(ord(char) <= 32 or ord(char) == 127 for char in url):
        return "it contains whitespace or a control character; write %20 for a space"
    try:
        parts = urlsplit(url)
        host, _ = parts.hostname, parts.port
    except ValueError:
        return "it is not a valid URL"
    if any(char in parts.netloc.rpartition("@")[0] for char in "@'\""):
        # The code that masks credentials looks for the end of the credentials.
        return "write %40, %27 and %22 for @, ' and \" in its credentials"
    if parts.scheme not in ("http", "https"):
        return "it must start with http:// or https://"
    return "" if host else "it has no host"


def access_problems(properties: Mapping[str, Any]) -> Problems:
    """Return the problems of ``username``, ``password`` and ``headers``, as (property, message)."""
    problems: Problems = []
    headers = properties.get("headers")
    headers = headers if isinstance(headers, dict) else {}
    user = properties.get("username")
    if properties.get("password") is not None and user is None:
        problems.append(("password", "password requires username"))
    if isinstance(user, str) and ":" in user:
        problems.append(("username", "basic authentication does not allow a colon in it"))
    if user is not None and "authorization" in [str(key).lower() for key in headers]:
        problems.append(("headers", "an Authorization header and username are mutually exclusive"))
    for key, value in headers.items():
        problems.extend(_of_header(str(key), value))
    return problems


def _of_header(key: str, value: Any) -> Problems:
    if not key or any(not (c in _TOKEN or (c.isalnum() and ord(c) < 128)) for c in key):
        return [("headers", "%r is not a valid header name" % key)]
    if key.lower() in _OURS:
        return [("headers", "ccm sets %s itself" % key)]
    text = value if isinstance(value, str) else ""
    if any((ord(c) < 32 and c != "\t") or ord(c) == 127 or ord(c) > 255 for c in text):
        return [("headers", "the value of %s contains a character that headers do not allow" % key)]
    return []


def positive_seconds(text: str) -> float:
    """Return the seconds of a time limit. ``ValueError`` for an invalid one."""
    from remote_runtime.text import duration

    seconds = duration.parse(text)
    if seconds <= 0:
        raise ValueError("it must be greater than 0")
    return seconds
