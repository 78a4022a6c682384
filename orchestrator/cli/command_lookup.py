"""Finds a command's module and builds its parser (controller)."""

from collections.abc import Iterable, Iterator
from importlib import import_module
from typing import Any

from orchestrator.cli.parser import Parser, default_scope
from remote_runtime.errors import UsageError

_MODULES = {"import": "import_ansible"}
"""Commands whose name is a Python keyword."""


def load_command(name: str) -> Any:
    """A command's module: ``HELP``, ``EXAMPLE``, ``configure(parser)``, ``run(args)``.

    It may also have ``below(words)``, which returns a subcommand for the following words.
    """
    return import_module(f"orchestrator.cli.{_MODULES.get(name, name)}")


def find_command(words: list[str]) -> tuple[str, Any, list[str]]:
    """The command at the start of the words: its name, its module, and the remaining words."""
    name, *rest = words
    command = load_command(name)
    subcommand = command.below(rest) if hasattr(command, "below") else None
    return (*subcommand, rest[1:]) if subcommand else (name, command, rest)


def build_parser(name: str, command: Any) -> Parser:
    """The parser of one command, with its example at the end of the help."""
    example = "\n".join(f"  {line}" for line in command.EXAMPLE.strip().splitlines())
    actions = [entry(f"  {word}", _in_list(one.HELP)) for word, one in _actions(command)]
    listed = "\n".join(["actions:", *actions, "", ""]) if actions else ""
    epilog = f"{listed}examples:\n{example}"
    parser = Parser(prog=f"ccm {name}", description=command.HELP, epilog=epilog)
    parser.config_scope = getattr(command, "config_scope", default_scope)
    command.configure(parser)
    return parser


def _in_list(text: str) -> str:
    """The first sentence of a help text as an entry of a list."""
    return text[:1].lower() + text[1:].split(". ")[0].rstrip(".")


def _actions(command: Any) -> Iterator[tuple[str, Any]]:
    """The commands below a command with their first words."""
    for word in getattr(command, "BELOW", ()):
        if found := command.below([word]):
            yield word, found[1]


def unknown_command(name: str, commands: Iterable[str], below: str = "") -> UsageError:
    """The error for a word that is not a command, with the most similar one; ``below`` another
    command.
    """
    import difflib

    guess = difflib.get_close_matches(name, commands, 1, 0.65)
    words = ["ccm", *([below] if below else [])]
    hint = f"did you mean '{' '.join([*words, *guess])}'?"
    if not guess:
        hint = "'ccm docs' lists the types" if below else "'ccm --help' lists the commands"
    kind = "option" if name.startswith("-") else "resource type" if below else "command"
    return UsageError(f"unknown {kind} {name[:60]!r}", hint=hint)


def overview(commands: Iterable[str]) -> str:
    """The text of ``ccm --help``."""
    lines = [
        "usage: ccm COMMAND [OPTIONS]",
        "",
        "Configuration management that pushes over SSH.",
        "",
    ]
    for name in commands:
        lines.append(entry(f"  {name}", load_command(name).HELP.splitlines()[0], 14))
    lines += [
        "",
        "'ccm COMMAND --help' shows its options; 'ccm --version' shows the version.",
        "",
        "examples:",
        "  ccm push -i hosts.yaml --noop site.yaml     # what would change",
        "  ccm push -i hosts.yaml site.yaml            # change it",
    ]
    return "\n".join(lines)


def entry(name: str, text: str, column: int = 12) -> str:
    """Return a line of a list: a name, followed by its text, wrapped in its own column."""
    import shutil
    import textwrap

    width = max(shutil.get_terminal_size().columns, 40)
    return textwrap.fill(f"{name:<{column}} {text}", width, subsequent_indent=" " * (column + 1))
