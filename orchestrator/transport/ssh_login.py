"""Authenticates with keys, then passwords, each tried once (controller; paramiko)."""

from __future__ import annotations

import shlex
from collections.abc import Callable

import paramiko
from paramiko.ssh_exception import BadAuthenticationType

from orchestrator.transport.credentials import Credentials
from orchestrator.transport.host_keys.known_hosts import STANDARD_PORT, fingerprint
from orchestrator.transport.route import Route
from orchestrator.transport.ssh_keys import (
    AgentGoneError,
    AgentTimeoutError,
    Candidate,
    HeldKey,
    Keyring,
    TimedKey,
)
from orchestrator.transport.ssh_transport import BROKEN, EagerTransport, UnansweredError
from remote_runtime.errors import UnreachableError

AUTH_TIMEOUT = 60.0


class _SilentError(Exception):
    """The server did not answer in time."""


class Authenticator:
    """An authentication strategy of paramiko, for one host."""

    def __init__(
        self, route: Route, keyring: Keyring, credentials: Credentials, began: Callable[[], None]
    ) -> None:
        self._route = route
        self._keyring = keyring
        self._credentials = credentials
        self._began = began
        self._tried: list[str] = []
        self._troubles: list[str] = []
        self._agent_gone = False
        self._accepted: list[str] | None = None

    def authenticate(self, transport: EagerTransport) -> None:
        """Log in; UnreachableError with the attempted methods and a hint."""
        self._began()
        try:
            self._log_in(transport)
        except AgentTimeoutError as error:
            tried = ", ".join(self._tried)
            raise UnreachableError(
                f"the agent at {self._route.agent} did not respond before "
                f"{self._route.label} timed out; tried: {tried or 'nothing yet'}",
                "transport.silent",
                hint="check whether the agent is waiting for a PIN or a confirmation",
            ) from error

    def _log_in(self, transport: EagerTransport) -> None:
        try:
            if "publickey" in self._route.methods and self._with_keys(transport):
                return
            if self._with_password(transport):
                return
        except _SilentError as error:
            raise self._cut_short("did not respond to the login", "transport.silent") from error
        except BROKEN as error:
            if transport.is_active():
                raise self._failed(transport, str(error)) from error
            raise self._cut_short(
                "closed the connection during the login", "transport.lost"
            ) from error
        raise self._failed(transport, "")

    def _may(self, method: str) -> bool:
        return method in self._route.methods and (
            self._accepted is None or method in self._accepted
        )

    def _with_keys(self, transport: EagerTransport) -> bool:
        candidates = self._keyring.candidates_in_time(self._route)
        for candidate in candidates:
            if not self._may("publickey"):
                return False
            key = candidate.load()
            if isinstance(key, str):
                self._troubles.append(key)
                continue
            if isinstance(key, HeldKey) and self._route.until is not None:
                key = TimedKey(key, self._route.until)
            what = "key" if candidate.certificate is None else "certificate"
            self._tried.append(f"{what} {candidate.name}")
            no_password = self._credentials.ssh_password is None
            transport.opens_early = no_password and candidate is candidates[-1]
            transport.auth_timeout = self._route.left(AUTH_TIMEOUT)
            try:
                left = transport.auth_publickey(self._route.user, key)
            except AgentGoneError:
                self._tried.pop()
                self._agent_gone = True
                continue
            except BadAuthenticationType as error:
                self._accepted = error.allowed_types
                return False
            except paramiko.AuthenticationException as error:
                self._check_alive(transport, error)
                self._accepted = transport.accepted_methods or None
                continue
            self._keyring.worked(candidate)
            transport.login_keys = _prints(candidate, key)
            if not left:
                return True
            self._accepted = left
        return False

    def _with_password(self, transport: EagerTransport) -> bool:
        password = self._credentials.ssh_password
        if password is None or not (self._may("password") or self._may("keyboard-interactive")):
            return False
        trial = password.attempt(self._route.label, self._route.until)
        try:
            for method in ("password", "keyboard-interactive"):
                if not self._may(method):
                    continue
                self._tried.append(method)
                if self._try_password(transport, method, trial.text()):
                    trial.end(accepted=True)
                    return True
                if method in (self._accepted or ()):
                    trial.end(accepted=False)
        finally:
            trial.end()
        return False

    def _try_password(self, transport: EagerTransport, method: str, text: str) -> bool:
        transport.auth_timeout = self._route.left(AUTH_TIMEOUT)
        try:
            if method == "password":
                left = transport.auth_password(self._route.user, text, fallback=False)
            else:
                left = transport.auth_interactive(self._route.user, _answer(text))
        except BadAuthenticationType as error:
            self._accepted = error.allowed_types
            return False
        except paramiko.AuthenticationException as error:
            self._check_alive(transport, error)
            self._accepted = transport.accepted_methods or self._accepted
            return False
        self._accepted = left or None
        return not left

    def _check_alive(
        self, transport: EagerTransport, error: paramiko.AuthenticationException
    ) -> None:
        if not transport.is_active():
            raise paramiko.SSHException("the server closed the connection")
        if isinstance(error, UnansweredError):
            raise _SilentError from error

    def _cut_short(self, how: str, kind: str) -> UnreachableError:
        """The server neither accepted nor refused the login."""
        tried = ", ".join(self._tried) or "nothing yet"
        hint = (
            "check its log (an expired account, LoginGraceTime, MaxAuthTries, an "
            "unavailable directory service)"
        )
        return UnreachableError(f"{self._route.label} {how}; tried: {tried}", kind, hint=hint)

    def _failed(self, transport: EagerTransport, reason: str) -> UnreachableError:
        route = self._route
        parts = [f"login as {route.user} on {route.label} failed"]
        if self._tried:
            accepts = ", ".join(transport.accepted_methods) or "no other methods"
            parts += [f"tried: {', '.join(self._tried)}", reason or f"the server accepts {accepts}"]
        else:
            parts += [reason or "no key and no password available"]
        parts += [*self._troubles, *self._keyring.troubles(route)]
        return UnreachableError("; ".join(parts), "transport.auth", hint=self._advice(transport))

    def _advice(self, transport: EagerTransport) -> str:
        route = self._route
        if len(self._tried) >= 5:
            return "too many keys were offered: set key_file, and IdentitiesOnly for the host"
        if self._agent_gone:
            return "check why the agent ended, or whether it is waiting for a PIN or a confirmation"
        if any("passphrase" in trouble for trouble in self._troubles):
            return "add the key to the agent with ssh-add, or run ccm in a terminal"
        if not self._tried:
            return "set key_file, start an agent, or log in with --ask-pass"
        if {"password", "keyboard-interactive"} & set(self._tried):
            return f"check the password of {route.user}"
        if self._credentials.ssh_password is None and "password" in transport.accepted_methods:
            port = f"-p {route.port} " if route.port != STANDARD_PORT else ""
            there = shlex.quote(f"{route.user}@{route.address}")
            return (
                f"copy your key to the host with ssh-copy-id {port}{there}, or log in "
                "with --ask-pass"
            )
        return "check user, key_file and authorized_keys on the host"


def _answer(text: str) -> Callable[[str, str, list[tuple[str, bool]]], list[str]]:
    """Enter the password at a prompt whose input is hidden, and at only one prompt."""
    answered: list[bool] = []

    def handler(title: str, instructions: str, prompts: list[tuple[str, bool]]) -> list[str]:
        """Answer one prompt with the password."""
        answers = []
        for _, shown in prompts:
            if shown or answered:
                raise paramiko.SSHException("the server requires more than a password")
            answered.append(True)
            answers.append(text)
        return answers

    return handler


def _prints(candidate: Candidate, key: paramiko.PKey) -> tuple[str, ...]:
    """The fingerprints of an accepted key that may occur in a list of authorized keys."""
    certificate = candidate.certificate
    if certificate is None:
        return (fingerprint(key.asbytes()),)
    return (fingerprint(certificate.ca_blob), fingerprint(certificate.key_blob))
