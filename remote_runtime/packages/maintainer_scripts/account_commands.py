"""The users and groups that commands of a script create, remove and rename (target).

The rules are those of shadow's and Debian's tools: by default, ``useradd`` creates a group with the
user's name, but ``adduser --system`` does not.
"""

import re
import shlex
from typing import Iterable, List, NamedTuple, Optional, Sequence, Set, Tuple

from remote_runtime.packages.maintainer_scripts.conditional_expressions import UNKNOWN

_MAKING = {"adduser": "user", "useradd": "user", "addgroup": "group", "groupadd": "group"}
_REMOVING = {"deluser": "user", "userdel": "user", "delgroup": "group", "groupdel": "group"}
_CHANGING = {"usermod": "user", "groupmod": "group"}
_COMMANDS = (*_MAKING, *_REMOVING, *_CHANGING)
_NAME = re.compile(r"[a-z_][a-z0-9_-]*\$?\Z")
_NUMBER = re.compile(r"[0-9]{1,10}\Z")
# Options that are followed by a word: long ones of all tools, letters of shadow's by tool.
_LONG = (
    "--home", "--shell", "--gecos", "--comment", "--uid", "--gid", "--ingroup", "--firstuid",
    "--lastuid", "--firstgid", "--lastgid", "--home-dir", "--groups", "--key", "--conf",
    "--base-dir", "--expiredate", "--inactive", "--password", "--skel", "--selinux-user", "--root",
    "--prefix", "--login", "--new-name", "--users",
)  # fmt: skip
_LETTERS = {
    "useradd": "bcdefgGkKpPRsuZ",
    "usermod": "cdefgGlpPRsuZvVwW",
    "groupadd": "gKpPRU",
    "groupmod": "gnpPRU",
    "adduser": "cdgGukKsb",
    "addgroup": "gcdkKsb",
}
# Options of useradd with a known effect on the entry of the user.
_FLAGS = {
    "-r",
    "--system",
    "-M",
    "--no-create-home",
    "-m",
    "--create-home",
    "-N",
    "--no-user-group",
    "-U",
    "--user-group",
    "-l",
    "--no-log-init",
}
_VALUES = {"-c", "--comment", "-d", "--home-dir", "-s", "--shell", "-g", "--gid", "-u", "--uid"}
# The same for Debian's adduser --system. Its default for the home differs between releases.
_ADDUSER_FLAGS = {
    "--system",
    "--group",
    "--quiet",
    "--no-create-home",
    "--disabled-password",
    "--disabled-login",
}
_ADDUSER_VALUES = {"--home", "--shell", "--gecos", "--comment", "--ingroup", "--uid"}
# Commands that may change the entry of a user or its groups; some read the name from elsewhere.
_AMENDING = (
    "usermod", "gpasswd", "chsh", "chfn", "passwd", "chage", "groupmems", "adduser", "addgroup",
    "deluser", "delgroup",
)  # fmt: skip
_AMENDING_ANY = ("chpasswd", "newusers", "vipw", "vigr", "pwck", "homectl")


class NewUser(NamedTuple):
    """The fields of a user that ``tool`` creates, "" for its default. ``group`` is the primary
    group, "" for the user's own.
    """

    tool: str
    comment: str
    home: str
    shell: str
    group: str = ""


class Account(NamedTuple):
    """A user or group (``kind``) that is created with a package; -1 for a number that is chosen
    then. ``user`` has the fields of a user, None if they are not known.
    """

    kind: str
    name: str
    number: int = -1
    user: Optional[NewUser] = None


class Parsed(NamedTuple):
    """A command: its ``names``, its options without values, and those with values."""

    names: List[str]
    flags: Set[str]
    values: List[Tuple[str, str]]

    def value(self, *options: str) -> str:
        """Return the last value of an option; "" for none."""
        return next((word for option, word in reversed(self.values) if option in options), "")


