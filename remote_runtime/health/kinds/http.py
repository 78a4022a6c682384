"""``http``: the response of a web server (target)."""

from typing import Any, List, Mapping, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.health.kind import (
    BOOLEAN,
    LINES,
    LIST,
    NUMBER,
    TEXT,
    Kind,
    ObservedValues,
    Probe,
    Rule,
)
from remote_runtime.health.matchers import Lines

_DEFAULT = 5.0
_LIMIT = 16 << 20
_REDIRECTS = (301, 302, 303, 307, 308)
_PRIVATE = ("authorization", "cookie", "proxy-authorization")  # not for where a redirect leads
_FILES = ("ca-file", "cert-file", "key-file")


class _Http(Kind):
    identity = "url"
    attributes = {"status": NUMBER, "headers": LINES, "body": LINES}
    settings = {
        "allow-insecure": BOOLEAN,
        "no-follow-redirects": BOOLEAN,
        "timeout": NUMBER,
        "request-headers": LIST,
        "request-body": TEXT,
        "username": TEXT,
        "password": TEXT,
        "ca-file": TEXT,
        "cert-file": TEXT,
        "key-file": TEXT,
        "proxy": TEXT,
        "method": TEXT,
    }

    def problems(self, subject: str, rule: Rule) -> List[Tuple[str, str, str]]:
        """See the base class. The URL, the headers and the files must be usable for a request."""
        problems = []
        scheme, _, rest = subject.partition("://")
        if scheme not in ("http", "https") or not rest:
            problems.append(("url", "a URL must begin with http:// or https://", ""))
        for line in rule.get("request-headers") or ():
            name, colon, _ = str(line).partition(":")
            if not colon or not name.strip() or "\n" in str(line) or "\r" in str(line):
                problems.append(
                    ("request-headers", "%r is not a header" % line, 'write it as "Name: value"')
                )
        if bool(rule.get("key-file")) and not rule.get("cert-file"):
            problems.append(("key-file", "key-file requires cert-file", ""))
        for name in _FILES:
            if rule.get(name) and not str(rule[name]).startswith("/"):
                message = "%s is a file on the target: its path must be absolute" % name
                problems.append((name, message, ""))
        return problems

    def shown(self, subject: str) -> str:
        scheme, mark, rest = subject.partition("://")
        host, slash, path = rest.partition("/")
        return scheme + mark + host.rpartition("@")[2] + slash + path

    def observe(self, subject: str, rule: Rule, probe: Probe) -> ObservedValues:
        seconds = probe.patience(rule, _DEFAULT)
        # The complete exchange is limited here; the socket's own limit, for each wait, is only
        # there to end the thread.
        values: ObservedValues = probe.wait(seconds, lambda: _fetch(subject, rule, seconds + 1))
        return values


def _fetch(url: str, rule: Rule, seconds: float) -> ObservedValues:
    import http.client
    import urllib.error
    from urllib.request import ProxyHandler

    try:
        opener = _opener(rule.get("no-follow-redirects") is not True)
        opener.add_handler(ProxyHandler(dict(_proxies(rule))))
        opener.add_handler(_tls_handler(rule))
        with opener.open(_request(url, rule), timeout=seconds) as reply:
            body = reply.read(_LIMIT).decode("utf-8", "replace")
            lines = "\n".join("%s: %s" % pair for pair in reply.headers.items())
            return {"status": reply.status, "headers": Lines(lines), "body": Lines(body)}
    except urllib.error.URLError as error:
        raise ResourceError("no response: %s" % _why(error.reason or error)) from error
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise ResourceError("no response: %s" % _why(error)) from error


def _why(reason: Any) -> str:
    """Return the reason for a missing response, without an error number."""
    return getattr(reason, "strerror", None) or str(reason) or type(reason).__name__


def _opener(follow: bool) -> Any:
    """Return an opener of URLs that accepts every status, with redirects followed or not."""
    from urllib import request

    class Answers(request.BaseHandler):
        def http_response(self, asked: Any, response: Any) -> Any:
            if not follow or response.status not in _REDIRECTS:
                return response
            # Python before 3.11 does not know 308, which is 307 for good.
            code = 307 if response.status == 308 else response.status
            message, headers = response.msg, response.headers
            return self.parent.error("http", asked, response, code, message, headers) or response

        def https_response(self, asked: Any, response: Any) -> Any:
            return self.http_response(asked, response)

    opener = request.OpenerDirector()
    for handler in (request.HTTPHandler(), request.HTTPRedirectHandler(), Answers()):
        opener.add_handler(handler)
    return opener


def _request(url: str, rule: Rule) -> Any:
    import base64
    from urllib.parse import unquote, urlsplit
    from urllib.request import Request

    parts = urlsplit(url)
    user = str(rule.get("username") or unquote(parts.username or ""))
    password = str(rule.get("password") or unquote(parts.password or ""))
    bare = parts._replace(netloc=parts.netloc.rpartition("@")[2]).geturl()
    body = rule.get("request-body")
    request = Request(
        bare,
        data=str(body).encode("utf-8") if body else None,
        method=str(rule.get("method") or "GET").upper(),
    )
    for line in rule.get("request-headers") or ():
        name, _, value = str(line).partition(":")
        private = name.strip().lower() in _PRIVATE
        add = request.add_unredirected_header if private else request.add_header
        add(name.strip(), value.strip())
    if user:
        token = base64.b64encode(("%s:%s" % (user, password)).encode("utf-8")).decode("ascii")
        request.add_unredirected_header("Authorization", "Basic " + token)
    return request


def _proxies(rule: Rule) -> Mapping[str, str]:
    """Return only the proxy of the rule: the environment of ssh or sudo is arbitrary."""
    proxy = str(rule.get("proxy") or "")
    return {"http": proxy, "https": proxy} if proxy else {}


def _tls_handler(rule: Rule) -> Any:
    import ssl
    from urllib.request import HTTPSHandler

    context = ssl.create_default_context(cafile=str(rule.get("ca-file") or "") or None)
    if rule.get("allow-insecure") is True:
        context.check_hostname = False
        context.verify_mode = ssl.CERT_NONE
    if rule.get("cert-file"):
        key = str(rule.get("key-file") or "") or None
        context.load_cert_chain(str(rule["cert-file"]), key)
    return HTTPSHandler(context=context)


KIND = _Http()
