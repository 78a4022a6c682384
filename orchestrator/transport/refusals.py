"""Why a runtime did not start, in one sentence each, with what to do (controller)."""

from __future__ import annotations

import re

from orchestrator.transport.pipe import readable
from remote_runtime.errors import UnreachableError

_SUDO = (
    # what sudo or the shell says, the sentence, the hint
    ("a password is required", "sudo asks for a password",
     "give --ask-become-pass, or set CCM_BECOME_PASSWORD or CCM_BECOME_PASSWORD_COMMAND"),
    ("a terminal is required", "sudo asks for a password",
     "give --ask-become-pass, or set CCM_BECOME_PASSWORD or CCM_BECOME_PASSWORD_COMMAND"),
    ("interactive authentication is required", "sudo asks for a password",
     "give --ask-become-pass, or set CCM_BECOME_PASSWORD or CCM_BECOME_PASSWORD_COMMAND"),
    ("you must have a tty", "sudo wants a terminal (requiretty)",
     "put 'Defaults:USER !requiretty' into sudoers there"),
    ("is not in the sudoers file", "the user may not use sudo", "let the user in with sudoers"),
    ("not allowed to run sudo", "the user may not use sudo", "let the user in with sudoers"),
    ("may not run sudo", "the user may not use sudo", "let the user in with sudoers"),
    ("i'm afraid i can't do that", "the user may not use sudo", "let the user in with sudoers"),
    ("must be owned by uid 0", "sudo is not installed as it should be (no setuid)",
     "reinstall sudo there, and look at the nosuid option of its file system"),
    ("no new privileges", "sudo may not gain privileges there",
     "look at NoNewPrivileges of sshd's unit, or of the container"),
    ("unknown user", "sudo does not know the user of become", "check become in the inventory"),
    ("account validation failure", "the account is locked or has expired", "unlock it there"),
    ("incorrect password", "sudo refused the password", "check the password"),
    ("incorrect authentication attempt", "sudo refused the password", "check the password"),
    ("authentication failed", "sudo refused the password", "check the password"),
    ("invalid configuration", "sudo cannot read its configuration", "run visudo -c there"),
    ("syntax error", "sudo cannot read its configuration", "run visudo -c there"),
)  # fmt: skip
# Here sudo repeats the whole command, and says no word of itself.
_NOT_ALLOWED = r"sorry, user \S+ is not allowed to execute "
# sudo-rs: "user 'x' not found"
_NO_USER = r"sudo: user '[^']*' not found"
_PROGRAM = r"\S{100,}"  # our own command, as something that was run repeats it
_SUDO_MISSING = r"sudo\W{0,3}: (command not found|not found|no such file)"
_LOGIN = (
    ("account is currently not available", "the user may not log in (its shell is nologin)"),
    ("your password has expired", "the password of the user has expired"),
    ("password change required", "the password of the user must be changed first"),
    ("account has expired", "the account of the user has expired"),
)
_LIMITS = (
    "invalid argument", "too many open files", "cannot allocate memory", "memoryerror",
    "out of memory", "file too large", "file size limit", "resource temporarily unavailable",
    "can't start new thread", "cannot fork", "killed",
)  # fmt: skip
_SIGNALLED = 128  # what a shell adds to the number of a signal
_WHY = {
    "old": "is older than 3.6",
    "incomplete": "lacks json or zlib",
    "foreign": "is no Python interpreter",
    "broken": "does not start",
}


def refused(
    host: str, status: str, *, detail: str, err: bytes | bytearray, python: str | None = None
) -> UnreachableError:
    """The target said ``nopython``, ``fault`` or something unknown."""
    if status == "nopython":
        return _no_python(host, detail, python)
    if status == "fault":
        return UnreachableError(
            f"the runtime did not start on {host}: {readable(detail.encode())}{_tail(err)}",
            "transport.bootstrap",
        )
    return confused(host, f"its status is {status[:40]!r}")


def _no_python(host: str, detail: str, python: str | None) -> UnreachableError:
    tried = [word.rpartition("=") for word in detail.split()]
    reasons = [f"{name} {_WHY.get(why, why)}" for name, _, why in tried]
    found = "; ".join(reasons) or (f"{python} was not found" if python else "none was found")
    hint = "install Python 3.6 or newer there (package python3), or name one with 'python:'"
    if any(why == "incomplete" for _, _, why in tried):
        hint = "install the whole standard library there (Debian: apt-get install python3)"
    return UnreachableError(
        f"{host} has no Python that ccm can use: {readable(found.encode())}",
        "transport.python",
        hint=hint,
    )


