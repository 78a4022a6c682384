"""The parser of a command: what it records, and how it treats the parsers of actions."""

import argparse

import pytest

from orchestrator.cli.app import COMMANDS
from orchestrator.cli.command_lookup import build_parser, find_command, load_command
from orchestrator.cli.parser import Parser
from orchestrator.manifest.resource_types import type_names
from remote_runtime.errors import UsageError

EVERY = [[name] for name in COMMANDS if name != "ensure"] + [
    ["ensure", name] for name in type_names()
]


@pytest.mark.parametrize("words", EVERY, ids=" ".join)
def test_the_parser_records_every_argument(words: list[str]) -> None:
    """The list of arguments is that of argparse, also for the actions of a command."""
    name, command, _ = find_command(words)
    parser = build_parser(name, command)
    actions = parser.subcommands.parsers.values() if parser.subcommands else ()
    for one in (parser, *actions):
        assert one.arguments == one._actions
        assert one.options == one._option_string_actions


def parser_with_actions() -> Parser:
    parser = Parser(prog="ccm x")
    actions = parser.add_subcommands()
    show = actions.add_parser("show", aliases=["list"], help="show it", description="Show it.")
    show.intermixed = True
    show.add_argument("names", nargs="*")
    show.add_argument("--all", action="store_true")
    actions.add_parser("drop", help="drop it", description="Drop it.")
    return parser


def test_an_action_takes_options_between_its_arguments_if_it_says_so() -> None:
    """An intermixed action parses its words as a whole, under each of its names."""
    for name in ("show", "list"):
        args = parser_with_actions().parse([name, "a", "--all", "b"])
        assert (args.action, args.names, args.all) == (name, ["a", "b"], True)


@pytest.mark.parametrize("action", ["show", "drop"])
def test_an_action_refuses_an_unknown_option_in_its_own_name(action: str) -> None:
    """The error names the action, not only the command."""
    with pytest.raises(UsageError, match=f"^x {action}: unknown option --nosuch"):
        parser_with_actions().parse([action, "--nosuch"])


def test_a_prefixed_option_keeps_its_destination() -> None:
    """A flag may then have the name, and both can be given."""
    parser = Parser(prog="ccm x")
    group = parser.add_group("group")
    with parser.prefixed("--run-", {"--user"}):
        group.add_exclusive_group().add_argument("-u", "--user")
    parser.add_argument("--user", dest="property_user")
    args = parser.parse(["--run-user", "root", "--user", "www-data"])
    assert (args.user, args.property_user) == ("root", "www-data")
    assert [one.dest for one in group.arguments] == ["user"]


def test_help_wraps_sentences_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """An indented example stays as it is, and the description is not changed for good."""
    monkeypatch.setenv("COLUMNS", "40")
    sentence, example = "word " * 20, "  ccm x " + "argument " * 10
    parser = Parser(prog="ccm x", description=sentence, epilog=f"example:\n{example}")
    lines = parser.format_help().splitlines()
    assert example.rstrip() in [line.rstrip() for line in lines]
    assert max(len(line) for line in lines if "word" in line) <= 38
    assert (parser.description, parser.add_help) == (sentence, True)


def test_only_lists_are_repeatable() -> None:
    """The destinations that collect values are those that are declared to append."""
    parser = build_parser("push", load_command("push"))
    appended = {one.dest for one in parser._actions if isinstance(one, argparse._AppendAction)}
    assert parser.repeatable == appended
