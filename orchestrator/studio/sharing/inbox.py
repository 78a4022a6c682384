"""Stores the runs that clients post (controller).

Clients are not trusted. ``history.line_checks`` checks posted data before it is stored. The run ID
must be well-formed, and the file must be one from a fixed list, so neither can name another file. A
run belongs to the name of the token that started it: others cannot add to it, and repeated posts
change nothing.
"""

import contextlib
import fcntl
import json
import os
import shutil
import stat
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

from orchestrator.fleet.host.stage_host import host_in
from orchestrator.fleet.store.event_lines import ImpliedTexts
from orchestrator.history.line_checks import SKEW, LineChecks, checked_run_file, is_same_run
from orchestrator.history.run_names import LINES, OWNER, RUN_FILE, owner_of, start_time_of
from orchestrator.studio.sharing.token_usage import RefusalError, TokenUsage
from orchestrator.studio.sharing.tokens import Token
from orchestrator.support.line_file import FULL
from orchestrator.support.state_directory import make_private

KEEP = 1_000  # received runs
MAX_FILE_BYTES = 512 << 20  # bytes of a file
MAX_STORED_BYTES = 20 << 30  # bytes of all runs of one token
MAX_CONCURRENT = 50  # runs of one token in progress
SILENCE = 180.0  # seconds without a post after which a run is not in progress
OLDEST = 400 * 86_400.0  # seconds
LEAST_FREE = 256 << 20  # bytes that stay free on the disk
CHUNK = 1 << 20  # bytes of a file in one answer
_AFTERWARDS = ("verify.jsonl", "later.jsonl")
"""The files that may grow after the end of a run."""
_DIRECTORY = os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW


Indexed = Callable[["frozenset[str] | None"], Mapping[str, bool]]


