"""Reads the text at a URL (controller)."""

import hashlib
from collections.abc import Collection
from typing import NamedTuple

from orchestrator.sources.address import Address, SourceError, parse_address

MAX_TEXT = 4 << 20
"""The maximum size of a data source in bytes."""


class Access(NamedTuple):
    """The source that may be read. ``hosts`` are read without a digest, and ``nats`` is the URL of
    the server of buckets. Without ``contact``, no other machine is contacted, and only the cache is
    used.
    """

    hosts: Collection[str] = ()
    contact: bool = True
    nats: str = ""
    registration: str | None = None


def read_text(name: str, access: Access) -> str | None:
    """The text of the source with this URL; None if no machine may be contacted for it.

    SourceError.
    """
    address = parse_address(name)
    return _document(address, access) if address.scheme != "kv" else _value(address, access)


def _document(address: Address, access: Access) -> str | None:
    """The text at an address of the web; None as in ``read_text``."""
    if address.manifest:
        hint = "manifest= is for apply"
        raise SourceError(f"{address.shown} is data, not an archive", hint=hint)
    data = read_bytes(address, access, MAX_TEXT)
    if data is None:
        return None
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise SourceError(f"{address.shown} is not UTF-8 text") from error


def _value(address: Address, access: Access) -> str | None:
    """The text of a key in a bucket; None if no machine may be contacted for it."""
    from orchestrator.registration.bucket_key import Key
    from orchestrator.registration.errors import RegistrationError
    from orchestrator.registration.key_value import open_buckets, value_of

    if not access.contact:
        return None
    buckets = open_buckets(access.nats, access.registration)
    try:
        found = value_of(buckets, Key(address.host, address.path[1:]), MAX_TEXT)
    except RegistrationError as error:
        raise SourceError(error.message, hint=error.hint) from error
    if found is None:
        raise SourceError(f"{address.shown}: the bucket has no such key", hint="check the key")
    return found


def read_bytes(address: Address, access: Access, maximum: int) -> bytes | None:
    """The bytes at an address, from the cache if it has a digest; None as in ``read_text``.

    SourceError, also for a wrong digest.
    """
    from orchestrator.sources import cache
    from orchestrator.sources.download import check_trust, download

    check_trust(address, access.hosts)
    if address.digest:
        known = cache.cached(address.digest, maximum)
        if known is not None:
            return known
    if not access.contact:
        return None
    data = download(address, access.hosts, maximum=maximum)
    if not address.digest:
        return data
    found = hashlib.sha256(data).hexdigest()
    if found != address.digest:
        raise SourceError(
            f"{address.shown} does not match its digest: expected sha256 {address.digest}, "
            f"got {found}",
            hint="review the change before you update the digest",
        )
    cache.store(found, data)
    return data
