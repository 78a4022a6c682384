"""A scope to evaluate in."""

from pathlib import Path
from typing import Any

from orchestrator.expressions import RENDERERS, Expression, Scope, Template
from orchestrator.expressions.environment_variables import Environ
from orchestrator.language.facts import Facts
from orchestrator.language.manifest_directory import Directory

FACTS = {"host": {"info": {"os": "linux"}}, "list": [1, {"null": None}], "evil": "{{ 1 + 1 }}"}
DATA = {"items": "key", "port": 80, "empty": "", "a.b": "dotted", "on": True}


def scope(directory: Path = Path("."), lenient: bool = False, **changes: Any) -> Scope:
    unavailable = {"cpu": "not ready after 2 s"}
    settings: dict[str, Any] = {
        "facts": Facts(FACTS, unavailable),
        "data": DATA,
        "environ": Environ({"HOME": "/home/me"}),
        "host": {"name": "web1", "address": "192.0.2.1", "groups": ["web"], "vars": {}},
        "directory": Directory(directory),
        "renderers": RENDERERS,
    }
    return Scope(**{**settings, **changes}, lenient=lenient)


def evaluate(
    source: str, directory: Path = Path("."), lenient: bool = False, **changes: Any
) -> Any:
    return Expression.parse(source, lenient=lenient).evaluate(scope(directory, lenient, **changes))


def render(text: str, directory: Path = Path("."), **changes: Any) -> Any:
    return Template.parse(text, lambda piece, at: None).render(scope(directory, **changes))