class RunInbox:
    """The runs of a studio, for clients with a token. Thread-safe. RefusalError.

    ``hosts_of`` returns the hosts of groups of the inventory. ``indexed`` returns, for each run of
    the index, whether all of its hosts are among the given ones, None for any. The runs of one
    token have at most ``max_stored`` bytes.
    """

    def __init__(
        self,
        state: Path,
        hosts_of: Callable[[tuple[str, ...]], frozenset[str]],
        *,
        keep: int = KEEP,
        max_stored: int = MAX_STORED_BYTES,
        indexed: Indexed = lambda hosts: {},
    ) -> None:
        self._runs = state / "runs"
        self._hosts_of = hosts_of
        self._keep = keep
        self._indexed = indexed
        self._usage = TokenUsage(self._runs, max_stored)
        self._lock = threading.RLock()
        self._active: dict[str, _ActiveRun] = {}

    def begin(self, token: Token, run_id: str, text: bytes) -> dict[str, int]:
        """Begin or continue a run; return the sizes of its files."""
        self._check_right(token)
        now = time.time()
        begin = start_time_of(run_id)
        if begin is None:
            raise RefusalError(400, "the ID of the run is invalid")
        if not now - OLDEST <= begin <= now + SKEW:
            raise RefusalError(400, "the ID of the run does not match the studio's clock")
        try:
            about = checked_run_file(text, run_id, now)
        except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
            raise RefusalError(400, f"run.json: {error}") from error
        self._check_hosts(token, about["hosts"])
        with self._lock:
            self._sweep()
            if not os.path.lexists(self._runs / run_id):
                self._create(token, run_id, text)
            else:
                self._continue(token, run_id, about, text)
            if self._about(token, run_id, write=True)["end"] is None:
                self._hold(token, run_id)
            else:
                self._let_go(run_id)
            return self._sizes(run_id)

    def append(
        self, token: Token, run_id: str, *, name: str, at: int, data: bytes
    ) -> tuple[bool, int]:
        """Append lines that begin ``at`` this offset; return whether they were appended, and the
        size of the file afterwards.
        """
        self._check_right(token)
        if name not in LINES:
            raise RefusalError(404, "runs have no such file")
        about = self._about(token, run_id, write=True)
        with self._lock:
            size = self._sizes(run_id).get(name, 0)
        ended = about["end"] is not None
        if size != at or (ended and name not in _AFTERWARDS):
            return False, size
        if size + len(data) > MAX_FILE_BYTES:
            raise RefusalError(413, f"{name} is too large")
        texts = ImpliedTexts(self._runs / run_id / "resources.jsonl")
        checks = LineChecks(run_id, frozenset(about["hosts"]), texts.text)
        try:
            checks.check(name, data)
        except (ValueError, OSError) as error:
            raise RefusalError(400, str(error)) from error
        with self._lock:
            if not ended:
                self._hold(token, run_id)
            self._usage.require(token.name, len(data))
            is_stored, size = self._appended(run_id, name, at, data)
            if is_stored:
                self._usage.add(token.name, len(data))
            return is_stored, size

    def runs(self, token: Token) -> list[dict[str, Any]]:
        """The runs that a token may read, the newest first, with the sizes of their files."""
        found = []
        hosts = self._hosts_of(token.groups) if token.groups else None
        indexed = self._indexed(hosts)
        for run_id in self._names():
            with contextlib.suppress(RefusalError, OSError):
                if run_id not in indexed:
                    self._about(token, run_id, write=False)
                elif not indexed[run_id]:
                    continue
                active = run_id in self._active
                found.append({"id": run_id, "files": self._sizes(run_id), "active": active})
        return found

    def content(self, token: Token, run_id: str, name: str, at: int) -> bytes:
        """A part of a file of a run, starting at this offset."""
        if name not in (RUN_FILE, *LINES):
            raise RefusalError(404, "runs have no such file")
        self._about(token, run_id, write=False)
        with self._opened(run_id) as directory:
            return _read(directory, name, at, CHUNK)

    def may_read(self, token: Token, hosts: list[str]) -> bool:
        """Whether a token may read a run of these hosts."""
        return not token.groups or {host_in(host) for host in hosts} <= self._hosts_of(token.groups)

    def sweep(self) -> None:
        """Release the runs whose clients no longer send anything."""
        with self._lock:
            self._sweep()

    def close(self) -> None:
        """Release all runs."""
        with self._lock:
            for run_id in list(self._active):
                self._let_go(run_id)

    # -- rights ------------------------------------------------------------------------------------

    def _check_right(self, token: Token) -> None:
        if token.reads_only:
            raise RefusalError(403, "this token is read-only")

    def _check_hosts(self, token: Token, hosts: list[str]) -> None:
        if not self.may_read(token, hosts):
            raise RefusalError(403, "a host of the run is not in the groups of this token")

    def _about(self, token: Token, run_id: str, *, write: bool) -> dict[str, Any]:
        """The content of run.json of a stored run; 404 if the token may not see it."""
        missing = RefusalError(404, "there is no such run")
        if start_time_of(run_id) is None:
            raise missing
        try:
            with self._opened(run_id) as directory:
                about = json.loads(_read(directory, RUN_FILE, 0, MAX_FILE_BYTES))
                owner = self._owner(directory) if write else ""
        except (OSError, ValueError, RecursionError) as error:
            raise missing from error
        if not isinstance(about, dict) or not isinstance(about.get("hosts"), list):
            raise missing
        if not self.may_read(token, about["hosts"]) or (write and owner != token.name):
            raise missing
        return about

    def _owner(self, directory: int) -> str:
        """The name of the token that began a run; "" for a run of the studio's own user."""
        try:
            found = json.loads(_read(directory, OWNER, 0, 1 << 16))
            return str(found["name"])
        except (OSError, ValueError, LookupError, TypeError):
            return ""

    # -- files -------------------------------------------------------------------------------------

    def _create(self, token: Token, run_id: str, text: bytes) -> None:
        active = sum(one.token == token.name for one in self._active.values())
        if active >= MAX_CONCURRENT:
            raise RefusalError(429, "too many runs of this token are in progress")
        if self._superfluous({run_id: token.name}) == run_id:
            raise RefusalError(410, "the studio keeps only newer runs")
        self._usage.require(token.name, len(text))
        with _storing():
            make_private(self._runs)
            self._require_room(len(text))
            os.mkdir(self._runs / run_id, 0o700)
            with self._opened(run_id) as directory:
                owner = {"name": token.name, "token": token.id, "at": time.time()}
                _write(directory, OWNER, json.dumps(owner).encode("ascii") + b"\n")
                _write(directory, RUN_FILE, text)
        self._usage.add(token.name, len(text))
        while old := self._superfluous({}):
            shutil.rmtree(self._runs / old, ignore_errors=True)
            self._usage.forget()
            if (self._runs / old).exists():
                break  # nothing can be removed

    def _superfluous(self, new: dict[str, str]) -> str:
        """The run to remove so that ``new`` runs with these tokens fit: the oldest run of the token
        that has the most. This way, no token can displace the runs of tokens with fewer. "" for
        none.
        """
        received = [name for name in self._names() if (self._runs / name / OWNER).is_file()]
        if len(received) + len(new) <= self._keep:
            return ""
        owners = {name: owner_of(self._runs / name) for name in received} | new
        numbers = Counter(owners.values())
        most = max(numbers.values())
        oldest = sorted(name for name in owners if numbers[owners[name]] == most)
        return next((name for name in oldest if name not in self._active), "")

    def _continue(self, token: Token, run_id: str, about: dict[str, Any], text: bytes) -> None:
        begun = self._about_of_owner(token, run_id)
        if not is_same_run(begun, about):
            raise RefusalError(403, "the ID belongs to another run")
        if begun["end"] is not None and about["end"] is not None and begun != about:
            raise RefusalError(403, "the run has ended")
        if begun["end"] is None and begun != about:
            # Blanks make a run.json large, too.
            grown = len(text) - self._sizes(run_id)[RUN_FILE]
            self._usage.require(token.name, grown)
            with _storing(), self._opened(run_id) as directory:
                self._require_room(len(text))
                _write(directory, RUN_FILE, text)
            self._usage.add(token.name, grown)

    def _about_of_owner(self, token: Token, run_id: str) -> dict[str, Any]:
        try:
            return self._about(token, run_id, write=True)
        except RefusalError as error:
            raise RefusalError(403, "this run was started by someone else") from error

    def _appended(self, run_id: str, name: str, at: int, data: bytes) -> tuple[bool, int]:
        with _storing(), self._opened(run_id) as directory:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
            handle = os.open(name, flags, 0o600, dir_fd=directory)
            try:
                size = os.fstat(handle).st_size
                if size != at:  # another post was quicker
                    return False, size
                self._require_room(len(data))
                try:
                    left = memoryview(data)
                    while left:
                        left = left[os.write(handle, left) :]
                except OSError:
                    os.ftruncate(handle, size)
                    raise
                return True, size + len(data)
            finally:
                os.close(handle)

    def _require_room(self, size: int) -> None:
        """RefusalError if this many bytes would leave too little free space. OSError."""
        if shutil.disk_usage(self._runs).free - size < LEAST_FREE:
            raise RefusalError(507, "the disk of the studio is full")

    def _names(self) -> list[str]:
        try:
            names = os.listdir(self._runs)
        except FileNotFoundError:
            return []
        return sorted((name for name in names if start_time_of(name) is not None), reverse=True)

    def _sizes(self, run_id: str) -> dict[str, int]:
        with self._opened(run_id) as directory, os.scandir(directory) as entries:
            return {
                entry.name: entry.stat(follow_symlinks=False).st_size
                for entry in entries
                if entry.name in (RUN_FILE, *LINES) and entry.is_file(follow_symlinks=False)
            }

    @contextlib.contextmanager
    def _opened(self, run_id: str) -> Iterator[int]:
        """The directory of a run, whose ID was checked. OSError."""
        handle = os.open(self._runs / run_id, _DIRECTORY)
        try:
            yield handle
        finally:
            os.close(handle)

    # -- runs in progress --------------------------------------------------------------------------

    def _hold(self, token: Token, run_id: str) -> None:
        """Acquire the lock that shows readers that a run is in progress."""
        now = time.time()
        if run_id in self._active:
            self._active[run_id].last_received = now
            return
        with _storing(), self._opened(run_id) as directory:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW
            handle = os.open("events.jsonl", flags, 0o600, dir_fd=directory)
        with contextlib.suppress(OSError):
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        self._active[run_id] = _ActiveRun(handle, token.name, now)

    def _let_go(self, run_id: str) -> None:
        if run_id in self._active:
            os.close(self._active.pop(run_id).handle)

    def _sweep(self) -> None:
        now = time.time()
        for run_id, active in list(self._active.items()):
            if now - active.last_received > SILENCE:
                self._let_go(run_id)


