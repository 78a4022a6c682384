"""The options of a rollout, and their values (controller)."""

import argparse
from collections.abc import Callable
from typing import TYPE_CHECKING, TypeVar

from orchestrator.cli.parser import OptionGroup, Parser
from orchestrator.cli.shared_options import count, read_fields, seconds
from orchestrator.project.settings import ROLLOUT
from orchestrator.rollout.rollout_options import AUTO, RolloutOptions

if TYPE_CHECKING:
    from orchestrator.rollout.shared_limits import SharedLimit
    from orchestrator.rollout.wave_sizes import Amount

T = TypeVar("T")


def add_rollout(parser: Parser, gates: bool = False) -> None:
    """Add the limits of a rollout and, if ``gates`` is set, its gates and hooks.

    Options that are not given are None until ``Parser.parse`` completes them.
    """
    group = parser.add_group(ROLLOUT)
    group.add_argument(
        f"--{ROLLOUT}",
        metavar="NAME",
        help="use the options of this rollout in ccm.yaml; flags override them",
    )
    group.add_argument(
        "--waves",
        metavar="LIST",
        type=_argument(_waves),
        help="total number of hosts after each wave, such as 1,10%%,100%%; a wave starts after the"
        " previous one has succeeded",
    )
    group.add_argument(
        "--max-fail",
        metavar="N|N%",
        type=_argument(_amount),
        help="start no more hosts when more than this number have failed (default: 0 with"
        " --waves, else no limit)",
    )
    group.add_argument(
        "--per",
        metavar="VARIABLE=N",
        type=_argument(_per),
        action="append",
        help="run at most N hosts in parallel with the same value of a variable, such as rack=1; "
        "repeatable",
    )
    group.add_argument(
        "--until",
        metavar="TIME",
        type=_argument(_until),
        help="start no host after this time: 05:00, or 2026-03-14T05:00",
    )
    if gates:
        _add_gates(group)


def _add_gates(group: Parser | OptionGroup) -> None:
    """Add the commands between the waves of a push, and around each host."""
    group.add_argument(
        "--canary",
        choices=[AUTO],
        help="preview first, group hosts with the same changes, and start with one host of each "
        "group; a group continues once its canary is healthy",
    )
    group.add_argument(
        "--canary-max",
        metavar="N",
        type=count,
        help="maximum number of these groups (default: 20)",
    )
    group.add_argument(
        "--soak",
        metavar="DURATION",
        type=seconds,
        help="wait this long after each wave, then run the health checks of its hosts again",
    )
    group.add_argument(
        "--gate",
        metavar="verify|COMMAND",
        type=_argument(_command),
        action="append",
        help="after each wave, check its hosts as ccm verify does, or run a command with the wave "
        "as JSON on stdin: exit code 0 continues, 75 retries, any other code stops; repeatable",
    )
    group.add_argument(
        "--gate-timeout",
        metavar="DURATION",
        type=_argument(_patience),
        help="time limit of each gate (default: 30m)",
    )
    group.add_argument(
        "--confirm", action="store_true", default=None, help="prompt after each wave"
    )
    group.add_argument(
        "--before-host",
        metavar="COMMAND",
        type=_argument(_command),
        help="run this on the controller before each host, with the host as JSON on stdin; if it "
        "fails, the host is not changed",
    )
    group.add_argument(
        "--after-host",
        metavar="COMMAND",
        type=_argument(_command),
        help="run this on the controller after each host, even if --before-host failed",
    )


# The parsers are loaded only for a given value: most runs have no rollout options.


def _waves(text: str) -> "tuple[Amount, ...]":
    from orchestrator.rollout.wave_sizes import parse_waves

    return parse_waves(text)


def _amount(text: str) -> "Amount":
    from orchestrator.rollout.wave_sizes import parse_amount

    return parse_amount(text)


def _per(text: str) -> "SharedLimit":
    from orchestrator.rollout.shared_limits import parse_per

    return parse_per(text)


def _until(text: str) -> float:
    from orchestrator.rollout.rollout_options import parse_until

    return parse_until(text)


def _command(text: str) -> str:
    from orchestrator.rollout.local_command import parse_command

    return parse_command(text)


def _patience(text: str) -> float:
    """Parse the timeout of a gate, which must be more than 0."""
    value = seconds(text)
    if not value:
        raise ValueError(f"{text!r} must be longer than 0")
    return value


def read_rollout(args: argparse.Namespace) -> RolloutOptions:
    """The values of the options of ``add_rollout``, with or without gates."""
    options = read_fields(RolloutOptions, args)
    return options._replace(per=tuple(options.per or ()), gate=tuple(options.gate or ()))


def _argument(parse: "Callable[[str], T]") -> "Callable[[str], T]":
    """A parser of an option's values that reports the text of a ValueError."""

    def parsed(text: str) -> T:
        """Parse the value of the option."""
        try:
            return parse(text)
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from None

    return parsed
