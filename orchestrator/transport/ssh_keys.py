"""Private keys: read once per run, from files and from agents (controller; paramiko)."""

from __future__ import annotations

import copy
import functools
import socket
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import paramiko
from paramiko.agent import AgentKey
from paramiko.pkey import PublicBlob

from orchestrator.support.background_call import BackgroundCall
from orchestrator.transport.credentials import Credentials
from orchestrator.transport.host_keys.certificates import (
    Certificate,
    parse_certificate,
    read_certificate,
)
from orchestrator.transport.host_keys.known_hosts import fingerprint
from orchestrator.transport.key_files import (
    display_path,
    is_encrypted,
    permission_problem,
    public_blob,
    unreadable,
)
from orchestrator.transport.route import DEFAULT_KEYS, Route
from orchestrator.transport.ssh_internals import OpenAgent

AGENT_TIMEOUT = 60.0
_MISSING = "does not exist"


class AgentGoneError(paramiko.SSHException):
    """The agent is no longer usable; no server was contacted."""


class AgentTimeoutError(Exception):
    """The agent took longer than the host's time allows."""


class HeldKey(AgentKey):
    """The key of an agent, and the certificate that is presented instead, if there is one."""

    public_blob: PublicBlob | None  # type: ignore[assignment]  # not in the stubs

    def __init__(self, key: AgentKey, certificate: Certificate | None = None) -> None:
        super().__init__(key.agent, key.blob, key.comment)
        certificate = certificate or parse_certificate(key.blob)
        if certificate is not None:
            self.public_blob = PublicBlob(certificate.type, certificate.blob)

    def asbytes(self) -> bytes:
        """The identity of the key in the agent: the complete certificate if it has one."""
        return self.blob


class TimedKey(HeldKey):
    """The key of an agent, which may wait for a person and has no time limit for a host."""

    def __init__(self, key: HeldKey, until: float) -> None:
        super().__init__(key)
        self.public_blob = key.public_blob
        self._until = until

    def sign_ssh_data(self, data: Any, algorithm: str | None = None) -> Any:
        """Sign like any key; AgentTimeoutError."""
        sign = functools.partial(super().sign_ssh_data, data, algorithm)
        try:
            return BackgroundCall(sign, "signature of an agent").wait(self._until)
        except TimeoutError as error:
            raise AgentTimeoutError from error


class Candidate:
    """A key for a login: its name in messages, and how to load it when it is tried.

    ``identity`` is the fingerprint, the same for a key in a file and in an agent; "" if it is not
    known yet. ``locked``: ``load`` may prompt for a passphrase. ``certificate`` is offered
    instead of the key.
    """

    def __init__(
        self,
        name: str,
        identity: str,
        *,
        load: Callable[[], paramiko.PKey | str],
        locked: bool = False,
        certificate: Certificate | None = None,
    ) -> None:
        self.certificate = certificate
        self.name = name
        self.identity = identity
        self.load = load
        self.locked = locked


