"""Jet as the language of a directory (controller); the language itself is in ``language/jet``."""

from collections.abc import Iterable, Sequence
from typing import Any

from orchestrator.language import jet
from orchestrator.language.jet import template_checks
from orchestrator.language.jet.syntax import Call, Const
from orchestrator.language.manifest_directory import Directory
from orchestrator.templates.engines.base import TREE_FUNCTIONS, Compiled, Rendering
from remote_runtime.errors import InputError, Position, Problem


class JetTemplate:
    """One template of a library."""

    def __init__(self, template: jet.Template) -> None:
        self.template = template

    def render(self, rendering: Rendering, context: Sequence[Any]) -> str:
        """See ``Compiled``."""
        functions = {"render": rendering.render, "write": rendering.write}
        return jet.render(self.template, rendering.names, functions, context)


class JetEngine:
    """Paths in ``include``, ``import`` and ``extends`` are relative to the directory."""

    def __init__(
        self,
        delimiters: tuple[str, str] | None,
        directory: Directory,
        prefix: str,
        added: tuple[str, ...] = (),
    ) -> None:
        self._delimiters = jet.Delimiters(*delimiters) if delimiters else jet.Delimiters()
        if problem := self._delimiters.problem():
            raise InputError([Problem(problem)])
        self._prefix = prefix
        self._added = added
        self._library = jet.Library(directory, self._delimiters, TREE_FUNCTIONS, prefix)
        self.openers = (self._delimiters.left, *self._delimiters.comments())

    def compile(self, path: str, text: str) -> JetTemplate:
        """See ``Engine``."""
        return JetTemplate(self._library.parse(text, self._prefix + path, path, self._added))

    def problems(self, path: str, text: str) -> list[Problem]:
        """See ``Engine``; an included template uses variables that are set elsewhere."""
        name = self._prefix + path
        return jet.Template(text, path, name=name, number=0).read(self._delimiters, TREE_FUNCTIONS)

    def unset(self, compiled: Compiled) -> list[Problem]:
        """See ``Engine``; unset names are reported at compilation."""
        return []

    def rendered(self, compiled: Compiled) -> Iterable[tuple[str, Position]]:
        """See ``Engine``."""
        assert isinstance(compiled, JetTemplate)
        for part in compiled.template.reached:
            for node in template_checks.walk(part.tree.body):
                if not isinstance(node, Call) or node.name != "render" or not node.arguments:
                    continue
                path = node.arguments[0]
                if isinstance(path, Const) and isinstance(path.value, str):
                    yield path.value, part.position(path.at)
