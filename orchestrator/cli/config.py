"""``ccm config``: the options of commands, and the source of each value (controller)."""

import argparse
import json
import os
from typing import TYPE_CHECKING, Any

from orchestrator.cli.parser import Parser
from orchestrator.cli.rollout_options import add_rollout, read_rollout
from orchestrator.cli.shared_options import count
from orchestrator.project.settings import SETTINGS, ConfigScope
from orchestrator.sources.address import is_url
from orchestrator.support.plain_text import escaped
from remote_runtime.errors import UsageError
from remote_runtime.reporting.masking import Mask

if TYPE_CHECKING:
    from orchestrator.project.settings import ResolvedOption

HELP = (
    "Show the options that commands use, and whether a flag, the environment or ccm.yaml sets them."
)
EXAMPLE = """
ccm config
ccm config sites/web.yaml          # the options for a manifest
ccm config --forks 5 --json
ccm config --rollout careful       # the options of a named rollout
"""


def configure(parser: Parser) -> None:
    """Add the manifest, and the flags that override everything else."""
    parser.add_argument(
        "manifest",
        metavar="MANIFEST",
        nargs="?",
        default="",
        help="show the options that apply to this manifest (default: the options of commands"
        " without a manifest)",
    )
    for setting in SETTINGS:
        if not setting.flag:
            parser.set_defaults(**{setting.name: None})
            continue
        short = ("-i",) if setting.name == "inventory" else ()
        parser.add_argument(
            *short,
            f"--{setting.name}",
            metavar=setting.metavar,
            action="append" if setting.many else "store",
            type=count if setting.number else str,
            help=f"as in other commands; overrides ${setting.variable}",
        )
    add_rollout(parser, gates=True)
    parser.add_argument("--json", action="store_true", help="write one JSON document to stdout")


def config_scope(args: argparse.Namespace) -> ConfigScope:
    """Return a scope in which all values apply, including values that the command does not use."""
    return ConfigScope(args.manifest)


def run(args: argparse.Namespace) -> int:
    """Write each value. Reads no inventory and runs no inventory program. UsageError."""
    if args.manifest and not (is_url(args.manifest) or os.path.exists(args.manifest)):
        raise UsageError(f"the manifest {args.manifest} does not exist", hint="check the path")
    resolved: dict[str, ResolvedOption] = dict(args.resolved)
    rollout = read_rollout(args).record()
    of_rollout = {name: resolved[name]._replace(value=text) for name, text in rollout.items()}
    resolved = {one.word: resolved[one.name] for one in SETTINGS} | of_rollout
    if args.json:
        document = {name: _masked(one)._asdict() for name, one in resolved.items()}
        print(escaped(json.dumps(document, indent=2, ensure_ascii=False)))
        return 0
    rows = [(name, _text(_masked(one).value), _origin(one)) for name, one in resolved.items()]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        cells = (f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True))
        print("  ".join(cells).rstrip())
    return 0


def _masked(option: "ResolvedOption") -> "ResolvedOption":
    """The same without logins."""
    mask = Mask()
    if isinstance(option.value, list):
        return option._replace(value=[mask.text(text) for text in option.value])
    return (
        option._replace(value=mask.text(option.value)) if isinstance(option.value, str) else option
    )


def _text(value: Any) -> str:
    from orchestrator.support.plain_text import one_line

    if value is None or value in ("", []):
        return "-"
    if isinstance(value, bool):
        return "true" if value else "false"
    return one_line(" ".join(value) if isinstance(value, list) else str(value))


def _origin(option: "ResolvedOption") -> str:
    return option.where or option.origin
