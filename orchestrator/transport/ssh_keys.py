"""Private keys: read once per run, from files and from agents (controller; paramiko)."""

from __future__ import annotations

import base64
import contextlib
import functools
import socket
import struct
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import paramiko
from paramiko.agent import AgentKey, AgentSSH

from orchestrator.transport.credentials import Credentials
from orchestrator.transport.known_hosts import fingerprint
from orchestrator.transport.route import Route

AGENT_TIMEOUT = 60.0


class Candidate:
    """A key to log in with: what messages call it, and how to get it when its turn comes."""

    def __init__(self, name: str, key: paramiko.PKey) -> None:
        self.name = name
        self.key = key

    @property
    def identity(self) -> str:
        """The fingerprint, the same for a key in a file and in an agent."""
        return fingerprint(self.key.asbytes())


class Keyring:
    """The keys of a run. The key that worked last is tried first: each try costs a round trip."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._files: dict[Path, paramiko.PKey | str] = {}
        self._agents: dict[str, _Agent] = {}
        self._lock = threading.Lock()
        self._worked: set[str] = set()

    def candidates(self, route: Route) -> tuple[list[Candidate], list[str]]:
        """The keys to try, best first, and what kept others from being tried."""
        held = {fingerprint(key.blob): key for key in self._agent(route.agent).keys}
        found: list[Candidate] = []
        troubles: list[str] = []
        for path in route.identities:
            key = self._from_agent(path, held) or self._from_file(path)
            if isinstance(key, paramiko.PKey):
                found.append(Candidate(_shown(path), key))
            elif key:
                troubles.append(key)
        if not route.identities_only:
            known = {candidate.identity for candidate in found}
            agent_keys = [
                Candidate(f"agent key {key.comment or print_}", key)
                for print_, key in held.items()
                if print_ not in known
            ]
            # files that were named come first, the usual ones behind the agent's
            named = len(found) if _explicit(route) else 0
            found[named:named] = agent_keys
        found.sort(key=lambda candidate: candidate.identity not in self._worked)
        return found, troubles

    def worked(self, candidate: Candidate) -> None:
        """Remember a key that a host accepted."""
        self._worked.add(candidate.identity)

    def close(self) -> None:
        """Let go of the agents."""
        for agent in self._agents.values():
            agent.close()

    def _from_agent(self, path: Path, held: dict[str, AgentKey]) -> paramiko.PKey | None:
        blob = public_blob(path) if held else None
        return held.get(fingerprint(blob)) if blob else None

    def _from_file(self, path: Path) -> paramiko.PKey | str:
        """The key, or why there is none; "" for a file that is not there."""
        with self._lock:
            if path not in self._files:
                self._files[path] = self._load(path)
            return self._files[path]

    def _load(self, path: Path) -> paramiko.PKey | str:
        if not path.exists():
            return ""
        try:
            return paramiko.PKey.from_path(path)
        except (paramiko.PasswordRequiredException, TypeError, ValueError) as error:
            if not encrypted(path):
                return f"{_shown(path)} cannot be read as a key: {error}"
        except (OSError, paramiko.SSHException, paramiko.pkey.UnknownKeyType) as error:
            return f"{_shown(path)} cannot be read as a key: {error}"
        return self._unlock(path)

    def _unlock(self, path: Path) -> paramiko.PKey | str:
        opened: list[paramiko.PKey] = []

        def try_it(text: str) -> bool:
            try:
                opened.append(paramiko.PKey.from_path(path, text.encode()))  # type: ignore[arg-type]
            except (ValueError, TypeError, paramiko.SSHException):
                return False
            return True

        self._credentials.passphrase(path, try_it)
        return opened[0] if opened else f"{_shown(path)} has a passphrase that was not given"

    def _agent(self, path: str) -> _Agent:
        with self._lock:
            if path not in self._agents:
                self._agents[path] = _Agent(path)
            return self._agents[path]


class _Agent(AgentSSH):
    """An agent at a socket; paramiko's own knows only the one of the environment."""

    # the stubs leave these out
    _connect: Callable[[socket.socket], None]
    _close: Callable[[], None]

    def __init__(self, path: str) -> None:
        super().__init__()
        self._talking = threading.RLock()
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

    @property
    def keys(self) -> tuple[AgentKey, ...]:
        return tuple(self.get_keys())

    def close(self) -> None:
        self._close()

    def _send_message(self, msg: Any) -> Any:
        with self._talking:  # one socket serves all hosts
            return super()._send_message(msg)  # type: ignore[misc]


def _explicit(route: Route) -> bool:
    return any(path.name not in ("id_ed25519", "id_ecdsa", "id_rsa") for path in route.identities)


def _shown(path: Path) -> str:
    with contextlib.suppress(ValueError, RuntimeError):
        return f"~/{path.relative_to(Path.home())}"
    return str(path)


@functools.lru_cache(maxsize=256)
def public_blob(path: Path) -> bytes | None:
    """The public half of a key file, from the ``.pub`` beside it or from the file itself."""
    with contextlib.suppress(OSError, ValueError, IndexError):
        words = Path(f"{path}.pub").read_text("utf-8", "replace").split()
        return base64.b64decode(words[1])
    parts = _openssh_parts(path)
    return parts[1] if parts else None


def encrypted(path: Path) -> bool:
    """Whether a key file needs a passphrase."""
    parts = _openssh_parts(path)
    if parts:
        return parts[0] != b"none"
    with contextlib.suppress(OSError):
        return b"ENCRYPTED" in path.read_bytes()
    return False


def _openssh_parts(path: Path) -> tuple[bytes, bytes] | None:
    """Cipher name and public key of a file in OpenSSH's format; both stand there in the clear."""
    try:
        text = path.read_bytes().split(b"-----")
        if len(text) < 3 or text[1] != b"BEGIN OPENSSH PRIVATE KEY":
            return None
        data = base64.b64decode(text[2])
        fields = _fields(data[len(b"openssh-key-v1\0") :])
        cipher, _, _ = next(fields), next(fields), next(fields)
        return cipher, next(fields)
    except (OSError, ValueError, StopIteration, struct.error):
        return None


def _fields(data: bytes) -> Iterator[bytes]:
    for number in range(4):
        if number == 3:
            data = data[4:]  # how many keys there are: one
        (size,) = struct.unpack(">I", data[:4])
        yield data[4 : 4 + size]
        data = data[4 + size :]
