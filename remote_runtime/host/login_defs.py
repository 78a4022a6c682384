"""The host's rules for new accounts, as read by shadow's tools (target)."""

import re
from functools import lru_cache
from typing import TYPE_CHECKING, Container, Dict, Mapping, Optional, Tuple

from remote_runtime.errors import ResourceError
from remote_runtime.host.file_ports import FileReader

if TYPE_CHECKING:
    from remote_runtime.system.account_files import User

_OF_USERADD = ("HOME", "SHELL", "SKEL", "CREATE_MAIL_SPOOL")  # the default settings of useradd
NOWHERE = "/nonexistent"  # the home directory of users without one

_LOGIN, _USERADD = "/etc/login.defs", "/etc/default/useradd"
_USUAL = {
    "UID_MIN": "1000",
    "UID_MAX": "60000",
    "SYS_UID_MIN": "101",
    "SYS_UID_MAX": "999",
    "GID_MIN": "1000",
    "GID_MAX": "60000",
    "SYS_GID_MIN": "101",
    "SYS_GID_MAX": "999",
    "UMASK": "022",
    "HOME": "/home",
    "SHELL": "/bin/sh",
    "SKEL": "/etc/skel",
    "USERGROUPS_ENAB": "yes",
    "CREATE_MAIL_SPOOL": "no",
    "MAIL_DIR": "/var/mail",
}


class LoginRules(object):
    """The settings of /etc/login.defs and /etc/default/useradd, each file read on first use."""

    def __init__(self, files: FileReader) -> None:
        self._files = files
        self._read: Dict[str, Mapping[str, str]] = {}

    def get(self, key: str) -> str:
        """The value of a setting; the default if the host does not set it."""
        path, sign = (_USERADD, "=") if key in _OF_USERADD else (_LOGIN, "")
        if path not in self._read:
            self._read[path] = self._settings(path, sign)
        return self._read[path].get(key, _USUAL.get(key, ""))

    def _settings(self, path: str, sign: str) -> Mapping[str, str]:
        """The settings in a file; ``sign`` or white space ends a key."""
        try:
            return _parsed(self._files.read(path), sign)
        except ResourceError:
            if self._files.stat(path) is None:
                return {}
            raise

    @property
    def home_mode(self) -> int:
        """The mode of a new home directory."""
        mode = _number(self.get("HOME_MODE"))
        return 0o777 & ~self._number("UMASK") if mode is None else mode

    def _number(self, key: str) -> int:
        """The value of a setting; the default if the value is not a number."""
        number = _number(self.get(key))
        return int(_USUAL[key], 8 if key == "UMASK" else 10) if number is None else number

    def next_number(self, kind: str, system: bool, used: Container[int], highest: int) -> int:
        """The number of a new account: after the ``highest`` in use in its range, or the first free
        one; for a system account the last free one. ``ResourceError``"""
        start = ("SYS_" if system else "") + kind
        least, maximum = self._limits(start)
        if not system and least <= highest < maximum:
            return highest + 1
        numbers = range(maximum, least - 1, -1) if system else range(least, maximum + 1)
        for number in numbers:
            if number not in used:
                return number
        raise ResourceError("no ID from %d to %d is free" % (least, maximum))

    def regular(self, kind: str) -> range:
        """The numbers of regular users (kind ``UID``) or of their groups (``GID``)."""
        least, maximum = self._limits(kind)
        return range(least, maximum + 1)

    def _limits(self, start: str) -> Tuple[int, int]:
        return self._number(start + "_MIN"), self._number(start + "_MAX")

    def gets_home(self, user: "User") -> bool:
        """Return whether an existing user gets a home directory by default."""
        return user.home != NOWHERE and user.uid in self.regular("UID")


@lru_cache(maxsize=4)
def _parsed(text: bytes, sign: str) -> Mapping[str, str]:
    """The settings in a text, which is parsed once because each user of the run needs it."""
    result = {}
    for line in text.decode("utf-8", "replace").splitlines():
        key, _, value = re.sub("[%s\t]" % sign, " ", line.strip(), count=1).partition(" ")
        if key and not key.startswith("#"):
            result[key] = value.strip().strip('"')
    return result


def _number(text: str) -> Optional[int]:
    """A number in C's notation, as shadow reads it: 0x is hexadecimal, 0 octal. None for other
    text.
    """
    base = 16 if text[:2] in ("0x", "0X") else 8 if text[:1] == "0" else 10
    digits = text[2:] if base == 16 else text
    if not digits or digits.strip("0123456789abcdefABCDEF"[: base if base < 16 else 22]):
        return None
    return int(digits, base)
