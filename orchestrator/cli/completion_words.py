"""``ccm completion words``: what could stand where a cursor is, asked by the scripts (controller).

Reads inventories that are files and what is kept of runs. Starts no program and contacts no host,
and says nothing where it finds nothing: somebody has only pressed a key.
"""

import argparse
import re
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from orchestrator.cli.commands import Parser

HELP = "Print what could stand in place of the last word, one a line; for the shells' scripts."
EXAMPLE = "ccm completion words -- push -i hosts.yaml -l we"

_PATTERN = ("-l", "--limit")
_SOURCE = re.compile(r"(?:-i|--inventory=)(.+)", re.DOTALL)
_LAST_NAME = re.compile(r"[^:,&!]*\Z")  # of a pattern such as web:&prod


def configure(parser: "Parser") -> None:
    """Take the words of the command line, up to the cursor."""
    parser.passes_on = "words"
    parser.set_defaults(words=[])


def run(args: argparse.Namespace) -> int:
    """Write the candidates."""
    from remote_runtime.errors import CcmError

    try:
        for candidate in candidates(args.words):
            print(candidate)
    except (CcmError, OSError):
        pass
    return 0


def candidates(words: list[str]) -> list[str]:
    """The words that could stand in place of the last one, which is their beginning.

    Each is one line of characters that a terminal shows. CcmError for what cannot be read.
    """
    if len(words) < 2:
        return []
    *before, current = words
    option, equals, value = current.partition("=")
    if equals and option.startswith("--"):
        before, current = [*before, option], value
    if before[-1] in _PATTERN:
        at = _LAST_NAME.search(current)
        begun = current[: at.start()] if at else ""
        found: Iterable[str] = (begun + name for name in _named(before))
    elif before[-1] == "--host":
        found = _of_a_run(before) if before[0] == "report" else _named(before, groups=False)
    else:
        found = _runs()
    fitting = (name for name in found if name.startswith(current) and name.isprintable())
    return list(dict.fromkeys(fitting))


def _named(words: list[str], groups: bool = True) -> Iterator[str]:
    """The hosts of the inventories on the line, and what else a pattern may name."""
    import itertools
    from os.path import expanduser

    from inventory import load
    from inventory.dynamic import is_program

    sources = [b for a, b in itertools.pairwise(words) if a in ("-i", "--inventory")]
    sources += [found[1] for found in map(_SOURCE.fullmatch, words) if found]
    readable = [source for source in map(expanduser, sources) if not is_program(source)]
    if readable:
        known = load(readable)
        yield from known.hosts
        if groups:
            yield from known.groups
    if groups:
        yield from ("failed", "remaining")


def _of_a_run(words: list[str]) -> list[str]:
    """The hosts of the run that a report is of."""
    from orchestrator.fleet.kept_runs import kept_run

    named = words[1] if len(words) > 1 and not words[1].startswith("-") else ""
    return [str(name) for name in kept_run(named).about["hosts"]]


def _runs() -> Iterator[str]:
    """The ids of the runs that are kept, the newest first."""
    from orchestrator.fleet.kept_runs import kept_runs

    return (kept.run_id for kept in kept_runs())
