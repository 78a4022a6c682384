"""Detects private keys in binary form, which have no header line (controller)."""

import struct
from collections.abc import Iterator
from typing import NamedTuple

MAX_DER = 256 << 10  # bytes; no key is larger
_INTEGER, _OCTETS, _OID, _SEQUENCE, _PARAMETERS = 0x02, 0x04, 0x06, 0x30, 0xA0
_RSA_NUMBERS, _DSA_NUMBERS, _PKCS12_VERSION = 9, 6, b"\x03"
_MAGIC = (
    b"\xfe\xed\xfe\xed",  # JKS
    b"\xce\xce\xce\xce",  # JCEKS
    b"\x03\xd9\xa2\x9a",  # KeePass
    b"\x30\x80\x02\x01\x03\x30",  # PKCS#12 in BER, whose length is at its end
)
_KEYTABS = {b"\x05\x01": "<>", b"\x05\x02": ">"}
"""The versions of keytabs, each with its byte orders; the first version uses its
machine's order.
"""
_MAX_PARTS = 16  # of the name of a principal, which has one to three
_PGP_VERSIONS = (3, 4, 5, 6)
_PGP_ALGORITHMS = (1, 2, 3, 16, 17, 18, 19, 22, 25, 26, 27, 28)
_PGP_LENGTHS = {0x94: 1, 0x95: 2, 0x96: 4}  # bytes after the tag of a secret key, by that tag
_PGP_NEW = 0xC5


def is_binary_key(data: bytes) -> bool:
    """Whether a file's bytes are a private key in DER, a store of keys, a keytab of Kerberos or a
    PGP secret key.

    Encrypted keys count, and so do keys of any algorithm, because only the structure is read.
    """
    return data.startswith(_MAGIC) or _is_pgp(data) or _is_der_key(data) or _is_keytab(data)


class _Part(NamedTuple):
    tag: int
    value: bytes


def _is_der_key(data: bytes) -> bool:
    if not data.startswith(b"\x30") or len(data) > MAX_DER:
        return False
    try:
        whole = next(_parts(data))
        parts = list(_parts(whole.value))
        return _is_key(parts) or _is_encrypted(parts)
    except (IndexError, ValueError):
        return False


def _parts(data: bytes) -> Iterator[_Part]:
    """The consecutive parts of a DER value. IndexError or ValueError for anything else."""
    at = 0
    while at < len(data):
        tag, size = data[at], data[at + 1]
        at += 2
        if size > 0x7F:
            width = size & 0x7F
            if not 1 <= width <= 4:
                raise ValueError("not a length in DER")
            size, at = int.from_bytes(data[at : at + width], "big"), at + width
        if at + size > len(data):
            raise ValueError("cut short")
        yield _Part(tag, data[at : at + size])
        at += size


def _is_key(parts: list[_Part]) -> bool:
    """Whether it is PKCS#1, DSA's own form, SEC 1, PKCS#8 or PKCS#12: a version, then
    the content.
    """
    tags = [part.tag for part in parts]
    if not tags or tags[0] != _INTEGER or len(parts[0].value) != 1:
        return False
    version, tags = parts[0].value, tags[1:]
    if version == _PKCS12_VERSION:
        return tags[:1] == [_SEQUENCE] and _begins(parts[1], _OID)
    if version > b"\x01":
        return False
    if set(tags) == {_INTEGER}:
        return len(parts) == _DSA_NUMBERS or len(parts) >= _RSA_NUMBERS
    if tags[:2] == [_SEQUENCE, _OCTETS]:
        return _begins(parts[1], _OID)
    has_curve = len(parts) < 3 or parts[2].tag != _PARAMETERS or _begins(parts[2], _OID)
    return tags[:1] == [_OCTETS] and len(parts[1].value) >= 16 and has_curve


def _is_encrypted(parts: list[_Part]) -> bool:
    """Whether it is PKCS#8 with a passphrase: an algorithm, then bytes."""
    return [part.tag for part in parts] == [_SEQUENCE, _OCTETS] and _begins(parts[0], _OID)


def _begins(part: _Part, tag: int) -> bool:
    return part.value[:1] == bytes([tag])


def _is_pgp(data: bytes) -> bool:
    """Whether it is a packet with a secret key: tag, length, version, four bytes of time,
    algorithm.
    """
    if len(data) < 16:
        return False
    width = _PGP_LENGTHS.get(data[0], 0)
    if data[0] == _PGP_NEW:
        width = 1 if data[1] < 192 else 2 if data[1] < 224 else 5
    version, _, algorithm = struct.unpack_from(">BIB", data, 1 + width)
    return width > 0 and version in _PGP_VERSIONS and algorithm in _PGP_ALGORITHMS


def _is_keytab(data: bytes) -> bool:
    """Whether it is a keytab: entries and holes, each with a size; the first entry that has a key
    is read.
    """
    orders = _KEYTABS.get(data[:2], "")
    return any(_has_key(data, order, is_first=len(orders) > 1) for order in orders)


def _has_key(data: bytes, order: str, *, is_first: bool) -> bool:
    """Whether an entry has a key and those before it are well-formed; ``is_first``: version 1."""
    at = 2
    try:
        while True:
            size: int = struct.unpack_from(order + "i", data, at)[0]
            at += 4
            if at + size > len(data):
                return False
            if size >= 0:
                key = _key_size(data[at : at + size], order, is_first=is_first)
                if key:
                    return key > 0
            at += abs(size)
    except struct.error:
        return False


def _key_size(entry: bytes, order: str, *, is_first: bool) -> int:
    """The length of the key after a principal with a realm, its type and a time; -1 if it is not an
    entry. struct.error for truncated data."""
    (parts,) = struct.unpack_from(order + "H", entry)
    parts -= is_first  # the first version counts the realm
    if not 1 <= parts <= _MAX_PARTS:
        return -1
    at = 2
    for _ in range(parts + 1):  # the realm first
        (size,) = struct.unpack_from(order + "H", entry, at)
        at += 2 + size
    head = order + ("IBHH" if is_first else "IIBHH")  # the first version has no type of names
    size = struct.unpack_from(head, entry, at)[-1]
    return size if at + struct.calcsize(head) + size <= len(entry) else -1
