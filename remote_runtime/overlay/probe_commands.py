"""Finds commands whose result does not depend on planned changes other than files (target; in
previews only).
"""

import os
import re
from typing import Container, List, NamedTuple, Optional, Sequence, Tuple

_SHELLS = ("sh", "bash", "dash")
_LOOKING = (
    "[", "[[", "test", "true", "false", ":", "echo", "printf", "exit", "cd", "grep", "egrep",
    "fgrep", "cat", "head", "tail", "ls", "stat", "readlink", "realpath", "cmp", "diff", "wc",
    "sort", "uniq", "cut", "tr", "basename", "dirname", "cksum", "md5sum", "sha1sum", "sha256sum",
    "sha512sum", "visudo",
    # Words of shells that begin no program; what they expand is split off before.
    "for", "set", "shift", "read", "local", "export", "return", "break", "continue", "umask",
)  # fmt: skip
# These ask for accounts, packages or units by their names, behind such words, if any.
_ASKING = {
    "id": {"": "user"},
    "getent": {"passwd": "user", "group": "group"},
    "dpkg": {"-s": "package", "--status": "package"},
    "systemctl": {"is-active": "unit"},
}
_SHELL = re.compile(r"#![ \t]*(?:/usr)?/bin/(?:env )?(?:sh|bash|dash)\b")
_QUIET = ("-q", "--quiet")
_PLACES = ("command", "which", "type", "hash")  # the location of a program, which depends on files
_NAME = re.compile(r"(?!\d+$)[\w.@:+~-]+$", re.ASCII)  # no number: who gets it is not known
_WORDS_OF_SHELLS = ("if", "then", "elif", "else", "fi", "while", "until", "do", "done", "!", "{")
_PARTS = re.compile(r"[;|&(`\n{]")
_KEPT = re.compile(r"=[\"']?(\$\(|`)")  # the output of a command in a variable
_REDIRECTED = re.compile(r"\d*[<>]&\d*-?|(?:&>|\d*[<>])>?\s*[^\s;|&<>()`]+")
_ASSIGNED = re.compile(r"[A-Za-z_]\w*=")
# A redirection that writes anywhere but to another output or nowhere.
_WRITTEN_TO = re.compile(r">(?!>?\s*/dev/null(?![\w./-])|&\s*[\d-])")
_OF_THE_SYSTEM = ("/bin", "/usr/bin")
# Running programs show there, too; accounts and packages show in their databases.
_LIVE = re.compile(
    r"((?<![\w-])/(proc|sys|dev|run)|/var/(run|lock))(?![\w.-])(?!/null)"
    r"|(?<![\w.-])/etc/(?:passwd|group|g?shadow)(?![\w.])|/var/lib/(?:dpkg|rpm)(?![\w.-])"
)


# A pattern that may stand for one of those.
_MATCHES_LIVE = re.compile(
    r"/(?:(?:etc|var|var/lib|var/run|var/lock|run|proc|sys|dev)/)?[^/]*[*?\[]"
)

# These read nothing but what their words name.
_READING = (
    "[", "test", "true", "false", ":", "echo", "printf", "exit", "grep", "egrep", "fgrep", "cat",
    "head", "tail", "readlink", "realpath", "cmp", "wc", "cut", "tr", "basename", "dirname",
    "cksum", "md5sum", "sha1sum", "sha256sum", "sha512sum",
)  # fmt: skip
# Options of these, by how their names end, that lead to files which no word names.
_LEADING_ON = {"grep": r"-\w*[rRf]|--", "sum": r"-\w*c|--", "wc": "--"}
_WORD = re.compile(r"[^\s'\"`;|&()<>=]+")
_WITH_EQUALS = re.compile(r"[^\s'\"`;|&()<>]*\w=[^\s'\"`;|&()<>]*")
_QUOTED = re.compile(r"'[^']*'|\"[^\"]*\"")
_FILLED_IN = re.compile(r"\$[\w{@*#?!-]|`|\\[\s\"'$\\]")
# Behind these words is text that is compared with the output of commands, not the path of a file.
_COMPARED = re.compile(r"(?:\btest|\[|[!=\s]=|-(?:eq|ne|lt|le|gt|ge|n|z))\s+(?:!\s+)?[\"']?$")
# If nothing else is started, the words after a comparison are text.
_COMPARING = ("[", "test", "readlink", "true", "false", "exit", ":")
_TEXT = re.compile(r"\s(?:!=|==?)\s+[\"']?([^\s'\"`;|&()<>=]+)")
_OF_LINKS = ("-L", "-h")
_BETWEEN_FILES = re.compile(r"\s-(nt|ot|ef)\s")
_MATCHED = re.compile(r"[*?~\\]|\[[^\s\[]")
_LIMIT = 50  # words


class ProbedPaths(NamedTuple):
    """The programs that a command starts, the words that may be paths that it reads, and those of
    which it reads only the target of a final link.
    """

    programs: List[str]
    words: List[str]
    links: List[str]


Names = List[Tuple[str, str]]
"""Things by kind and name; a ``program`` is searched for in PATH."""


