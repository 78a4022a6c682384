"""SHA-256 like that of ``hashlib``, which takes 2 ms to load (controller)."""

import sys
from typing import TYPE_CHECKING

from remote_runtime.stdlib_light import sha256_digest

if TYPE_CHECKING:
    from hashlib import _Hash


def sha256(data: bytes = b"", size: int = 0) -> "_Hash":
    """Like ``hashlib.sha256``, for about ``size`` bytes: OpenSSL's if it is loaded or worth
    loading.
    """
    loaded = sys.modules.get("_hashlib")  # the import statement would take as long as the hash
    found: _Hash
    if loaded is None:
        found = sha256_digest.sha256(data, size or len(data))
    else:
        found = loaded.openssl_sha256(data)
    return found


_BLOCK = 64  # bytes, of SHA-256


def keyed_sha256(key: bytes, data: bytes) -> str:
    """Like ``hmac.new(key, data, "sha256").hexdigest()``, which loads OpenSSL."""
    padded = (sha256(key).digest() if len(key) > _BLOCK else key).ljust(_BLOCK, b"\0")
    inner = sha256(bytes(byte ^ 0x36 for byte in padded) + data).digest()
    return sha256(bytes(byte ^ 0x5C for byte in padded) + inner).hexdigest()
