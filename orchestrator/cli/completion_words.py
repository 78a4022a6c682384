"""``ccm completion words``: the possible words at a cursor, for the scripts (controller).

The words come from the parsers, from inventory and manifest files and from stored runs. Starts no
program, contacts no host, and reports no errors, because the user has only pressed a key.
"""

import argparse
import itertools
import re
from collections.abc import Iterator

from orchestrator.cli.parser import Parser
from orchestrator.project.settings import ROLLOUT

HELP = "Print the candidates for the last word, one per line; for completion scripts."
EXAMPLE = "ccm completion words -- push -i hosts.yaml -l we"

FILES = ":files"
"""Placeholder for file names, which the shell completes."""

_OF_FILES = ("FILE", "MANIFEST", "DIR")
_OF_RUNS = ("ID", "RUN1", "RUN2")
_OF_PROJECT = (ROLLOUT, "gate")
_SOURCE = re.compile(r"(?:-i|--inventory=)(.+)", re.DOTALL)
_LAST_TAG = re.compile(r"-?[^,]*\Z")  # of a list such as web,-slow
_LAST_NAME = re.compile(r"[^:,&!]*\Z")  # of a pattern such as web:&prod

Word = tuple[str, str]
"""A word, and a short description of it; "" if it needs none."""


def configure(parser: Parser) -> None:
    """Take the words of the command line, up to the cursor."""
    parser.passes_on = "words"
    parser.set_defaults(words=[])


def run(args: argparse.Namespace) -> int:
    """Write the candidates, each with a tab and its description."""
    from remote_runtime.errors import CcmError

    try:
        for candidate in candidates(args.words):
            print("\t".join(filter(None, candidate)))
    except (CcmError, OSError):
        pass
    return 0


def candidates(words: list[str]) -> list[Word]:
    """The words that could replace the last one, which is their prefix.

    Each is one line of printable characters. CcmError for unreadable files.
    """
    if not words:
        return []
    *before, current = words
    option, equals, value = current.partition("=")
    given = option + equals if equals and option.startswith("--") else ""
    if given:
        before, current = [*before, option], value
    result: dict[str, str] = {}
    for word, meaning in _offered(before, current):
        if word == FILES:
            result[FILES] = ""
        elif word.startswith(current) and word.isprintable():
            result.setdefault(given + word, meaning)
    return list(result.items())


def _offered(before: list[str], current: str) -> Iterator[Word]:
    """The words that may follow these, with any prefix."""
    from orchestrator.cli.app import COMMANDS
    from orchestrator.cli.command_lookup import build_parser, find_command, load_command

    if not before:
        yield from ((name, _first_line(load_command(name).HELP)) for name in COMMANDS)
        yield from (("--help", "show the commands"), ("--version", "show the version"))
    if not before or before[0] not in COMMANDS:
        return
    name, *rest = before
    command = load_command(name)
    if rest:
        name, command, rest = find_command(before)
    parser = build_parser(name, command)
    arguments, subcommands = parser.arguments, parser.subcommands
    if subcommands and rest and rest[0] in subcommands.parsers:
        arguments = subcommands.parsers[rest.pop(0)].arguments
    visible = [action for action in arguments if action.help != argparse.SUPPRESS]
    options = {name: action for action in visible for name in action.option_strings}
    last = options.get(before[-1])
    if last is not None and last.nargs != 0:
        yield from _values(last, before, current, _manifest(before, options))
    elif current.startswith("-"):
        yield from ((option, _meaning(action)) for option, action in options.items())
    else:
        for action in visible:
            if subcommands and action is subcommands.argument:
                names = subcommands.parsers if not rest else ()
                yield from ((name, subcommands.helps.get(name, "")) for name in names)
            elif not action.option_strings and not (action.choices and rest):
                yield from _values(action, before, current, _manifest(before, options))
        yield from ((word, "") for word in getattr(command, "BELOW", ()) if not rest)
        if any(_standing_alone(["", *rest], options)):  # the name comes first
            meanings = itertools.chain.from_iterable(map(dict.items, parser.offered.values()))
            yield from ((word, meaning) for word, meaning in meanings if not word.isupper())