def looked_up_names(argv: Sequence[str], planned: Container[str]) -> Optional[Names]:
    """The names that a command looks up on the host; None if its result depends on planned changes
    other than files.

    ``planned`` has the names of changed accounts, packages and units.
    """
    if os.path.basename(argv[0]) not in _SHELLS:
        return None if any(_LIVE.search(word) for word in argv[1:]) else _asked(argv, planned)
    if len(argv) < 3 or argv[1] != "-c" or _LIVE.search(argv[2]):
        return None
    text = _REDIRECTED.sub(" ", argv[2])
    if _KEPT.search(text):
        return None
    return _asked_by(text, planned)


def names_looked_up_by_script(text: str, planned: Container[str]) -> Optional[Names]:
    """Do the same for the text of a file; None also for a file that is not a shell script."""
    if not _SHELL.match(text) or _LIVE.search(text.partition("\n")[2]):
        return None
    lines = [line for line in text.splitlines() if not line.lstrip().startswith("#")]
    whole = _REDIRECTED.sub(" ", "\n".join(lines))
    return None if _KEPT.search(whole) else _asked_by(whole, planned)


def _asked_by(text: str, planned: Container[str]) -> Optional[Names]:
    result: Names = []
    for part in _PARTS.split(text):
        things = _asked(_words(part), planned)
        if things is None:
            return None
        result += things
    return result


def parse_command(argv: Sequence[str]) -> Optional[ProbedPaths]:
    """Return the programs that a command starts and the paths that it may read; None if it may read
    anything else."""
    if _LIVE.search(" ".join(argv)):
        return None
    commands, text, whole = [list(argv)], " ".join(argv), list(argv)
    if os.path.basename(argv[0]) in _SHELLS:
        if len(argv) != 3 or argv[1] != "-c":
            return None
        text = argv[2]
        if _FILLED_IN.search(text) or _MATCHED.search(_QUOTED.sub("", text)) or _prints_path(text):
            return None
        commands = [_words(part) for part in _PARTS.split(_REDIRECTED.sub(" ", text))]
        whole = [part[1:-1] for part in _QUOTED.findall(text) if "$(" not in part]
        whole += _WITH_EQUALS.findall(text)
    words = _WORD.findall(text)  # each as often as it occurs
    words += [word for word in dict.fromkeys(whole) if word not in words]
    begun = [command[0] for command in commands if command]
    if len(words) > _LIMIT or any(os.path.basename(name) not in _READING for name in begun):
        return None
    if any(_leads_on(command) for command in commands):
        return None
    links: List[str] = []
    if all(os.path.basename(name) in _COMPARING for name in begun):
        links = [word for command in commands for word in _links(command)]
        for word in links + _TEXT.findall(text):
            if word in words:
                words.remove(word)
    words = [word for word in words if word.strip("=") and not word.startswith("-")]
    return ProbedPaths([argv[0], *begun], words, links)


def may_write(argv: Sequence[str], programs: Sequence[str]) -> bool:
    """Return whether a command that ``parse_command`` can parse may change the host: by a
    redirection, or because one of the ``programs``, as full paths, is not the system's own."""
    foreign = any(os.path.dirname(program) not in _OF_THE_SYSTEM for program in programs)
    return foreign or any(_WRITTEN_TO.search(word) for word in argv)


def _links(command: Sequence[str]) -> List[str]:
    """Return the words of a command that it reads as links, without following them."""
    if command and os.path.basename(command[0]) == "readlink":
        paths = [] if any(word.startswith("-") for word in command) else list(command[1:])
    else:
        paths = [word for at, word in enumerate(command) if at and command[at - 1] in _OF_LINKS]
    return [word for word in paths if not word.endswith("/")]


def _prints_path(text: str) -> bool:
    """Return whether a script may read a file whose name one of its commands prints."""
    before = text.split("$(")[:-1]
    if before and _BETWEEN_FILES.search(text):
        return True
    return not all(map(_COMPARED.search, before))


def _leads_on(command: Sequence[str]) -> bool:
    """Return whether a command, as words, has an option that makes it read things that no word
    names.
    """
    options = [
        pattern
        for name, pattern in _LEADING_ON.items()
        if command and os.path.basename(command[0]).endswith(name)
    ]
    return any(re.match(pattern, word) for pattern in options for word in command[1:])


def _words(part: str) -> List[str]:
    """Return the words of one command of a script, without those that a shell creates from them."""
    words = part.partition(")")[0].replace("}", " ").split()
    while words and (words[0] in _WORDS_OF_SHELLS or _ASSIGNED.match(words[0])):
        del words[0]
    return [] if words == ["$"] else [word.strip("\"'") for word in words]


def _asked(words: Sequence[str], planned: Container[str]) -> Optional[Names]:
    name = os.path.basename(words[0]) if words else ""
    if name == "for" and any(map(_MATCHES_LIVE.match, words)):
        return None
    if not words or name in _LOOKING:
        return []
    rest = list(words[1:])
    if name in _PLACES:
        if name == "command" and rest[:1] not in (["-v"], ["-V"]):
            return None
        return [("program", word) for word in rest if not word.startswith("-")]
    questions = _ASKING.get(name, {})
    kind = next((questions[word] for word in ["", *rest] if word in questions), "")
    names = [word for word in rest if word not in questions and word not in _QUIET]
    if name == "id":
        names = [word for word in names if not word.startswith("-")]
    elif not names:
        return None
    known = all(_NAME.match(word) and word.partition(":")[0] not in planned for word in names)
    return [(kind, word.partition(":")[0]) for word in names] if kind and known else None
