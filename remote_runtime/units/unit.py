"""systemd units: their names, and the output of ``systemctl show`` (both sides)."""

from typing import Dict, List, Mapping, Sequence, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.units.unit_status import Status

PROPERTIES = (
    "Id",
    "LoadState",
    "LoadError",
    "ActiveState",
    "SubState",
    "UnitFileState",
    "NeedDaemonReload",
    "Type",
    "RemainAfterExit",
    "Result",
    "RequiredBy",
    "RequisiteOf",
    "BoundBy",
    "ConsistsOf",
    "ConflictedBy",
    "UpheldBy",
    "PropagatesStopTo",
    "PropagatesReloadTo",
    "TriggeredBy",
    "CanReload",
)
DIRECTORIES = (
    "/etc/systemd/system",
    "/run/systemd/system",
    "/usr/local/lib/systemd/system",
    "/usr/lib/systemd/system",
    "/lib/systemd/system",
)
INIT_SCRIPTS = "/etc/init.d"
RUNLEVELS = tuple("/etc/rc%s.d/" % level for level in "0123456S")
TABLES = ("/etc/fstab", "/etc/crypttab")
_SUFFIXES = (
    ".service",
    ".socket",
    ".target",
    ".timer",
    ".path",
    ".mount",
    ".automount",
    ".swap",
    ".slice",
    ".scope",
    ".device",
)
RUNNING = ("active", "reloading", "refreshing")
STOPPED = ("inactive", "failed", "activating", "deactivating", "maintenance")
_IN_MOTION = ("activating", "deactivating")
ENABLED = (
    "enabled",
    "enabled-runtime",
    "alias",
    "static",
    "indirect",
    "generated",
    "transient",
)
DISABLED = ("disabled", "linked", "linked-runtime", "masked", "masked-runtime")
NEITHER = ("", "bad")  # without a unit file, or with one that systemd cannot use
EITHER = ("static", "indirect", "generated", "transient")  # enabling and disabling do nothing


def full_name(name: str) -> str:
    """The name with its suffix: ``.service`` unless it has one that systemd knows."""
    return name if name.endswith(_SUFFIXES) else name + ".service"


def template(unit: str) -> str:
    """The template of an instance such as ``app@1.service``; "" if it is not an instance."""
    prefix, at, rest = unit.partition("@")
    return "%s@.%s" % (prefix, rest.rpartition(".")[2]) if at else ""


def parse_show(printed: str) -> List[Dict[str, str]]:
    """Read the output of ``systemctl show``: one map of properties for each unit, in the order
    requested.
    """
    units: List[Dict[str, str]] = []
    for block in printed.split("\n\n"):
        pairs = [line.partition("=") for line in block.splitlines() if "=" in line]
        if pairs:
            units.append({key: value for key, _, value in pairs})
    return units


def words(value: str) -> List[str]:
    """The names in a list of units: systemctl quotes names with a backslash, D-Bus does not."""
    if '"' not in value:
        return value.split()
    import re

    return [re.sub(r"\\(.)", r"\1", w[1:-1]) if w[:1] == '"' else w for w in value.split()]


def is_below(path: str, directories: Sequence[str] = DIRECTORIES) -> bool:
    """Return whether a file is a unit file, or a drop-in or link of one."""
    return path.startswith(tuple(directory + "/" for directory in directories))


def is_source(path: str) -> bool:
    """Return whether systemd creates units from a file when it reloads: from an init script, or a
    table of file systems or encrypted devices."""
    return path in TABLES or path.startswith((INIT_SCRIPTS + "/", *RUNLEVELS))


def init_script(unit: str) -> str:
    """The init script from which a service would be generated, "" for other units."""
    stem, _, suffix = unit.rpartition(".")
    return "%s/%s" % (INIT_SCRIPTS, stem) if suffix == "service" and "@" not in stem else ""


def status(unit: str, properties: Mapping[str, str]) -> Status:
    """Interpret the properties of one unit. ``ResourceError`` for a state that systemd does not
    have.
    """
    active = _known(unit, "ActiveState", properties.get("ActiveState", ""), RUNNING + STOPPED)
    load = properties.get("LoadState", "")
    file_state = _known(
        unit, "UnitFileState", properties.get("UnitFileState", ""), ENABLED + DISABLED + NEITHER
    )
    running = active in RUNNING
    enabled = True if file_state in ENABLED else False if file_state in DISABLED else None
    masked = load == "masked" or file_state.startswith("masked")
    return Status(
        found=load != "not-found" or running or active in _IN_MOTION,
        running=running,
        stoppable=running or active in _IN_MOTION,
        enabled=enabled,
        either=file_state in EITHER,
        until_reboot=file_state in ("enabled-runtime", "masked-runtime"),
        masked=masked,
        failure="" if masked or load in ("loaded", "merged", "not-found") else _failure(properties),
        ends_by_itself=properties.get("Type") == "oneshot"
        and properties.get("RemainAfterExit") == "no",
        reloads=properties.get("CanReload") == "yes",
        words=_words(active, properties),
    )


def unmet_condition(log: str) -> str:
    """Why systemd skipped the start of a unit, from ``systemctl status``; "" if it did not."""
    lines = log.splitlines() or [""]
    last = lines[-1].partition(" because of an unmet condition check (")[2]
    if last:
        return "%s is not met" % last.rstrip(").")
    for line in lines:
        text = line.strip(" \u2514\u251c\u2500|`-")
        if text.endswith(" was not met"):
            return "%s is not met" % text[: -len(" was not met")]
    none = ("none of the trigger conditions were met", "no trigger condition checks were met.")
    if lines[-1].rstrip().endswith(none[1]) or any(line.endswith(none[0]) for line in lines):
        return "none of its conditions with | is met"
    return ""


def _known(unit: str, what: str, value: str, known: Tuple[str, ...]) -> str:
    if value not in known:
        raise ResourceError(
            "systemctl reports %s %r for %s; expected one of %s"
            % (what, value, unit, ", ".join(filter(None, known))),
            kind="service.state",
        )
    return value


def _failure(properties: Mapping[str, str]) -> str:
    """The sentence in ``LoadError``, which consists of a D-Bus error name and a quoted text."""
    _, quote, rest = properties.get("LoadError", "").partition('"')
    text = rest.rstrip('"') if quote else ""
    return text or "systemd could not load it (%s)" % (properties.get("LoadState") or "no state")


def _words(active: str, properties: Mapping[str, str]) -> str:
    details = []
    if properties.get("SubState") not in ("", None, active):
        details.append(properties["SubState"])
    if properties.get("Result") not in ("", None, "success"):
        details.append("result %s" % properties["Result"])
    return "%s (%s)" % (active, ", ".join(details)) if details else active