def _parsed(words: Sequence[str]) -> Parsed:
    parsed = Parsed([], set(), [])
    rest = list(words[1:])
    while rest:
        word = rest.pop(0)
        if not word.startswith("-") or word == "-":
            parsed.names.append(word)
        elif word.startswith("--"):
            option, equals, value = word.partition("=")
            if option in _LONG:
                parsed.values.append((option, value if equals else (rest.pop(0) if rest else "")))
            else:
                parsed.flags.add(option)
        else:
            _letters(words[0], word, rest, parsed)
    return parsed


def _letters(tool: str, word: str, rest: List[str], parsed: Parsed) -> None:
    for at, letter in enumerate(word[1:], 1):
        if letter in _LETTERS.get(tool, ""):
            value = word[at + 1 :] or (rest.pop(0) if rest else "")
            parsed.values.append(("-" + letter, value))
            return
        parsed.flags.add("-" + letter)


def _created(words: Sequence[str]) -> List[Account]:
    """Return the accounts that a command creates if they do not exist."""
    tool = words[0]
    if tool not in _MAKING:
        return []
    arguments = _parsed(words)
    # Two names add a user to a group; one that is a variable is not known.
    if len(arguments.names) != 1 or not _NAME.match(arguments.names[0]):
        return []
    name, kind = arguments.names[0], _MAKING[tool]
    system = "--system" in arguments.flags
    if tool == "adduser" and "--group" in arguments.flags and not system:
        kind = "group"  # the same as addgroup
    number = arguments.value("--uid", "-u") if kind == "user" else arguments.value("--gid", "-g")
    user = _new_user(arguments, number) if tool == "useradd" else None
    user = _new_system_user(arguments) if tool == "adduser" and system else user
    accounts = [Account(kind, name, int(number) if _NUMBER.match(number) else -1, user)]
    if kind == "user" and _has_its_own_group(tool, arguments, system):
        accounts.append(Account("group", name))
    return accounts


def _new_user(given: Parsed, number: str) -> Optional[NewUser]:
    """Return the fields of a user that ``useradd`` creates; None if an option makes them
    unknown.
    """
    values = [value for _, value in given.values]
    if not given.flags <= _FLAGS or not {option for option, _ in given.values} <= _VALUES:
        return None
    if any(UNKNOWN in value for value in values):
        return None
    group = given.value("-g", "--gid")
    system = bool(given.flags & {"-r", "--system"})
    if (given.flags & {"-N", "--no-user-group"} and not group) or not (system or number):
        return None
    return NewUser(
        "useradd",
        comment=given.value("-c", "--comment"),
        home=given.value("-d", "--home-dir"),
        shell=given.value("-s", "--shell"),
        group=group,
    )


def _new_system_user(given: Parsed) -> Optional[NewUser]:
    """Return the fields of a user that ``adduser --system`` creates; None if an option makes them
    unknown.
    """
    comments = [value for option, value in given.values if option in ("--gecos", "--comment")]
    home, known = given.value("--home"), {option for option, _ in given.values} <= _ADDUSER_VALUES
    if not home or not known or not given.flags <= _ADDUSER_FLAGS:
        return None
    if "," in "".join(comments) or any(UNKNOWN in value for _, value in given.values):
        return None
    return NewUser(
        "adduser",
        comment=comments[-1] + ",,," if comments else "",
        home=home,
        shell=given.value("--shell"),
        group=given.value("--ingroup") or ("" if "--group" in given.flags else "nogroup"),
    )


def _has_its_own_group(tool: str, arguments: Parsed, system: bool) -> bool:
    if arguments.value("--gid", "-g", "--ingroup") or arguments.flags & {"-N", "--no-user-group"}:
        return False
    return tool == "useradd" or not system or "--group" in arguments.flags


def creates_home(words: Sequence[str]) -> bool:
    """Return whether ``useradd`` or ``adduser`` may create a home directory: ``useradd`` for a
    system account only if that is requested.
    """
    tool = words[0].rpartition("/")[2]
    flags = _parsed([tool, *words[1:]]).flags
    if flags & {"-M", "--no-create-home"}:
        return False
    system = tool == "useradd" and flags & {"-r", "--system"}
    return not system or bool(flags & {"-m", "--create-home"})


