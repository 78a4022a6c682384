"""Checks whether a command could start, without starting it (target; in previews).

The checks raise the same ``CommandNotStartedError`` as the start.
"""

import errno
import os
from typing import TYPE_CHECKING, List, NoReturn, Optional

from remote_runtime.changes import Unknowable
from remote_runtime.errors import ResourceError
from remote_runtime.host.command_ports import Command
from remote_runtime.overlay.permissions import (
    ELF,
    Permissions,
    interpreter_of,
    is_foreign,
    needs_reading,
    other_formats,
)
from remote_runtime.system.accounts import Identity
from remote_runtime.system.process.commands import CommandNotStartedError
from remote_runtime.system.process.run_as import RunAs

if TYPE_CHECKING:
    from remote_runtime.overlay.host_overlay import HostOverlay

_FIRST_LINE = 256  # bytes of a script that the kernel reads
_MAX_SCRIPTS = 5  # nested interpreters


def require_startable(overlay: "HostOverlay", command: Command, argv: List[str]) -> None:
    """Raise the error that prevents the start of ``argv``, as far as known. ``Unknowable`` for a
    program that this user may execute but not read, because only a script needs more checks.
    """
    try:
        identity = overlay.accounts.identity(command.user, command.group)
        full = overlay.commands.find(argv[0], command.path, command.cwd)
        start = _Start(overlay, argv[0], identity)
        script = start.require(full, command.cwd)
        if script and command.returns == (0,):
            start.require_readable(script)
    except Unknowable:
        return  # an account or a program that a planned change adds
    if script is None:
        raise Unknowable("cannot tell whether %s is a script, which must be readable" % full)


class _Start(object):
    def __init__(self, overlay: "HostOverlay", program: str, identity: Identity) -> None:
        self._overlay, self._program, self._identity = overlay, program, identity
        self._rights = Permissions(overlay.files, identity)
        self._script = ""

    def require(self, full: str, cwd: Optional[str]) -> Optional[bytes]:
        """Raise the error that prevents the start of the program at the path ``full``; "" means
        none. Returns the interpreter of a script, b"" if it is not a script, None if it cannot be
        read.
        """
        if not self._identity.current and os.geteuid() != 0:
            self._fail(errno.EPERM)
        if self._identity.current and cwd is not None and not self._rights.reach(cwd + "/"):
            self._fail(errno.EACCES)  # root enters it before it changes the user
        if not full:
            return b""
        full = os.path.join(cwd or "/", full)
        self._executable(full)
        head = self._head(full)
        if head is None:
            return b"" if self._rights.read(full) else None
        return self._loaded(full, head, cwd or "/")

    def require_readable(self, interpreter: bytes) -> None:
        """``ResourceError`` if a script's interpreter starts but cannot read the script."""
        if needs_reading(interpreter) and not self._rights.read(self._script):
            raise ResourceError(
                "%s cannot be read by its interpreter: permission denied" % self._script,
                hint="allow the command's user to read the script",
            )

    def _loaded(self, full: str, head: bytes, cwd: str) -> bytes:
        """Raise the error that prevents the kernel from loading a program. Returns the interpreter
        that reads the script, if any; the script's own interpreter may have named it.
        """
        interpreter = b""
        for _ in range(_MAX_SCRIPTS + 1):
            if not head.startswith(b"#!"):
                if is_foreign(head) or not (head.startswith(ELF) or other_formats()):
                    self._fail(errno.ENOEXEC)
                return interpreter
            interpreter = interpreter_of(head)
            if not interpreter:
                self._fail(errno.ENOEXEC)
            self._script, full = full, os.path.join(cwd, os.fsdecode(interpreter))
            if not self._overlay.commands.is_there(full):
                self._fail(errno.ENOENT)
            self._executable(full)
            found = self._head(full)
            if found is None:
                return interpreter
            head = found
        return self._fail(errno.ELOOP)

    def _executable(self, path: str) -> None:
        """Check that the command's user may execute a file and enter its directories."""
        if not self._rights.execute(path):
            self._fail(errno.EACCES)

    def _head(self, path: str) -> Optional[bytes]:
        """Return the part of a file that the kernel reads; None if it cannot be read in advance."""
        from contextlib import closing

        try:
            with closing(self._overlay.files.blocks(path, follow=True)) as blocks:
                return next((bytes(block[:_FIRST_LINE]) for block in blocks), b"")
        except ResourceError:
            return None

    def _fail(self, number: int) -> NoReturn:
        reason = "%s could not be started: %s" % (self._program, os.strerror(number))
        raise CommandNotStartedError(reason, hint=RunAs(self._identity, None).hint())
