"""Tells commands that look at files and at nothing else (target; in previews only)."""

import os
import re
from typing import Sequence

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
_WORDS_OF_SHELLS = ("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "{")
_PARTS = re.compile(r"[;|&(`\n{]")
_KEPT = re.compile(r"=[\"']?(\$\(|`)")  # the output of a command in a variable
_JOINED = re.compile(r"\d*[<>]&\d*-?|&>")  # of redirections, no end of a command
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
# What runs shows there, too.
_LIVE = re.compile(r"/(proc|sys|dev|run)\b(?!/null)")


def looks_at_files_only(argv: Sequence[str]) -> bool:
    """Whether what a command finds does not depend on accounts, packages or what runs."""
    name = os.path.basename(argv[0])
    if name not in _SHELLS:
        return name in _LOOKING and not any(_LIVE.search(word) for word in argv[1:])
    if len(argv) < 3 or argv[1] != "-c" or _LIVE.search(argv[2]):
        return False
    text = _JOINED.sub(" ", argv[2])
    return not _KEPT.search(text) and all(_looks(part) for part in _PARTS.split(text))


def _looks(part: str) -> bool:
    """Whether one command of a script is known for looking only."""
    words = part.partition(")")[0].replace("$", " ").replace("}", " ").split()
    while words and (words[0] in _WORDS_OF_SHELLS or _ASSIGNED.match(words[0])):
        del words[0]
    return not words or os.path.basename(words[0].strip("\"'")) in _LOOKING