class Keyring:
    """The keys of a run. The key that worked last is tried first: each try costs a round trip."""

    def __init__(self, credentials: Credentials) -> None:
        self._credentials = credentials
        self._files: dict[Path, paramiko.PKey | str] = {}
        self._certificate = functools.cache(read_certificate)
        self._there = functools.cache(Path.exists)
        self._agents: dict[str, _Agent] = {}
        self._lock = threading.Lock()
        self._worked: set[str] = set()

    def candidates(self, route: Route) -> list[Candidate]:
        """Return the keys to try, best first; a key file is read when it is tried.

        As with ssh, certificates come first, and then the keys without them.
        """
        held = {fingerprint(key.blob): key for key in self._agent(route.agent).keys}
        paths = [path for path in route.identities if self._there(path) or _print(path) in held]
        candidates = [self._named(path, held) for path in paths]
        if not route.identities_only:
            known = {candidate.identity for candidate in candidates}
            others = [_held(key, print_) for print_, key in held.items() if print_ not in known]
            others.sort(key=lambda candidate: candidate.certificate is None)
            # files that were named come first, the usual ones behind the agent's
            named = len(candidates) if _explicit(route) else 0
            candidates[named:named] = others
        certified = [self._certified(one, path, paths, held) for one, path in self._shown(route)]
        known = {candidate.identity for candidate in certified}
        candidates = [*certified, *(one for one in candidates if one.identity not in known)]
        candidates.sort(key=lambda candidate: candidate.identity not in self._worked)
        return candidates

    def candidates_in_time(self, route: Route) -> list[Candidate]:
        """Like ``candidates``; AgentTimeoutError if the host's time is up."""
        if route.until is None or not route.agent:
            return self.candidates(route)
        try:
            return BackgroundCall(lambda: self.candidates(route), "keys of an agent").wait(
                route.until
            )
        except TimeoutError as error:
            raise AgentTimeoutError from error

    def troubles(self, route: Route) -> list[str]:
        """The reasons why configured keys are not among the candidates."""
        keys = (path for path in route.identities if path.name not in DEFAULT_KEYS)
        problems = [f"{display_path(path)} {_MISSING}" for path in keys if not self._there(path)]
        for path in route.certificates or ():
            if self._certificate(path) is None:
                problems.append(
                    f"{display_path(path)} {'is not a certificate' if path.exists() else _MISSING}"
                )
        for path in route.identities if route.certificates is None else ():
            problems += self._spoiled(path)
        agent = self._agent(route.agent)
        held = [] if route.identities_only else [parse_certificate(key.blob) for key in agent.keys]
        named = [one for one, _ in self._shown(route)]
        for one in dict.fromkeys([*named, *(one for one in held if one is not None)]):
            reason = one.invalid_for("user", route.user)
            if reason:
                problems.append(f"possibly because of the {one.title}: {reason}")
        return [*problems, agent.trouble] if agent.trouble else problems

    def worked(self, candidate: Candidate) -> None:
        """Record a key that a host accepted."""
        self._worked.add(candidate.identity)

    def close(self) -> None:
        """Release the agents."""
        for agent in self._agents.values():
            agent.close()

    def _shown(self, route: Route) -> Iterator[tuple[Certificate, Path]]:
        """Yield the certificate files that ssh would offer: the configured ones, else those next to
        the keys.
        """
        files = route.certificates
        for path in map(_beside, route.identities) if files is None else files:
            certificate = self._certificate(path)
            if certificate is not None and certificate.kind == "user":
                yield certificate, path

    def _spoiled(self, path: Path) -> list[str]:
        beside = _beside(path)
        if not beside.exists() or self._certificate(beside) is not None:
            return []
        return [f"{display_path(beside)} is not a certificate"]

    def _certified(
        self,
        certificate: Certificate,
        path: Path,
        paths: Sequence[Path],
        held: dict[str, AgentKey],
    ) -> Candidate:
        """A certificate with the private key that fits it, of an agent or of one of the files."""
        identity = fingerprint(certificate.blob)
        key = held.get(identity) or held.get(fingerprint(certificate.key_blob))
        if key is not None:
            return _held(key, identity, display_path(path), certificate)
        fitting = [file for file in paths if public_blob(file) == certificate.key_blob]
        fitting = fitting or [file for file in paths if public_blob(file) is None]
        load = functools.partial(self._with_certificate, certificate, path, fitting)
        locked = any(is_encrypted(file) for file in fitting)
        return Candidate(
            display_path(path), identity, load=load, locked=locked, certificate=certificate
        )

    def _with_certificate(
        self, certificate: Certificate, path: Path, files: Iterable[Path]
    ) -> paramiko.PKey | str:
        reason = f"no private key found for {display_path(path)}"
        for file in files:
            key = self._from_file(file)
            if isinstance(key, str):
                reason = key
            elif key.asbytes() == certificate.key_blob:
                with_it = copy.copy(key)
                with_it.public_blob = PublicBlob(certificate.type, certificate.blob)
                return with_it
        return reason

    def _named(self, path: Path, held: dict[str, AgentKey]) -> Candidate:
        identity = _print(path)
        if identity in held:
            return _held(held[identity], identity, display_path(path))
        load = functools.partial(self._from_file, path)
        return Candidate(display_path(path), identity, load=load, locked=is_encrypted(path))

    def _from_file(self, path: Path) -> paramiko.PKey | str:
        """Return the key, or the reason why it cannot be used."""
        with self._lock:
            if path not in self._files:
                self._files[path] = self._load(path)
            return self._files[path]

    def _load(self, path: Path) -> paramiko.PKey | str:
        key = None
        if self._spoiled(path):  # paramiko would have it in place of the key
            return f"{self._spoiled(path)[0]}; remove it, or have it signed again"
        try:
            key = _without_certificate(paramiko.PKey.from_path(path))
        except (paramiko.PasswordRequiredException, TypeError, ValueError) as error:
            if not is_encrypted(path):
                return unreadable(path, error)
        except (OSError, paramiko.SSHException, paramiko.pkey.UnknownKeyType) as error:
            return unreadable(path, error)
        return permission_problem(path) or key or self._unlock(path)

    def _unlock(self, path: Path) -> paramiko.PKey | str:
        opened: list[paramiko.PKey] = []

        def try_it(text: str) -> bool:
            """Whether the password opens the key."""
            try:
                key = paramiko.PKey.from_path(
                    path,
                    text.encode(),  # type: ignore[arg-type]  # str in the stubs, bytes in the code
                )
                opened.append(_without_certificate(key))
            except (ValueError, TypeError, paramiko.SSHException):
                return False
            return True

        self._credentials.passphrase(path, try_it)
        return opened[0] if opened else f"the passphrase of {display_path(path)} was not entered"

    def _agent(self, path: str) -> _Agent:
        with self._lock:
            if path not in self._agents:
                self._agents[path] = _Agent(path)
            return self._agents[path]


