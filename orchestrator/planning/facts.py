"""The facts of one host: gathered facts, custom facts, and overrides from the controller
(controller).
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import yaml

from inventory.document_nodes import Mapping as MappingNode
from inventory.yaml_document import (
    Source,
    ambiguous_values,
    parse_document,
    read_document,
    refuse_tag_directives,
    to_plain,
)
from orchestrator.language.facts import Facts
from orchestrator.manifest.merge import merge_facts
from orchestrator.planning.plan_options import assignments
from orchestrator.support.plain_text import plain_value
from remote_runtime.errors import InputError, Problem, ProtocolError

if TYPE_CHECKING:
    from orchestrator.fleet.host.host_facts import HostFacts

MAX_CUSTOM = 1 << 20
MAX_BRACKETS = 200
_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def load_fact_files(
    paths: Sequence[str], problems: list[Problem], notes: list[Problem]
) -> dict[str, Any]:
    """The facts of ``--facts FILE``; later files override earlier ones.

    ``notes`` receives the positions that YAML 1.1 would read differently.
    """
    facts: dict[str, Any] = {}
    for path in paths:
        try:
            root = read_document(path, problems)
        except InputError as error:
            problems.extend(error.problems)
            continue
        notes += ambiguous_values(root)
        if isinstance(root, MappingNode):
            facts = merge_facts(facts, to_plain(root))
        else:
            message = f"facts must be a map, not {root.describe()}"
            problems.append(Problem(message, root.position, "", "input.type"))
    return facts


class FactOverlay:
    """The facts from ``--facts``, the inventory's vars and ``--fact``, which override a host's
    facts in that order.

    Reads the files once; ``below`` are overridden by all of these. ``notes`` are the positions of
    the files that YAML 1.1 would read differently. InputError, UsageError.
    """

    def __init__(
        self,
        files: Sequence[str] = (),
        pairs: Sequence[str] = (),
        below: Mapping[str, Any] = MappingProxyType({}),
    ) -> None:
        problems: list[Problem] = []
        self.notes: list[Problem] = []
        self._files = load_fact_files(files, problems, self.notes)
        if problems:
            raise InputError(problems)
        self._pairs = assignments("--fact", pairs)
        self._below = below

    def __call__(self, host: Any, gathered: HostFacts) -> tuple[Facts, list[str]]:
        """The facts of a host (an inventory's ``Host``), and the warnings about them."""
        return merge_host_facts(gathered, self._below, self._files, host.vars, self._pairs)


def merge_host_facts(gathered: HostFacts, *above: Mapping[str, Any]) -> tuple[Facts, list[str]]:
    """The facts of one host and the warnings about them; later maps in ``above`` override earlier
    ones.
    """
    facts: dict[str, Any] = dict(gathered.facts)
    unavailable = dict(gathered.unavailable)
    warnings = list(gathered.warnings)
    for path, text in gathered.custom:
        try:
            facts = merge_facts(facts, parse_custom(path, text))
        except ValueError as error:
            warnings.append(f"ignoring the custom facts in {path}: {error}")
    for layer in above:
        facts = merge_facts(facts, layer)
    return Facts(facts, unavailable), warnings


def parse_custom(path: str, text: str) -> dict[str, Any]:
    """Parse one file of custom facts from a host; ValueError describes the problem."""
    if len(text.encode("utf-8", "surrogatepass")) > MAX_CUSTOM:
        raise ValueError("larger than 1 MiB")
    try:
        tree = json.loads(text) if path.endswith(".json") else _parse_yaml(path, text)
    except RecursionError as error:
        raise ValueError("nested too deeply") from error
    if not isinstance(tree, dict):
        raise ValueError("it is not a map")
    try:
        facts: dict[str, Any] = plain_value(tree)
    except ProtocolError as error:
        raise ValueError(error.message) from error
    return facts


def _parse_yaml(path: str, text: str) -> Any:
    if _max_brackets(text) > MAX_BRACKETS:
        raise ValueError("nested too deeply")
    try:
        refuse_tag_directives(Source(path, text))
        for event in yaml.parse(text, Loader=_Loader):
            if isinstance(event, yaml.AliasEvent):
                raise ValueError(f"it contains an alias, *{event.anchor}")
        return to_plain(parse_document(text, path))
    except yaml.YAMLError as error:
        raise ValueError(f"invalid YAML: {' '.join(str(error).split())}") from error
    except InputError as error:
        raise ValueError(error.problems[0].message) from error


def _max_brackets(text: str) -> int:
    """The maximum depth of brackets, because libyaml's time is quadratic in it."""
    depth = maximum = 0
    for sign in re.findall(r"[\[\]{}]", text):
        depth = depth + 1 if sign in "[{" else max(0, depth - 1)
        maximum = max(maximum, depth)
    return maximum
