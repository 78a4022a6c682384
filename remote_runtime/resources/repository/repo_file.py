"""dnf's repositories: sections of .repo files (both sides)."""

import re
from typing import Any, Dict, List, Mapping, Optional, Sequence

_FALSE = ("0", "no", "false", "off")
_SECTION = re.compile(r"\[([^\]]*)\]")
OWN = {
    "name": "description",
    "baseurl": "url",
    "mirrorlist": "mirrorlist",
    "metalink": "metalink",
    "enabled": "enabled",
    "gpgcheck": "gpgcheck",
    "repo_gpgcheck": "repo_gpgcheck",
    "gpgkey": "key or signed_by",
    "priority": "priority",
    "username": "username",
    "password": "password",
}
"""The property for each key of a section."""


def written(name: str, properties: Mapping[str, Any], keys: Sequence[str]) -> str:
    """The section for the properties of a resource; ``keys`` are paths on the host."""
    lines = ["[%s]" % name, "name=%s" % properties.get("description", name)]
    urls = properties.get("urls") or [properties["url"]] if _has_url(properties) else []
    if urls:
        lines.append("baseurl=" + " ".join(urls))
    lines += [
        "%s=%s" % (key, properties[key])
        for key in ("mirrorlist", "metalink", "username", "password")
        if key in properties
    ]
    lines.append("enabled=%s" % _shown(properties.get("enabled") is not False))
    lines.append("gpgcheck=%s" % _shown(properties.get("gpgcheck") is not False))
    if "repo_gpgcheck" in properties:
        lines.append("repo_gpgcheck=%s" % _shown(properties["repo_gpgcheck"]))
    if keys:
        lines.append("gpgkey=" + " ".join("file://" + key for key in keys))
    if "priority" in properties:
        lines.append("priority=%d" % properties["priority"])
    options = sorted((properties.get("options") or {}).items())
    lines += ["%s=%s" % (key, _shown(value)) for key, value in options]
    return "\n".join(lines) + "\n"


def _has_url(properties: Mapping[str, Any]) -> bool:
    return "url" in properties or "urls" in properties


def _shown(value: Any) -> str:
    if isinstance(value, bool):
        return "1" if value else "0"
    return " ".join(map(str, value)) if isinstance(value, list) else str(value)


def sections(text: str) -> Dict[str, List[str]]:
    """The lines of each section, by name, including its heading; lines before the first section
    have the name "".
    """
    by_name: Dict[str, List[str]] = {"": []}
    name = ""
    for line in text.splitlines(keepends=True):
        heading = _SECTION.match(line)
        if heading:
            name = heading.group(1).strip()
            by_name.setdefault(name, [])
        by_name[name].append(line)
    return by_name


def replaced(text: str, name: str, section: Optional[str]) -> str:
    """A file with this section in place of the one with that name; None removes it."""
    lines_by_section = sections(text)
    if section is None:
        lines_by_section.pop(name, None)
        return "".join(line for lines in lines_by_section.values() for line in lines)
    tail = _tail(lines_by_section.get(name, []))
    if name not in lines_by_section and any(lines_by_section.values()):
        last = list(lines_by_section)[-1]
        lines_by_section[last].append(
            "" if lines_by_section[last][-1:] and lines_by_section[last][-1].strip() == "" else "\n"
        )
    lines_by_section[name] = [section, *tail]
    return "".join(line for lines in lines_by_section.values() for line in lines)


def _tail(lines: Sequence[str]) -> List[str]:
    """The empty lines and comments at the end of a section, which belong to the next one."""
    at = len(lines)
    while at and (not lines[at - 1].strip() or lines[at - 1].lstrip().startswith(("#", ";"))):
        at -= 1
    return list(lines[at:])


def is_empty(text: str) -> bool:
    """Return whether a file has only comments."""
    lines = [line.strip() for line in text.splitlines()]
    return all(line.startswith(("#", ";")) for line in lines if line)


def values(lines: Sequence[str]) -> Dict[str, str]:
    """The keys of a section; continuation lines are joined."""
    result: Dict[str, str] = {}
    last = ""
    for line in lines[1:]:
        if not line.strip() or line.lstrip().startswith(("#", ";")):
            continue
        if line[0] in " \t" and last:
            result[last] += " " + line.strip()
            continue
        key, _, value = line.partition("=")
        last = key.strip()
        result[last] = value.strip()
    return result


def state_of(lines: Sequence[str]) -> Dict[str, Any]:
    """Return the state in a section, by property; it is equal for sections with the same meaning,
    and None if there is no state.
    """
    settings = values(lines)
    priority = settings.get("priority", "")
    keys = [url for url in re.split(r"[\s,]+", settings.get("gpgkey", "")) if url]
    state: Dict[str, Any] = {
        "urls": [url for url in re.split(r"[\s,]+", settings.get("baseurl", "")) if url] or None,
        "mirrorlist": settings.get("mirrorlist"),
        "metalink": settings.get("metalink"),
        "username": settings.get("username"),
        "password": settings.get("password"),
        "description": settings.get("name"),
        "enabled": settings.get("enabled", "1").lower() not in _FALSE,
        "gpgcheck": settings.get("gpgcheck", "").lower() not in (*_FALSE, ""),
        "repo_gpgcheck": settings.get("repo_gpgcheck", "").lower() not in (*_FALSE, ""),
        "signed_by": [url[7:] if url.startswith("file:///") else url for url in keys] or None,
        "priority": int(priority) if priority.isdigit() else None,
    }
    others = [(key, value) for key, value in settings.items() if key not in OWN]
    options = ["%s=%s" % (key, " ".join(value.split())) for key, value in sorted(others)]
    state["other_options"] = options or None
    return state
