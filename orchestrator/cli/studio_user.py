"""``ccm studio user``: the users of ``ccm studio`` (controller)."""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING

from orchestrator.cli.parser import Parser
from orchestrator.cli.studio_extra import require_studio

if TYPE_CHECKING:
    from orchestrator.studio.web.users import UserFile

HELP = "Add, list and remove the users of ccm studio."
EXAMPLE = """
ccm studio user add alice --auth studio.users
ccm studio user add bob --role design --group web --auth studio.users
ccm studio user add ci --role look --auth studio.users < password.txt
ccm studio user list --auth studio.users
ccm studio user rm alice --auth studio.users
"""
_ROLES = ("look", "design", "push")


def configure(parser: Parser) -> None:
    """Add the actions."""
    parser.add_argument("action", choices=("add", "rm", "list"), help="the action")
    parser.add_argument("name", metavar="NAME", nargs="?", help="the user, for add and rm")
    parser.add_argument(
        "--auth", metavar="FILE", required=True, help="the users file, created with mode 0600"
    )
    parser.add_argument(
        "--role",
        choices=_ROLES,
        default="look",
        help="rights of the user; each role includes those before it (default: look)",
    )
    parser.add_argument(
        "--group",
        metavar="GROUP",
        action="append",
        default=[],
        help="show only hosts in this group of the studio's inventory; repeatable"
        " (default: all hosts)",
    )
    parser.add_argument(
        "--no-password",
        action="store_true",
        help="the user logs in only through the proxy of ccm studio --proxy",
    )


def run(args: argparse.Namespace) -> int:
    """Change or show the file. UsageError."""
    from pathlib import Path

    from remote_runtime.errors import UsageError

    require_studio()
    from orchestrator.studio.web.users import UserFile

    file = UserFile(Path(args.auth))
    if args.action == "list":
        for user in file.users().values():
            print(f"{user.name}  {user.role}  {','.join(user.groups) or 'all hosts'}")
        return 0
    if not args.name:
        raise UsageError(
            f"studio user {args.action}: NAME is missing", hint="specify the name of a user"
        )
    if args.action == "rm":
        file.remove(args.name)
        print(f"removed: {args.name}")
        return 0
    return _add(file, args)


def _add(file: UserFile, args: argparse.Namespace) -> int:
    name, role, groups = args.name, args.role, tuple(args.group)
    password = None if args.no_password else _password(name)
    is_new = file.add(name, role, password, groups)
    rights = f"{role}, {','.join(groups)}" if groups else role
    print(f"{'added' if is_new else 'changed'}: {name} ({rights})")
    return 0


def _password(name: str) -> str:
    """The password from the terminal, entered twice; else the first line of standard input.
    UsageError.
    """
    from remote_runtime.errors import UsageError

    if not sys.stdin.isatty():
        return sys.stdin.readline().rstrip("\r\n")
    import getpass

    first = getpass.getpass(f"password of {name}: ")
    if getpass.getpass("again: ") != first:
        raise UsageError("the passwords differ", hint="try again")
    return first
