"""Small records that a host stores between runs, replaced atomically (target).

A record is a file ``KIND/NAME`` below the state directory: one JSON object with the number of its
format and the ID of the key, which is next to them. The key is random and belongs to the machine
that created it: its digests are meaningless elsewhere, and a clone of this machine trusts no
records. Directories have mode 0700, and a file that another user owns or can write to is not
trusted. The state directory itself may be a link owned by its user.
"""

import os
import stat
from typing import Any, BinaryIO, Callable, Dict, List, Optional, Set, Tuple

from remote_runtime.errors import HostError
from remote_runtime.stdlib_light import json_text, sha256_digest
from remote_runtime.system.machine_id import machine_id
from remote_runtime.system.paths import write_all

FORMAT = 1
LARGEST = 64 << 20  # bytes of a record
MAX_EMPTY = 200  # records of a kind that were emptied
_KEY = "key"
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW
_READ = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_WRITE = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_NONBLOCK
_APPEND = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_NONBLOCK
_OTHERS = stat.S_IWGRP | stat.S_IWOTH


class StateError(HostError):
    """A record cannot be read or written; ``damaged``: it exists, and may be replaced."""

    default_kind = "host.state"
    damaged = False


class _Access(object):
    """A block with an open directory, None for one that is missing. An ``OSError`` in it becomes
    the error that ``failed`` makes."""

    def __init__(
        self, opened: Callable[[], Optional[int]], failed: Callable[[OSError], StateError]
    ) -> None:
        self._opened, self._failed = opened, failed
        self._directory: Optional[int] = None

    def __enter__(self) -> Any:
        try:
            self._directory = self._opened()
        except OSError as error:
            raise self._failed(error) from error
        return self._directory

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if self._directory is not None:
            os.close(self._directory)
        if isinstance(error, OSError):
            raise self._failed(error) from error


