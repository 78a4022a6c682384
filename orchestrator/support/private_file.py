"""Files with a secret, which only their user may read (controller)."""

import os
import shlex
import stat

from remote_runtime.errors import UsageError


def read_private(path: str, maximum: int) -> str:
    """The text of a file of this user, up to this many bytes. UsageError if others can read it."""
    hint = "copy it to a regular file of this user with mode 0600"
    try:
        handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    except OSError as error:
        missing = isinstance(error, FileNotFoundError)
        raise UsageError(
            f"{path} cannot be read: {error.strerror}", hint="check the path" if missing else hint
        ) from error
    try:
        found = os.fstat(handle)
        if not stat.S_ISREG(found.st_mode) or found.st_uid != os.geteuid():
            raise UsageError(f"{path} is not a regular file of this user", hint=hint)
        if found.st_mode & 0o077:
            hint = f"run: chmod 600 {shlex.quote(path)}"
            raise UsageError(f"{path} is accessible to other users", hint=hint)
        return os.read(handle, maximum).decode("utf-8", "replace")
    finally:
        os.close(handle)
