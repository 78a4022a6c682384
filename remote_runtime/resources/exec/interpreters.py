"""Programs that run a command as a script (target)."""

from typing import Callable, Dict, List, Tuple

# Each name with the programs that may be it, the best first, and the arguments before the script.
_SCRIPTS: Dict[str, Tuple[Tuple[str, ...], Tuple[str, ...]]] = {
    "sh": (("/bin/sh",), ("-c",)),
    "bash": (("bash",), ("-c",)),
    "csh": (("csh", "tcsh"), ("-f", "-c")),
    "perl": (("perl",), ("-e",)),
    "python": (("python3", "python"), ("-c",)),
    "ruby": (("ruby",), ("-e",)),
    "powershell_script": (("pwsh",), ("-NoLogo", "-NoProfile", "-NonInteractive", "-Command")),
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


def argv(name: str, script: str, boolean: bool, find: Callable[[str], str]) -> List[str]:
    """The words that run ``script`` with the interpreter ``name``.

    ``find`` looks a program up; where none is found the first one is left to fail by its name.
    """
    programs, arguments = _SCRIPTS[name]
    program = next((p for p in programs if find(p)), programs[0])
    if name == "powershell_script" and boolean:
        script = _BOOLEAN % script
    return [program] + list(arguments) + [script]
