"""The accounts in planned account files (target)."""

from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence

from remote_runtime.system.account_files import Group, User, rows_of, user_of


class Table(NamedTuple):
    """The content of a planned /etc/passwd or /etc/group: numbers by name, with those of the host's
    current file, which are removed if the planned one lacks them. ``entries``: its users without
    passwords, or its groups with their members; None if they are uncertain.
    """

    numbers: Mapping[str, int]
    today: Mapping[str, int]
    since: int
    path: str = ""
    entries: Optional[Mapping[str, Any]] = None


class Passwords(NamedTuple):
    """The content of a planned /etc/shadow: the fields of each user, None if they are uncertain."""

    rows: Optional[Mapping[str, Sequence[str]]]
    since: int


def _lines(text: str, fields: int = 4) -> Iterator[List[str]]:
    """Yield the fields of each account in such a file."""
    for row in rows_of(text, fields):
        if row[0] and row[2].isdigit():
            yield row


def parsed(text: str) -> Dict[str, int]:
    """Return the numbers of the accounts in such a file; the first entry of a name counts."""
    result: Dict[str, int] = {}
    for row in _lines(text):
        result.setdefault(row[0], int(row[2]))
    return result


def parsed_groups(text: str) -> Dict[str, Group]:
    """Return the groups of such a file with their members; the first entry of a name counts."""
    result: Dict[str, Group] = {}
    for name, _, number, members, *_ in _lines(text):
        result.setdefault(name, Group(name, int(number), tuple(filter(None, members.split(",")))))
    return result


def parsed_users(text: str) -> Dict[str, User]:
    """Return the users of such a file, without their passwords; the first entry of a
    name counts.
    """
    result: Dict[str, User] = {}
    for row in _lines(text, 7):
        if row[3].isdigit():
            result.setdefault(row[0], user_of(row))
    return result


def parsed_passwords(text: str) -> Dict[str, Sequence[str]]:
    """Return the fields of each user in such a file."""
    return {row[0]: row for row in rows_of(text, 7)}
