"""The tokens of people and pipelines that post and read runs (controller).

``STATE/studio/tokens.json``, mode 0600. It has the hash of each token; the token itself is shown
once, when it is created. A token has 256 random bits, so a plain SHA-256 is enough.
"""

import hashlib
import hmac
import json
import os
import re
import secrets
import stat
import time
from pathlib import Path
from typing import Any, NamedTuple

from orchestrator.fleet.store import field_checks
from orchestrator.support.atomic_file import replacing
from orchestrator.support.state_directory import make_private
from remote_runtime.errors import UsageError

FILE = "tokens.json"
_MAX_FILE_BYTES = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}", re.ASCII)
_TOKEN = re.compile(r"ccm_([0-9a-f]{12})_([A-Za-z0-9_-]{43})", re.ASCII)
_MEMBERS = frozenset(("id", "name", "hash", "groups", "reads_only", "created", "expires"))


class Token(NamedTuple):
    """The name and the rights of a token. ``groups`` of the inventory limit it to their hosts; none
    means all hosts. ``created`` and ``expires`` are seconds since the epoch.
    """

    id: str
    name: str
    hash: str
    groups: tuple[str, ...] = ()
    reads_only: bool = False
    created: float = 0.0
    expires: float | None = None


class TokenFile:
    """The tokens, read again when the file changes. UsageError for an unusable file."""

    def __init__(self, directory: Path) -> None:
        self.path = directory / FILE
        self._stamp: tuple[int, int] | None = None
        self._tokens: dict[str, Token] = {}

    def tokens(self) -> dict[str, Token]:
        """The tokens by ID."""
        try:
            handle = os.open(self.path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
        except FileNotFoundError:
            return {}
        except OSError as error:
            raise self._refuse(f"cannot be read: {error.strerror}") from error
        with open(handle, "rb") as source:
            found = os.fstat(handle)
            stamp = found.st_mtime_ns, found.st_ino
            if stamp != self._stamp:
                self._check(found)
                self._tokens = self._read(source.read(_MAX_FILE_BYTES))
                self._stamp = stamp
        return self._tokens

    def _check(self, found: os.stat_result) -> None:
        if not stat.S_ISREG(found.st_mode) or found.st_size >= _MAX_FILE_BYTES:
            raise self._refuse("is not a token file")
        if found.st_uid != os.geteuid() or found.st_mode & 0o077:
            raise self._refuse("is accessible to other users")

    def _read(self, text: bytes) -> dict[str, Token]:
        try:
            tokens = [_token(one) for one in json.loads(text)["tokens"]]
        except (ValueError, LookupError, TypeError, RecursionError) as error:
            raise self._refuse(f"is damaged: {error}") from error
        return {one.id: one for one in tokens}

    def find(self, text: str) -> Token | None:
        """The token with this text; None for an unknown or expired one."""
        found = _TOKEN.fullmatch(text)
        token = self.tokens().get(found[1]) if found else None
        if token is None or not hmac.compare_digest(token.hash, _hash(text)):
            return None
        if token.expires is not None and time.time() >= token.expires:
            return None
        return token

    def add(
        self, name: str, groups: tuple[str, ...], lifetime: float | None, *, reads_only: bool
    ) -> str:
        """Create a token for a name that has none yet, and return its text. UsageError."""
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name[:80]!r} is not a valid token name",
                hint="use up to 64 letters, digits and any of . _ @ -",
            )
        tokens = self.tokens()
        if any(one.name == name for one in tokens.values()):
            raise UsageError(
                f"the token {name} already exists",
                hint=f"remove it first: ccm studio token rm {name}",
            )
        number, now = secrets.token_hex(6), time.time()
        text = f"ccm_{number}_{secrets.token_urlsafe(32)}"
        expires = None if lifetime is None else now + lifetime
        made = Token(number, name, _hash(text), groups, reads_only, created=now, expires=expires)
        self._write([*tokens.values(), made])
        return text

    def remove(self, name: str) -> None:
        """Remove the token with this name. UsageError if it is unknown."""
        tokens = self.tokens()
        left = [one for one in tokens.values() if one.name != name]
        if len(left) == len(tokens):
            raise UsageError(
                f"there is no token {name[:80]!r}", hint="ccm studio token list shows all tokens"
            )
        self._write(left)

    def _write(self, tokens: list[Token]) -> None:
        try:
            make_private(self.path.parent)
            with replacing(self.path, durable=True) as out:
                document = {"tokens": [one._asdict() for one in tokens]}
                out.write(json.dumps(document, indent=1).encode("ascii") + b"\n")
        except OSError as error:
            raise self._refuse(f"cannot be written: {error.strerror}") from error

    def _refuse(self, reason: str) -> UsageError:
        return UsageError(
            f"{self.path}: {reason}",
            hint=f"run: chmod 600 {self.path}, or remove it and its tokens",
        )


def _token(told: Any) -> Token:
    record = field_checks.mapping(told)
    if record.keys() != _MEMBERS:
        raise ValueError("a token has unknown members")
    expires = record["expires"]
    return Token(
        id=field_checks.word(record["id"]),
        name=field_checks.word(record["name"]),
        hash=field_checks.word(record["hash"]),
        groups=tuple(field_checks.texts(record["groups"])),
        reads_only=field_checks.flag(record["reads_only"]),
        created=field_checks.seconds(record["created"]),
        expires=None if expires is None else field_checks.seconds(expires),
    )


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode("ascii")).hexdigest()
