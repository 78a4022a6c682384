"""Refuses changes that would lock everyone out (target)."""

from typing import Any, Dict, Mapping, Set

from remote_runtime.errors import ResourceError
from remote_runtime.host.ports import HostReader

_CLOSED = ("nologin", "false", "true")  # shells that refuse logins
_SSHD = "/etc/ssh/sshd_config"
_SUDO, _SUDO_DIRECTORY = "/etc/sudoers", "/etc/sudoers.d"
_KEYS = "/.ssh/authorized_keys"


def require_login(host: HostReader, user: str, what: str) -> None:
    """``ResourceError`` if ``what`` could lock out root or the login user of this run; no error if
    ``what`` is "".
    """
    if what and user in host.accounts.logins():
        raise ResourceError(
            "%s could lock out %s, whose login this run or the host needs" % (what, user),
            kind="resource.account.lockout",
            hint="connect as another user for this change",
        )


def require_key(host: HostReader, user: str, what: str) -> None:
    """``ResourceError`` if ``what`` affects the SSH key of the login of this run."""
    names = host.accounts.logins()
    others = [name for name in names if host.accounts.uid(name) != 0]
    if user in (others or names):
        raise ResourceError(
            "%s could lock out %s: this run logged in with that key" % (what, user),
            kind="resource.account.lockout",
            hint="log in with another key for this change",
        )


def may_matter(path: str) -> bool:
    """Return whether the login of a run may need a file."""
    return path.endswith(_KEYS) or _is_of_sudo(path)


def _is_of_sudo(path: str) -> bool:
    return path == _SUDO or path.rpartition("/")[0] == _SUDO_DIRECTORY


def require_access(host: HostReader, path: str, before: bytes, after: bytes) -> None:
    """``ResourceError`` if new content of a file locks out the login of this run: its key, its sudo
    rule, or a setting of sshd. Empty content means no file."""
    _require_root_login(host, path, before, after)
    if path.endswith(_KEYS):
        _require_own_key(host, path, before, after)
    elif _is_of_sudo(path):
        _require_sudo(host, path, before, after)


def _require_own_key(host: HostReader, path: str, before: bytes, after: bytes) -> None:
    lost = _fingerprints(before) - _fingerprints(after)
    for name in host.accounts.logins():
        user = host.accounts.user(name)
        if user is None or user.home.rstrip("/") + _KEYS != path:
            continue
        for used in host.accounts.login_keys():
            if used in lost:
                require_key(host, name, "removing the key %s" % used)


def _fingerprints(data: bytes) -> Set[str]:
    """The fingerprints of the keys in a file of authorized keys."""
    from remote_runtime.text import authorized_keys

    lines = data.decode("utf-8", "surrogateescape").split("\n")
    keys = [authorized_keys.key_of(line) for line in lines]
    return {key.fingerprint for key in keys if key is not None}


def _require_sudo(host: HostReader, path: str, before: bytes, after: bytes) -> None:
    from remote_runtime.text import sudoers

    files = host.files
    below = files.entries(_SUDO_DIRECTORY) if files.stat(_SUDO_DIRECTORY) else []
    paths = [_SUDO, *["%s/%s" % (_SUDO_DIRECTORY, name) for name in below if _is_read(name)]]
    if path not in paths:
        return
    others = [files.read(one) for one in paths if one != path and files.stat(one) is not None]
    for name in host.accounts.logins():
        if host.accounts.uid(name) == 0:
            continue
        names = _names_for_sudo(host, name)
        names_before, names_after = [
            sudoers.names_one([text, *others], names) for text in (before, after)
        ]
        if names_before and not names_after:
            what = "removing the user's last sudo rule from %s" % path
            require_login(host, name, what)


def _is_read(name: str) -> bool:
    """Return whether sudo reads a file in its directory."""
    return "." not in name and not name.endswith("~")


def _names_for_sudo(host: HostReader, name: str) -> Set[str]:
    """Return the names that sudo's rules may use for a user: its name and number, its groups, and
    ALL.
    """
    accounts = host.accounts
    user = accounts.user(name)
    groups = [*accounts.groups_of(name), *([accounts.group_name(user.gid)] if user else [])]
    names = {name, "ALL", "#%s" % accounts.uid(name)}
    names.update("%" + group for group in groups)
    names.update("%%#%s" % accounts.gid(group) for group in groups)
    return names


def _require_root_login(host: HostReader, path: str, before: bytes, after: bytes) -> None:
    """``ResourceError`` if new content makes sshd refuse root, and only root is logged in."""
    if path != _SSHD and not (path.startswith(_SSHD + ".d/") and path.endswith(".conf")):
        return
    if _refuses_root(before) or not _refuses_root(after):
        return
    if any(host.accounts.uid(user) for user in host.accounts.logins()):
        return  # another user is logged in, who becomes root
    raise ResourceError(
        "PermitRootLogin no in %s could lock out root, whose login this run needs" % path,
        kind="resource.account.lockout",
        hint="connect as another user who can become root; with"
        ' validate: "sshd -t -f {}", sshd checks the file first',
    )


def require_way_in(host: HostReader, unit: str, action: str) -> None:
    """``ResourceError`` if this run reached the host through a unit, such as the SSH server.
    ``action`` is ``stopping`` or ``disabling``; a unit with a socket may be disabled."""
    if not host.units.carries_run(unit):
        return
    if action == "disabling" and _starts_otherwise(host, unit):
        return
    raise ResourceError(
        "%s %s could lock out this run, which reached the host through it" % (action, unit),
        kind="resource.service.lockout",
        hint="connect through another service to make this change",
    )


def _starts_otherwise(host: HostReader, unit: str) -> bool:
    """Return whether the socket of a service, or the service of a socket, is enabled."""
    stem, dot, kind = unit.rpartition(".")
    other = stem + ".service" if kind == "socket" else (stem if dot else unit) + ".socket"
    status = host.units.status(other)
    return bool(status.found and status.enabled and not status.until_reboot)


def _refuses_root(data: bytes) -> bool:
    """Return whether sshd never allows root to log in, according to the first line that
    sets this.
    """
    said: Dict[str, str] = {}
    for line in data.decode("utf-8", "replace").splitlines():
        words = line.replace("=", " ", 1).split()
        if len(words) > 1 and words[0].lower() in ("match", "permitrootlogin"):
            word, value = words[0].lower(), words[1].strip('"').lower()
            if word == "permitrootlogin" and "match" in said and value != "no":
                return False
            said.setdefault(word, value)
    return said.get("permitrootlogin") == "no"


def risk_of(host: HostReader, current: Mapping[str, Any], wanted: Mapping[str, Any]) -> str:
    """Return which of the ``wanted`` changes to a user may prevent it from logging in or becoming
    root.
    """
    import time

    shell, groups = str(wanted.get("shell", "")), current.get("groups", ())
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
    # sudo or the SSH server may require any group.
    if lost and not wanted.get("append"):
        noun = "group" if len(lost) == 1 else "groups"
        return "leaving the %s %s" % (noun, ", ".join(sorted(lost)))
    if "group" in wanted:
        return "another primary group"
    return ""


def _is_program(host: HostReader, path: str) -> bool:
    node = host.files.stat(path)
    return node is not None and node.kind == "file" and node.mode & 0o111 != 0