def ended(
    host: str,
    status: int | None,
    *,
    out: bytes | bytearray,
    err: bytes | bytearray,
    had_password: bool,
    python: str | None = None,
) -> UnreachableError:
    """The command ended before the runtime said anything; ``python`` is what the user named."""
    said = readable(err).lower()
    everything = said + "\n" + readable(out).lower()
    for words, sentence, hint in _SUDO:
        if words in said and "sudo" in said:
            if had_password and sentence == "sudo asks for a password":
                sentence, hint = "sudo wants a terminal for the password", "allow sudo -S there"
            return UnreachableError(f"become: {sentence} on {host}", "transport.become", hint=hint)
    if re.search(_NO_USER, said):
        return UnreachableError(
            f"become: sudo does not know the user of become on {host}",
            "transport.become",
            hint="check become in the inventory",
        )
    if re.search(_NOT_ALLOWED, said):
        hint = "sudoers there must allow /bin/sh as the user of become"
        sentence = f"become: sudo does not let the user become another on {host}"
        return UnreachableError(sentence, "transport.become", hint=hint)
    if re.search(_SUDO_MISSING, said):
        hint = "install sudo there, or log in as the wanted user without become"
        return UnreachableError(
            f"become: there is no sudo on {host}", "transport.become", hint=hint
        )
    for words, sentence in _LOGIN:
        if words in everything:
            return UnreachableError(
                f"{sentence} on {host}", "transport.login", hint="see to the account"
            )
    how = "" if status is None else f" with status {status}"
    hint = "the login shell must be able to run /bin/sh"
    if any(word in said for word in _LIMITS) or (status or 0) > _SIGNALLED:
        hint = "a limit on memory, files or time is too tight for it there: look at ulimit -a"
    elif not (err or out).strip():
        hint = "it said nothing; log in by hand, and look at ulimit -a and at what PATH is there"
    if python:
        hint = f"is {python}, which the inventory names, a Python interpreter?"
    return UnreachableError(
        f"the command on {host} ended{how} before the runtime started{_tail(err or out)}",
        "transport.bootstrap",
        hint=hint,
    )


def wrong_sudo_password(host: str) -> UnreachableError:
    """sudo asked a second time."""
    return UnreachableError(
        f"become: sudo refused the password on {host}",
        "transport.become",
        hint="check the password",
    )


def noisy(host: str, limit: int) -> UnreachableError:
    """More noise than a banner has."""
    return UnreachableError(
        f"{host} wrote {limit} bytes of something else before the runtime started",
        "transport.bootstrap",
        hint="what do its shell's start files print?",
    )


def slow(host: str, seconds: float, err: bytes | bytearray) -> UnreachableError:
    """No answer in time."""
    return UnreachableError(
        f"the runtime did not start on {host} within {seconds:.0f} s{_tail(err)}",
        "transport.bootstrap",
        hint="does the login shell wait for something?",
    )


def asked(host: str, question: str) -> UnreachableError:
    """sudo or what it uses asks for something else than the password."""
    return UnreachableError(
        f"become: sudo on {host} asks {question!r} and waits; ccm answers only sudo's own question "
        "for the password",
        "transport.become",
        hint="give the user NOPASSWD in sudoers there, or 'Defaults passprompt_override' if this is"
        " the question for the password",
    )


def asks_again(host: str) -> UnreachableError:
    """sudo shows its prompt again, and has not refused the password."""
    return UnreachableError(
        f"become: sudo on {host} did not refuse the password and asks once more, as for a second"
        " factor",
        "transport.become",
        hint="ccm has no second answer: give the user NOPASSWD in sudoers there",
    )


def stalled_at_password(host: str, seconds: float, err: bytes | bytearray) -> UnreachableError:
    """sudo took the password and said neither yes nor no."""
    return UnreachableError(
        f"become: sudo on {host} took the password and did not answer within {seconds:.0f} s"
        f"{_tail(err)}",
        "transport.become",
        hint="does sudo there wait for another server (LDAP, a second factor)?",
    )


def confused(host: str, what: str) -> UnreachableError:
    """The target broke the rules of the opening."""
    return UnreachableError(f"{host} does not keep to the protocol: {what}", "transport.bootstrap")


def _tail(data: bytes | bytearray) -> str:
    text = re.sub(_PROGRAM, "…", readable(data))
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return f": {' / '.join(lines[-3:])[-300:]}" if lines else ""
