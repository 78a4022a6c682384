"""``ccm studio token``: the tokens for posting and reading runs (controller)."""

from __future__ import annotations

import argparse
import sys
import time
from typing import TYPE_CHECKING

from orchestrator.cli.parser import Parser
from orchestrator.cli.shared_options import seconds
from orchestrator.cli.studio_extra import require_studio

if TYPE_CHECKING:
    from orchestrator.studio.sharing.tokens import Token, TokenFile

HELP = "Add, list and remove the tokens that people and pipelines use to share runs."
EXAMPLE = """
ccm studio token add alice --state /srv/studio
ccm studio token add ci-web --group web --expires 90d --state /srv/studio
ccm studio token add wall --read-only --state /srv/studio
ccm studio token list --state /srv/studio
ccm studio token rm alice --state /srv/studio
"""
_DAY = 86_400.0


def configure(parser: Parser) -> None:
    """Add the actions."""
    parser.add_argument("action", choices=("add", "list", "rm"), help="the action")
    parser.add_argument("name", metavar="NAME", nargs="?", help="name of the token, for add and rm")
    parser.add_argument(
        "--state", metavar="DIR", required=True, help="the directory of ccm studio --state"
    )
    parser.add_argument(
        "--group",
        metavar="GROUP",
        action="append",
        default=[],
        help="only allow runs whose hosts are all in this group of the studio's inventory; "
        "repeatable (default: all runs)",
    )
    parser.add_argument(
        "--expires",
        metavar="DURATION",
        type=lifetime,
        help="how long the token is valid, such as 90d or 12h (default: until it is removed)",
    )
    parser.add_argument(
        "--read-only", action="store_true", help="allow reading runs, but not posting them"
    )


def lifetime(text: str) -> float:
    """A duration in seconds; ``d`` means days."""
    days = text[:-1]
    if text[-1:] == "d" and days.isdecimal() and int(days) > 0:
        return int(days) * _DAY
    return seconds(text)


def run(args: argparse.Namespace) -> int:
    """Change or show the tokens. UsageError."""
    from pathlib import Path

    from remote_runtime.errors import UsageError

    require_studio()
    from orchestrator.studio.sharing.tokens import TokenFile

    file = TokenFile(Path(args.state).absolute() / "studio")
    if args.action == "list":
        for token in file.tokens().values():
            print(_line(token))
        return 0
    if not args.name:
        raise UsageError(
            f"studio token {args.action}: NAME is missing",
            hint="specify the name of a person or pipeline",
        )
    if args.action == "rm":
        file.remove(args.name)
        print(f"removed: {args.name}")
        return 0
    return _add(file, args)


def _add(file: TokenFile, args: argparse.Namespace) -> int:
    from orchestrator.support.state_directory import make_private

    make_private(file.path.parent.parent / "runs")
    text = file.add(args.name, tuple(args.group), args.expires, reads_only=args.read_only)
    print(f"token for {args.name}, shown only once:", file=sys.stderr)
    print(text)
    return 0


def _line(token: Token) -> str:
    """A token without its secret."""
    groups = ",".join(token.groups) or "all hosts"
    rights = "read" if token.reads_only else "post, read"
    words = [token.name, rights, groups]
    if token.expires is not None:
        day = time.strftime("%Y-%m-%d %H:%M", time.gmtime(token.expires))
        words.append(f"{'expired' if token.expires <= time.time() else 'until'} {day} UTC")
    return "  ".join(words)
