"""Reads ``nats://user:password@host:4222,other/STREAM?creds=FILE&ca=FILE`` (controller)."""

import re
from typing import NamedTuple
from urllib.parse import parse_qsl, unquote

from remote_runtime.errors import UsageError

STREAM = "REGISTRATION"
SCHEMES = ("nats", "tls")
_NAME = re.compile(r"[A-Za-z0-9_-]+")
_SERVER = re.compile(r"([^\s:@\[\]]+|\[[0-9A-Fa-f:.%]+\])(:[0-9]+)?")
_OPTIONS = ("creds", "ca")


class StreamAddress(NamedTuple):
    """A stream on a NATS server or cluster; ``shown`` has no credentials."""

    servers: tuple[str, ...]
    stream: str
    user: str
    password: str
    token: str
    creds: str
    ca: str
    shown: str

    @property
    def server(self) -> str:
        """The servers without credentials and without the stream."""
        return self.shown.rpartition("/")[0]

    @property
    def encrypted(self) -> bool:
        """Whether TLS is required."""
        return bool(self.ca) or self.servers[0].startswith("tls://")


def parse_url(text: str, option: str = "--registration") -> StreamAddress:
    """The stream that a URL names; UsageError, which never repeats a password.

    ``option`` is the option that set it.
    """
    scheme, _, rest = text.partition("://")
    rest, _, query = rest.partition("?")
    hosts, _, stream = rest.partition("/")
    stream = stream or STREAM
    login, _, addresses = hosts.rpartition("@")
    shown = f"{scheme}://{addresses}/{stream}"
    names = [address.rpartition("@")[2] for address in addresses.split(",")]
    options = dict(parse_qsl(query, keep_blank_values=True))
    unknown = sorted(set(options) - set(_OPTIONS))
    behind = "@" in stream or any("@" in name for name in unknown)
    if behind or not all(map(_SERVER.fullmatch, names)):
        # Half a password may have been taken for any part of it, so none is shown.
        raise UsageError(
            f"{option}: the URL of the NATS server is invalid",
            hint="use nats://host:4222/STREAM, with / ? @ in a password written as %2F %3F %40",
        )
    if not _NAME.fullmatch(stream):
        raise UsageError(
            f"{option} {shown} is not the URL of a stream",
            hint="use nats://host:4222/STREAM; separate several hosts with commas",
        )
    if unknown:
        raise UsageError(
            f"{option} {shown} has an unknown option {unknown[0]!r}",
            hint="supported: creds, ca",
        )
    user, colon, password = login.partition(":")
    return StreamAddress(
        tuple(f"{scheme}://{name}" for name in names),
        stream,
        user=unquote(user) if colon else "",
        password=unquote(password),
        token="" if colon else unquote(user),
        creds=options.get("creds", ""),
        ca=options.get("ca", ""),
        shown=shown,
    )
