"""Finds a command's module and builds its parser (controller)."""

import argparse
import difflib
from collections.abc import Iterable
from importlib import import_module
from typing import Any, NoReturn

from remote_runtime.errors import UsageError


class Parser(argparse.ArgumentParser):
    """An argument parser whose mistakes become UsageError, and that guesses no abbreviations."""

    def __init__(self, **settings: Any) -> None:
        settings.setdefault("allow_abbrev", False)
        settings.setdefault("formatter_class", argparse.RawDescriptionHelpFormatter)
        super().__init__(**settings)

    def error(self, message: str) -> NoReturn:
        """Raise UsageError with the nearest option where one is misspelt."""
        hint = f"'{self.prog} --help' shows what it takes"
        if message.startswith("unrecognized arguments: -"):
            word = message.split()[2].split("=")[0]
            guess = difflib.get_close_matches(word, self._option_string_actions, 1)
            hint = f"did you mean {guess[0]}?" if guess else hint
            message = f"there is no option {word[:60]}"
        raise UsageError(f"{self.prog.removeprefix('ccm ')}: {message}", hint=hint)


def load_command(name: str) -> Any:
    """A command's module: ``HELP``, ``EXAMPLE``, ``configure(parser)``, ``run(args)``."""
    return import_module(f"orchestrator.cli.{name}")


def build_parser(name: str, command: Any) -> Parser:
    """The parser of one command, with its example at the end of the help."""
    example = "\n".join(f"  {line}" for line in command.EXAMPLE.strip().splitlines())
    parser = Parser(prog=f"ccm {name}", description=command.HELP, epilog=f"example:\n{example}")
    command.configure(parser)
    return parser


def unknown_command(name: str, commands: Iterable[str]) -> UsageError:
    """The error for a word that is no command, with the nearest one."""
    guess = difflib.get_close_matches(name, commands, 1, 0.5)
    hint = f"did you mean 'ccm {guess[0]}'?" if guess else "'ccm --help' lists the commands"
    kind = "option" if name.startswith("-") else "command"
    return UsageError(f"there is no {kind} {name[:60]!r}", hint=hint)


def overview(commands: Iterable[str]) -> str:
    """The text of ``ccm --help``."""
    lines = ["usage: ccm COMMAND [OPTIONS]", "", "Configuration management as a push over SSH.", ""]
    for name in commands:
        lines.append(f"  {name:<12} {load_command(name).HELP.splitlines()[0]}")
    lines += [
        "",
        "'ccm COMMAND --help' shows a command's options. 'ccm --version' shows the version.",
        "",
        "example:",
        "  ccm push -i hosts.yaml --noop site.yaml     # what would change",
        "  ccm push -i hosts.yaml site.yaml            # change it",
    ]
    return "\n".join(lines)
