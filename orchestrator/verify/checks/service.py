"""service: running, and started at boot (controller)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from orchestrator.verify.expectation import Expectation, equal
from orchestrator.verify.paths import absent
from orchestrator.verify.subject import Subject

if TYPE_CHECKING:
    from testinfra.host import Host

DIRECTORY = "/etc/systemd/system"
_RUNNING = ("active", "reloading", "refreshing")
_STOPPED = ("inactive", "failed", "maintenance")  # neither on its way up nor on its way down
# Links say more of these by now, and of a service from /etc/init.d its runlevels do.
_ASKED = ("enabled", "disabled", "generated")
# Enabling and disabling do nothing to these, so they satisfy either.
_EITHER = ("static", "indirect", "generated", "transient")
_ENABLED = ("enabled", "alias", *_EITHER)
_DISABLED = ("disabled", "linked", "linked-runtime", "masked", "masked-runtime", *_EITHER)
_SUFFIXES = (".service", ".socket", ".target", ".timer", ".path", ".mount", ".automount", ".swap",
             ".slice", ".scope", ".device")  # fmt: skip
_DIRECTORIES = ("/etc/systemd/system", "/run/systemd/system", "/usr/local/lib/systemd/system",
            "/usr/lib/systemd/system", "/lib/systemd/system")  # fmt: skip


def expectations(subject: Subject) -> list[Expectation]:
    """Runs or not; starts at boot or not where the resource says so."""
    given, enable = subject.name, subject.get("enable")
    running = subject.get("ensure", "running") == "running"
    found = [
        Expectation(
            "state",
            "running" if running else "stopped",
            lambda host: _state(host, _own_name(host, given)),
            (_RUNNING if running else _STOPPED).__contains__,
        )
    ]
    if enable is not None:
        found.append(
            Expectation(
                "at boot",
                "enabled" if enable else "disabled",
                lambda host: _at_boot(host, _own_name(host, given)),
                (_ENABLED if enable else _DISABLED).__contains__,
            )
        )
    path = f"{DIRECTORY}/{given if given.endswith(_SUFFIXES) else given + '.service'}"
    if (unit := subject.get("unit")) is not None:
        found.append(equal("unit file", unit, lambda host: host.file(path).content_string))
    if (settings := subject.get("settings")) is not None:
        found += _settings(f"{path}.d/ccm.conf", settings)
    masked = subject.get("masked")
    if masked is not None:
        wanted = "masked" if masked else "not masked"
        found.append(equal("mask", wanted, lambda host: _mask(host, _own_name(host, given))))
    return found


def _settings(path: str, settings: dict[str, Any]) -> list[Expectation]:
    """What a file of ini sections assigns, in its order; no file for no settings."""
    wanted = [
        f"[{section}] {key}={_said(each)}"
        for section, values in settings.items()
        for key, value in values.items()
        for each in (value if isinstance(value, list) else [value])
    ]
    if not wanted:
        return absent(path)
    return [equal("settings", wanted, lambda host: _assigned(host.file(path).content_string))]


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


def _mask(host: Host, name: str) -> str:
    """Whether something keeps the unit from being started after the next boot, too."""
    said = str(host.run("systemctl is-enabled -- %s", name).stdout).split()
    if not said:
        return "no state"
    return said[-1] if said[-1].startswith("masked") else "not masked"


def _own_name(host: Host, name: str) -> str:
    """The unit's own name, where the given one is only an alias in an ``[Install]`` section."""
    if _property(host, name, "LoadState") != "not-found":
        return name
    full = name if "." in name else f"{name}.service"
    command = "grep -rsE %s " + " ".join(_DIRECTORIES)
    lines = host.run(command, "^Alias *=").stdout.splitlines()
    files = [path for path, _, line in (each.partition(":") for each in lines) if full in
             line.partition("=")[2].split()]  # fmt: skip
    return files[0].rpartition("/")[2] if files else name


def _state(host: Host, name: str) -> str:
    state = _property(host, name, "ActiveState")
    unknown = _property(host, name, "LoadState") == "not-found"
    return "no such unit" if unknown and state in _STOPPED else state or "no state"


def _at_boot(host: Host, name: str) -> str:
    """The state of the unit's file; of one that is loaded systemd shows what it was when it was."""
    shown = _property(host, name, "UnitFileState") or "neither"
    if shown not in _ASKED:
        return shown
    said = str(host.run("systemctl is-enabled -- %s", name).stdout).split()
    return said[-1] if said else shown


def _property(host: Host, name: str, key: str) -> str:
    """A property as systemd shows it; RuntimeError under another init system."""
    try:
        if name.startswith("-"):  # it would be taken for an option
            return str(host.check_output("systemctl show --value --property=%s -- %s", key, name))
        return str(host.service(name).systemd_properties.get(key, ""))
    except NotImplementedError:
        raise RuntimeError("this host was not booted with systemd") from None
