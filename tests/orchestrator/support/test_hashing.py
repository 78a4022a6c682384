"""SHA-256 with and without OpenSSL."""

import hashlib
import hmac
import subprocess
import sys

import pytest

from orchestrator.support.hashing import keyed_sha256, sha256

LARGE = 64 << 20


def test_it_is_what_hashlib_says(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whichever is loaded, at once and in pieces."""
    expected = hashlib.sha256(b"some text").hexdigest()
    for _ in range(2):
        assert sha256(b"some text").hexdigest() == expected
        found = sha256()
        found.update(b"some ")
        found.update(b"text")
        assert found.hexdigest() == expected
        monkeypatch.delitem(sys.modules, "_hashlib", raising=False)


def test_openssl_is_loaded_for_much_only() -> None:
    """What comes after that is left to it, too."""
    program = (
        "import sys; from orchestrator.support.hashing import sha256;"
        "loaded = lambda: '_hashlib' in sys.modules;"
        f"sha256(b'x'); print(loaded()); sha256(size={LARGE}); print(loaded());"
        "print(type(sha256(b'x')).__module__)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["False", "True", "_hashlib"]


@pytest.mark.parametrize("size", [0, 32, 64, 65, 200])
def test_with_a_key_it_is_what_hmac_says(size: int) -> None:
    """Keys may be shorter and longer than a block of SHA-256."""
    key = bytes(range(size))
    assert keyed_sha256(key, b"some text") == hmac.new(key, b"some text", "sha256").hexdigest()
