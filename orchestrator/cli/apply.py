"""``ccm apply``: make this host be as a manifest says (controller); ``ccm push`` of one machine."""

import argparse

from orchestrator.cli import push

HELP = "Make this host be as a manifest says, or preview that with --noop."
EXAMPLE = """
ccm apply --noop site.yaml
sudo ccm apply site.yaml
ccm apply -i hosts.yaml -l web site.yaml     # what ccm push does
"""


def configure(parser: argparse.ArgumentParser) -> None:
    """The options of ``ccm push``, the inventory among them optional."""
    push.configure(parser, inventory=False)


around = push.around


def run(args: argparse.Namespace) -> int:
    """Check everything, then make it so."""
    return push.run(args, "apply")
