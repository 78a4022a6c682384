"""The reference of the command line, from the parsers themselves (controller)."""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterator

from orchestrator.cli.app import COMMANDS
from orchestrator.cli.command_lookup import build_parser, find_command, load_command
from orchestrator.cli.parser import Parser
from orchestrator.manifest.resource_types import type_names
from schemas.tables import table


def names() -> tuple[str, ...]:
    """The commands, in the order of ``ccm --help``."""
    return COMMANDS


def commands() -> str:
    """A section for each command: what it is for, its arguments and options, an example."""
    return "\n\n".join("\n\n".join(_command(name)) for name in COMMANDS)


def _command(name: str) -> Iterator[str]:
    module = load_command(name)
    parser = build_parser(name, module)
    yield f"## ccm {name}"
    yield " ".join(f"{line.strip()}" for line in module.HELP.strip().splitlines())
    yield from _options(parser)
    if parser.subcommands:
        for word, subparser in parser.subcommands.parsers.items():
            yield f"### ccm {name} {word}"
            text = parser.subcommands.helps.get(word) or subparser.description or ""
            yield _sentence(text).rstrip(".") + "."
            yield from _options(subparser)
    if name == "ensure":
        yield from _every_type()
    for word in getattr(module, "BELOW", ()):
        below, command, _ = find_command([name, word])
        yield f"### ccm {below}"
        yield _sentence(command.HELP)
        yield from _options(build_parser(below, command))
    yield f"```console\n{_prompted(module.EXAMPLE)}\n```"


def _every_type() -> Iterator[str]:
    """What ``ccm ensure`` takes for most types: all that is not of one type only."""
    counted: Counter[tuple[str, str]] = Counter()
    for type_ in type_names():
        label, command, _ = find_command(["ensure", type_])
        counted.update(_rows(build_parser(label, command)))
    common = [list(row) for row, count in counted.items() if 2 * count > len(type_names())]
    yield "### ccm ensure TYPE"
    yield (
        "The properties of the type are flags with the same names and dashes. If a property has "
        "the name of an option below, the option gets the prefix `run`, such as `--run-user` of an "
        "exec. If it has the name of a flag that all commands share, the property gets its type as "
        "prefix, such as `--exec-unless`."
    )
    yield table(["Argument", "Description"], common)


def _options(parser: Parser) -> Iterator[str]:
    rows = [list(row) for row in _rows(parser)]
    if rows:
        yield table(["Argument", "Description"], rows)


def _rows(parser: Parser) -> Iterator[tuple[str, str]]:
    for action in parser.arguments:
        hidden = "--help" in action.option_strings or (
            parser.subcommands and action is parser.subcommands.argument
        )
        if not hidden and action.help != argparse.SUPPRESS:
            yield _spelling(action), _text(action)


def _spelling(action: argparse.Action) -> str:
    """How an argument is written; said here because argparse's own differs between Pythons."""
    if isinstance(action.metavar, str):
        value = action.metavar
    elif action.choices is not None:
        value = "{" + ",".join(map(str, action.choices)) + "}"
    else:
        value = action.dest.upper()
    if not action.option_strings:
        return f"`{value}`"
    if action.nargs == 0:
        return ", ".join(f"`{option}`" for option in action.option_strings)
    shown = f"[{value}]" if action.nargs == "?" else value
    return ", ".join(f"`{option} {shown}`" for option in action.option_strings)


def _text(action: argparse.Action) -> str:
    text = _sentence(action.help % vars(action)) if action.help else ""
    return text + (" (required)" if action.required and action.option_strings else "")


def _sentence(text: str) -> str:
    text = " ".join(text.split())
    return text[:1].upper() + text[1:]


def _prompted(example: str) -> str:
    lines = example.strip().splitlines()
    return "\n".join(line if line.startswith((" ", "$", "#")) else f"$ {line}" for line in lines)
