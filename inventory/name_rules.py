"""Defines valid names of hosts and groups (controller).

A name is used in patterns, paths, argument lists and terminals, so it consists of letters, digits
and a few ASCII signs, and never begins with a dash or a dot.
"""

import re

HOST_NAME = r"^[A-Za-z0-9_][A-Za-z0-9._:%+-]{0,254}$"
GROUP_NAME = r"^[A-Za-z0-9_][A-Za-z0-9._+-]{0,254}$"
RESERVED = {
    "all": "means every host",
    "failed": "means the hosts whose last push failed",
    "remaining": "means the hosts that were not started in their last push",
    "run": "is the start of patterns such as run:ID:failed",
}

_HOST = re.compile(HOST_NAME.replace("$", r"\Z"))
_GROUP = re.compile(GROUP_NAME.replace("$", r"\Z"))


def is_range(name: str) -> bool:
    """Whether a host name is a range of several hosts, such as ``web[01:50]``."""
    return "[" in name or "]" in name


def host_name_fault(name: str) -> tuple[str, str] | None:
    """The problem of a host's name, with a hint; None if it is valid."""
    if _HOST.match(name) and name not in RESERVED:
        return None
    if "@" in name and _HOST.match(name.rpartition("@")[2]):
        return f"the host name {name!r} contains a user", "set the user with the property 'user'"
    return _fault("host", name, "._:%+-")


def group_name_fault(name: str, *, has_all: bool = False) -> tuple[str, str] | None:
    """The problem of a group's name, with a hint; None if it is valid. ``all`` is valid if the
    format of the inventory has it (``has_all``).
    """
    if _GROUP.match(name) and (name not in RESERVED or (has_all and name == "all")):
        return None
    fault = _fault("group", name, "._+-")
    return (fault[0], "set values for all hosts in 'defaults'") if name == "all" else fault


def _fault(what: str, name: str, signs: str) -> tuple[str, str]:
    text = repr(name[:60])
    if name in RESERVED:
        return f"no {what} can be named {text}: it {RESERVED[name]}", "choose another name"
    if name.startswith("-"):
        return f"the {what} name {text} starts with a dash", "programs would read it as an option"
    hint = (
        f"use letters, digits and any of {signs}, at most 255 characters, starting with "
        "a letter or digit"
    )
    if any(ord(char) < 32 or 127 <= ord(char) < 160 for char in name):
        return f"the {what} name {text} contains a control character", hint
    if what == "host" and not name.isascii():
        hint += "; write an international name in its xn-- form"
    return f"the {what} name {text} is invalid", hint
