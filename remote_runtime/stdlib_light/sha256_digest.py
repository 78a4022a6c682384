"""SHA-256 with the interface of ``hashlib`` (target)."""

import sys
from typing import Any

# OpenSSL takes 2 ms to load, and from there on it is several times faster.
_WORTH_OPENSSL = 4 << 20


def _built_in() -> Any:
    """Return Python's own implementation, or OpenSSL's in a build without one."""
    try:
        return __import__("_sha2" if sys.version_info >= (3, 12) else "_sha256").sha256
    except ImportError:
        import hashlib

        return hashlib.sha256


_sha256 = _built_in()


def sha256(data: bytes = b"", size: int = 0) -> Any:
    """Return a hash object, like ``hashlib.sha256``; ``size`` is roughly the number of bytes that
    will be added.
    """
    if size < _WORTH_OPENSSL:
        return _sha256(data)
    import hashlib

    return hashlib.sha256(data)
