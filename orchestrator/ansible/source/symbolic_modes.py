"""Modes that change bits of the current mode, such as ``go-w,u+x`` (controller)."""

import re
from typing import Any

_RELATIVE = re.compile(r"([ugoa]*)([+=-])([rwxXs]*)")
_DIGITS = {"u": 6, "g": 3, "o": 0}
_BITS = {"r": 4, "w": 2, "x": 1, "X": 1}
_SPECIAL = {"u": 0o4000, "g": 0o2000}


def relative_mode(value: Any) -> list[str]:
    """The tests of ``find`` for a mode such as ``go-w,u+x``; empty for other modes."""
    found: list[str] = []
    for who, sign, bits in _changes_of(value):
        named = ",".join(f"{one}+{bits}" for one in who)
        if bits:
            found.append(f"! -perm /{named}" if sign == "-" else f"-perm -{named}")
        rest = "".join(one for one in "rwx" if one not in bits.lower())
        if sign == "=" and rest:
            found.append("! -perm /" + ",".join(f"{one}+{rest}" for one in who))
    return found


def _changes_of(value: Any) -> list[tuple[str, str, str]]:
    """The parts of a mode that depends on the current one; none for other modes."""
    if not isinstance(value, str) or not re.search(r"[+-]", value) or "{" in value:
        return []
    found: list[tuple[str, str, str]] = []
    for part in value.replace(" ", "").split(","):
        match = _RELATIVE.fullmatch(part)
        if match is None or (match[2] == "=" and "s" in match[3]):
            return []
        who, sign, bits = match.groups()
        found.append(("ugo" if not who or "a" in who else who, sign, bits))
    return found


def mode_of_new_directory(value: str) -> str:
    """The mode of a directory that is created with 0755 and then changed."""
    return _changed(0o755, value)


def mode_of_new_file(value: str) -> str:
    """The mode of a file that is created with 0644 and then changed."""
    return _changed(0o644, value)


def _changed(mode: int, value: str) -> str:
    for who, sign, bits in _changes_of(value):
        for one in who:
            number = sum(_BITS[bit] for bit in set(bits.lower()) - {"s"}) << _DIGITS[one]
            number |= _SPECIAL.get(one, 0) if "s" in bits else 0
            if sign == "=":
                mode &= ~(7 << _DIGITS[one])
            mode = mode & ~number if sign == "-" else mode | number
    return f"{mode:04o}"
