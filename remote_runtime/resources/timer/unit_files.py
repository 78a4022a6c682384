"""The files of a timer: its own, and that of the service that runs its job (both sides)."""

from typing import Any, Dict, List, Mapping, Tuple

from remote_runtime.resources.timer import schedules
from remote_runtime.units import unit_settings

MARK = "# ccm: "
SHELL = "/bin/sh"
_SPANS = (
    ("on_boot", "OnBootSec"),
    ("on_active", "OnActiveSec"),
    ("on_unit_active", "OnUnitActiveSec"),
    ("on_unit_inactive", "OnUnitInactiveSec"),
)
PROPERTY_OF = {
    "Unit": {"Description": "description"},
    "Timer": {
        **{key: name for name, key in _SPANS},
        "OnCalendar": "schedule",
        "Persistent": "persistent",
        "RandomizedDelaySec": "randomized_delay",
    },
    "Service": {"ExecStart": "command", "User": "user", "Environment": "environment"},
}
"""The settings for which there is a property, by section."""

_QUOTED = {"\\": "\\\\", '"': '\\"', "%": "%%", "\n": "\\n", "\t": "\\t"}


def timer_text(name: str, properties: Mapping[str, Any]) -> str:
    """The file of the timer."""
    timer: Dict[str, Any] = {}
    if properties.get("schedule") is not None:
        timer["OnCalendar"] = [
            each.replace("%", "%%") for each in schedules.expressions(properties)
        ]
    for key, setting in _SPANS:
        if properties.get(key) is not None:
            timer[setting] = _in_one_line(properties[key])
    if properties.get("randomized_delay") is not None:
        timer["RandomizedDelaySec"] = _in_one_line(properties["randomized_delay"])
    if properties.get("persistent") is not None:
        timer["Persistent"] = bool(properties["persistent"])
    timer.update(_given(properties, "Timer"))
    sections = {
        "Unit": {"Description": "Timer of %s" % _described(name, properties)},
        "Timer": timer,
        "Install": {"WantedBy": "timers.target"},
    }
    return "%s%s\n%s" % (MARK, name, unit_settings.written(sections))


def service_text(name: str, properties: Mapping[str, Any]) -> str:
    """The file of the service."""
    service: Dict[str, Any] = {"Type": "oneshot"}
    if str(properties.get("user") or "root") != "root":
        service["User"] = str(properties["user"])
    environment = [quoted(str(line)) for line in properties.get("environment") or ()]
    if environment:
        service["Environment"] = environment
    command = str(properties.get("command") or "").strip()
    service["ExecStart"] = "%s -c %s" % (SHELL, quoted(command).replace("$", "$$"))
    service.update(_given(properties, "Service"))
    unit = {"Description": _described(name, properties), **_given(properties, "Unit")}
    text = unit_settings.written({"Unit": unit, "Service": service})
    return "%s%s\n%s" % (MARK, name, text)


def is_marked(text: bytes, name: str) -> bool:
    """Return whether ccm wrote a file for the timer with this name."""
    return text.split(b"\n", 1)[0].rstrip(b"\r") == (MARK + name).encode("utf-8")


def quoted(text: str) -> str:
    """A word in a setting that systemd reads literally."""
    return '"%s"' % "".join([_QUOTED.get(char, char) for char in text])


def _in_one_line(span: Any) -> str:
    return " ".join(str(span).split())


def _described(name: str, properties: Mapping[str, Any]) -> str:
    return str(properties.get("description") or name).strip().replace("%", "%%")


def _given(properties: Mapping[str, Any], section: str) -> Mapping[str, Any]:
    settings: Mapping[str, Any] = properties.get("settings") or {}
    settings_of_section: Mapping[str, Any] = settings.get(section) or {}
    return settings_of_section


def problems(settings: Any) -> List[Tuple[str, str]]:
    """(property, message) for each mistake in ``settings``."""
    if not isinstance(settings, dict):
        return []
    problems = list(unit_settings.problems(settings))
    for section, values in settings.items():
        if section == "Install":
            problems.append("omit Install: ccm enables the timer with WantedBy=timers.target")
        elif section not in PROPERTY_OF:
            problems.append("%r is not one of the sections Unit, Service and Timer" % section)
        for key in values if isinstance(values, dict) else ():
            property_name = PROPERTY_OF.get(section, {}).get(key)
            if property_name:
                problems.append(
                    "%s in %s: set the property `%s` instead" % (key, section, property_name)
                )
            elif (section, key) == ("Timer", "Unit"):
                problems.append("omit Unit in Timer: the timer starts its own service")
    return [("settings", message) for message in problems]
