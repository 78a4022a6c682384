"""Seals the messages between a controller and a worker of one run (both sides).

Each side creates a key pair for the run; a key for each direction is derived from both pairs. The
scheduler, which forwards everything, cannot read messages, and cannot change, repeat or drop one
unnoticed.
"""

import hashlib
import zlib

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey
from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

_KEY = 32
_NONCE = 12


class SealError(ValueError):
    """The received message is not the next one that the other side sealed."""


class KeyPair:
    """The keys of one side of one run; ``public`` is not secret."""

    def __init__(self) -> None:
        self._private = X25519PrivateKey.generate()
        self.public = self._private.public_key().public_bytes_raw()

    def box(self, theirs: bytes, run_id: str, *, leads: bool) -> "Box":
        """The shared keys of both sides of a run; the controller ``leads``. SealError."""
        try:
            shared = self._private.exchange(X25519PublicKey.from_public_bytes(theirs))
        except ValueError as error:
            raise SealError("not a public key") from error
        leader, other = (self.public, theirs) if leads else (theirs, self.public)
        info = b"ccm run " + run_id.encode() + leader + other
        keys = HKDF(SHA256(), 2 * _KEY, None, info).derive(shared)
        down, up = AESGCM(keys[:_KEY]), AESGCM(keys[_KEY:])
        return Box(*((down, up) if leads else (up, down)))


class Box:
    """Seals and opens messages, each once and in order; one thread for each direction."""

    def __init__(self, ours: AESGCM, theirs: AESGCM) -> None:
        self._ours = ours
        self._theirs = theirs
        self._sealed = 0
        self._opened = 0

    def seal(self, data: bytes) -> bytes:
        """The next message to the other side."""
        nonce = self._sealed.to_bytes(_NONCE, "big")
        self._sealed += 1
        return self._ours.encrypt(nonce, data, None)

    def open(self, sealed: bytes) -> bytes:
        """The content of the next message of the other side; SealError for anything else."""
        nonce = self._opened.to_bytes(_NONCE, "big")
        try:
            data = self._theirs.decrypt(nonce, sealed, None)
        except InvalidTag as error:
            raise SealError("a message was modified, repeated or dropped") from error
        self._opened += 1
        return data


def seal_content(data: bytes) -> tuple[bytes, bytes]:
    """A key that is derived from the content, and the encrypted content.

    The same content always results in the same bytes, so a cache need not be able to read it.
    """
    key = hashlib.sha256(b"ccm site" + data).digest()
    return key, AESGCM(key).encrypt(bytes(_NONCE), zlib.compress(data, 1), None)


def open_content(key: bytes, sealed: bytes) -> bytes:
    """Open the result of ``seal_content``; SealError if it is something else."""
    try:
        return zlib.decompress(AESGCM(key).decrypt(bytes(_NONCE), sealed, None))
    except (InvalidTag, zlib.error) as error:
        raise SealError("the files of the site were modified in transit") from error
