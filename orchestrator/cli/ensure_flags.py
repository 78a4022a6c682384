"""The flags that ``ccm ensure`` provides for resources of every type (controller)."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import TYPE_CHECKING, NamedTuple

from inventory.yaml_document import Mapping, Node, Scalar, Sequence
from orchestrator.cli.parser import OptionGroup
from orchestrator.cli.property_flags import Shape, node_of
from orchestrator.cli.shared_options import count
from orchestrator.manifest.adhoc_site import Argument, text_node

if TYPE_CHECKING:
    from orchestrator.manifest.resource_types import Type


class CommonFlags(NamedTuple):
    """The values of these flags, None or empty if not set."""

    if_: str | None
    unless: str | None
    exists: str | None
    absent: str | None
    command: str | None
    references: dict[str, list[str]]
    checks: list[str] | None
    tries: int | None
    sleep: str | None
    no_render: bool


_ASKED = (
    ("exists", "PATH", "PATH exists"),
    ("absent", "PATH", "PATH does not exist"),
    ("command", "COMMAND", "COMMAND succeeds"),
)
"""Conditions of ``control`` that the host checks."""
_NUMBER = Shape("value", {"type": "integer"})
_REFERENCES = ("require", "subscribe")
_SHORT = {"subscribe": ["-S"]}
_CHECK = Shape("list", {"anyOf": [{"type": "string"}, {"type": "object"}]})


def add_common_flags(group: OptionGroup, type_: Type) -> None:
    """Add conditions, references, checks and --no-render."""
    group.add_argument(
        "--if", dest="if_", metavar="EXPR", help="manage the resource only if this is true"
    )
    group.add_argument("--unless", metavar="EXPR", help="manage the resource unless this is true")
    for key, metavar, meaning in _ASKED:
        group.add_argument(
            f"--if-{key}",
            metavar=metavar,
            help=f"manage the resource only if {meaning} on the host",
        )
    help_ = {
        "require": "a resource in the session that must not have failed; repeatable",
        "subscribe": "a resource in the session whose change refreshes this one; repeatable",
    }
    for name in _REFERENCES:
        if name in type_.properties:
            options = [f"--{name}", *_SHORT.get(name, ())]
            group.add_argument(*options, metavar="TYPE#NAME", action="append", help=help_[name])
    group.add_argument(
        "--check",
        metavar="COMMAND",
        action="append",
        help="health check: a Nagios command, or YAML: '{command: ..., tries: 3}' or '{goss_rules:"
        " ...}'; repeatable",
    )
    group.add_argument(
        "--check-tries",
        metavar="N",
        type=count,
        help="maximum number of attempts per --check",
    )
    group.add_argument(
        "--check-sleep", metavar="DURATION", help="time between attempts, such as 5s"
    )
    group.add_argument("--no-render", action="store_true", help="do not render values as templates")


def read_common_flags(args: argparse.Namespace) -> CommonFlags:
    """The values of the options of ``add_common_flags``."""
    flags = {name: getattr(args, name, None) for name in _REFERENCES}
    references = {name: values for name, values in flags.items() if values}
    return CommonFlags(
        if_=args.if_,
        unless=args.unless,
        exists=args.if_exists,
        absent=args.if_absent,
        command=args.if_command,
        references=references,
        checks=args.check,
        tries=args.check_tries,
        sleep=args.check_sleep,
        no_render=args.no_render,
    )


def refuse_references(flags: CommonFlags) -> None:
    """UsageError for a reference outside of a session."""
    from orchestrator.fleet.store.session_store import BEGIN
    from remote_runtime.errors import UsageError

    for name in flags.references:
        raise UsageError(f"--{name} requires a session", hint=BEGIN)


def given_common(flags: CommonFlags) -> Iterator[tuple[str, Node]]:
    """The properties that these flags set, with their nodes; InputError."""
    conditions = [
        ("if", flags.if_, "--if"),
        ("unless", flags.unless, "--unless"),
        *((key, getattr(flags, key), f"--if-{key}") for key, _, _ in _ASKED),
    ]
    if any(text is not None for _, text, _ in conditions):
        yield "control", _control(conditions)
    for name, values in flags.references.items():
        yield name, node_of(values, f"--{name}", Shape("list", {"type": "string"}), {})
    if flags.checks:
        yield "health_checks", _checks(flags.checks, flags)
    if flags.no_render:
        yield "render", node_of(False, "--no-render", Shape("boolean", {}), {})


def _control(conditions: list[tuple[str, str | None, str]]) -> Node:
    control = Mapping(Argument("the command line", ""), 1, 1)
    for key, text, option in conditions:
        if text is not None:
            source = Argument(f"argument {option}", text)
            control.entries[key] = (text_node(key, source), text_node(text, source))
    return control


def _checks(values: list[str], flags: CommonFlags) -> Node:
    checks = node_of(values, "--check", _CHECK, {})
    assert isinstance(checks, Sequence)
    for index, node in enumerate(checks.nodes):
        if isinstance(node, Scalar):
            check = Mapping(node.source, 1, 1)
            check.entries["command"] = (text_node("command", node.source), node)
            if flags.tries is not None:
                tries = node_of(str(flags.tries), "--check-tries", _NUMBER, {})
                check.entries["tries"] = (text_node("tries", node.source), tries)
            if flags.sleep is not None:
                sleep = text_node(flags.sleep, Argument("argument --check-sleep", flags.sleep))
                check.entries["try_sleep"] = (text_node("try_sleep", node.source), sleep)
            checks.nodes[index] = check
    return checks
