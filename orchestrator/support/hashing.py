"""SHA-256 as ``hashlib`` has it, which takes 2 ms to load (controller)."""

import sys
from typing import TYPE_CHECKING

from remote_runtime.lean import digest

if TYPE_CHECKING:
    from hashlib import _Hash


def sha256(data: bytes = b"", size: int = 0) -> "_Hash":
    """Like ``hashlib.sha256``, for about ``size`` bytes: OpenSSL's where that is loaded or pays."""
    if "_hashlib" in sys.modules:
        import hashlib

        return hashlib.sha256(data)
    found: _Hash = digest.sha256(data, size or len(data))
    return found
