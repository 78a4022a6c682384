"""OpenPGP public keys: armor and fingerprints, without gpg (both sides).

Only the data that identifies a key is read. apt and RPM check whether its signatures are valid.
"""

import base64
import binascii
from typing import Any, Iterator, List, NamedTuple, Tuple

from remote_runtime.stdlib_light.sha256_digest import sha256

LARGEST = 1 << 20  # bytes of a file with keys

_BEGIN, _END = "-----BEGIN PGP PUBLIC KEY BLOCK-----", "-----END PGP PUBLIC KEY BLOCK-----"
_PRIVATE = "-----BEGIN PGP PRIVATE KEY BLOCK-----"
_PUBLIC, _SUBKEY, _SECRET, _SECRET_SUBKEY = 6, 14, 5, 7
_SIGNATURE, _USER_ID, _USER_ATTRIBUTE = 2, 13, 17
_OF_KEYS = (_PUBLIC, _SUBKEY, _SIGNATURE, _USER_ID, _USER_ATTRIBUTE)
_KEYBOX = b"KBXf"
_LARGEST_V4 = 0xFFFF  # bytes of a key of version 4
_WIDTH = 64  # characters of a line of armor
_CRC_START, _CRC_POLYNOMIAL = 0xB704CE, 0x1864CFB


class Keys(NamedTuple):
    """The fingerprints of public keys and their subkeys."""

    primary: List[str]
    subkeys: List[str]


def is_armored(data: bytes) -> bool:
    """Return whether the data is keys in text form."""
    return b"-----BEGIN PGP" in data and not data[0] & 0x80


def read(data: bytes) -> Keys:
    """Return the keys in a file of either form. ``ValueError`` describes what the file
    is instead.
    """
    binary = dearmored(data) if is_armored(data) else data
    keys = Keys([], [])
    for tag, body, _ in _packets(binary):
        if tag in (_SECRET, _SECRET_SUBKEY):
            raise ValueError("it contains a private key; export the public one")
        if tag == _PUBLIC:
            keys.primary.append(_fingerprint(body))
        elif tag == _SUBKEY:
            keys.subkeys.append(_fingerprint(body))
        elif not keys.primary:
            raise ValueError("it is not an OpenPGP public key%s" % _seen(data))
    if not keys.primary:
        raise ValueError("it is not an OpenPGP public key%s" % _seen(data))
    return keys


def normalized(data: bytes) -> bytes:
    """Return the same keys with line ends that apt accepts, and nothing before them."""
    if not is_armored(data):
        return data
    text = data.decode("utf-8", "replace").replace("\r\n", "\n").replace("\r", "\n")
    lines = text[text.index("-----BEGIN PGP") :].split("\n")
    return ("\n".join(line.rstrip() for line in lines).strip() + "\n").encode("utf-8")


def dearmored(data: bytes) -> bytes:
    """The binary form of one or more armored blocks. ``ValueError`` for an invalid one."""
    text = normalized(data).decode("utf-8", "replace")
    if _PRIVATE in text:
        raise ValueError("it contains a private key; export the public one")
    found, rest = b"", text
    while _BEGIN in rest:
        block, end, rest = rest.partition(_BEGIN)[2].partition(_END)
        if not end:
            raise ValueError("the last line of the key is missing: %s" % _END)
        found += _block(block)
    if not found:
        raise ValueError("it is not an OpenPGP public key%s" % _seen(data))
    return found


def canonical(data: bytes) -> bytes:
    """Return only the keys that ``read`` finds, in the same form; text gets ccm's own armor.

    apt or RPM may read other parts of a file differently. Data without a key is unchanged.
    """
    try:
        binary = dearmored(data) if is_armored(data) else data
        key_packets = b"".join(packet for tag, _, packet in _packets(binary) if tag in _OF_KEYS)
    except ValueError:
        return normalized(data)
    return armored(key_packets) if is_armored(data) else key_packets


