"""Refuses changes after which nobody could log in any more (target)."""

from typing import Any, Dict, Mapping

from remote_runtime.errors import ResourceError
from remote_runtime.host.ports import HostReader

_CLOSED = ("nologin", "false", "true")  # shells that let nobody in
_SSHD = "/etc/ssh/sshd_config"


def require_login(host: HostReader, user: str, what: str) -> None:
    """``ResourceError`` where ``what`` could lock out root or who is logged in for this run;
    nothing where ``what`` is ""."""
    if what and user in host.accounts.logins():
        raise ResourceError(
            "%s could lock out %s, whom this run or its host needs" % (what, user),
            kind="resource.account.lockout",
            hint="connect as another user for this change",
        )


def require_key(host: HostReader, user: str, what: str) -> None:
    """``ResourceError`` where ``what`` is done to the SSH key of the login of this run."""
    names = host.accounts.logins()
    others = [name for name in names if host.accounts.uid(name) != 0]
    if user in (others or names):
        raise ResourceError(
            "%s could lock out %s, who is logged in with it for this run" % (what, user),
            kind="resource.account.lockout",
            hint="log in with another key for this change",
        )


def require_root_login(host: HostReader, path: str, before: bytes, after: bytes) -> None:
    """``ResourceError`` where a new configuration of sshd no longer lets root in, and only root is
    logged in for this run."""
    if path != _SSHD and not (path.startswith(_SSHD + ".d/") and path.endswith(".conf")):
        return
    if _refuses_root(before) or not _refuses_root(after):
        return
    if any(host.accounts.uid(user) for user in host.accounts.logins()):
        return  # somebody else is, who becomes root
    raise ResourceError(
        "PermitRootLogin no in %s could lock out root, whom this run needs" % path,
        kind="resource.account.lockout",
        hint="connect as another user who can become root; with"
        ' validate: "sshd -t -f {}", sshd checks the file first',
    )


def require_way_in(host: HostReader, unit: str, doing: str) -> None:
    """``ResourceError`` where this run came to the host through a unit, such as the SSH server.
    ``doing`` is ``stopping`` or ``disabling``; a unit with a socket may be disabled."""
    if not host.units.carries_run(unit):
        return
    if doing == "disabling" and _starts_otherwise(host, unit):
        return
    raise ResourceError(
        "%s %s could lock out this run, which reached the host through it" % (doing, unit),
        kind="resource.service.lockout",
        hint="connect in another way for this change, or set force: true",
    )


def _starts_otherwise(host: HostReader, unit: str) -> bool:
    """Whether the socket of a service is enabled, or the service of a socket."""
    stem, dot, kind = unit.rpartition(".")
    other = stem + ".service" if kind == "socket" else (stem if dot else unit) + ".socket"
    status = host.units.status(other)
    return bool(status.found and status.enabled and not status.until_reboot)


def _refuses_root(data: bytes) -> bool:
    """Whether sshd lets root in nowhere, by the first line that says so."""
    said: Dict[str, str] = {}
    for line in data.decode("utf-8", "replace").splitlines():
        words = line.replace("=", " ", 1).split()
        if len(words) > 1 and words[0].lower() in ("match", "permitrootlogin"):
            word, value = words[0].lower(), words[1].strip('"').lower()
            if word == "permitrootlogin" and "match" in said and value != "no":
                return False
            said.setdefault(word, value)
    return said.get("permitrootlogin") == "no"


def risk_of(host: HostReader, found: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """What of the ``wanted`` changes of a user may keep it from logging in or becoming root."""
    import time

    shell, groups = str(wanted.get("shell", "")), found.get("groups", ())
    if shell and (shell.rpartition("/")[2] in _CLOSED or not _is_program(host, shell)):
        return "the shell %s" % shell
    if wanted.get("locked"):
        return "locking the password"
    day = wanted.get("expires")
    if day is not None and day * 86400 < time.time():
        return "the expiry date"
    if "home" in wanted and not wanted.get("move_home"):
        return "the home directory %s" % wanted["home"]
    lost = set(groups) - set(wanted.get("groups", groups))
    # Any group may be one that sudo or the SSH server asks for.
    if lost and not wanted.get("append"):
        return "leaving the groups %s" % ", ".join(sorted(lost))
    if "group" in wanted:
        return "another primary group"
    return ""


def _is_program(host: HostReader, path: str) -> bool:
    node = host.files.stat(path)
    return node is not None and node.kind == "file" and node.mode & 0o111 != 0
