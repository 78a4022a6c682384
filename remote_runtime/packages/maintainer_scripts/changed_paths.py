"""The paths that a call in a maintainer script can change (target; in previews only)."""

from typing import Callable, Dict, List, Optional

from remote_runtime.packages.maintainer_scripts import account_commands as script_accounts
from remote_runtime.packages.maintainer_scripts.conditional_expressions import UNKNOWN
from remote_runtime.packages.maintainer_scripts.known_commands import ACCOUNT, KNOWN
from remote_runtime.packages.maintainer_scripts.shell import Call

# Commands whose changed path is the last argument only; for other commands, all paths count.
_LAST = ("cp", "ln", "install", "ucf")


def changes(call: Call) -> Optional[List[str]]:
    """Return the paths and patterns that a call can change at most; None if they are unknown.

    They contain ``UNKNOWN`` for unknown text.
    """
    name = call.name
    paths: Optional[List[str]] = list(call.writes)
    if name in (":", "{"):
        return paths
    special = _SPECIAL.get(name)
    if special is not None:
        paths = special(call)
    else:
        row = KNOWN.get(name)
        paths = None if row is None else [*row.writes, *(named(call) if row.named else ())]
    return None if paths is None else paths + list(call.writes)


def named(call: Call) -> List[str]:
    """Return the paths in the words of a call, made absolute."""
    arguments = [word for word in call.words[1:] if not word.startswith("-")]
    skipped = call.name in ("chown", "chgrp", "chmod", "setfacl", "chattr", "setcap")
    words = [word for word in arguments[1 if skipped else 0 :] if word]
    if call.name in _LAST:
        words = words[-1:] if "-d" not in call.words else words
    valued = [word.partition("=")[2] for word in call.words[1:] if word.startswith("--")]
    valued = [word for word in valued if word.startswith("/")]
    paths = []
    account = KNOWN[call.name].reason == ACCOUNT if call.name in KNOWN else False
    for word in words:
        path = word if word.startswith(("/", UNKNOWN)) else "%s/%s" % (call.directory, word)
        if account and not word.startswith("/"):
            continue
        if word.startswith("/") or call.directory != "/" or UNKNOWN in word:
            paths.append(path.replace("//", "/").rstrip("/") or "/")
    return paths + valued


def _sed(call: Call) -> Optional[List[str]]:
    """Handle ``sed``, which changes its files only with ``-i``."""
    inside = [w for w in call.words[1:] if w.startswith(("-i", "--in-place")) or _short(w, "i")]
    return [w for w in named(call) if w.startswith(("/", UNKNOWN))] if inside else []


def _short(word: str, letter: str) -> bool:
    return word.startswith("-") and not word.startswith("--") and letter in word[1:]


def _find(call: Call) -> Optional[List[str]]:
    """Handle ``find``, which changes paths below its directories only with certain actions."""
    acting = ("-delete", "-exec", "-execdir", "-ok", "-fprint", "-fprintf", "-fls")
    if not any(word in acting for word in call.words):
        return []
    for at, word in enumerate(call.words):
        if word in ("-exec", "-execdir"):
            program = call.words[at + 1 : at + 2]
            row = KNOWN.get(program[0].rpartition("/")[2]) if program else None
            if row is None or row.writes:
                return None
    directories = []
    for word in call.words[1:]:
        if word.startswith(("-", "(", "!")):
            break
        directories.append(word)
    return [word if word.startswith("/") else UNKNOWN for word in directories]


def _inner(call: Call) -> Optional[List[str]]:
    """Return the command that a wrapper runs; its words follow the wrapper's own options."""
    words = list(call.words[1:])
    while words and (words[0].startswith("-") or "=" in words[0] or words[0][:1].isdigit()):
        with_word = words[0] in ("-u", "-n", "-I", "-s", "-S", "--reuid", "--regid", "-k")
        words = words[2:] if with_word and len(words) > 1 else words[1:]
    if not words:
        return []
    extra = (UNKNOWN,) if call.name == "xargs" else ()
    return changes(call._replace(words=(*words, *extra), writes=()))


def _dpkg(call: Call) -> Optional[List[str]]:
    asking = (
        "--print-architecture",
        "--print-foreign-architectures",
        "--compare-versions",
        "-l",
        "-L",
        "-s",
        "-S",
        "--list",
        "--listfiles",
        "--status",
        "--search",
        "--version",
        "--validate-version",
        "--get-selections",
    )
    return [] if any(word in asking for word in call.words) else None


def _override(call: Call) -> Optional[List[str]]:
    return [] if "--list" in call.words or "--truename" in call.words else named(call)


def _divert(call: Call) -> Optional[List[str]]:
    """Handle diversions, including the names that diverted paths get by default."""
    asking = ("--list", "--listpackage", "--truename")
    if any(word in asking for word in call.words):
        return []
    paths = named(call)
    return paths + [path + ".distrib" for path in paths]


def _directories(call: Call) -> Optional[List[str]]:
    """Handle ``systemctl``, which changes only units, except for the subcommands that edit their
    files.
    """
    doing = ("edit", "set-property", "link", "revert", "set-environment", "import-environment")
    return None if any(word in doing for word in call.words) else []


def _perl(call: Call) -> Optional[List[str]]:
    """Handle ``perl``: with ``-i``, it changes its files; any other Perl program may
    do anything.
    """
    if any(_short(word, "i") for word in call.words[1:]) and len(call.words) > 2:
        return [word for word in call.words[2:] if word.startswith(("/", UNKNOWN))]
    return None


def _key(call: Call) -> Optional[List[str]]:
    """Handle ``ssh-keygen``, which writes the public key next to the private one."""
    return [path + end for path in named(call) for end in ("", ".pub")]


def _ucf(call: Call) -> Optional[List[str]]:
    """Handle ``ucf``, which also keeps files next to the one that it manages."""
    paths = named(call)
    beside = (".ucf-old", ".ucf-new", ".ucf-dist", ".dpkg-old", ".dpkg-dist")
    return [*KNOWN["ucf"].writes, *paths, *(path + end for path in paths for end in beside)]


def _useradd(call: Call) -> Optional[List[str]]:
    """Handle ``useradd`` and ``adduser``, whose paths are only names if they create no home
    directory."""
    return named(call) if script_accounts.creates_home(call.words) else []


def _awk(call: Call) -> Optional[List[str]]:
    """Handle ``awk``, which writes and runs only as its program text requests."""
    program = " ".join(call.words[1:])
    return None if "system(" in program or "print >" in program else []


_SPECIAL: Dict[str, Callable[[Call], Optional[List[str]]]] = {
    "sed": _sed,
    "find": _find,
    "xargs": _inner,
    "env": _inner,
    "timeout": _inner,
    "runuser": _inner,
    "setpriv": _inner,
    "chronic": _inner,
    "setarch": _inner,
    "dpkg": _dpkg,
    "dpkg-statoverride": _override,
    "dpkg-divert": _divert,
    "systemctl": _directories,
    "perl": _perl,
    "ucf": _ucf,
    "ssh-keygen": _key,
    "useradd": _useradd,
    "adduser": _useradd,
    "awk": _awk,
    "gawk": _awk,
    "mawk": _awk,
}