class _ActiveRun:
    """A run in progress: the locked file, its token, and when its client last sent something."""

    def __init__(self, handle: int, token: str, last_received: float) -> None:
        self.handle = handle
        self.token = token
        self.last_received = last_received


@contextlib.contextmanager
def _storing() -> Iterator[None]:
    """Answer 507 if the studio cannot write to its disk."""
    try:
        yield
    except OSError as error:
        full = error.errno in FULL
        text = "the disk of the studio is full" if full else "the studio cannot store the run"
        raise RefusalError(507, text) from error


def _read(directory: int, name: str, at: int, maximum: int) -> bytes:
    """A part of a file of a run; RefusalError for anything but a regular file."""
    try:
        handle = os.open(name, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK, dir_fd=directory)
    except FileNotFoundError as error:
        raise RefusalError(404, "the run has no such file") from error
    with open(handle, "rb") as file:
        if not stat.S_ISREG(os.fstat(handle).st_mode):
            raise RefusalError(404, "the run has no such file")
        file.seek(at)
        return file.read(maximum)


def _write(directory: int, name: str, text: bytes) -> None:
    """Replace a small file of a run."""
    beside = f".{name}.{os.urandom(6).hex()}.new"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    handle = os.open(beside, flags, 0o600, dir_fd=directory)
    try:
        left = memoryview(text)
        while left:
            left = left[os.write(handle, left) :]
        os.rename(beside, name, src_dir_fd=directory, dst_dir_fd=directory)
    except OSError:
        os.unlink(beside, dir_fd=directory)
        raise
    finally:
        os.close(handle)
