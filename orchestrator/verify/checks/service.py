"""service: whether it is running, and whether it starts at boot (controller)."""

from typing import Any

from orchestrator.verify.expectation import Expectation, Host, equal
from orchestrator.verify.paths import kind
from orchestrator.verify.subject import Subject

DIRECTORY = "/etc/systemd/system"
_RUNNING = ("active", "reloading", "refreshing")
_STOPPED = ("inactive", "failed", "maintenance")  # neither starting nor stopping
_NO_FILE = ("", "not-found")  # output of is-enabled for a unit without a file
# Enabling and disabling do nothing to these, so they satisfy either.
_EITHER = ("static", "indirect", "generated", "transient")
_ENABLED = ("enabled", "alias", *_EITHER)
_DISABLED = ("disabled", "linked", "linked-runtime", "masked", "masked-runtime", *_EITHER)
_SUFFIXES = (".service", ".socket", ".target", ".timer", ".path", ".mount", ".automount", ".swap",
             ".slice", ".scope", ".device")  # fmt: skip
_DIRECTORIES = ("/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
            "/usr/lib/systemd/system", "/lib/systemd/system")  # fmt: skip
_OF_USERS = ("/etc/systemd/user", "/run/systemd/user", "/usr/lib/systemd/user")


def expectations(subject: Subject) -> list[Expectation]:
    """The expectations: whether it runs and, if the resource sets this, whether it starts
    at boot.
    """
    owner, _, given = subject.name.rpartition("/")
    enable, user = subject.get("enable"), owner or str(subject.get("user") or "")
    running = subject.get("ensure", "running") == "running"
    expectations = [
        Expectation(
            "state",
            "running" if running else "stopped",
            lambda host: _state(host, user, _own_name(host, user, given)),
            (_RUNNING if running else _STOPPED).__contains__,
        )
    ]
    if enable is not None:
        expectations.append(
            Expectation(
                "at boot",
                "enabled" if enable else "disabled",
                lambda host: _at_boot(host, user, _own_name(host, user, given)),
                (_ENABLED if enable else _DISABLED).__contains__,
            )
        )
    file = given if given.endswith(_SUFFIXES) else given + ".service"
    if (unit := subject.get("unit")) is not None:
        expectations.append(equal("unit file", unit, lambda host: _text(host, user, file)))
    if (settings := subject.get("settings")) is not None:
        expectations.append(_settings(user, f"{file}.d/ccm.conf", settings))
    masked = subject.get("masked")
    if masked is not None:
        wanted = "masked" if masked else "not masked"
        expectations.append(
            equal("mask", wanted, lambda host: _mask(host, user, _own_name(host, user, given)))
        )
    return expectations


def _directory(host: Host, user: str) -> str:
    """The directories of a manager's custom units."""
    return f"{_entry(host, user)[5].rstrip('/')}/.config/systemd/user" if user else DIRECTORY


def _entry(host: Host, user: str) -> list[str]:
    """The entry of a user in the account database; RuntimeError if there is none."""
    fields = str(host.run("getent passwd %s", user).stdout).strip().split(":")
    if len(fields) < 6 or not fields[2].isdigit():
        raise RuntimeError(f"the user {user} does not exist")
    return fields


def _text(host: Host, user: str, file: str) -> str:
    return str(host.file(f"{_directory(host, user)}/{file}").content_string)


def _settings(user: str, file: str, settings: dict[str, Any]) -> Expectation:
    """The assignments in a file with ini sections, in order; no file means no settings."""
    wanted = [
        f"[{section}] {key}={_said(each)}"
        for section, values in settings.items()
        for key, value in values.items()
        for each in (value if isinstance(value, list) else [value])
    ]
    if not wanted:
        return equal("path", "nothing", lambda host: kind(host, f"{_directory(host, user)}/{file}"))
    return equal("settings", wanted, lambda host: _assigned(_text(host, user, file)))


def _said(value: Any) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _assigned(text: str) -> list[str]:
    found, section = [], ""
    for line in text.splitlines():
        if line.startswith("["):
            section = line
        elif line:
            found.append(f"{section} {line}")
    return found


def _systemctl(host: Host, user: str, verb: str, *words: str) -> str:
    """The output of systemctl, run as the user for user units."""
    places = " ".join(["%s"] * len(words))
    if not user:
        return str(host.run(f"systemctl {verb} {places}", *words).stdout)
    uid = _entry(host, user)[2]
    command = f"env XDG_RUNTIME_DIR=/run/user/{uid} systemctl {verb} --user {places}"
    if str(host.run("id -u").stdout).strip() == uid:
        return str(host.run(command, *words).stdout)
    return str(host.run("runuser -u %s -- " + command, user, *words).stdout)


def _mask(host: Host, user: str, name: str) -> str:
    """Whether the unit is masked, also after the next boot."""
    output = _systemctl(host, user, "is-enabled", "--", name).split()
    if not output:
        return "no state"
    return output[-1] if output[-1].startswith("masked") else "not masked"


def _own_name(host: Host, user: str, name: str) -> str:
    """The real name of the unit, if the given one is only an alias in an ``[Install]`` section."""
    if _property(host, user, name, "LoadState") != "not-found":
        return name
    full = name if "." in name else f"{name}.service"
    directories = [_directory(host, user), *_OF_USERS] if user else _DIRECTORIES
    places = " ".join(["%s"] * (len(directories) + 1))
    lines = host.run(f"grep -rsE {places}", "^Alias *=", *directories).stdout.splitlines()
    files = [path for path, _, line in (each.partition(":") for each in lines) if full in
             line.partition("=")[2].split()]  # fmt: skip
    return files[0].rpartition("/")[2] if files else name


def _state(host: Host, user: str, name: str) -> str:
    """The state from ``is-active``; the type itself reads the output of ``show``."""
    unknown = _property(host, user, name, "LoadState") == "not-found"
    state = _systemctl(host, user, "is-active", "--", name).strip()
    return "no such unit" if unknown and state in _STOPPED else state or "no state"


def _at_boot(host: Host, user: str, name: str) -> str:
    """The state of the unit file from ``is-enabled``, which checks the links; ``show`` lists the
    state from when the unit was loaded.
    """
    output = _systemctl(host, user, "is-enabled", "--", name).split()
    return "no unit file" if "".join(output[-1:]) in _NO_FILE else output[-1]


def _property(host: Host, user: str, name: str, key: str) -> str:
    """A property as systemd shows it; RuntimeError under another init system."""
    try:
        if user:
            lines = _systemctl(host, user, "show", f"--property={key}", "--", name).splitlines()
            return dict(line.split("=", 1) for line in lines if "=" in line).get(key, "")
        if name.startswith("-"):  # it would be taken for an option
            return str(host.check_output("systemctl show --value --property=%s -- %s", key, name))
        return str(host.service(name).systemd_properties.get(key, ""))
    except NotImplementedError:
        raise RuntimeError("this host was not booted with systemd") from None
