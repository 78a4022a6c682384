"""user: an account in the output of getent and id (controller). The hash of a password does not
leave the host.
"""

import hashlib
import re
import time
from collections.abc import Callable

from orchestrator.verify.expectation import Expectation, Host, answer, entry, equal
from orchestrator.verify.subject import Subject

_FIELDS = 7  # at least, of an entry
_PASSWD = {"uid": 2, "comment": 4, "home": 5, "shell": 6}  # places in an entry
_EXPIRY = 7  # the same in an entry of the shadow database
_DAY = 86400  # seconds
_RANGE = {"UID_MIN": 1000, "UID_MAX": 60000}  # usual values of /etc/login.defs
_LOGIN_DEFS = "/etc/login.defs"
_SETTING = (
    "test ! -e %s || awk -v key=%s '$1 == key { found = substr($0, index($0, key) + length(key)) }"
    " END { print found }' %s"
)


def expectations(subject: Subject) -> list[Expectation]:
    """The expectations for a user, or for its absence."""
    wanted = subject.text("ensure") or "present"
    expectations = [_asked("ensure", wanted, _state, subject)]
    if wanted != "present":
        return expectations
    expectations += [_field(subject, key) for key in _PASSWD if subject.get(key) is not None]
    checks = {
        "group": _primary, "groups": _groups, "password": _password, "locked": _locked,
        "expires": _expiry,
    }  # fmt: skip
    expectations += [
        check(subject) for key, check in checks.items() if subject.get(key) is not None
    ]
    if subject.get("create_home", not subject.get("system")):
        expectations.append(_created(subject))
    if subject.get("generate_ssh_key"):
        expectations.append(_asked("generate_ssh_key", "a key", _key, subject))
    return expectations


def _asked(
    key: str, wanted: str, find: Callable[[Host, str], str], subject: Subject
) -> Expectation:
    """A property that ``find`` reads on the host by the name of the user."""
    return equal(key, wanted, lambda host: find(host, subject.name))


def _told(host: Host, command: str, *words: str) -> str:
    """The output of a command, without surrounding white space. RuntimeError if it fails."""
    return answer(host, command, *words).strip()


def _state(host: Host, name: str) -> str:
    """Whether the user is present or absent."""
    return "present" if entry(host, "passwd", name, _FIELDS) else "absent"


def _place(host: Host, database: str, name: str, place: int) -> str:
    """One field of an entry; "none" if there is no entry."""
    fields = entry(host, database, name, _FIELDS)
    return fields[place] if fields else "none"


def _field(subject: Subject, key: str) -> Expectation:
    """A property that is a field of the passwd database."""
    return equal(
        key, subject.text(key), lambda host: _place(host, "passwd", subject.name, _PASSWD[key])
    )


def _primary(subject: Subject) -> Expectation:
    """Return the check of the primary group: by name, or by number if the plan has a number."""
    option = "-g" if subject.text("group").isdigit() else "-gn"
    return equal(
        "group", subject.text("group"), lambda host: _told(host, "id %s %s", option, subject.name)
    )


def _groups(subject: Subject) -> Expectation:
    """The other groups; with append, only those of them that are desired."""
    wanted = sorted(set(subject.get("groups")))

    def find(host: Host) -> list[str]:
        """The groups that the host lists."""
        primary = _told(host, "id -gn %s", subject.name)
        names = set(_told(host, "id -Gn %s", subject.name).split())
        # The output of ``id`` does not show whether the primary group is also listed.
        others = {name for name in names if name != primary or name in wanted}
        return sorted(others & set(wanted) if subject.get("append") else others)

    return equal("groups", wanted, find, lambda names: ", ".join(names) or "none")


def _password(subject: Subject) -> Expectation:
    """The hash of the password, which is compared by its digest."""
    wanted, nothing = _digest("=" + subject.text("password")), _digest("")
    command = "getent shadow %s | cut -d: -f2 | sed 's/^!*/=/' | tr -d '\\n' | sha256sum"

    def find(host: Host) -> str:
        """The result of comparing the hash on the host."""
        found = _told(host, command, subject.name).split()[0]
        if found == nothing:
            raise RuntimeError("the host has no readable entry in its shadow database")
        return "the desired hash" if found == wanted else "another hash"

    return equal("password", "the desired hash", find)


def _digest(text: str) -> str:
    """Return the SHA-256 of a string, in hex."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def _locked(subject: Subject) -> Expectation:
    """Whether the password is locked."""

    def find(host: Host) -> str:
        """The state of the password on the host."""
        text = _told(host, "getent shadow %s | cut -d: -f2 | cut -c1 | od -An -c", subject.name)
        if not text:
            raise RuntimeError("no output")
        return "locked" if text.startswith("!") else "unlocked"

    return equal("locked", "locked" if subject.get("locked") else "unlocked", find)


def _expiry(subject: Subject) -> Expectation:
    """The day on which the account expires, or "never"."""

    def find(host: Host) -> str:
        """The day that the host reports."""
        day = _place(host, "shadow", subject.name, _EXPIRY)
        return time.strftime("%Y-%m-%d", time.gmtime(int(day) * _DAY)) if day.isdigit() else "never"

    return equal("expires", subject.text("expires"), find)


def _created(subject: Subject) -> Expectation:
    """The home directory, if the user has one."""
    explicit = subject.get("create_home") is True

    def find(host: Host) -> str:
        """The kind of its path."""
        return (
            "a directory"
            if not explicit and _homeless(host, subject)
            else _home(host, subject.name)
        )

    return equal("create_home", "a directory", find)


def _homeless(host: Host, subject: Subject) -> bool:
    """Whether a user has no home directory by default."""
    fields = entry(host, "passwd", subject.name, _FIELDS)
    if not fields:
        return False
    least, maximum = (
        _number(_told(host, _SETTING, _LOGIN_DEFS, key, _LOGIN_DEFS), usual)
        for key, usual in _RANGE.items()
    )
    uid, home = (
        str(fields[_PASSWD[key]] if subject.get(key) is None else subject.get(key))
        for key in ("uid", "home")
    )
    return not least <= int(uid) <= maximum or home == "/nonexistent"


def _number(text: str, usual: int) -> int:
    """A number in C notation, with the prefix 0x or 0; the default if it is not a number."""
    kinds = ((r"0[xX][0-9a-fA-F]+", 16), (r"0[0-7]*", 8), (r"[1-9][0-9]*", 10))
    for pattern, base in kinds:
        if re.fullmatch(pattern, text.strip().strip('"')):
            return int(text.strip().strip('"'), base)
    return usual


def _home(host: Host, name: str) -> str:
    """The kind of the home directory's path."""
    path = _place(host, "passwd", name, _PASSWD["home"])
    kind = str(host.run("stat -L -c %%F %s", path).stdout).strip()
    return "a directory" if kind == "directory" else kind or "none"


def _key(host: Host, name: str) -> str:
    """Whether both files of an SSH key exist."""
    path = _place(host, "passwd", name, _PASSWD["home"]).rstrip("/") + "/.ssh/id_ed25519"
    kinds = str(host.run("stat -L -c %%F %s %s", path, path + ".pub").stdout).split("\n")
    return "a key" if kinds[:2] == ["regular file"] * 2 else "none"
