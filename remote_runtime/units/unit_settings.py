"""Settings of units, by section, in the form used in unit files (both sides)."""

from typing import Any, Iterator, List, Mapping

_SECTION = r"[A-Z][A-Za-z0-9-]*\Z"
_KEY = r"[A-Za-z][A-Za-z0-9-]*\Z"


def written(settings: Mapping[str, Mapping[str, Any]]) -> str:
    """The text of a file with these settings; a list is one line for each value. "" for none."""
    sections = [
        "[%s]\n%s" % (section, "".join("%s=%s\n" % (key, value) for key, value in _lines(values)))
        for section, values in settings.items()
        if values
    ]
    return "\n".join(sections)


def _lines(values: Mapping[str, Any]) -> Iterator[List[str]]:
    for key, value in values.items():
        for each in value if isinstance(value, list) else [value]:
            yield [key, ("yes" if each else "no") if isinstance(each, bool) else str(each)]


def problems(settings: Mapping[str, Any]) -> Iterator[str]:
    """Yield the settings that systemd would not read."""
    import re

    for section, values in settings.items():
        if not re.match(_SECTION, section):
            yield "%r is not a section such as Service" % section
        if not isinstance(values, dict):
            if not (isinstance(values, str) and "{{" in values):
                yield "%s must be a map of settings, such as Restart: always" % section
            continue
        for key, value in values.items():
            if not re.match(_KEY, key):
                yield "%r in %s is not a setting such as Restart" % (key, section)
            for each in value if isinstance(value, list) else [value]:
                reason = _why_no_value(each)
                if reason:
                    yield "%s in %s %s" % (key, section, reason)


def _why_no_value(value: Any) -> str:
    if not isinstance(value, (str, int, float, bool)):
        return "must be text, a number, a boolean or a list of these"
    if isinstance(value, str):
        if set(value) & set("\n\r\0"):
            return "has a value with several lines: write a list, or a single line"
        if value.endswith("\\"):
            return "has a value that ends with a backslash, which continues the line"
    return ""
