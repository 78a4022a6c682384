"""``command``, ``shell``, ``raw`` and ``script`` (controller)."""

import re
import shlex
from typing import Any

from orchestrator.ansible.jinja import text_rewriter
from orchestrator.ansible.jinja.parsing import is_template
from orchestrator.ansible.modules.mapping_context import Context, maps
from orchestrator.ansible.modules.module_arguments import Arguments
from orchestrator.ansible.output.manifest_entries import Entry
from orchestrator.ansible.problems import NotConvertible

_SHELLS = {"/bin/bash": "bash", "/usr/bin/bash": "bash", "bash": "bash"}
_PATTERN = re.compile(r"[*?\[]")


@maps("command", "shell", "raw")
def command(context: Context, arguments: Arguments) -> list[Entry]:
    """Commands with their conditions."""
    properties = command_properties(context, arguments)
    word = first_words(_line(context, arguments, context.task.module != "command"))
    return [context.exec(word, properties)]


_MAX_NAME_LENGTH = 60


def first_words(line: str) -> str:
    """The beginning of a command as a name; templates in it are never cut."""
    text = line.strip().split("\n")[0]
    made = ""
    for part in re.split(r"(\{\{.*?\}\})", text):
        left = _MAX_NAME_LENGTH - len(made)
        if left <= 0:
            break
        made += part if part.startswith("{{") else part[:left]
    return made if made.count("{{") == made.count("}}") else made.split("{{")[0] or "command"


def command_properties(context: Context, arguments: Arguments) -> dict[str, Any]:
    """The properties of ``exec``; NotConvertible."""
    task = context.task
    shell = task.module != "command"
    arguments.ignore("warn", "strip_empty_ends", "decrypt")
    properties: dict[str, Any] = {"command": _line(context, arguments, shell)}
    executable = arguments.literal("executable")
    if executable and shell:
        if executable in _SHELLS:
            properties["interpreter"] = _SHELLS[executable]
        elif executable not in ("/bin/sh", "sh"):
            raise NotConvertible(f"executable {executable}")
    elif executable:
        raise NotConvertible("executable of command")
    if shell and "interpreter" not in properties:
        properties["provider"] = "shell"
    properties.update(arguments.texts_by_name(cwd="chdir"))
    if context.environment:
        properties["environment"] = list(context.environment)
    _stdin(arguments, properties)
    properties.update(context.user())
    _conditions(arguments, properties)
    return properties


def _stdin(arguments: Arguments, properties: dict[str, Any]) -> None:
    """Give a command its standard input, from a variable of its environment."""
    ends = arguments.flag("stdin_add_newline", default=True)
    given = arguments.text("stdin")
    if given is None:
        return
    properties["environment"] = [*properties.get("environment", []), f"CCM_STDIN={given}"]
    form = r"%s\n" if ends else "%s"
    sent = f'printf "{form}" "$CCM_STDIN" |'
    line = str(properties["command"])
    if "provider" in properties or "interpreter" in properties:
        properties["command"] = f"{sent} {{\n{line.rstrip()}\n}}"
    else:
        script = single_quoted(sent + ' "$@"')
        properties["command"] = f"sh -c {script} sh {line}"


def _line(context: Context, arguments: Arguments, shell: bool) -> str:
    argv = arguments.raw("argv")
    if argv is not None:
        if not isinstance(argv, list):
            raise NotConvertible("argv is a template")
        return " ".join(_word(text_rewriter.text(str(one), context.scope)) for one in argv)
    written = context.task.free_form or str(arguments.raw("cmd") or "")
    arguments.ignore("cmd")
    if not written.strip():
        raise NotConvertible("no command")
    expand = arguments.flag("expand_argument_vars", default=True)
    if (
        not shell
        and expand
        and re.search(r"\$[A-Za-z_]|\$\{\w|(?:^|\s)~", re.sub(r"\{\{.*?\}\}", "", written))
    ):
        raise NotConvertible("environment variables in a command without a shell")
    line = text_rewriter.text(written.strip(), context.scope)
    if not shell:
        line = re.sub(r"(?<!\s)\s*\\?\n\s*", " ", line)
        _check_quotes(line)
    return line


def _check_quotes(line: str) -> None:
    try:
        shlex.split(re.sub(r"\{\{.*?\}\}", "x", line))
    except ValueError as error:
        raise NotConvertible(f"a command that cannot be split: {error}") from error


def _word(text: str) -> str:
    return f'"{text}"' if "{{" in text else shlex.quote(text)


def _conditions(arguments: Arguments, properties: dict[str, Any]) -> None:
    cwd = properties.get("cwd")
    for name, path in arguments.texts_by_name("creates", "removes").items():
        if _PATTERN.search(re.sub(r"\{\{.*?\}\}", "", path)) or path.startswith("~"):
            if name == "removes" or path.startswith("~"):
                raise NotConvertible(f"{name} with a pattern")
            properties["unless"] = f"sh -c 'ls -d {path} >/dev/null 2>&1'"
            continue
        full = path if path.startswith(("/", "{{")) or not cwd else f"{cwd}/{path}"
        if not full.startswith(("/", "{{")):
            raise NotConvertible(f"{name} with a relative path")
        if name == "creates":
            properties["creates"] = full
        else:
            properties["onlyif"] = f"test -e {full}"


def guard_of(properties: dict[str, Any]) -> dict[str, Any]:
    """The command of an exec for a lookup or a condition, which do not use a shell."""
    line = str(properties["command"])
    if "interpreter" in properties:
        line = f"{properties['interpreter']} -c {single_quoted(line)}"
    shell = properties.get("provider") == "shell"
    if "onlyif" in properties:  # of removes: without the file, the original succeeds
        line, shell = f"if {properties['onlyif']}; then {line.rstrip()}\nfi", True
    if shell:
        line = f"sh -c {single_quoted(line)}"
    kept = ("cwd", "environment", "user")
    return {"command": line, **{key: properties[key] for key in kept if key in properties}}


def single_quoted(text: str) -> str:
    """Return a string with templates as one shell word. Quotes in the templates are kept."""
    parts = re.split(r"(\{\{.*?\}\})", text, flags=re.DOTALL)
    made = [one if one.startswith("{{") else one.replace("'", "'\"'\"'") for one in parts]
    return "'" + "".join(made) + "'"


@maps("script")
def script(context: Context, arguments: Arguments) -> list[Entry]:
    """A script of the project; its text becomes the command."""
    words = context.task.free_form or str(arguments.raw("cmd") or "")
    arguments.ignore("cmd", "decrypt")
    if is_template(words):
        raise NotConvertible("a script with templates in its arguments")
    _check_quotes(words)
    parts = shlex.split(words)
    if len(parts) != 1:
        raise NotConvertible("a script with arguments")
    found = context.files.find("files", parts[0])
    if found is None:
        raise NotConvertible(f"'{parts[0]}' is not in the project")
    written, original = found
    with original.open(encoding="utf-8", errors="replace") as stream:
        first = stream.readline()
    program = next((name for name in ("bash", "perl", "python", "ruby") if name in first), "sh")
    executable = arguments.literal("executable")
    if executable:
        raise NotConvertible(f"executable {executable}")
    if not first.startswith("#!"):
        raise NotConvertible("a script without #!")
    context.files.take(written, original)
    properties: dict[str, Any] = {
        "command": f"{{{{ file('{written}') }}}}",
        "interpreter": program,
        **arguments.texts_by_name(cwd="chdir"),
        **context.user(),
    }
    _conditions(arguments, properties)
    return [context.exec(parts[0], properties)]