def _manifest(before: list[str], options: dict[str, argparse.Action]) -> str:
    """Return the manifest on the line, "" if it has none yet."""
    from orchestrator.cli.completion_manifest import MANIFESTS

    return next((w for w in _standing_alone(before, options) if w.endswith(MANIFESTS)), "")


def _standing_alone(words: list[str], options: dict[str, argparse.Action]) -> Iterator[str]:
    """The words after the first one that are neither options nor values of options."""
    for last, word in itertools.pairwise(words):
        valued = last in options and options[last].nargs != 0
        if not (valued or word.startswith("-")):
            yield word


def _values(
    action: argparse.Action, before: list[str], current: str, manifest: str
) -> Iterator[Word]:
    """The candidates of an argument; its choices if it has any."""
    kind = str(action.metavar)
    if action.choices is not None:
        yield from ((str(choice), "") for choice in action.choices)
    elif kind in _OF_FILES:
        yield FILES, ""
    elif kind == "PATTERN":
        at = _LAST_NAME.search(current)
        begun = current[: at.start()] if at else ""
        yield from ((begun + name, "") for name in _named(before, manifest))
    elif kind == "HOST":
        of_run = before[0] == "report"
        names = _of_a_run(before) if of_run else _named(before, manifest, groups=False)
        yield from ((name, "") for name in names)
    elif kind in ("TYPE#GLOB", "TAG,...", "STAGE") or action.dest in _OF_PROJECT:
        yield from ((word, "") for word in _of_manifest(action, manifest, current))
    elif kind in _OF_RUNS:
        from orchestrator.fleet.store.stored_runs import saved_runs

        yield from ((run.run_id, "") for run in saved_runs())


def _of_manifest(action: argparse.Action, manifest: str, current: str) -> Iterator[str]:
    """The words for selecting a part of the manifest."""
    from orchestrator.cli.completion_manifest import part_words, project_of, stages_of, tags_of

    if action.metavar == "STAGE":
        yield from stages_of(manifest)
    elif action.dest == ROLLOUT:
        project = project_of(manifest)
        yield from project.rollouts if project else ()
    elif action.dest == "gate":
        yield "verify"
    elif action.metavar == "TYPE#GLOB":
        yield from part_words(manifest)
    else:
        at = _LAST_TAG.search(current)
        begun = current[: at.start()] if at else ""
        minus = "-" if current[len(begun) :].startswith("-") else ""
        yield from (f"{begun}{minus}{tag}" for tag in tags_of(manifest))


def _meaning(action: argparse.Action) -> str:
    return _first_line((action.help or "") % {"default": action.default})


def _first_line(text: str) -> str:
    return text.strip().partition("\n")[0].rstrip(".")


def _named(words: list[str], manifest: str, groups: bool = True) -> Iterator[str]:
    """The hosts of the inventories on the line, and other names that patterns accept."""
    from os.path import expanduser

    from inventory import load
    from inventory.sources import is_program

    sources = [b for a, b in itertools.pairwise(words) if a in ("-i", "--inventory")]
    sources += [match[1] for match in map(_SOURCE.fullmatch, words) if match]
    sources = sources or _of_the_project(manifest)
    readable = [source for source in map(expanduser, sources) if not is_program(source)]
    if readable:
        inventory = load(readable)
        yield from inventory.hosts
        if groups:
            yield from inventory.groups
    if groups:
        yield from ("failed", "remaining")


def _of_the_project(manifest: str) -> list[str]:
    """The inventories in the project file."""
    from orchestrator.cli.completion_manifest import project_of

    project = project_of(manifest)
    written = project.settings.get("inventory") if project else None
    return list(written.value) if written else []


def _of_a_run(words: list[str]) -> list[str]:
    """The hosts of the run that a report shows."""
    from orchestrator.fleet.store.stored_runs import saved_run

    named = words[1] if len(words) > 1 and not words[1].startswith("-") else ""
    return [str(name) for name in saved_run(named).about["hosts"]]