def armored(data: bytes) -> bytes:
    """The text form of keys in binary form."""
    encoded = base64.b64encode(data).decode("ascii")
    lines = [encoded[at : at + _WIDTH] for at in range(0, len(encoded), _WIDTH)]
    check = "=" + base64.b64encode(_crc(data).to_bytes(3, "big")).decode("ascii")
    return ("\n".join([_BEGIN, "", *lines, check, _END]) + "\n").encode("ascii")


def _block(text: str) -> bytes:
    """Return the content of one armored block; its headers and its checksum are ignored."""
    lines = [line for line in text.split("\n") if line and ":" not in line]
    if lines and lines[-1].startswith("="):
        lines.pop()
    try:
        return base64.b64decode("".join(lines), validate=True)
    except binascii.Error:
        raise ValueError("the key's ASCII armor is invalid: it is not base64") from None


def _crc(data: bytes) -> int:
    crc = _CRC_START
    for byte in data:
        crc ^= byte << 16
        for _ in range(8):
            crc <<= 1
            if crc & 0x1000000:
                crc ^= _CRC_POLYNOMIAL
    return crc


def _packets(data: bytes) -> Iterator[Tuple[int, bytes, bytes]]:
    """The tag, the body and the complete bytes of each packet. ``ValueError`` for data that is not
    a packet.
    """
    at = 0
    while at < len(data):
        start, head = at, data[at]
        if not head & 0x80:
            raise ValueError("it is not an OpenPGP public key%s" % _seen(data))
        tag, size, at = _new(data, at) if head & 0x40 else _old(data, at)
        if at + size > len(data):
            raise ValueError("the key is truncated")
        yield tag, data[at : at + size], data[start : at + size]
        at += size


def _new(data: bytes, at: int) -> Tuple[int, int, int]:
    tag, first = data[at] & 0x3F, data[at + 1] if at + 1 < len(data) else 0
    if first < 192:
        return tag, first, at + 2
    if first < 224:
        second = int.from_bytes(data[at + 2 : at + 3], "big")
        return tag, ((first - 192) << 8) + second + 192, at + 3
    if first < 255:
        raise ValueError("it is not an OpenPGP public key")  # of partial length, as no key is
    return tag, int.from_bytes(data[at + 2 : at + 6], "big"), at + 6


def _old(data: bytes, at: int) -> Tuple[int, int, int]:
    kind = data[at] & 0x03
    if kind == 3:
        raise ValueError("it is not an OpenPGP public key")  # without a length, as no key is
    width = 1 << kind
    size = int.from_bytes(data[at + 1 : at + 1 + width], "big")
    return (data[at] >> 2) & 0x0F, size, at + 1 + width


def _fingerprint(body: bytes) -> str:
    version = body[0] if body else 0
    if version == 4:
        if len(body) > _LARGEST_V4:
            raise ValueError("it is not an OpenPGP public key")
        head = b"\x99" + len(body).to_bytes(2, "big")
        return str(_sha1(head + body).hexdigest()).upper()  # as RFC 4880 defines it
    if version in (5, 6):
        mark = b"\x9a" if version == 5 else b"\x9b"
        return str(sha256(mark + len(body).to_bytes(4, "big") + body).hexdigest()).upper()
    raise ValueError("it contains a key of version %d; expected version 4 or later" % version)


def _sha1(data: bytes) -> Any:
    try:
        return __import__("_sha1").sha1(data)  # OpenSSL takes long to load
    except ImportError:
        import hashlib

        return hashlib.sha1(data)


def _seen(data: bytes) -> str:
    """Return a short description of a file that is not a key."""
    if not data:
        return ": it is empty"
    if data[8:12] == _KEYBOX:
        return ": it is a keybox; write it with gpg --export"
    line = data.lstrip().split(b"\n")[0][:40].decode("utf-8", "replace")
    return ": it begins with %r" % line if line.isprintable() and line else ""
