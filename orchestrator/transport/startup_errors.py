"""Explains in one sentence why a runtime did not start, and what to do (controller)."""

from __future__ import annotations

import re

from orchestrator.transport.command_pipe import readable
from remote_runtime.errors import UnreachableError

_SUDO = (
    # the output of sudo or the shell, the message, the hint
    ("a password is required", "sudo requires a password",
     "use --ask-become-pass, or set CCM_BECOME_PASSWORD or CCM_BECOME_PASSWORD_COMMAND"),
    ("a terminal is required", "sudo requires a password",
     "use --ask-become-pass, or set CCM_BECOME_PASSWORD or CCM_BECOME_PASSWORD_COMMAND"),
    ("interactive authentication is required", "sudo requires a password",
     "use --ask-become-pass, or set CCM_BECOME_PASSWORD or CCM_BECOME_PASSWORD_COMMAND"),
    ("you must have a tty", "sudo requires a terminal (requiretty)",
     "add 'Defaults:USER !requiretty' to sudoers on the host"),
    ("is not in the sudoers file", "the user may not use sudo", "allow the user in sudoers"),
    ("not allowed to run sudo", "the user may not use sudo", "allow the user in sudoers"),
    ("may not run sudo", "the user may not use sudo", "allow the user in sudoers"),
    ("i'm afraid i can't do that", "the user may not use sudo", "allow the user in sudoers"),
    ("must be owned by uid 0", "sudo is installed incorrectly (no setuid)",
     "reinstall sudo on the host, and check its file system for the nosuid option"),
    ("no new privileges", "sudo cannot gain privileges on the host",
     "check NoNewPrivileges of sshd's unit, or of the container"),
    ("account validation failure", "the account is locked or has expired", "unlock it on the host"),
    ("incorrect password", "sudo rejected the password", "check the password"),
    ("incorrect authentication attempt", "sudo rejected the password", "check the password"),
    ("authentication failed", "sudo rejected the password", "check the password"),
    ("invalid configuration", "sudo cannot read its configuration", "run visudo -c on the host"),
    ("syntax error", "sudo cannot read its configuration", "run visudo -c on the host"),
)  # fmt: skip
_SUDO_PATTERNS = (
    # Here sudo prints the whole command instead of an explanation.
    (r"sorry, user \S+ is not allowed to execute ",
     "sudo does not allow the user to become another user",
     "allow /bin/sh for the become user in sudoers on the host"),
    (r"sudo\W{0,3}: (command not found|not found|no such file)", "sudo is not installed",
     "install sudo on the host, or log in as the become user without become"),
)  # fmt: skip
_NO_USER = r"sudo: (?:unknown user:? (\S+)|user '([^']*)' not found)"  # of sudo and of sudo-rs
_PROGRAM = r"\S{100,}"  # our own command, as something that was run repeats it
_LOGIN = (
    ("account is currently not available", "login is disabled for the user (nologin shell)"),
    ("your password has expired", "the user's password has expired"),
    ("password change required", "the user's password must be changed first"),
    ("account has expired", "the user's account has expired"),
)
_LIMITS = (
    "invalid argument", "too many open files", "cannot allocate memory", "memoryerror",
    "out of memory", "file too large", "file size limit", "resource temporarily unavailable",
    "can't start new thread", "cannot fork", "killed",
)  # fmt: skip
_SIGNALLED = 128  # a shell adds this to the number of a signal
_WHY = {
    "old": "is older than 3.6",
    "incomplete": "lacks json or zlib",
    "foreign": "is not a Python interpreter",
    "broken": "does not start",
}


def _become_error(sentence: str, hint: str) -> UnreachableError:
    return UnreachableError(f"become: {sentence}", "transport.become", hint=hint)


def bootstrap_failed(
    host: str, status: str, *, detail: str, err: bytes | bytearray, python: str | None = None
) -> UnreachableError:
    """Return the error for ``nopython``, ``fault`` or unknown output of the target."""
    if status == "nopython":
        return _no_python(host, detail, python)
    if status == "fault":
        return UnreachableError(
            f"the runtime did not start on {host}: {readable(detail.encode())}{_tail(err)}",
            "transport.bootstrap",
        )
    return protocol_violated(host, f"unknown status {status[:40]!r}")


