"""The table of file systems, in the format of fstab(5) (both sides).

Unchanged lines and fields are kept byte for byte.
"""

import re
from functools import lru_cache
from typing import Dict, List, NamedTuple, Optional, Sequence

from remote_runtime.system.mount_escapes import unescape

_FIELD = re.compile(r"[^ \t]+")
_FIELDS = 6
_MISSING = ("", "", "auto", "defaults", "0", "0")  # the defaults of missing fields of an entry
_ESCAPED = {" ": "\\040", "\t": "\\011", "\n": "\\012", "\\": "\\134", "#": "\\043"}
SWAP = "swap"


class Entry(NamedTuple):
    """One file system, with its fields unescaped. ``point`` of swap space is "none"."""

    device: str
    point: str
    type: str
    options: str
    dump: str
    passno: str


def entry_of(line: str) -> Optional[Entry]:
    """Return the entry on a line; None for a comment or another line."""
    fields = [unescape(field) for field in _FIELD.findall(line)]
    if len(fields) < 2 or fields[0].startswith("#"):
        return None
    fields = fields[:_FIELDS] + list(_MISSING[len(fields) :])
    return Entry(*fields[:_FIELDS])


def is_of(entry: Optional[Entry], name: str) -> bool:
    """Return whether an entry is for a mount point, or for swap on a device with this name."""
    if entry is None:
        return False
    if entry.type == SWAP:
        return entry.device == name
    return entry.point == name or (entry.point.rstrip("/") or "/") == name


def find(text: str, name: str) -> Optional[Entry]:
    """The last entry for a mount point or swap device, whose file system is on top."""
    return _by_name(text).get(name)


@lru_cache(maxsize=2)
def _by_name(text: str) -> Dict[str, Entry]:
    """The entries of a table by name, which all resources of a run use."""
    result: Dict[str, Entry] = {}
    for line in text.split("\n"):
        entry = entry_of(line)
        if entry is not None and entry.type == SWAP:
            result[entry.device] = entry
        elif entry is not None:
            result[entry.point] = result[entry.point.rstrip("/") or "/"] = entry
    return result


def with_entry(text: str, entry: Entry, name: str) -> str:
    """The text with an entry replacing the last one for ``name``, or added at the end."""
    lines = text.split("\n")
    own = [at for at, line in enumerate(lines) if is_of(entry_of(line), name)]
    if own:
        lines[own[-1]] = _changed(lines[own[-1]], entry)
        return "\n".join(lines)
    end = "" if text.endswith("\n") or not text else "\n"
    return "%s%s%s\n" % (text, end, "\t".join(map(escape, entry)))


def without_entry(text: str, name: str) -> str:
    """The text without any entry for a name."""
    return "\n".join(line for line in text.split("\n") if not is_of(entry_of(line), name))


def escape(field: str) -> str:
    """Return a field in escaped form."""
    return "".join(_ESCAPED.get(sign, sign) for sign in field)


def _changed(line: str, entry: Entry) -> str:
    """The line with the differing fields replaced and its white space unchanged."""
    old = entry_of(line)
    matches = list(_FIELD.finditer(line))[:_FIELDS]
    for at in reversed(range(len(matches))):
        if old is None or old[at] != entry[at]:
            start, end = matches[at].span()
            line = line[:start] + escape(entry[at]) + line[end:]
    missing: Sequence[str] = entry[len(matches) :]
    if list(missing) != list(_MISSING[len(matches) :]):
        line = line.rstrip() + "".join(" " + escape(field) for field in missing)
    return line


# -- options --------------------------------------------------------------------------------------

