"""``ccm apply``: ``ccm push`` to this machine (controller)."""

import argparse

from orchestrator.cli import push
from orchestrator.cli.parser import Parser

HELP = "Bring this host to the state described in a manifest, or preview the changes with --noop."
EXAMPLE = """
ccm apply --noop site.yaml
sudo ccm apply site.yaml
ccm apply -i hosts.yaml -l web site.yaml     # same as ccm push
"""


def configure(parser: Parser) -> None:
    """Add the options of ``ccm push``, with an optional inventory."""
    push.configure(parser, inventory=False)


config_scope = push.config_scope


def run(args: argparse.Namespace) -> int:
    """Check everything, then push to this host."""
    return push.run(args, "apply")
