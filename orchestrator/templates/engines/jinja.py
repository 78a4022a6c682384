"""Jinja2 as the language of a template directory (controller); see also ``language/jinja``."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from orchestrator.language.jinja import Library, LoadedTemplate, render
from orchestrator.language.jinja.environment import Settings
from orchestrator.language.manifest_directory import Directory
from orchestrator.templates.engines.base import (
    TREE_FUNCTIONS,
    Compiled,
    Rendering,
    StandaloneTemplate,
)
from remote_runtime.errors import InputError, Position, Problem


class JinjaTemplate:
    """One compiled template."""

    def __init__(self, template: LoadedTemplate) -> None:
        self.template = template

    def render(self, rendering: Rendering, context: Sequence[Any]) -> str:
        """See ``Compiled``; a map passed to ``render()`` adds names."""
        functions = {name: getattr(rendering, name) for name in TREE_FUNCTIONS}
        more = context[0] if context and isinstance(context[0], Mapping) else {}
        return render(self.template, rendering.names, functions, more)


class JinjaEngine(StandaloneTemplate):
    """Paths in ``include``, ``import`` and ``extends`` are relative to the directory."""

    def __init__(
        self,
        delimiters: tuple[str, str] | None,
        directory: Directory,
        prefix: str,
        added: tuple[str, ...] = (),
    ) -> None:
        self._added = added
        settings = Settings(delimiters, lstrip_blocks=True)
        self._library = Library(
            directory, settings=settings, functions=TREE_FUNCTIONS, prefix=prefix, relative=False
        )
        self.openers = ((delimiters or ("{{",))[0], "{%", "{#")

    def compile(self, path: str, text: str) -> JinjaTemplate:
        """See ``Engine``."""
        return JinjaTemplate(self._library.parse(text, path))

    def unset(self, compiled: Compiled) -> list[Problem]:
        """See ``Engine``."""
        assert isinstance(compiled, JinjaTemplate)
        try:
            compiled.template.check(self._added)
        except InputError as error:
            return error.problems
        return []

    def rendered(self, compiled: Compiled) -> Iterable[tuple[str, Position]]:
        """See ``Engine``; the names that ``render()`` adds are known only when it is called."""
        return ()
