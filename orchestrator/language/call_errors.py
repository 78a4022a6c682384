"""Python's complaints about the arguments of a call, in the words of templates (controller)."""

from __future__ import annotations

import re

_CALL = re.compile(
    r"(?:[\w<>]+\.)*(?:(?:sync_)?do_|test_)?(?P<name>\w+?)_?\(\) "
    r"(?P<what>missing|takes|got) (?P<rest>.+)",
    re.DOTALL,
)
_NAME = re.compile(r"'(\w+)'")
_SPELLED = {"kv_get": "kvGet"}
"""The functions that templates spell in another way than Python does."""
_UNKNOWN = re.compile(r"No (?P<what>test|filter) named (?P<name>'.*')\.?")
"""Jinja2's words for a name that is only known as it is used, as in ``map('nope')``."""


def of_call(message: str) -> str:
    """The message, without names of ccm's own code if it is about a call."""
    unknown = _UNKNOWN.fullmatch(message)
    if unknown:
        return f"there is no {unknown['what']} {unknown['name']}"
    found = _CALL.fullmatch(message)
    if not found:
        return message
    name = f"{_SPELLED.get(found['name'], found['name'])}()"
    named = _NAME.findall(found["rest"])
    if found["what"] == "missing" and named:
        return f"{name} needs {' and '.join(filter(None, (', '.join(named[:-1]), named[-1])))}"
    if "unexpected keyword argument" in message and named:
        return f"{name} has no argument {named[0]!r}"
    if "multiple values for argument" in message and named:
        return f"{name} gets {named[0]!r} twice"
    if "positional argument" in message and found["what"] == "takes":
        return f"{name} gets too many arguments"
    return f"{name} {found['what']} {found['rest']}"
