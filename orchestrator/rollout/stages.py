"""Reads a stages file, whose stages are pushed one after the other (controller)."""

import os
from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import schemas
from inventory import yaml_document
from orchestrator.manifest.checks.schema_errors import SchemaValidator
from orchestrator.project.reader import words_of
from orchestrator.project.settings import PositionedValue
from orchestrator.rollout.local_command import parse_command
from orchestrator.rollout.rollout_options import RolloutOptions
from orchestrator.rollout.shared_limits import SharedLimit, parse_per
from orchestrator.rollout.stages_detection import is_stages
from orchestrator.rollout.wave_sizes import Amount, parse_amount, parse_waves
from orchestrator.support.durations import parse_seconds
from remote_runtime.errors import InputError, Position, Problem

_KIND = "input.stages"


class Stage(NamedTuple):
    """A stage as written in its file.

    ``hosts`` is a pattern; ``take`` limits it to the first hosts, None for all. ``manifest`` is a
    path that can be opened. Both have their positions. The options of the complete run apply if a
    value is None or empty.
    """

    name: str
    hosts: str
    hosts_at: Position
    manifest: str
    manifest_at: Position
    take: int | None = None
    waves: tuple[Amount, ...] = ()
    max_fail: Amount | None = None
    soak: float | None = None
    gate: tuple[str, ...] = ()
    per: tuple[SharedLimit, ...] = ()
    data: Mapping[str, Any] = {}

    def rollout(self, whole: RolloutOptions) -> RolloutOptions:
        """The rollout options of the stage: its own, then those of the complete run.

        The limit of failed hosts in the complete run does not apply to a stage.
        """
        own = {name: getattr(self, name) for name in ("waves", "soak", "gate", "per")}
        given = {name: value for name, value in own.items() if value not in (None, ())}
        return whole._replace(max_fail=self.max_fail, **given)

    def placed(self, error: InputError) -> list[Problem]:
        """The problems of the manifest, at the position of the stage if they have none."""
        return [one._replace(where=one.where or self.manifest_at) for one in error.problems]


def read_stages(path: str) -> list[Stage]:
    """The stages of a file, with every check except those of manifests and hosts.

    InputError with every mistake, each with its position.
    """
    problems: list[Problem] = []
    root = yaml_document.read_document(path, problems)
    problems += _complaints(root)
    stages: list[Stage] = []
    if not problems:
        nodes = yaml_document.node_at(root, ["stages"])
        directory = os.path.dirname(path)
        stages = [_stage(node, directory, problems) for node in _nodes(nodes)]
        problems += _duplicates(nodes, stages)
    if problems:
        raise InputError(sorted(problems, key=lambda one: one.where[1:] if one.where else (0, 0)))
    return stages


def stages_notes(path: str) -> list[Problem]:
    """A note for each place in a stages file that YAML 1.1 would read differently."""
    return yaml_document.ambiguous_values(yaml_document.read_document(path, []))


def _nodes(node: yaml_document.Node) -> list[yaml_document.Node]:
    return node.nodes if isinstance(node, yaml_document.Sequence) else []


def _complaints(root: yaml_document.Node) -> list[Problem]:
    """The violations of the schema, each with its position."""
    problems = []
    for one in SchemaValidator(schemas.load("stages"))(
        yaml_document.to_plain(root), "a stages file"
    ):
        where = yaml_document.node_at(root, one.path, of_key=one.unknown_key).position
        hint = one.hint
        if one.unknown_key and one.path[-1] == "stages":
            hint = "stages cannot be nested: list all stages in one file"
        elif one.unknown_key and len(one.path) == 1:
            hint = "a stages file contains only 'stages'; move the rest to the manifests"
        problems.append(Problem(one.message, where, hint, _KIND))
    return problems


def _stage(node: yaml_document.Node, directory: str, problems: list[Problem]) -> Stage:
    """A stage from a document that matches the schema; other mistakes are added to the problems."""

    def parsed(key: str, parse: Callable[[str], Any]) -> tuple[Any, ...]:
        """The parsed words of a list; mistakes become problems."""
        values = []
        for word in words_of(yaml_document.node_at(node, [key])) if key in entries else ():
            try:
                values.append(parse(word.value))
            except ValueError as error:
                problems.append(Problem(f"{key}: {error}", word.position, "", _KIND))
        return tuple(values)

    entries = list(node) if isinstance(node, yaml_document.Mapping) else []
    plain = yaml_document.to_plain(node)
    hosts, manifest = (_written(node, key) for key in ("hosts", "manifest"))
    path = os.path.join(directory, manifest.value)
    if is_stages(path):
        hint = "stages cannot be nested: list all stages in one file"
        message = f"{manifest.value} is a stages file, not a manifest"
        problems.append(Problem(message, manifest.position, hint, _KIND))
    return Stage(
        name=plain["name"],
        hosts=hosts.value,
        hosts_at=hosts.position,
        manifest=path,
        manifest_at=manifest.position,
        take=plain.get("take"),
        waves=next(iter(parsed("waves", parse_waves)), ()),
        max_fail=next(iter(parsed("max_fail", parse_amount)), None),
        soak=next(iter(parsed("soak", parse_seconds)), None),
        gate=parsed("gate", parse_command),
        per=parsed("per", parse_per),
        data=plain.get("data", {}),
    )


def _written(node: yaml_document.Node, key: str) -> PositionedValue:
    return words_of(yaml_document.node_at(node, [key]))[0]


def _duplicates(nodes: yaml_document.Node, stages: list[Stage]) -> list[Problem]:
    """Report duplicate names, because reports identify stages by name."""
    problems, seen = [], dict[str, Position]()
    for node, stage in zip(_nodes(nodes), stages, strict=True):
        at = _written(node, "name").position
        if stage.name in seen:
            message = f"duplicate stage {stage.name!r}; it is also defined at {seen[stage.name]}"
            problems.append(Problem(message, at, "rename it", _KIND))
        seen.setdefault(stage.name, at)
    return problems
