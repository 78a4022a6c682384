"""Reads ``https://HOST/PATH#sha256=HEX`` and ``kv://BUCKET/KEY`` (controller)."""

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, urlsplit

from orchestrator.support.plain_text import one_line
from remote_runtime.errors import CcmError

SCHEMES = ("https", "http", "kv")
_HEX = "[0-9a-fA-F]{64}"
_BUCKET = "[A-Za-z0-9_-]+"
_KEY = "[-/_=.A-Za-z0-9]+"
_OPTIONS = ("sha256", "manifest")
_MAX_LENGTH = 4096


PLACEHOLDER = "..."
"""Replaces each value that may be secret in commands that a report prints."""


class SourceError(CcmError):
    """The content of a URL could not be read; not an error of a host."""

    default_kind = "input.source"


class Address(NamedTuple):
    """A parsed URL. ``url`` does not include the fragment, which has the ``digest`` (SHA-256 in
    hexadecimal, "" for none) and the ``manifest`` within an archive.
    """

    scheme: str
    host: str
    path: str
    url: str
    digest: str = ""
    manifest: str = ""

    @property
    def shown(self) -> str:
        """The address for display, without the text after ``?``, which may be secret."""
        return one_line(recorded_name(self.url))


def is_url(text: str) -> bool:
    """Whether a string names a source on another machine, not a file."""
    return "://" in text and re.match("[A-Za-z][A-Za-z0-9+.-]*://", text) is not None


def recorded_name(text: str) -> str:
    """A source as stored in a record: a URL without the text after ``?``."""
    if not is_url(text) or "?" not in text:
        return text
    url, mark, fragment = text.partition("#")
    before, query, _ = url.partition("?")
    return f"{before}{query}{PLACEHOLDER if query else ''}{mark}{fragment}"


def display_name(name: str) -> str:
    """A data source as shown in positions and reports."""
    return parse_address(name).shown if is_url(name) else name


def parse_address(text: str) -> Address:
    """The parsed URL; SourceError, which never contains a password."""
    if len(text) > _MAX_LENGTH or not text.isprintable() or " " in text:
        raise SourceError("this URL is too long, or contains whitespace or a control character")
    url, _, fragment = text.partition("#")
    try:
        found = urlsplit(url)
        host = found.hostname or ""
        login = found.username is not None or found.password is not None
        _ = found.port
    except ValueError as error:
        raise SourceError("this URL is invalid", hint="use https://HOST/PATH") from error
    scheme = found.scheme.lower()
    if scheme not in SCHEMES:
        hint = "use a file, https://HOST/PATH#sha256=HEX or kv://BUCKET/KEY"
        raise SourceError(f"{one_line(scheme, 20)}:// is not supported", hint=hint)
    if login:
        raise SourceError(
            f"the URL of {one_line(host)} contains credentials, which commands and reports "
            "would show",
            hint="put the credentials in ~/.netrc (machine HOST login NAME password WORD)",
        )
    address = Address(scheme, host, found.path, url)
    if found.query == PLACEHOLDER:
        text = (
            f"{address.shown} is a placeholder: the part after ? is not stored, as it may be secret"
        )
        raise SourceError(text, hint="use the URL of the first run")
    if scheme == "kv":
        _check_kv(found.netloc, found.path, f"{found.query}{fragment}", address.shown)
        return address._replace(host=found.netloc)
    if not host or not found.path.strip("/"):
        raise SourceError(f"{address.shown} does not name a file", hint="use https://HOST/PATH")
    return address._replace(**_options(fragment, address.shown))


def is_key(bucket: str, key: str) -> bool:
    """Whether these are a valid NATS bucket and a valid key in it."""
    return bool(
        re.fullmatch(_BUCKET, bucket)
        and re.fullmatch(_KEY, key)
        and not (key.startswith(".") or key.endswith("."))
        and len(bucket) + len(key) < _MAX_LENGTH
    )


def _check_kv(bucket: str, path: str, rest: str, display_name: str) -> None:
    if rest or not is_key(bucket, path[1:]):
        hint = "use kv://BUCKET/KEY with letters, digits, - and _; a key may also have . / and ="
        raise SourceError(f"{display_name} does not name a key of a NATS bucket", hint=hint)


def _options(fragment: str, display_name: str) -> dict[str, str]:
    """The options after ``#``; SourceError."""
    found = dict(parse_qsl(fragment, keep_blank_values=True))
    unknown = [name for name in found if name not in _OPTIONS]
    if unknown or (fragment and not found):
        what = repr(one_line((unknown or [fragment])[0], 40))
        raise SourceError(f"{display_name} has {what} after #", hint="write #sha256=HEX")
    digest = found.get("sha256", "")
    if "sha256" in found and not re.fullmatch(_HEX, digest):
        hint = "sha256sum FILE prints one"
        raise SourceError(f"{display_name}: sha256 must be 64 hexadecimal digits", hint=hint)
    return {"digest": digest.lower(), "manifest": found.get("manifest", "")}