class _Agent(OpenAgent):
    """An agent at a socket.

    An agent that does not respond in time is not used again, because a late response would count as
    that of another request.
    """

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
            self.connect(connection)
        except (OSError, paramiko.SSHException):
            connection.close()
            self.trouble = f"no agent is listening at {path}"

    @property
    def keys(self) -> tuple[AgentKey, ...]:
        return tuple(self.get_keys())

    def ask(self, message: Any) -> Any:
        """The answer to a message, one at a time; AgentGoneError if the agent has none."""
        if not self._talking.acquire(timeout=AGENT_TIMEOUT):  # one socket serves all hosts
            raise AgentGoneError
        try:
            if self.trouble:
                raise AgentGoneError
            return super().ask(message)
        except (OSError, paramiko.SSHException) as error:
            late = isinstance(error, TimeoutError)
            how = f"did not respond within {AGENT_TIMEOUT:g} s" if late else "closed the connection"
            self.trouble = self.trouble or f"the agent at {self._path} {how}"
            self.close()
            raise AgentGoneError from error
        finally:
            self._talking.release()


def _explicit(route: Route) -> bool:
    return any(path.name not in DEFAULT_KEYS for path in route.identities)


def _print(path: Path) -> str:
    blob = public_blob(path)
    return fingerprint(blob) if blob else ""


def _beside(path: Path) -> Path:
    return path.with_name(f"{path.name}-cert.pub")


def _without_certificate(key: paramiko.PKey) -> paramiko.PKey:
    """The plain key: paramiko would add a certificate next to it, and offer nothing else."""
    key.public_blob = None
    return key


def _held(
    key: AgentKey, identity: str, name: str = "", certificate: Certificate | None = None
) -> Candidate:
    certificate = certificate or parse_certificate(key.blob)
    name = name or f"agent key {key.comment or identity}"
    return Candidate(
        name, identity, load=lambda: HeldKey(key, certificate), certificate=certificate
    )
