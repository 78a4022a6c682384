"""The commands that a maintainer script's shell carries out itself (target; in previews only)."""

from typing import Callable, Dict, List, Optional

from remote_runtime.packages.maintainer_scripts.conditional_expressions import UNKNOWN, negated
from remote_runtime.packages.maintainer_scripts.shell import Shell
from remote_runtime.text.numbers import is_number

Builtin = Callable[[Shell, List[str]], Optional[bool]]

_CONFIGURATION = ("/etc/default/", "/etc/os-release", "/usr/lib/os-release", "/etc/lsb-release")
_DEBCONF = "/usr/share/debconf/confmodule"


def _succeeds(interpreter: Shell, words: List[str]) -> Optional[bool]:
    return True


def _fails(interpreter: Shell, words: List[str]) -> Optional[bool]:
    return False


def _test(interpreter: Shell, words: List[str]) -> Optional[bool]:
    closing = {"[": "]", "[[": "]]"}.get(words[0], "")
    if closing and words[-1] != closing:
        return None
    return interpreter.test(words[1:-1] if closing else words[1:])


def _exit(interpreter: Shell, words: List[str]) -> Optional[bool]:
    interpreter.end("script")
    return None


def _return(interpreter: Shell, words: List[str]) -> Optional[bool]:
    interpreter.end("function")
    return None


def _break(interpreter: Shell, words: List[str]) -> Optional[bool]:
    interpreter.end("loop" if words[0] == "break" else "round")
    return None


def _umask(interpreter: Shell, words: List[str]) -> Optional[bool]:
    if len(words) > 1:
        interpreter.umask = words[1].lstrip("0").rjust(3, "0")
    return True


def _assign(interpreter: Shell, words: List[str]) -> Optional[bool]:
    for word in words[1:]:
        name, equals, value = word.partition("=")
        if equals:
            interpreter.variables[name] = value
        elif words[0] == "local":
            interpreter.variables[name] = ""
    return True


def _unset(interpreter: Shell, words: List[str]) -> Optional[bool]:
    for word in words[1:]:
        interpreter.variables[word] = ""
    return True


def _shift(interpreter: Shell, words: List[str]) -> Optional[bool]:
    count = words[1] if len(words) > 1 else "1"
    del interpreter.arguments[: int(count) if is_number(count) else len(interpreter.arguments)]
    return True


def _set(interpreter: Shell, words: List[str]) -> Optional[bool]:
    arguments = words[1:]
    while arguments and arguments[0][:1] in "+-" and arguments[0] != "--":
        arguments = arguments[2:] if arguments[0] in ("-o", "+o") else arguments[1:]
    if arguments:
        interpreter.arguments[:] = arguments[1:] if arguments[0] == "--" else arguments
    return True


def _read(interpreter: Shell, words: List[str]) -> Optional[bool]:
    for word in words[1:]:
        if not word.startswith("-"):
            interpreter.variables[word] = UNKNOWN
    return None


def _getopts(interpreter: Shell, words: List[str]) -> Optional[bool]:
    interpreter.variables.update(dict.fromkeys([*words[2:3], "OPTARG", "OPTIND"], UNKNOWN))
    return None


def _cd(interpreter: Shell, words: List[str]) -> Optional[bool]:
    interpreter.enter(words[1] if len(words) > 1 else UNKNOWN)
    return True


def _eval(interpreter: Shell, words: List[str]) -> Optional[bool]:
    text = " ".join(words[1:])
    if UNKNOWN in text:
        interpreter.expose()
        return interpreter.report(words)
    return interpreter.evaluate(text)


def _trap(interpreter: Shell, words: List[str]) -> Optional[bool]:
    arguments = [word for word in words[1:] if word != "--"]
    if len(arguments) > 1 and arguments[0] not in ("", "-") and UNKNOWN not in arguments[0]:
        interpreter.maybe(arguments[0])
    return True


def _source(interpreter: Shell, words: List[str]) -> Optional[bool]:
    """Handle ``.``: a file of settings sets variables; any other file is a call like that of a
    program.
    """
    path = words[1] if len(words) > 1 else ""
    if path == _DEBCONF:
        interpreter.variables["RET"] = UNKNOWN
        return True
    interpreter.expose()
    return None if path.startswith(_CONFIGURATION) else interpreter.report(words)


def _command(interpreter: Shell, words: List[str]) -> Optional[bool]:
    """Handle ``command -v``, ``type`` and ``which``, which look for programs."""
    names = [word for word in words[1:] if not word.startswith("-")]
    if words[0] == "command" and words[1:2] != ["-v"] and words[1:2] != ["-V"]:
        return interpreter.report(words[2:] or words)
    if len(names) != 1 or UNKNOWN in names[0]:
        return None
    return interpreter.found(names[0])


def _compare(interpreter: Shell, words: List[str]) -> Optional[bool]:
    """Handle ``dpkg --compare-versions``."""
    arguments = [word for word in words[1:] if word != "--"]
    if arguments[:1] != ["--compare-versions"] or len(arguments) != 4:
        return interpreter.report(words)
    return compared(arguments[1], arguments[2], arguments[3])


def compared(left: str, operator: str, right: str) -> Optional[bool]:
    """Return dpkg's comparison of two versions; None if one is unknown. An empty version is earlier
    than any other, and later with an operator that ends in ``-nl``."""
    from remote_runtime.packages.versions import debian as debian_version

    if UNKNOWN in left + operator + right:
        return None
    last = operator.endswith("-nl")
    operator = operator[:-3] if last else operator
    if not left or not right:
        order = bool(left) - bool(right)
        order = -order if last else order
    else:
        try:
            order = debian_version.compare(left, right)
        except ValueError:
            return None
    holds = {
        "lt": order < 0,
        "le": order <= 0,
        "eq": order == 0,
        "ne": order != 0,
        "ge": order >= 0,
        "gt": order > 0,
        "<": order <= 0,  # as dpkg reads the old sign
        "<<": order < 0,
        "<=": order <= 0,
        "=": order == 0,
        ">=": order >= 0,
        ">>": order > 0,
        ">": order >= 0,
    }
    return holds.get(operator)


def _not(interpreter: Shell, words: List[str]) -> Optional[bool]:
    return negated(interpreter.report(words[1:]))


BUILTINS: Dict[str, Builtin] = {
    "[": _test,
    "[[": _test,
    "test": _test,
    "true": _succeeds,
    ":": _succeeds,
    "umask": _umask,
    "wait": _succeeds,
    "break": _break,
    "continue": _break,
    "shopt": _succeeds,
    "hash": _succeeds,
    "times": _succeeds,
    "ulimit": _succeeds,
    "alias": _succeeds,
    "false": _fails,
    "exit": _exit,
    "return": _return,
    "export": _assign,
    "local": _assign,
    "readonly": _assign,
    "declare": _assign,
    "typeset": _assign,
    "unset": _unset,
    "shift": _shift,
    "set": _set,
    "read": _read,
    "getopts": _getopts,
    "cd": _cd,
    "pushd": _cd,
    "eval": _eval,
    "trap": _trap,
    ".": _source,
    "source": _source,
    "command": _command,
    "which": _command,
    "type": _command,
    "dpkg": _compare,
    "!": _not,
}