NEGATED = {"ro": "rw", "nosuid": "suid", "nodev": "dev", "noexec": "exec"}
_IMPLIED = {
    **dict.fromkeys(("user", "users"), ("noexec", "nosuid", "nodev")),
    **dict.fromkeys(("owner", "group"), ("nosuid", "nodev")),
}
_TIMES = ("noatime", "relatime", "strictatime", "nodiratime")
_LOCAL = ("auto", "noauto", "nofail", "defaults", "_netdev", "user", "users", "owner", "group")
_UNITS = {"k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}


def words_of(options: str) -> List[str]:
    """The options, with quoted ones kept together, and without the one that means the defaults."""
    words, quoted, word = [], False, ""
    for sign in options:
        quoted ^= sign == '"'
        if sign == "," and not quoted:
            words.append(word.strip())
            word = ""
        else:
            word += sign
    return [one for one in [*words, word.strip()] if one not in ("", "defaults")]


PASSWORDS = ("password", "password2", "pass", "passwd")
"""Options of network file systems that contain a password."""

_PASSWORD = re.compile(
    r"(?i)((?:^|,)\s*(?:(?:%s)\s*=|user(?:name)?\s*=(?:[^,%%]|,,)*%%))((?:[^,]|,,)+)"
    % "|".join(PASSWORDS)
)


def masked(options: str, instead: str) -> str:
    """The options with a placeholder instead of each password that was written into the table."""
    return _PASSWORD.sub(lambda found: found.group(1) + instead, options)


def means_same(one: str, other: str) -> bool:
    """Return whether two lists of options have the same meaning; their order and ``defaults`` are
    ignored.
    """
    return one == other or _meaning(one) == _meaning(other)


def _meaning(options: str) -> List[str]:
    result: List[str] = []
    for word in words_of(options):
        opposite = [two for pair in NEGATED.items() for two in pair if word in pair and two != word]
        result = [each for each in result if each not in opposite]
        if word not in NEGATED.values() and word not in result:
            result.append(word)
    return sorted(result)


def is_binding(options: str) -> bool:
    """Return whether a directory becomes visible in a second place."""
    return any(word in ("bind", "rbind") for word in words_of(options))


def for_kernel(options: str) -> List[str]:
    """Return the options without those that only programs use."""
    return [
        word
        for word in words_of(options)
        if word not in _LOCAL and not word.startswith(("x-", "comment="))
    ]


def differing(options: str, on_mount: Sequence[str], on_system: Sequence[str]) -> List[str]:
    """Return the options to change on a mounted file system: ``on_mount`` are the options of the
    mount point and ``on_system`` those of the file system."""
    wanted = _flags(options)
    result = []
    for word, opposite in NEGATED.items():
        now = word in on_mount or (word == "ro" and word in on_system)
        if word in wanted and wanted[word] != now:
            result.append(word if wanted[word] else opposite)
    times = [word for word in words_of(options) if word in _TIMES]
    for word in times[-1:]:
        plain = not {"noatime", "relatime"} & set(on_mount)
        if not (plain if word == "strictatime" else word in on_mount):
            result.append(word)
    shown = dict(word.partition("=")[::2] for word in on_system)
    for word in words_of(options):
        key, _, value = word.partition("=")
        number = size_of(value) if key in ("size", "nr_inodes") else None
        if number is not None and key in shown and size_of(shown[key]) != _rounded(key, number):
            result.append(word)
    return result


def _flags(options: str) -> Dict[str, bool]:
    """Return the desired flags, on or off. A bind mount inherits flags that are not named."""
    flags: Dict[str, bool] = {} if is_binding(options) else dict.fromkeys(NEGATED, False)
    opposites = {other: word for word, other in NEGATED.items()}
    for word in words_of(options):
        for implied in _IMPLIED.get(word, ()):
            flags[implied] = True
        if word in NEGATED:
            flags[word] = True
        elif word in opposites:
            flags[opposites[word]] = False
    return flags


def size_of(text: str) -> Optional[int]:
    """A size in bytes, such as 64m; None if it is not absolute."""
    match = re.match(r"([0-9]{1,18})([kKmMgGtT]?)\Z", text)
    return int(match.group(1)) * _UNITS.get(match.group(2).lower(), 1) if match else None


def _rounded(key: str, number: int) -> int:
    return -(-number // 4096) * 4096 if key == "size" else number
