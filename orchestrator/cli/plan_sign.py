"""``ccm plan sign``: approve a plan with an SSH key (controller)."""

import argparse

from orchestrator.cli.parser import Parser

HELP = "Approve a plan: sign it with an SSH key and add the signature to FILE.sig."
EXAMPLE = """
ccm plan sign --key ~/.ssh/id_ed25519 change.plan
ccm push --signers /etc/ccm/allowed_signers change.plan
"""


def configure(parser: Parser) -> None:
    """Add the plan and the key."""
    parser.add_argument("plan", metavar="FILE", help="the plan")
    parser.add_argument(
        "--key",
        metavar="KEY",
        required=True,
        help="the private key, or the public key of one in the SSH agent",
    )


def run(args: argparse.Namespace) -> int:
    """Check the plan, then sign it."""
    from orchestrator.plan_files.signing import sign
    from orchestrator.plan_files.storage import parse_plan, read_text

    text = read_text(args.plan)
    plan = parse_plan(args.plan, text)
    path = sign(args.plan, text, args.key)
    print(f"added a signature of plan {plan.id} to {path}")
    return 0
