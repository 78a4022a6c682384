"""``ccm completion``: completion for a shell (controller)."""

import argparse
from typing import Any

from orchestrator.cli.completion_scripts import SCRIPTS
from orchestrator.cli.parser import Parser

HELP = "Print the completion script for bash, zsh or fish."
EXAMPLE = """
ccm completion bash > ~/.local/share/bash-completion/completions/ccm
ccm completion zsh > "${fpath[1]}/_ccm"
ccm completion fish > ~/.config/fish/completions/ccm.fish
"""


def configure(parser: Parser) -> None:
    """Add the shell."""
    parser.add_argument(
        "shell", metavar="SHELL", choices=tuple(SCRIPTS), help="the shell: bash, zsh or fish"
    )


def below(words: list[str]) -> tuple[str, Any] | None:
    """Find the subcommand that the scripts call; it is not in the help, because nobody types it."""
    if words[:1] != ["words"]:
        return None
    from orchestrator.cli import completion_words

    return "completion words", completion_words


def run(args: argparse.Namespace) -> int:
    """Write the script."""
    print(SCRIPTS[args.shell], end="")
    return 0
