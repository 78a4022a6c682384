"""Tells commands that find the same, whatever is planned beside files (target; in previews)."""

import os
import re
from typing import Container, Sequence

_SHELLS = ("sh", "bash", "dash")
_LOOKING = [
    "[",
    "[[",
    "test",
    "true",
    "false",
    ":",
    "echo",
    "printf",
    "exit",
    "cd",
    "grep",
    "egrep",
    "fgrep",
    "cat",
    "head",
    "tail",
    "ls",
    "stat",
    "readlink",
    "realpath",
    "cmp",
    "diff",
    "wc",
    "sort",
    "uniq",
    "cut",
    "tr",
    "basename",
    "dirname",
    "cksum",
    "md5sum",
    "sha1sum",
    "sha256sum",
    "sha512sum",
    "visudo",
]
# These ask accounts, packages or units for some by their names, behind such words.
_ASKING = {
    "id": (),
    "getent": ("passwd", "group"),
    "dpkg": ("-s", "--status"),
    "systemctl": ("is-active",),
}
_QUIET = ("-q", "--quiet")
_PLACES = ("command", "which", "type", "hash")  # where a program is, which files tell
_NAME = re.compile(r"(?!\d+$)[\w.@:+~-]+$", re.ASCII)  # no number: who gets it is not known
_WORDS_OF_SHELLS = ("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "{")
_PARTS = re.compile(r"[;|&(`\n{]")
_KEPT = re.compile(r"=[\"']?(\$\(|`)")  # the output of a command in a variable
_REDIRECTED = re.compile(r"\d*[<>]&\d*-?|(?:&>|\d*[<>])>?\s*[^\s;|&<>()`]+")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
# What runs shows there, too.
_LIVE = re.compile(r"/(proc|sys|dev|run)\b(?!/null)")


def is_settled(argv: Sequence[str], planned: Container[str]) -> bool:
    """Whether what a command finds does not depend on what is planned beside files.

    ``planned`` has the names of accounts, packages and units that will be others than today.
    """
    if os.path.basename(argv[0]) not in _SHELLS:
        return not any(_LIVE.search(word) for word in argv[1:]) and _looks(argv, planned)
    if len(argv) < 3 or argv[1] != "-c" or _LIVE.search(argv[2]):
        return False
    text = _REDIRECTED.sub(" ", argv[2])
    return not _KEPT.search(text) and all(_part(part, planned) for part in _PARTS.split(text))


def _part(part: str, planned: Container[str]) -> bool:
    """The same of one command of a script."""
    words = part.partition(")")[0].replace("}", " ").split()
    while words and (words[0] in _WORDS_OF_SHELLS or _ASSIGNED.match(words[0])):
        del words[0]
    words = [word.strip("\"'") for word in words]
    return not words or words == ["$"] or _looks(words, planned)


def _looks(words: Sequence[str], planned: Container[str]) -> bool:
    name, rest = os.path.basename(words[0]), list(words[1:])
    if name in _LOOKING:
        return True
    if name in _PLACES:
        return name != "command" or rest[:1] in (["-v"], ["-V"])
    if name not in _ASKING:
        return False
    questions = _ASKING[name]
    if questions:
        if not any(word in questions for word in rest):
            return False
        rest = [word for word in rest if word not in questions + _QUIET]
    else:
        rest = [word for word in rest if not word.startswith("-")]
    known = all(_NAME.match(word) and word.partition(":")[0] not in planned for word in rest)
    return known and (bool(rest) or not questions)