class StateStore(object):
    """The records in one state directory, for the user of this process.

    ``machine`` is the ID of this machine, None for its machine-id. A writer must hold the host's
    lock.
    """

    def __init__(self, directory: str, machine: Optional[str] = None) -> None:
        self._directory = directory
        self._machine = machine_id() if machine is None else machine
        self._key = b""
        self._seen: Set[Tuple[str, str]] = set()  # what may be written over

    def digest(self, text: str) -> str:
        """Return the digest that replaces a text in a record. Creates the key if it is missing.
        StateError."""
        if not self._key and not self._load_key():
            self._make_key()
        return self._digested(text)

    def read(self, kind: str, name: str) -> Optional[Dict[str, Any]]:
        """A record, None if there is none. StateError, also for a record from another machine."""
        record = self._read(kind, name)
        if record is None:
            return None
        if (self._key or self._load_key()) and record.get("key") == self._digested(_KEY):
            return record
        path = os.path.join(kind, name)
        raise self._damaged(path, "it belongs to another machine, or its key is missing")

    def write(self, kind: str, name: str, record: Dict[str, Any]) -> None:
        """Replace a record, so that it survives a power failure.

        StateError, also if a newer ccm wrote the existing one.
        """
        self.digest("")
        self._write(kind, name, dict(record, key=self._digested(_KEY)))

    def forget(self, kind: str, name: str) -> None:
        """Remove a record, if there is one. StateError."""
        with self._access("remove", kind, name) as directory:
            try:
                if directory is not None:
                    os.unlink(name, dir_fd=directory)
            except FileNotFoundError:
                pass

    def names(self, kind: str) -> List[str]:
        """The names of all records of a kind. StateError."""
        with self._access("read", kind) as directory:
            names = [] if directory is None else os.listdir(directory)
        return [name for name in names if "." not in name]

    def mark(self, kind: str, name: str, mark: str) -> None:
        """Create an empty file ``NAME.MARK`` next to a record, and remove its other marks.
        StateError.
        """
        self.unmark(kind, name)
        with self._access("write", kind, name) as directory:
            os.close(os.open("%s.%s" % (name, mark), _WRITE, 0o600, dir_fd=directory))

    def unmark(self, kind: str, name: str) -> None:
        """Remove the marks of a record, so that they remain removed after a power failure.
        StateError.
        """
        with self._access("remove", kind, name) as directory:
            names = [] if directory is None else os.listdir(directory)
            marks = [one for one in names if one.startswith(name + ".")]
            for one in marks:
                os.unlink(one, dir_fd=directory)
            if marks:
                os.fsync(directory)

    # -- logs -------------------------------------------------------------------------------------

    def open_log(self, kind: str, name: str) -> Tuple[int, int]:
        """A descriptor that appends to a log, and the log's size. It is locked until it is closed.

        A new log begins with a line that names the key; a log from another machine is replaced.
        StateError. StateError.
        """
        self.digest("")
        try:
            lines, _ = self.read_log(kind, name, LARGEST)
        except StateError as error:
            if not error.damaged:
                raise
            lines = None
        with self._access("write", kind, name) as directory:
            flags = _APPEND | (0 if lines is not None else os.O_TRUNC)
            descriptor = os.open(name, flags, 0o600, dir_fd=directory)
            os.fsync(directory)
            self._own(os.fstat(descriptor), os.path.join(kind, name))
            _lock(descriptor)
            if lines is None:
                head = {"format": FORMAT, "key": self._digested(_KEY)}
                os.write(descriptor, json_text.dumps(head).encode("ascii") + b"\n")
            return descriptor, os.fstat(descriptor).st_size

    def read_log(self, kind: str, name: str, maximum: int) -> Tuple[Optional[List[str]], bool]:
        """The complete lines of a log after the first, None if there is no log, and whether a
        process has it open for writing.

        StateError, also for a log from another machine.
        """
        path = os.path.join(kind, name)
        with self._access("read", kind, name) as directory:
            file = self._opened(directory, path)
            if file is None:
                return None, False
            with file:
                busy = not _lock(file.fileno())
                text = file.read(maximum).decode("ascii", "replace")
        head, *lines = text.split("\n")[:-1] or [""]
        try:
            document = json_text.loads(head)
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict) or document.get("format") != FORMAT:
            raise self._damaged(path, "it is corrupt")
        if not (self._key or self._load_key()) or document.get("key") != self._digested(_KEY):
            raise self._damaged(path, "it belongs to another machine, or its key is missing")
        return lines, busy

    def prune(self, kind: str, maximum: int, spare: str) -> None:
        """Empty the oldest records of a kind beyond this number, but never the one to ``spare``.

        An empty record shows that there was one; the oldest of these are removed, too. StateError.
        """
        base = os.path.join(self._directory, kind)
        full: List[Tuple[float, str]] = []
        empty: List[Tuple[float, str]] = []
        try:
            for name in self.names(kind):
                status = os.lstat(os.path.join(base, name))
                if name != spare:
                    (full if status.st_size else empty).append((status.st_mtime, name))
            for _, name in sorted(full)[: max(0, len(full) - maximum)]:
                os.close(os.open(os.path.join(base, name), os.O_WRONLY | os.O_TRUNC | _READ))
        except OSError as error:
            raise self._failed("empty", base, error) from error
        for _, name in sorted(empty)[: max(0, len(empty) - MAX_EMPTY)]:
            self.forget(kind, name)

    def is_writable(self) -> bool:
        """Return whether records can be written, as far as visible without writing one."""
        return not os.path.isdir(self._directory) or os.access(self._directory, os.W_OK)

    def _digested(self, text: str) -> str:
        inner = sha256_digest.sha256(self._key + text.encode("utf-8", "surrogateescape")).digest()
        return str(sha256_digest.sha256(self._key + inner).hexdigest())[:32]

    def _load_key(self) -> bool:
        """Use the existing key; False if there is none that belongs to this machine."""
        try:
            record = self._read("", _KEY)
        except StateError as error:
            if error.damaged:
                return False
            raise
        try:
            self._key = bytes.fromhex(record["secret"]) if record else b""
        except (KeyError, TypeError, ValueError):
            return False
        if self._key and record and record.get("machine") != self._digested(self._machine):
            self._key = b""
        return bool(self._key)

    def _make_key(self) -> None:
        self._key = os.urandom(32)
        record = {"secret": self._key.hex(), "machine": self._digested(self._machine)}
        try:
            self._write("", _KEY, record)
        except StateError:
            self._key = b""
            raise

    # -- files ------------------------------------------------------------------------------------

    def _read(self, kind: str, name: str) -> Optional[Dict[str, Any]]:
        path = os.path.join(kind, name)
        with self._access("read", kind, name) as directory:
            file = self._opened(directory, path)
            if file is None:
                return None
            with file:
                text = file.read(LARGEST + 1)
        try:
            document = json_text.loads(text.decode("utf-8")) if len(text) <= LARGEST else None
        except (ValueError, RecursionError):
            document = None
        if not isinstance(document, dict) or not isinstance(document.get("format"), int):
            raise self._damaged(path, "it is corrupt")
        if document["format"] > FORMAT:
            raise self._error(
                path, "a newer ccm wrote it", "push with that version, or remove the file"
            )
        self._seen.add((kind, name))
        return document

    def _write(self, kind: str, name: str, record: Dict[str, Any]) -> None:
        if (kind, name) not in self._seen:
            try:
                self._read(kind, name)
            except StateError as error:
                if not error.damaged:
                    raise
        text = json_text.dumps(dict(record, format=FORMAT)).encode("ascii")
        with self._access("write", kind, name) as directory:
            beside = "." + name + ".new"
            descriptor = os.open(beside, _WRITE, 0o600, dir_fd=directory)
            with os.fdopen(descriptor, "wb", 0):
                self._own(os.fstat(descriptor), os.path.join(kind, name))
                write_all(descriptor, text)
                os.fsync(descriptor)
            os.rename(beside, name, src_dir_fd=directory, dst_dir_fd=directory)
            os.fsync(directory)
            self._seen.add((kind, name))

    def _access(self, verb: str, kind: str, name: str = "") -> _Access:
        """A block with the directory of a kind, which is made if the block is to ``write``."""
        path, opened = os.path.join(kind, name), self._made if verb == "write" else self._open
        return _Access(lambda: opened(kind), lambda error: self._failed(verb, path, error))

    def _opened(self, directory: Optional[int], path: str) -> Optional[BinaryIO]:
        """A file of ours in the directory of its kind, None if there is none."""
        if directory is None:
            return None
        try:
            descriptor = os.open(os.path.basename(path), _READ, dir_fd=directory)
        except FileNotFoundError:
            return None
        file = os.fdopen(descriptor, "rb")
        try:
            self._own(os.fstat(descriptor), path)
        except StateError:
            file.close()
            raise
        return file

    def _made(self, kind: str) -> int:
        """The open directory of a kind, created if it is missing."""
        os.makedirs(self._directory, 0o700, exist_ok=True)
        directory = self._open(kind)
        if directory is None:
            os.mkdir(os.path.join(self._place(), kind), 0o700)
            directory = self._open(kind)
        if directory is None:
            raise FileNotFoundError(2, "it was removed", kind)
        os.fchmod(directory, 0o700)
        return directory

    def _open(self, kind: str) -> Optional[int]:
        """The open directory of a kind; "" is the state directory. None if it does not exist."""
        try:
            directory = os.open(self._place(), _DIRECTORY)
        except FileNotFoundError:
            return None
        try:
            self._own(os.fstat(directory), "")
            if not kind:
                return os.dup(directory)
            inner = os.open(kind, _DIRECTORY, dir_fd=directory)
        except FileNotFoundError:
            return None
        finally:
            os.close(directory)
        try:
            self._own(os.fstat(inner), kind)
        except StateError:
            os.close(inner)
            raise
        return inner

    def _place(self) -> str:
        """The location of the state directory, which may be a link of this user, for example to
        another disk.

        StateError if another user may have created the link, or may replace its target.
        """
        try:
            found = os.lstat(self._directory)
        except FileNotFoundError:
            return self._directory
        if not stat.S_ISLNK(found.st_mode):
            return self._directory
        real = os.path.realpath(self._directory)
        linked = (self._directory, found)
        around = [(top, os.stat(top)) for top in map(os.path.dirname, (self._directory, real))]
        for path, status in [linked] + around:
            others = status.st_mode & _OTHERS and not stat.S_ISLNK(status.st_mode)
            if status.st_uid not in (0, os.geteuid()) or others:
                reason = "it is a symlink, and other users own %s or can write to it" % path
                raise self._error(
                    "",
                    reason,
                    (
                        "replace it with a directory, or with a symlink "
                        "that only its user can change"
                    ),
                )
        return real

    def _own(self, status: os.stat_result, path: str) -> None:
        """StateError for a path that another user may have put there."""
        if status.st_uid != os.geteuid():
            raise self._error(
                path,
                "it belongs to user %d" % status.st_uid,
                "find out who created it, and remove it",
            )
        if status.st_mode & _OTHERS:
            mode = stat.S_IMODE(status.st_mode)
            hint = "check its contents, then run chmod go-w on it"
            raise self._error(path, "other users can write to it (mode %04o)" % mode, hint)
        if not (stat.S_ISREG(status.st_mode) or stat.S_ISDIR(status.st_mode)):
            raise self._error(path, "it is not a regular file", "remove it; ccm creates a new one")

    def _failed(self, verb: str, path: str, error: OSError) -> StateError:
        return StateError(
            "could not %s %s: %s" % (verb, self._whole(path), error.strerror or error),
            hint="the state directory must belong to this user and be writable",
        )

    def _error(self, path: str, reason: str, hint: str) -> StateError:
        return StateError("could not use %s: %s" % (self._whole(path), reason), hint=hint)

    def _damaged(self, path: str, reason: str) -> StateError:
        error = self._error(path, reason, "its contents are ignored, and ccm creates a new one")
        error.damaged = True
        return error

    def _whole(self, path: str) -> str:
        return os.path.join(self._directory, path).rstrip("/")


def _lock(descriptor: int) -> bool:
    """Lock a file until it is closed; False if another process has it locked."""
    import fcntl

    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True
