"""``ccm ensure TYPE``: the parser and the run for one type, both derived from its schema
(controller).
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from inventory.yaml_document import Mapping, Node, Scalar
from orchestrator.cli.default_data import with_default_data
from orchestrator.cli.ensure_flags import (
    add_common_flags,
    given_common,
    read_common_flags,
    refuse_references,
)
from orchestrator.cli.parser import Parser
from orchestrator.cli.property_flags import add_flag, flags_of, read_flag
from orchestrator.cli.run_output import Output, add_output, read_output
from orchestrator.cli.run_request import read_request
from orchestrator.cli.shared_options import add_connection, add_data, add_inventory, add_run
from orchestrator.manifest.adhoc_site import Argument, adhoc_site, text_node
from remote_runtime.errors import InputError, Problem

if TYPE_CHECKING:
    from orchestrator.manifest.resource_types import Type, Types
    from orchestrator.manifest.site import EarlierResults, Site

# An option of the run with the name of a property is --run-OPTION for that type.
_RUN_PREFIX = "--run-"
_BEHIND = "behind"  # where the parser stores the words after the name


class EnsureType:
    """The command of one type; see ``commands.load_command`` for the members of a command."""

    def __init__(self, type_: Type, types: Types) -> None:
        from orchestrator.cli.example_commands import example_of

        self._type = type_
        self._types = types
        self.HELP = str(type_.schema.get("description") or type_.schema.get("x-ccm-title", ""))
        self.EXAMPLE = "\n".join(example_of(type_)) or f"ccm ensure {type_.name} NAME"

    def configure(self, parser: Parser) -> None:
        """Add the name, the desired state, a flag for each property and the run's options."""
        type_ = self._type
        parser.intermixed = True
        flags = flags_of(type_)
        arguments = [word for flag in flags for word in flag.options_for("argument")]
        words = "".join(f" [{word}]" for word in [*arguments, "ENSURE"])
        parser.usage = f"{parser.prog} NAME{words} [--PROPERTY VALUE] [OPTIONS]"
        described = type_.schema.get("x-ccm-name", {}).get("description", "the resource's name")
        parser.add_argument("name", metavar="NAME", help=_plain(described))
        for word in arguments:
            parser.add_argument(_BEHIND, metavar=word, nargs="?", help=f"as --{word.lower()}")
        if "ensure" in type_.properties:
            states = type_.schema.get("x-ccm-ensure", ())
            ensures = f"{'one of ' * (len(states) > 1)}{', '.join(states)}"
            parser.add_argument("ensure", metavar="ENSURE", nargs="?", help=ensures)
            parser.offered["ensure"] = type_.schema.get("x-ccm-ensure", {})
            parser.missing["--ensure"] = f"write {parser.prog} NAME{words}"
        group = parser.add_group(f"properties of {type_.name}")
        common = parser.add_group("properties of every resource")
        with parser.prefixed(_RUN_PREFIX, {option for flag in flags for option in flag.options}):
            add_inventory(parser, required=False)
            add_run(parser)
            add_connection(parser)
            add_data(parser)
            add_output(parser)
        own = type_.schema.get("properties", {})
        for flag in flags:
            add_flag(group if flag.name in own else common, flag)
        add_common_flags(common, type_)

    def run(self, args: argparse.Namespace) -> int:
        """Check everything, then push the resource."""
        from orchestrator.fleet.store.session_store import session_store
        from orchestrator.planning import Planner
        from orchestrator.runs.push import push_resource

        request = read_request(args, "ensure")
        request = request._replace(data=with_default_data(request.data))
        output = Output(read_output(args), request.run)
        store = session_store(request.run.noop)
        if store is None:
            refuse_references(read_common_flags(args))

        def prepare() -> tuple[Site, Planner]:
            """The site of the resource, and its planner; reports invalid input."""
            try:
                site = self.site(args, store)
                return site, Planner(site, request.data)
            except InputError as error:
                raise InputError([self._of_flags(p, args.name) for p in error.problems]) from error

        result = push_resource(
            request,
            f"{self._type.name}#{args.name}",
            prepare=prepare,
            reporter=output,
            subscribers=[store] if store else [],
        )
        return output.exit_code(result)

    def site(self, args: argparse.Namespace, earlier: EarlierResults | None) -> Site:
        """The resource that the flags describe; InputError."""
        name = text_node(args.name, Argument(f"{self._type.name}#{args.name}", args.name))
        properties = Mapping(Argument("the command line", ""), 1, 1)
        argument, ensure = self._behind(args)
        if ensure is not None:
            node: Node = text_node(ensure, Argument("argument ENSURE", ensure))
            properties.entries["ensure"] = (_key("ensure"), node)
        for flag in flags_of(self._type):
            if argument is not None and flag.options_for("argument"):
                node = text_node(argument, Argument("argument", argument))
                properties.entries[flag.name] = (_key(flag.name), node)
            if (value := read_flag(args, flag)) is not None:
                properties.entries[flag.name] = (_key(flag.name), value)
        for key, node in given_common(read_common_flags(args)):
            properties.entries[key] = (_key(key), node)
        return adhoc_site(
            self._type.for_command(),
            name,
            properties=properties,
            directory=Path.cwd(),
            earlier=earlier,
            types=self._types,
        )

    def _behind(self, args: argparse.Namespace) -> tuple[str | None, str | None]:
        """The words after the name: the value of a positional property, and the desired state."""
        argument, ensure = getattr(args, _BEHIND, None), getattr(args, "ensure", None)
        if ensure is None and argument in self._type.schema.get("x-ccm-ensure", ()):
            return None, argument
        return argument, ensure

    def _of_flags(self, problem: Problem, name: str) -> Problem:
        """The problems expressed for the command line, with flags instead of properties."""
        message = problem.message.removeprefix(f"{self._type.name}#{name}: ")
        options = {flag.name: flag.options[0] for flag in flags_of(self._type)}
        if problem.missing:
            option = options.get(problem.missing, problem.missing)
            return problem._replace(message=f"{option} is required", where=None)
        for word in ("if", "unless"):
            if word in options and str(problem.where) == f"argument --{word}":
                hint = f"this is a condition on facts; for the property, use {options[word]}"
                return problem._replace(message=message, hint=hint)
        for flag in flags_of(self._type):
            if str(problem.where) == f"argument {flag.options[0]}":
                message = message.removeprefix(f"{flag.name}: ")
        return problem._replace(message=message)


def _key(name: str) -> Scalar:
    return text_node(name, Argument("the command line", name))


def _plain(text: str) -> str:
    return str(text).replace("`", "").replace("%", "%%")
