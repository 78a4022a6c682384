"""Requests a file from a server without its data, in a preview that may do so (target)."""

import base64
import binascii
import os
import re
from typing import Any
from urllib.parse import urlsplit

from remote_runtime.changes import HASHED, Unknowable
from remote_runtime.context import Context
from remote_runtime.downloads import connection_guard, http_get
from remote_runtime.downloads.request import Request
from remote_runtime.downloads.response_body import mismatch
from remote_runtime.downloads.time_limit import Limit
from remote_runtime.errors import ResourceError

_PATIENCE = 10.0  # seconds
_DIGEST = re.compile(r"(?:\A|[,\s])sha-256=:?([A-Za-z0-9+/=]+)", re.IGNORECASE)
_ANSWERS = tuple("resource.download." + slug for slug in ("http", "connect", "tls"))
_OURS = ("", "localhost", "::1", "0.0.0.0")


def require(context: Context, path: str, request: Request, checksum: str) -> None:
    """Raise the error of downloading the file ``path``, as far as a server reports it without
    sending the file; ``checksum`` is the required one in its canonical form, "" for any."""
    digest = probe(context, path, request)
    if digest and checksum.startswith(HASHED) and checksum != HASHED + digest:
        raise mismatch(path, checksum, HASHED + digest)


def probe(context: Context, path: str, request: Request) -> str:
    """Return the SHA-256 that the server gives for the file, "" if it gives none.

    Raises the error of the download. ``Unknowable`` if the download may succeed in the push: a
    planned change may add a name, a route or a certificate, or the server itself if it is this
    host.
    """
    seconds = min(_PATIENCE, request.timeout)
    limit = Limit(context, seconds, "the request for %s" % path, request.setting)
    try:
        with connection_guard.Guard(context, limit) as guarded:
            response, _ = http_get.fetch(guarded, request, probe=True)
            response.close()
    except ResourceError as error:
        if not may_change(context, error, request.url):
            raise
        raise Unknowable("%s (checked during the preview)" % error.message) from error
    return _named(response)


def may_change(context: Context, error: ResourceError, url: str) -> bool:
    """Return whether a download that failed in a preview may succeed in the push."""
    # A slow answer may come in time in the push.
    known = error.kind in _ANSWERS and (context.overlay is None or _is_firm(error, url))
    return not known


def _is_firm(error: ResourceError, url: str) -> bool:
    """Return whether the failure does not depend on this host, because another host answered."""
    host = urlsplit(url).hostname or ""
    ours = host in (*_OURS, os.uname().nodename.lower()) or host.startswith("127.")
    return error.kind == _ANSWERS[0] and not ours


def _named(response: Any) -> str:
    """Return the digest of the whole file from the header of a response, as hexadecimal."""
    plain = response.headers.get("X-Checksum-Sha256") or ""
    if re.match(r"[0-9a-fA-F]{64}\Z", plain):
        return str(plain.lower())
    encoding = response.headers.get("Content-Encoding", "identity")
    header = "Repr-Digest" if encoding == "identity" else ""
    match = _DIGEST.search(response.headers.get(header) or response.headers.get("Digest") or "")
    try:
        digest = base64.b64decode(match.group(1)) if match is not None else b""
    except binascii.Error:
        return ""
    return binascii.hexlify(digest).decode("ascii") if len(digest) == 32 else ""