def _no_python(host: str, detail: str, python: str | None) -> UnreachableError:
    tried = [word.rpartition("=") for word in detail.split()]
    reasons = [f"{name} {_WHY.get(reason, reason)}" for name, _, reason in tried]
    found = "; ".join(reasons) or (f"{python} not found" if python else "none found")
    hint = (
        "install Python 3.6 or newer on the host (package python3), or set 'python:' in "
        "the inventory"
    )
    if any(reason == "incomplete" for _, _, reason in tried):
        hint = "install the complete standard library on the host (Debian: apt-get install python3)"
    return UnreachableError(
        f"no usable Python on {host}: {readable(found.encode())}",
        "transport.python",
        hint=hint,
    )


def command_ended(
    host: str,
    status: int | None,
    *,
    out: bytes | bytearray,
    err: bytes | bytearray,
    had_password: bool,
    python: str | None = None,
) -> UnreachableError:
    """Return the error for a command that ended before the runtime responded; ``python`` is the
    configured interpreter.
    """
    if match := re.search(_NO_USER, readable(err)):
        hint = "check --become, or become in the inventory"
        return _become_error(f"the user {match[1] or match[2]!r} does not exist on {host}", hint)
    said = readable(err).lower()
    everything = said + "\n" + readable(out).lower()
    for words, sentence, hint in _SUDO:
        if words in said and "sudo" in said:
            if had_password and sentence == "sudo requires a password":
                sentence = "sudo requires a terminal for the password"
                hint = "allow sudo -S on the host"
            return _become_error(f"{sentence} on {host}", hint)
    for pattern, sentence, hint in _SUDO_PATTERNS:
        if re.search(pattern, said):
            return _become_error(f"{sentence} on {host}", hint)
    for words, sentence in _LOGIN:
        if words in everything:
            return UnreachableError(
                f"{sentence} on {host}", "transport.login", hint="check the account"
            )
    how = "" if status is None else f" with status {status}"
    hint = "the login shell must be able to run /bin/sh"
    if any(word in said for word in _LIMITS) or (status or 0) > _SIGNALLED:
        hint = (
            "a limit on memory, file size or processes may be too low on the host: check ulimit -a"
        )
    elif not (err or out).strip():
        hint = "the command printed nothing; log in manually and check ulimit -a and PATH"
    if python:
        hint = f"is {python} (from the inventory) a Python interpreter?"
    return UnreachableError(
        f"the command on {host} ended{how} before the runtime started{_tail(err or out)}",
        "transport.bootstrap",
        hint=hint,
    )


def wrong_sudo_password(host: str) -> UnreachableError:
    """Return the error for a sudo that prompted a second time."""
    return _become_error(f"sudo rejected the password on {host}", "check the password")


def too_much_output(host: str, limit: int) -> UnreachableError:
    """Return the error for more output than a banner would have."""
    return UnreachableError(
        f"{host} sent {limit} bytes of other output before the runtime started",
        "transport.bootstrap",
        hint="check the output of its shell's startup files",
    )


def start_timed_out(host: str, seconds: float, err: bytes | bytearray) -> UnreachableError:
    """Return the error for a runtime that did not respond in time."""
    return UnreachableError(
        f"the runtime did not start on {host} within {seconds:.0f} s{_tail(err)}",
        "transport.bootstrap",
        hint="is the login shell waiting for input?",
    )


def unexpected_prompt(host: str, question: str) -> UnreachableError:
    """Return the error for a prompt of sudo or PAM that is not the password prompt."""
    return _become_error(
        f"sudo on {host} prompts {question!r} and waits; ccm answers only sudo's password prompt",
        "allow NOPASSWD for the user in sudoers, or set 'Defaults passprompt_override' if this is "
        "the password prompt",
    )


def second_prompt(host: str) -> UnreachableError:
    """Return the error for a sudo that prompts again without having refused the password."""
    return _become_error(
        f"sudo on {host} prompts again after the password, as for a second factor",
        "ccm does not support second factors: allow NOPASSWD for the user in sudoers",
    )


def password_timed_out(host: str, seconds: float, err: bytes | bytearray) -> UnreachableError:
    """Return the error for a sudo that read the password but neither accepted nor refused it."""
    return _become_error(
        f"sudo on {host} did not respond within {seconds:.0f} s after the password{_tail(err)}",
        "is sudo waiting for another server (LDAP, a second factor)?",
    )


def protocol_violated(host: str, what: str) -> UnreachableError:
    """Return the error for a target that violated the rules of the handshake."""
    return UnreachableError(f"{host} violated the protocol: {what}", "transport.bootstrap")


def _tail(data: bytes | bytearray) -> str:
    text = re.sub(_PROGRAM, "…", readable(data))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f": {' / '.join(lines[-3:])[-300:]}" if lines else ""
