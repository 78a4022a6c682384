"""The users file: a name, a role, the hash of a password and groups on each line (controller).

The only module that imports argon2.
"""

import hashlib
import os
import re
import stat
import threading
from functools import cache
from pathlib import Path
from typing import NamedTuple

import argon2

from orchestrator.studio.web.sessions import ROLES
from orchestrator.support.atomic_file import replacing
from remote_runtime.errors import UsageError

LEAST_PASSWORD = 12  # characters
MAX_PASSWORD_LENGTH = 1_000
_MAX_FILE_BYTES = 1 << 20
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._@-]{0,63}")
_GROUP = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._+-]{0,254}")
_HASHING_AT_ONCE = 2  # each takes 64 MiB of memory
NO_PASSWORD = "-"
"""Replaces the hash of a user who logs in only through the proxy."""
_turns = threading.BoundedSemaphore(_HASHING_AT_ONCE)
_hasher = argon2.PasswordHasher()


class User(NamedTuple):
    """A user of the pages; ``role`` is one of ``ROLES``. ``groups`` of the inventory limit the user
    to their hosts; none means all hosts.
    """

    name: str
    role: str
    hashed: str
    groups: tuple[str, ...] = ()

    @property
    def version(self) -> str:
        """A stamp that changes with the entry."""
        return hashlib.sha256(_line(self).encode()).hexdigest()


@cache
def _nobody() -> str:
    """The hash of a random password, so that an unknown user takes as long to refuse as
    a known one.
    """
    return _hasher.hash(os.urandom(16).hex())


class UserFile:
    """The users of ``--auth FILE``, read again for each login. UsageError for an unusable file."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._read: tuple[tuple[int, ...], dict[str, User]] | None = None

    def users(self) -> dict[str, User]:
        """The users by name."""
        try:
            handle = os.open(self._path, os.O_RDONLY | os.O_NOFOLLOW)
        except OSError as error:
            hint = f"create it with: ccm studio user add NAME --auth {self._path}"
            raise self._refuse(f"cannot be read: {error.strerror}", hint) from error
        with open(handle, "rb") as source:
            self._check(os.fstat(handle))
            text = source.read(_MAX_FILE_BYTES + 1).decode("utf-8", "replace")
        found = {}
        for number, line in enumerate(text.splitlines(), 1):
            if line.strip():
                user = _user(line)
                if user is None:
                    hint = (
                        "expected a name, a role, a hash and perhaps groups, as ccm studio user"
                        " writes them"
                    )
                    raise self._refuse(f"has an invalid line {number}", hint)
                found[user.name] = user
        return found

    def user(self, name: str) -> User | None:
        """The user with this name, from the current file. None if there is none or the
        file is unusable.
        """
        try:
            found = self._path.stat()
            stamp = (found.st_ino, found.st_mtime_ns, found.st_ctime_ns, found.st_size)
            read = self._read
            if read is None or read[0] != stamp:
                self._read = read = stamp, self.users()
        except (OSError, UsageError):
            return None
        return read[1].get(name)

    def _check(self, found: os.stat_result) -> None:
        if not stat.S_ISREG(found.st_mode) or found.st_size > _MAX_FILE_BYTES:
            raise self._refuse("is not a users file", "use a file created by ccm studio user")
        if found.st_uid != os.geteuid():
            raise self._refuse("belongs to another user", "copy it, and use the copy")
        if found.st_mode & 0o077:
            raise self._refuse("is accessible to other users", f"run: chmod 600 {self._path}")

    def find(self, name: str, password: str) -> User | None:
        """The user with this name and password; None if they do not match."""
        if len(password) > MAX_PASSWORD_LENGTH:
            return None
        user = self.users().get(name)
        try:
            with _turns:
                _hasher.verify(user.hashed if user else _nobody(), password)
        except (argon2.exceptions.VerificationError, argon2.exceptions.InvalidHashError):
            return None
        return user

    def add(self, name: str, role: str, password: str | None, groups: tuple[str, ...] = ()) -> bool:
        """Add or replace a user; return whether the user is new. UsageError.

        A user without a password logs in only through the proxy.
        """
        if not _NAME.fullmatch(name):
            raise UsageError(
                f"{name[:80]!r} is not a valid user name",
                hint="use up to 64 letters, digits and any of . _ @ -",
            )
        if password is not None and not LEAST_PASSWORD <= len(password) <= MAX_PASSWORD_LENGTH:
            raise UsageError(
                f"expected a password of {LEAST_PASSWORD} to {MAX_PASSWORD_LENGTH} characters",
                hint="a passphrase of several words is easy to remember",
            )
        for group in groups:
            if not _GROUP.fullmatch(group):
                raise UsageError(
                    f"{group[:80]!r} is not a valid group name",
                    hint="use a group in the studio's inventory",
                )
        users = self.users() if self._path.exists() else {}
        is_new = name not in users
        hashed = NO_PASSWORD if password is None else _hasher.hash(password)
        self._write({**users, name: User(name, role, hashed, groups)})
        return is_new

    def remove(self, name: str) -> None:
        """Remove a user; UsageError if there is no such user."""
        users = self.users()
        if users.pop(name, None) is None:
            raise self._refuse(f"has no user {name[:80]!r}", "ccm studio user list shows all users")
        self._write(users)

    def _write(self, users: dict[str, User]) -> None:
        try:
            with replacing(self._path, durable=True) as out:
                out.write("".join(map(_line, users.values())).encode())
        except OSError as error:
            hint = "use a file in a directory that you own"
            raise self._refuse(f"cannot be written: {error.strerror}", hint) from error

    def _refuse(self, reason: str, hint: str) -> UsageError:
        return UsageError(f"--auth {self._path} {reason}", hint=hint)


def _user(line: str) -> User | None:
    """The user on a line; None for an invalid line."""
    parts = line.split()
    if len(parts) not in (3, 4):
        return None
    name, role, hashed = parts[:3]
    groups = tuple(parts[3].split(",")) if parts[3:] else ()
    if role not in ROLES or not _NAME.fullmatch(name) or not all(map(_GROUP.fullmatch, groups)):
        return None
    return User(name, role, hashed, groups)


def _line(user: User) -> str:
    return " ".join((*user[:3], *filter(None, (",".join(user.groups),)))) + "\n"
