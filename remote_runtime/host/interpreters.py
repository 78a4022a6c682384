"""Programs that run a command as a script (target)."""

from typing import Callable, Dict, List, NamedTuple, Optional, Tuple


class Interpreter(NamedTuple):
    """The programs that can be this interpreter, best first, and their arguments before
    the script.
    """

    programs: Tuple[str, ...]
    arguments: Tuple[str, ...]
    from_input: bool = False  # the script is read from standard input, not from an argument


class Start(NamedTuple):
    """The words of a command, and its standard input."""

    argv: List[str]
    input: Optional[bytes] = None


_INTERPRETERS: Dict[str, Interpreter] = {
    "sh": Interpreter(("/bin/sh",), ("-c",)),
    "bash": Interpreter(("bash",), ("-c",)),
    # With -c, both of Debian's run a loop once and report nothing.
    "csh": Interpreter(("csh", "tcsh"), ("-f",), from_input=True),
    "perl": Interpreter(("perl",), ("-e",)),
    "python": Interpreter(("python3", "python", "/usr/libexec/platform-python"), ("-c",)),
    # In the locale C, it would refuse a script that is not plain ASCII.
    "ruby": Interpreter(("ruby",), ("-Ku", "-e")),
    "powershell_script": Interpreter(
        ("pwsh",), ("-NoLogo", "-NoProfile", "-NonInteractive", "-Command")
    ),
}

# A script whose only result is true or false exits 0 or 1; anything else keeps its usual exit code.
_BOOLEAN = (
    "$ccmResult = & {\n%s\n}\n"
    "$ccmOk = $?\n"
    "if ($ccmResult -is [bool]) { exit [int](-not $ccmResult) }\n"
    "$ccmResult\n"
    "if ($null -ne $LASTEXITCODE) { exit $LASTEXITCODE }\n"
    "exit [int](-not $ccmOk)\n"
)


def start(name: str, script: str, boolean: bool, find: Callable[[str], str]) -> Start:
    """Return the command that runs ``script`` with the interpreter ``name``.

    ``find`` looks up a program; if none is found, the first one fails under its name.
    """
    programs, arguments, from_input = _INTERPRETERS[name]
    program = next((p for p in programs if find(p)), programs[0])
    if name == "powershell_script" and boolean:
        script = _BOOLEAN % script
    if from_input:
        text = script.encode("utf-8", "surrogateescape")
        return Start([program, *arguments], text + b"\n")
    return Start([program, *arguments, script])
