"""A temporary file for an editor, which is always removed (controller)."""

import contextlib
import os
import shlex
import signal
import stat
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType
from typing import Any, TypeVar

from orchestrator.secrets.errors import SecretError

Made = TypeVar("Made")

_CAUGHT = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
_MEMORY = ("XDG_RUNTIME_DIR", "/dev/shm")


@contextlib.contextmanager
def private_directory() -> Iterator[Path]:
    """A directory with mode 0700, in memory if possible, which is removed at the end.

    SIGINT is left to the editor; SIGTERM, SIGHUP and SIGQUIT remove the directory and end ccm. A
    separate process removes it if ccm is killed.
    """
    directory = Path(tempfile.mkdtemp(prefix="ccm-", dir=_in_memory()))
    guard = subprocess.Popen(
        ["/bin/sh", "-c", 'cat > /dev/null; rm -rf -- "$1"', "ccm", str(directory)],
        stdin=subprocess.PIPE,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    before: dict[signal.Signals, Any] = {}

    def leave(number: int, frame: FrameType | None) -> None:
        """Remove the directory and exit."""
        if number == signal.SIGINT:
            return
        _remove(directory)
        # SIGQUIT would leave a dump of the memory, which has the plain text.
        end = signal.SIGTERM if number == signal.SIGQUIT else number
        signal.signal(end, signal.SIG_DFL)
        os.kill(os.getpid(), end)

    for number in _CAUGHT:
        before[number] = signal.signal(number, leave)
    try:
        yield directory
    finally:
        _remove(directory)
        assert guard.stdin is not None
        guard.stdin.close()
        guard.wait()
        for number, handler in before.items():
            signal.signal(number, handler)


def edit_text(
    text: str,
    suffix: str,
    accept: Callable[[str], Made],
    again: Callable[[SecretError], bool],
) -> Made:
    """The result of ``accept`` for the edited text; SecretError if the editor fails.

    If ``accept`` raises SecretError, ``again`` decides whether the editor opens again with the
    edited text. The file has mode 0600. It is removed, together with all files that the editor
    leaves next to it.
    """
    with private_directory() as directory:
        path = directory / f"secret{suffix}"
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as file:
            file.write(text)
        while True:
            _run_editor(path)
            with open(path, encoding="utf-8", newline="") as file:
                after = file.read()
            try:
                return accept(after)
            except SecretError as error:
                if not again(error):
                    raise


def _run_editor(path: Path) -> None:
    command = os.environ.get("VISUAL") or os.environ.get("EDITOR") or "vi"
    # Editors put copies where these say, or into the directory of the file.
    environ = {**os.environ, "TMPDIR": str(path.parent)}
    try:
        words = [*shlex.split(command), str(path)]
        code = subprocess.run(words, env=environ, check=False).returncode
    except (OSError, ValueError) as error:
        message = f"the editor {command!r} cannot be started"
        raise SecretError(message, hint="set EDITOR, such as EDITOR=nano") from error
    if code:
        raise SecretError(f"the editor exited with {code}; nothing was changed")


def _in_memory() -> str | None:
    """A directory in memory, preferably one that only this user can read; None for the default."""
    for place in _MEMORY:
        path = place if place.startswith("/") else os.environ.get(place, "")
        with contextlib.suppress(OSError):
            if path and stat.S_ISDIR(os.stat(path).st_mode) and os.access(path, os.W_OK):
                return path
    return None


def _remove(directory: Path) -> None:
    """Overwrite and remove the files in the directory, then remove the directory."""
    for parent, directories, names in os.walk(directory, topdown=False):
        for name in names:
            path = os.path.join(parent, name)
            with contextlib.suppress(OSError):
                if not os.path.islink(path):
                    with open(path, "r+b") as file:
                        file.write(b"\0" * os.path.getsize(path))
                        file.flush()
                        os.fsync(file.fileno())
                os.unlink(path)
        for name in directories:
            with contextlib.suppress(OSError):
                os.rmdir(os.path.join(parent, name))
    with contextlib.suppress(OSError):
        os.rmdir(directory)
