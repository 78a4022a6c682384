"""The options of a named rollout in the project file (controller)."""

import argparse
from collections.abc import Iterable, Mapping, Set
from typing import Any

from orchestrator.project.settings import PositionedValue, Project, ResolvedOption
from orchestrator.rollout.rollout_options import RolloutOptions
from remote_runtime.errors import InputError, Problem, UsageError
from remote_runtime.text.suggestions import nearest


def resolve_rollout(
    name: str | None,
    project: Project,
    *,
    actions: Iterable[argparse.Action],
    flags: Mapping[str, Any],
    repeatable: Set[str],
) -> dict[str, ResolvedOption]:
    """The final options of a rollout: a flag overrides the value of the named rollout in the file.

    ``actions`` parse the values of flags; those in ``repeatable`` collect several values.
    UsageError for an unknown name, InputError with every value that a flag would refuse.
    """
    if name is not None and name not in project.rollouts:
        raise _unknown(name, project)
    written = project.rollouts[name] if name is not None else {}
    resolved: dict[str, ResolvedOption] = {}
    actions = list(actions)
    problems = [
        Problem(
            f"rollout {name} sets {option}, which this command does not support",
            setting.position,
            "",
            "input.project",
        )
        for option, setting in written.items()
        if option not in {action.dest for action in actions}
    ]
    for action in actions:
        value = flags[action.dest]
        if value is not None:
            resolved[action.dest] = ResolvedOption(value, "flag", action.option_strings[-1])
        elif action.dest in written:
            setting = written[action.dest]
            read = _read(action, setting, action.dest in repeatable, problems)
            resolved[action.dest] = ResolvedOption(read, "file", str(setting.position))
        else:
            default = RolloutOptions._field_defaults[action.dest]
            resolved[action.dest] = ResolvedOption(default, "default", "")
    if problems:
        raise InputError(problems)
    return resolved


def _read(
    action: argparse.Action, setting: PositionedValue, repeatable: bool, problems: list[Problem]
) -> Any:
    """The value of a flag parsed from these words."""
    if isinstance(setting.value, bool):
        return setting.value
    read = action.type if callable(action.type) else str
    values = []
    for word in setting.value:
        try:
            values.append(read(word.value))
        except (argparse.ArgumentTypeError, ValueError) as error:
            message = f"{action.dest}: {error}"
            problems.append(Problem(message, word.position, "", "input.project"))
    return values if repeatable else next(iter(values), None)


def _unknown(name: str, project: Project) -> UsageError:
    names = sorted(project.rollouts)
    guess = nearest(name, names)
    hint = "define rollouts in a ccm.yaml next to the manifest or in the current directory"
    if names:
        hint = f"did you mean {guess}?" if guess else f"known rollouts: {', '.join(names)}"
    return UsageError(f"unknown rollout {name[:60]!r}", hint=hint)
