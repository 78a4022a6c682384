"""The commands that the pages show exist, with the options that they are shown with."""

import re
import shlex
from pathlib import Path

import pytest

from orchestrator.cli.app import COMMANDS
from orchestrator.cli.command_lookup import build_parser, find_command, load_command
from orchestrator.cli.parser import Parser
from orchestrator.manifest.resource_types import type_names
from tests.docs.pages import DOCS, PAGES, ROOT, blocks

LINES = sorted(
    {
        line[2:]
        for page in PAGES
        for block in blocks(page, "console")
        for line in block.text.replace("\\\n", " ").splitlines()
        if re.match(r"\$ (?:[A-Z_]+=\S+ |[A-Z_]+='[^']*' )*ccm [a-z]", line)
        and "--help" not in line
    }
)


def words_of(line: str) -> list[str]:
    """The words after ``ccm``, up to a pipe or a redirection."""
    found = shlex.split(line, comments=True)
    found = found[found.index("ccm") + 1 :]
    ends = [at for at, word in enumerate(found) if word in ("|", "<", ">", "2>") or word[0] == ">"]
    return found[: ends[0]] if ends else found


def test_there_are_commands() -> None:
    """The pages show the commands that matter."""
    assert {words_of(line)[0] for line in LINES} >= {"push", "validate", "inventory", "facts"}


PROJECT = "inventory: hosts.yaml\nrollouts: {careful: {waves: '1,10%,100%'}}\n"


@pytest.mark.parametrize("line", LINES)
def test_shown_commands_are_understood(
    line: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A command line of the pages is accepted by the parser of its command, in a project."""
    monkeypatch.chdir(tmp_path)
    Path("ccm.yaml").write_text(PROJECT, encoding="utf-8")
    words = words_of(line)
    assert words[0] in COMMANDS
    name, command, rest = find_command(words)
    build_parser(name, command).parse(rest)


def options_of(parser: Parser) -> set[str]:
    """Every option in the help of a command and of those below it."""
    found = set(re.findall(r"--[a-z][a-z-]+", parser.format_help()))
    if parser.subcommands:
        for subparser in parser.subcommands.parsers.values():
            found |= options_of(subparser)
    return found


def test_options_in_the_text_exist() -> None:
    """Every ``--option`` that the pages name in code belongs to a command, or to its examples."""
    known = {"--version", "--help", "--list", "--check", "--diff", "--limit"}
    known |= {"--write", "--hosts", "--runs", "--skip-pyinfra", "--against"}  # python -m benchmarks
    known |= {"--count"}  # python -m benchmarks.types.type_costs
    known |= {"--tmpfs", "--engines", "--faulty", "--also", "--listed"}
    known |= {"--minutes", "--seed"}  # python -m tests.hostile
    known |= {"--kept"}  # python -m tests.preview
    known |= {"--syntax-check", "--skip-tags", "--find-links", "--dry-run"}  # of other programs
    known |= {"--configure", "--compare-versions", "--create", "--tag"}
    known |= {"--assumeno", "--cacheonly"}
    for name in COMMANDS:
        module = load_command(name)
        known |= options_of(build_parser(name, module))
        words = [[name, word] for word in getattr(module, "BELOW", ())]
        words += [[name, type_] for type_ in type_names()] if name == "ensure" else []
        for below, command, _ in map(find_command, words):
            known |= options_of(build_parser(below, command))
    known |= {"--yes", "--force-confold"}
    unknown = set()
    for page in PAGES:
        if DOCS not in page.parents or page.parent.name == "design":
            continue
        for code in re.findall(r"`([^`\n]+)`", page.read_text(encoding="utf-8")):
            named = set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", code)) - known
            unknown |= {f"{page.relative_to(ROOT)}: {option}" for option in named}
    assert unknown == set()