def _removed(words: Sequence[str]) -> List[Tuple[str, str]]:
    """Return the accounts, kind and name, that a command may remove; a user's own group is removed
    with it."""
    kind = _REMOVING.get(words[0], "")
    names = _parsed(words).names if kind else []
    if len(names) != 1:
        return []  # two names take a user out of a group
    accounts = [(kind, names[0])]
    return [*accounts, ("group", names[0])] if kind == "user" else accounts


def _renamed(words: Sequence[str]) -> List[Tuple[str, str]]:
    """Return the accounts, as kind and name, whose name or number a command changes: old
    and new.
    """
    kind = _CHANGING.get(words[0], "")
    arguments = _parsed(words) if kind else Parsed([], set(), [])
    options = ("--login", "-l", "--uid", "-u") if kind == "user" else ()
    options = options or ("--new-name", "-n", "--gid", "-g")
    new = arguments.value(*options)
    if not new or not arguments.names:
        return []
    return [(kind, name) for name in (*arguments.names, new) if not _NUMBER.match(name)]


def _is_nameless(words: Sequence[str]) -> bool:
    """Return whether a command creates an account with an unknown name."""
    names = _parsed(words).names if words[0] in _MAKING else []
    return len(names) == 1 and not _NAME.match(names[0])


class AccountCalls(NamedTuple):
    """The effects of script commands on accounts; ``nameless``: they create one with an unknown
    name. ``amended`` are words that may name users whose entries they change otherwise, None if
    these may be any.
    """

    created: List[Account]
    removed: Set[Tuple[str, str]]
    renamed: Set[Tuple[str, str]]
    nameless: bool
    amended: Optional[Set[str]]


def _amended(commands: Sequence[Sequence[str]]) -> Optional[Set[str]]:
    found: Set[str] = set()
    for words in commands:
        if words[0] in _AMENDING_ANY:
            return None
        creates = words[0] in _MAKING and len(_parsed(words).names) == 1
        if words[0] in _AMENDING and not creates:
            found.update(words[1:])
    return None if any(UNKNOWN in word for word in found) else found


def read(commands: Iterable[Sequence[str]]) -> AccountCalls:
    """Read commands, each of which is a list of words."""
    named_commands = [[c[0].rpartition("/")[2], *c[1:]] for c in commands if c]
    known = [words for words in named_commands if words[0] in _COMMANDS]
    return AccountCalls(
        created=[account for words in known for account in _created(words)],
        removed={one for words in known for one in _removed(words)},
        renamed={one for words in known for one in _renamed(words)},
        nameless=any(_is_nameless(words) for words in known),
        amended=_amended(named_commands),
    )


def sysusers(text: str) -> List[Account]:
    """Return the accounts of a sysusers.d file."""
    accounts = []
    lines = [words for words in map(_words, text.splitlines()) if len(words) >= 2]
    members = {words[1] for words in lines if words[0].startswith("m")}
    for words in lines:
        if words[0].rstrip("!+-") not in ("u", "g"):
            continue
        id_field, _, group = words[2].partition(":") if len(words) > 2 else ("-", "", "")
        number = int(id_field) if _NUMBER.match(id_field) else -1
        if words[0].startswith("u"):
            plain = words[0] == "u" and words[1] not in members
            user = _declared_user(words, id_field, group) if plain else None
            accounts.append(Account("user", words[1], number, user))
        if not group or group.isdigit():
            accounts.append(Account("group", words[1], number))
    return accounts


def _words(line: str) -> List[str]:
    try:
        return shlex.split(line, comments=line.lstrip().startswith("#"))
    except ValueError:
        return line.split()


def _declared_user(words: Sequence[str], number: str, group: str) -> Optional[NewUser]:
    """Return the fields of a user in a line of sysusers.d: its type, name, ID, comment, home and
    shell. ``group`` is the group in its ID, which has to exist.
    """
    fields = [*words[3:6], "-", "-", "-"][:3]
    if (number != "-" and not _NUMBER.match(number)) or any("%" in word for word in fields):
        return None
    comment, home, shell = ("" if word == "-" else word for word in fields)
    return NewUser("sysusers", comment=comment, home=home, shell=shell, group=group)
