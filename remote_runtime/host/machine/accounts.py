"""Users and groups of the machine (target)."""

import os
from contextlib import contextmanager
from typing import TYPE_CHECKING, ContextManager, Iterator, List, Sequence

from remote_runtime.errors import ResourceError
from remote_runtime.host import accounts
from remote_runtime.host.accounts import Outcome
from remote_runtime.host.machine.files import Files
from remote_runtime.system.account_files import User
from remote_runtime.system.paths import content_of

if TYPE_CHECKING:
    from remote_runtime.system.accounts import Accounts as Adapter
    from remote_runtime.system.process.commands import Commands

_PATIENCE = 5.0  # seconds that processes have to end


class Accounts(accounts.Accounts):
    """Runs the programs of the host."""

    def __init__(self, adapter: "Adapter", files: Files, programs: "Commands") -> None:
        super().__init__(adapter)
        self.files: Files = files
        self._programs = programs

    def _require_idle(self, user: User) -> None:
        require_idle(user)

    def _kill(self, user: User) -> None:
        import signal
        import time

        end = time.monotonic() + _PATIENCE
        sent = signal.SIGTERM
        while True:
            pids = processes(user)
            if not pids:
                return
            for pid in pids:
                try:
                    os.kill(pid, sent)
                except ProcessLookupError:
                    pass  # it has ended
            if sent == signal.SIGKILL and time.monotonic() > end + _PATIENCE:
                require_idle(user)
            if time.monotonic() > end:
                sent = signal.SIGKILL
            time.sleep(0.05)

    @contextmanager
    def _moved(self, user: User, new: str) -> Iterator[None]:
        self.files.require_movable(user.home, new)
        self._run(["mv", "-T", user.home, new])
        with self._programs.protected(begun=True):
            try:
                self.files.relabel(new)
                yield
            except ResourceError as error:
                self._move_back(user, new, error)
                raise

    def _move_back(self, user: User, new: str, error: ResourceError) -> None:
        """Undo a move after an error, unless the database already names the new path."""
        self._adapter.forget()
        now = self._adapter.user(user.name)
        if now is not None and now.home == new:
            return
        try:
            self._run(["mv", "-T", new, user.home])
        except ResourceError as second:
            raise ResourceError(
                "%s; the home directory is now %s, because it could not be moved back: %s"
                % (error.message, new, second.message),
                kind=error.kind,
                hint="move it to %s" % user.home,
                output=error.output,
            ) from error

    def _removed_with(self, user: User, paths: Sequence[str]) -> ContextManager[None]:
        return self.files.removed_with(user, paths)

    def _perform(self, argv: Sequence[str], outcome: Outcome, secret: str = "") -> None:
        try:
            self._run(argv, secret)
        finally:
            self._adapter.forget()

    def _run(self, argv: Sequence[str], secret: str = "") -> None:
        reason, hint = self._programs.lacking(argv[0])
        if reason:
            raise ResourceError(reason, kind="resource.command", hint=hint)
        with self._programs.protected():  # a killed one leaves the databases half done
            result = self._programs.run(argv, input=secret.encode("utf-8") if secret else None)
        if result.code != 0:
            raise ResourceError(
                "%s: %s" % (argv[0], result.ending(None)),
                kind="resource.command",
                output=result.tail(),
            )


def processes(user: User) -> List[int]:
    """The processes of the host that run as a user, by the real, effective or saved user ID of any
    thread. Processes in containers do not count.
    """
    result = []
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            threads = os.listdir("/proc/%s/task" % name)
        except OSError:
            continue  # it has ended
        runs = any(_runs_as(user.uid, "/proc/%s/task/%s" % (name, each)) for each in threads)
        if runs and not _is_contained(user.uid, "/proc/" + name):
            result.append(int(name))
    return result


def _is_contained(uid: int, process: str) -> bool:
    """Return whether a process has another root directory and does not belong to a login of the
    user, who may have set that directory."""
    try:
        if os.path.samestat(os.stat(process + "/root"), os.stat("/")):
            return False
    except (FileNotFoundError, ProcessLookupError):
        return True  # it has ended
    except OSError:
        return False  # a root without the right to look, as in a container, sees only its own
    own = b"user-%d.slice" % uid
    groups = content_of(process + "/cgroup").splitlines()
    login = content_of(process + "/loginuid").strip() == b"%d" % uid
    return not login and not any(own in line.split(b"/") for line in groups)


def _runs_as(uid: int, thread: str) -> bool:
    lines = content_of(thread + "/status").split(b"\n")  # none if it has ended
    fields = {line.split()[0]: line.split()[1:] for line in lines if line.strip()}
    ended = fields.get(b"State:", [b""])[0] in (b"Z", b"X")
    return not ended and any(int(number) == uid for number in fields.get(b"Uid:", ())[:3])


def require_idle(user: User) -> None:
    """``ResourceError`` while processes run as a user of the host."""
    running = processes(user)
    if running:
        raise in_use(user, running[0])


def in_use(user: User, pid: int) -> ResourceError:
    """The error for a user as whom a process runs."""
    return ResourceError(
        "the user %s is in use: process %d runs as that user" % (user.name, pid),
        kind="resource.account",
        hint="stop the user's processes in an earlier resource",
    )
