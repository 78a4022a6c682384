"""The users and groups that sudo rules name (target)."""

from typing import Dict, List, Sequence, Set

_ALIAS = "User_Alias"


def names_one(texts: Sequence[bytes], names: Set[str]) -> bool:
    """Return whether a rule in one of the files names one of these users and groups, or an alias of
    them that any of the files defines. The names are those of rules, such as ``%wheel`` or
    ``#1000``."""
    lines = [line for text in texts for line in _lines(text)]
    known = _with_aliases(lines, names)
    return any(not known.isdisjoint(_users(line)) for line in lines)


def _lines(text: bytes) -> List[str]:
    """Return the lines without comments; a line that ends with a backslash continues."""
    joined = text.decode("utf-8", "replace").replace("\\\n", " ")
    lines = [line.strip() for line in joined.splitlines()]
    return [line for line in lines if not line.startswith("#") or line[1:2].isdigit()]


def _users(line: str) -> List[str]:
    """Return the users and groups of a rule; for any other line, its first word."""
    users, sign, _ = line.partition("=")
    return _list(users)[0].split(",") if sign and users.strip() else []


def _list(text: str) -> List[str]:
    """Return the words of a text, with a list as one word."""
    return ",".join(part.strip() for part in text.split(",")).split()


def _with_aliases(lines: Sequence[str], names: Set[str]) -> Set[str]:
    """Return the names, and the aliases that contain one of them, directly or through other
    aliases.
    """
    members: Dict[str, Set[str]] = {}
    for line in lines:
        if line.startswith(_ALIAS):
            for definition in line[len(_ALIAS) :].split(":"):
                alias, _, users = definition.partition("=")
                members[alias.strip()] = {user.strip() for user in users.split(",")}
    containing: Dict[str, List[str]] = {}
    for alias, names_in_it in members.items():
        for name in names_in_it:
            containing.setdefault(name, []).append(alias)
    known, pending = set(names), list(names)
    while pending:
        new = set(containing.get(pending.pop(), ())) - known
        known |= new
        pending += new
    return known
