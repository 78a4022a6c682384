"""The rules for a file resource in addition to its schema (both sides)."""

from typing import Any, Dict, List, Tuple

from remote_runtime.resources.file.modes import parse_mode
from remote_runtime.validation import rules

_BELOW = {
    "recurse": "",
    "purge": "",
    "dir_mode": "recurse",
    "file_mode": "recurse",
    "keep": "purge",
}


def problems(name: str, properties: Dict[str, Any]) -> List[Tuple[str, str]]:
    """Each violated rule as (property, message)."""
    return (
        [("name", message) for message in rules.of_path(name)]
        + _of_content(properties)
        + _of_removal(name, properties)
        + _of_below(name, properties)
        + _of_mode(properties)
    )


def _of_content(properties: Dict[str, Any]) -> List[Tuple[str, str]]:
    result: List[Tuple[str, str]] = []
    source = properties.get("source")
    if isinstance(source, str) and source.startswith(("http://", "https://", "ftp://")):
        hint = "use a download resource"
        return [("source", "it must not be a URL: " + hint)]
    content_keys = [key for key in ("content", "source") if properties.get(key) is not None]
    ensure = properties.get("ensure", "present")
    if len(content_keys) == 2:
        result.append(("source", "content and source are mutually exclusive"))
    for key in content_keys + [k for k in ("replace", "backup", "validate") if k in properties]:
        if ensure == "directory":
            result.append((key, "it is not allowed with ensure: %s" % ensure))
    if "validate" in properties:
        result.extend(_of_validate(str(properties["validate"]), bool(content_keys), ensure))
    return result


def _of_validate(command: str, with_content: bool, ensure: Any) -> List[Tuple[str, str]]:
    wrong = rules.of_validation(command)
    if wrong:
        return [("validate", message) for message in wrong]
    if not with_content and ensure == "present":
        return [("validate", "it requires content or source")]
    return []


def _of_removal(name: str, properties: Dict[str, Any]) -> List[Tuple[str, str]]:
    absent = properties.get("ensure", "present") == "absent"
    if absent and name == "/":
        return [("name", "the root directory cannot be removed")]
    if properties.get("force") is True and not absent:
        return [("force", "force requires ensure: absent")]
    return []


def _of_below(name: str, properties: Dict[str, Any]) -> List[Tuple[str, str]]:
    if not any(properties.get(key) for key in (*_BELOW, "keep")):
        return []
    from remote_runtime.resources.file.system_directories import is_of_system

    result: List[Tuple[str, str]] = []
    ensure = properties.get("ensure", "present")
    for key, needed in _BELOW.items():
        if properties.get(key) in (None, False) or ensure == "absent":
            continue
        if ensure != "directory":
            result.append((key, "%s requires ensure: directory" % key))
        elif needed and properties.get(needed) is not True:
            result.append((key, "%s requires %s: true" % (key, needed)))
        elif not needed and is_of_system(name, key == "purge"):
            result.append((key, "%s is not allowed for a system directory" % key))
    for pattern in properties.get("keep") or ():
        if isinstance(pattern, str) and not set(pattern.split("/")).isdisjoint(("..", ".")):
            result.append(("keep", "a pattern must not have . or .. as a component: %r" % pattern))
    return result


def _of_mode(properties: Dict[str, Any]) -> List[Tuple[str, str]]:
    result: List[Tuple[str, str]] = []
    for key in ("mode", "dir_mode", "file_mode"):
        if isinstance(properties.get(key), str):
            result += [(key, text) for text in rules.of_text(parse_mode, properties[key])]
    return result
