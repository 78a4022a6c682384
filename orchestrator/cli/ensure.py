"""``ccm ensure``: one resource from flags, here or on hosts of an inventory (controller)."""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING, Any

from orchestrator.cli.command_lookup import unknown_command
from orchestrator.cli.parser import Parser
from remote_runtime.errors import UsageError

if TYPE_CHECKING:
    from orchestrator.manifest.resource_types import Type, Types

HELP = (
    "Bring one resource to the state that the flags describe, or preview the changes with --noop."
)
EXAMPLE = """
ccm ensure file /etc/motd --content Hi --owner root --group root --mode 0644
ccm ensure package nginx latest -i hosts.yaml -l web --noop
ccm ensure service nginx running --enable --require package#nginx
ccm ensure file --help     # the properties of a type
ccm ensure api pipe --help # requests from programs
"""
API = "api"
BELOW = (API,)


def configure(parser: Parser) -> None:
    """Add the types; each has its own parser, see ``below``."""
    types = own_types()
    parser.add_argument("type", metavar="TYPE", choices=[*types.names(), API], help=_listed(types))
    parser.add_argument(
        "name", metavar="NAME", help="the resource's name, such as the path of a file"
    )
    parser.add_argument("ensure", metavar="ENSURE", nargs="?", help="the desired state")
    parser.epilog = (
        "'ccm ensure TYPE --help' shows the properties of a type and the options of a run.\n\n"
        + (parser.epilog or "")
    )


def below(words: list[str]) -> tuple[str, Any] | None:
    """The command for the first word, and its name; None for ``ensure`` itself."""
    if words[:1] in (["-h"], ["--help"]):
        return None
    from orchestrator.cli.ensure_type import EnsureType

    if words[:1] == [API]:
        from orchestrator.cli import ensure_api

        return f"ensure {API}", ensure_api
    types = own_types()
    if not words:
        types_text = ", ".join(types.names())
        raise UsageError(
            f"ensure: the type is missing; known types: {types_text}",
            hint="see 'ccm ensure --help'",
        )
    if words[0].startswith("-"):
        hint = "write ccm ensure TYPE NAME, then the options"
        raise UsageError(f"ensure: the type must come before {words[0][:60]}", hint=hint)
    type_ = known_type(words[0], types, "ensure")
    return f"ensure {type_.name}", EnsureType(type_, types)


def run(args: argparse.Namespace) -> int:
    """Never called: each type has its own command."""
    raise UsageError("ensure: the type is missing")


def known_type(name: str, types: Types, command: str) -> Type:
    """The type named on the command line; UsageError with the most similar type."""
    type_ = types.get(name)
    if type_ is None:
        raise unknown_command(name, types.names(), command)
    return type_


def own_types() -> Types:
    """Built-in types and those of ``types/`` in the working directory."""
    from pathlib import Path

    from orchestrator.manifest.resource_types import types_beside

    return types_beside(Path.cwd())


def _listed(types: Types) -> str:
    return "the resource's type: " + ", ".join(types.names())
