"""Warnings about commands that are probably mistakes (controller)."""

import re
from typing import Any, Dict, Iterable, List, Tuple

HINT = "set provider: shell to use shell features; quote text that is meant literally"
_QUOTED = re.compile(r"""'[^']*'|"(?:[^"\\]|\\.)*"|\\.""", re.S)
_SHELLS = re.compile(r"&&|\|\||[|;<>]|&\s*$")
_WORDS_OF_FIND = re.compile(r"\s-(exec|ok)(dir)?\s")


def warnings(name: str, properties: Dict[str, Any]) -> List[Tuple[str, str, str]]:
    """Return the warnings about the commands of an exec, including its guards."""
    warnings = []
    whole = properties.get("interpreter", "default") == "default"
    if whole and "command" in properties:
        warnings.append(("command", properties["command"]))
    elif whole and "command" not in properties:
        warnings.append(("name", name))
    if properties.get("guard_interpreter", "default") == "default":
        for key in ("onlyif", "unless"):
            guard = properties.get(key)
            warnings.append((key, guard.get("command") if isinstance(guard, dict) else guard))
    return of_commands(warnings, properties)


def of_commands(
    commands: Iterable[Tuple[str, Any]], properties: Dict[str, Any]
) -> List[Tuple[str, str, str]]:
    """(property, message, hint) for each command that is written for a shell but does not run in
    one.

    ``commands`` are those of a resource, by property.
    """
    if properties.get("provider", "posix") != "posix":
        return []
    warnings = []
    for key, text in commands:
        sign = _sign(text) if isinstance(text, str) else ""
        if sign:
            message = "the provider posix passes %s to the program literally" % sign
            warnings.append((key, message, HINT))
    return warnings


def _sign(command: str) -> str:
    """The first sign outside quotes that a shell would interpret."""
    bare = _QUOTED.sub("", command)
    if _WORDS_OF_FIND.search(bare):
        bare = bare.replace(";", "")  # ends its command
    hit = _SHELLS.search(bare)
    return hit.group().strip() if hit else ""
