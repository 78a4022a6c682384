"""Private keys: read once per run, from files and from agents (controller; paramiko)."""

from __future__ import annotations

import functools
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import paramiko
from paramiko.agent import AgentKey, AgentSSH

from orchestrator.transport.credentials import Credentials
from orchestrator.transport.key_files import encrypted, public_blob, shown, too_open, unreadable
from orchestrator.transport.known_hosts import fingerprint
from orchestrator.transport.route import DEFAULT_KEYS, Route
from orchestrator.transport.waiting import Aside

AGENT_TIMEOUT = 60.0


class AgentGoneError(paramiko.SSHException):
    """The agent signs nothing more; no server was told of it."""


class AgentLateError(Exception):
    """The agent took longer than the host has time."""


class TimedKey(AgentKey):
    """The key of an agent, which may wait for somebody and knows no bound of one host."""

    def __init__(self, key: AgentKey, until: float) -> None:
        super().__init__(key.agent, key.blob, key.comment)
        self._until = until

    def sign_ssh_data(self, data: Any, algorithm: str | None = None) -> Any:
        """As of any key; AgentLateError."""
        sign = functools.partial(super().sign_ssh_data, data, algorithm)
        try:
            return Aside(sign, "signature of an agent").wait(self._until)
        except TimeoutError as error:
            raise AgentLateError from error


class Candidate:
    """A key to log in with: what messages call it, and how to get it when its turn comes.

    ``identity`` is the fingerprint, the same for a key in a file and in an agent; "" where it
    cannot be told yet. ``locked`` says that ``load`` may ask for a passphrase.
    """

    def __init__(
        self,
        name: str,
        identity: str,
        load: Callable[[], paramiko.PKey | str],
        locked: bool = False,
    ) -> None:
        self.name = name
        self.identity = identity
        self.load = load
        self.locked = locked


class Keyring:
    """The keys of a run. The key that worked last is tried first: each try costs a round trip."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._files: dict[Path, paramiko.PKey | str] = {}
        self._there = functools.cache(Path.exists)
        self._agents: dict[str, _Agent] = {}
        self._lock = threading.Lock()
        self._worked: set[str] = set()

    def candidates(self, route: Route) -> list[Candidate]:
        """The keys to try, best first; those of files are read when their turn comes."""
        held = {fingerprint(key.blob): key for key in self._agent(route.agent).keys}
        found = [self._named(path, held) for path in route.identities if self._there(path)]
        if not route.identities_only:
            known = {candidate.identity for candidate in found}
            others = [_held(key, print_) for print_, key in held.items() if print_ not in known]
            # files that were named come first, the usual ones behind the agent's
            named = len(found) if _explicit(route) else 0
            found[named:named] = others
        found.sort(key=lambda candidate: candidate.identity not in self._worked)
        return found

    def candidates_in_time(self, route: Route) -> list[Candidate]:
        """As ``candidates``; AgentLateError when the time of the host is up."""
        if route.until is None or not route.agent:
            return self.candidates(route)
        try:
            return Aside(lambda: self.candidates(route), "keys of an agent").wait(route.until)
        except TimeoutError as error:
            raise AgentLateError from error

    def troubles(self, route: Route) -> list[str]:
        """Why keys that were meant are not among the candidates."""
        named = (path for path in route.identities if path.name not in DEFAULT_KEYS)
        found = [f"{shown(path)} does not exist" for path in named if not self._there(path)]
        trouble = self._agent(route.agent).trouble
        return [*found, trouble] if trouble else found

    def worked(self, candidate: Candidate) -> None:
        """Remember a key that a host accepted."""
        self._worked.add(candidate.identity)

    def close(self) -> None:
        """Let go of the agents."""
        for agent in self._agents.values():
            agent.close()

    def _named(self, path: Path, held: dict[str, AgentKey]) -> Candidate:
        blob = public_blob(path)
        identity = fingerprint(blob) if blob else ""
        if identity in held:
            return _held(held[identity], identity, shown(path))
        load = functools.partial(self._from_file, path)
        return Candidate(shown(path), identity, load, locked=encrypted(path))

    def _from_file(self, path: Path) -> paramiko.PKey | str:
        """The key, or why there is none."""
        with self._lock:
            if path not in self._files:
                self._files[path] = self._load(path)
            return self._files[path]

    def _load(self, path: Path) -> paramiko.PKey | str:
        key = None
        try:
            key = paramiko.PKey.from_path(path)
        except (paramiko.PasswordRequiredException, TypeError, ValueError) as error:
            if not encrypted(path):
                return unreadable(path, error)
        except (OSError, paramiko.SSHException, paramiko.pkey.UnknownKeyType) as error:
            return unreadable(path, error)
        return too_open(path) or key or self._unlock(path)

    def _unlock(self, path: Path) -> paramiko.PKey | str:
        opened: list[paramiko.PKey] = []

        def try_it(text: str) -> bool:
            try:
                # the stubs want text; the libraries want bytes
                opened.append(paramiko.PKey.from_path(path, text.encode()))  # type: ignore[arg-type]
            except (ValueError, TypeError, paramiko.SSHException):
                return False
            return True

        self._credentials.passphrase(path, try_it)
        return opened[0] if opened else f"{shown(path)} has a passphrase that was not given"

    def _agent(self, path: str) -> _Agent:
        with self._lock:
            if path not in self._agents:
                self._agents[path] = _Agent(path)
            return self._agents[path]


class _Agent(AgentSSH):
    """An agent at a socket; paramiko's own knows only the one of the environment.

    One that does not answer in time is asked no more: what it says later would be taken for the
    answer to another question.
    """

    # the stubs leave these out
    _connect: Callable[[socket.socket], None]
    _close: Callable[[], None]

    def __init__(self, path: str) -> None:
        super().__init__()
        self._talking = threading.RLock()
        self._path = path
        self.trouble = ""
        if not path:
            return
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(AGENT_TIMEOUT)
        try:
            connection.connect(path)
            self._connect(connection)
        except (OSError, paramiko.SSHException):
            connection.close()
            self._conn = None
            self.trouble = f"no agent answers at {path}"

    @property
    def keys(self) -> tuple[AgentKey, ...]:
        return tuple(self.get_keys())

    def close(self) -> None:
        self._close()

    def _send_message(self, msg: Any) -> Any:
        if not self._talking.acquire(timeout=AGENT_TIMEOUT):  # one socket serves all hosts
            raise AgentGoneError
        try:
            if self.trouble:
                raise AgentGoneError
            # the stubs leave out what is paramiko's own
            return super()._send_message(msg)  # type: ignore[misc]
        except (OSError, paramiko.SSHException) as error:
            late = isinstance(error, TimeoutError)
            how = f"did not answer within {AGENT_TIMEOUT:g} s" if late else "hung up"
            self.trouble = self.trouble or f"the agent at {self._path} {how}"
            self._close()
            raise AgentGoneError from error
        finally:
            self._talking.release()


def _explicit(route: Route) -> bool:
    return any(path.name not in DEFAULT_KEYS for path in route.identities)


def _held(key: AgentKey, identity: str, name: str = "") -> Candidate:
    return Candidate(name or f"agent key {key.comment or identity}", identity, lambda: key)
