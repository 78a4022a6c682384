"""Finds files next to a manifest that are private to the user and must not go to
workers (controller).
"""

import binascii
import os
import re
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from orchestrator.cluster.binary_keys import is_binary_key

MAX_READ = 256 << 20  # bytes of a file; a larger one is refused wherever it is sent
_AUTHORITY_KEY = "ca-key.pem"
_SHOWN = 6
_MARK = rb"\A(?:\xef\xbb\xbf|\xff\xfe|\xfe\xff)"  # of the byte order, as editors write it
# A header that the key itself follows: a script that looks for one is no key.
_KEY = re.compile(
    rb"-----BEGIN [A-Z0-9 ]*PRIVATE KEY(?: BLOCK)?-----(?:\s|\\[nr]|\Z)"
    rb"|---- BEGIN [A-Z0-9 ]*PRIVATE KEY ----"
    rb"|(?:\A|[\r\n])PuTTY-User-Key-File-\d+:"
    rb"|AGE-SECRET-KEY-(?:PQ-)?1[0-9A-Z]"
    rb"|\Auntrusted comment: (?:signify|minisign)[^\r\n]* secret key"
    # WireGuard's, as wg, systemd-networkd and NetworkManager have them.
    rb"|(?:\A|[\r\n])[ \t]*(?i:private|preshared)-?(?i:key)[ \t]*=[ \t]*[A-Za-z0-9+/]{43}="
)
_BARE = rb"\s*([A-Za-z0-9+/]{43}=)\s*\Z"
_NAMES_OF_KEYS = ("key", "psk", "secret")
_BINARY = (".p12", ".pfx", ".jks", ".keystore", ".kdbx", ".keytab")  # stores of keys, by name


class PrivateFiles:
    """Separates private files from those of a site, and records those that it found.

    ``without`` has the controller's own files and directories.
    """

    def __init__(self, without: Collection[Path] = ()) -> None:
        self._own = {os.path.realpath(path) for path in without}
        self.left_out: list[Path] = []
        """The paths that the user marked as private, each once, in addition to the controller's
        own.
        """

    def is_private_directory(self, directory: Path) -> bool:
        """Whether nothing in a directory is sent: it has the key of a CA or belongs to ccm."""
        if os.path.realpath(directory) in self._own or _has_authority(directory):
            self.left_out.append(directory)
            return True
        return False

    def is_private(self, path: Path) -> bool:
        """Whether a file is not sent; unreadable files are not sent, either."""
        real = Path(os.path.realpath(path))
        if str(real) in self._own:
            return True
        beside_key = real.suffix == ".pem" and self._keeps_certificates(real.parent)
        inside = any(str(parent) in self._own for parent in real.parents)
        if beside_key or (inside and path.is_symlink()) or holds_private_key(real):
            self.left_out.append(path)
            return True
        return False

    def _keeps_certificates(self, directory: Path) -> bool:
        return str(directory) in self._own or _has_authority(directory)


def holds_private_key(path: Path) -> bool:
    """Whether a file contains a private key, as text or in binary form."""
    try:
        if not path.is_file() or path.stat().st_size > MAX_READ:
            return False
        if path.suffix.lower() in _BINARY:
            return True
        data = path.read_bytes()
    except OSError:
        return True  # what cannot be read here is no part of the site
    text = re.sub(_MARK, b"", data).replace(b"\0", b"")  # in UTF-16, too
    in_text = _KEY.search(text)
    return in_text is not None or is_binary_key(data) or _is_bare_key(path.name.lower(), data)


def _is_bare_key(name: str, data: bytes) -> bool:
    """Whether a file contains only 32 bytes in base64 that are a private key, such as one from ``wg
    genkey``.

    A public key and a digest look the same. A private key of Curve25519 has five bits that are
    always set that way, which 1 of 16 public keys has; for other keys, the file's name decides.
    """
    found = re.match(_BARE, data)
    if found is None or "pub" in name:
        return False
    key = binascii.a2b_base64(found[1])
    clamped = not key[0] & 0x07 and key[31] & 0xC0 == 0x40
    return clamped or any(word in name for word in _NAMES_OF_KEYS)


def omission_note(left_out: Sequence[Path], directories: Iterable[Path]) -> str:
    """A sentence that names the omitted files, relative to the site's directory; "" for none."""
    if not left_out:
        return ""
    roots = [os.path.abspath(directory) for directory in directories]
    names = sorted({_short(str(path), roots) for path in left_out})
    more = f" and {len(names) - _SHOWN:,} more" if len(names) > _SHOWN else ""
    return (
        f"not sent to workers: {', '.join(names[:_SHOWN])}{more}; files with a private key "
        "and unreadable files are sent only if the manifest names them"
    )


def _short(path: str, roots: Iterable[str]) -> str:
    inside = (root for root in roots if path.startswith(f"{root}/"))
    root = next(inside, "")
    name = path[len(root) + 1 :] if root else path
    return f"{name}/" if os.path.isdir(path) else name


def _has_authority(directory: Path) -> bool:
    return (directory / _AUTHORITY_KEY).exists()
