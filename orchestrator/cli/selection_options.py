"""The options that choose a part of a manifest or of a stages file (controller)."""

from orchestrator.cli.parser import Parser


def add_selection(parser: Parser) -> None:
    """Add the options that select resources of a manifest."""
    group = parser.add_group("part of the manifest")
    group.add_argument(
        "--only",
        metavar="TYPE#GLOB",
        action="append",
        default=[],
        help="select resources by name or alias, such as 'file#/etc/nginx/*'; repeatable",
    )
    group.add_argument(
        "--tags",
        metavar="TAG,...",
        action="append",
        default=[],
        help="select resources with one of these tags; -TAG excludes: --tags=web,-slow",
    )
    group.add_argument(
        "--skip",
        metavar="TYPE#GLOB",
        action="append",
        default=[],
        help="exclude resources; repeatable",
    )


def add_stage_choice(parser: Parser) -> None:
    """Add the options that select stages of a stages file."""
    group = parser.add_group("stages").add_exclusive_group()
    group.add_argument(
        "--from",
        metavar="STAGE",
        dest="begin",
        help="start with this stage; earlier stages count as done",
    )
    group.add_argument("--stage", metavar="STAGE", help="run only this stage")
