"""The templates of one manifest: read, checked and compiled once per run (controller)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Sequence
from functools import lru_cache
from threading import RLock
from typing import Any

from jinja2 import TemplateNotFound, TemplateSyntaxError

from orchestrator.language.builtin_names import FUNCTIONS, TEMPLATE_FUNCTIONS, TEMPLATE_VARIABLES
from orchestrator.language.cursor import Positions
from orchestrator.language.errors import EvaluationError
from orchestrator.language.jinja import template_checks
from orchestrator.language.jinja.environment import KNOWN as HEADER_KEYS
from orchestrator.language.jinja.environment import (
    PlacedTemplate,
    Settings,
    WholeSandbox,
    normalized,
    split_header,
)
from orchestrator.language.manifest_directory import Directory
from orchestrator.language.sandbox import Empty, Missing
from remote_runtime.errors import InputError, Position, Problem

KNOWN = (*TEMPLATE_VARIABLES, *FUNCTIONS, *TEMPLATE_FUNCTIONS, "managed")
"""The names of a template other than the added ones."""
_DEFAULT = Settings()
_SHOWN = 400
_MAX_PLACES = 5
MAX_TAGS = 20_000  # expressions and blocks of one template; each takes some 14 KiB


def with_include_stack(message: str, places: Sequence[Position]) -> str:
    """A message about a template that others include at these positions, the innermost first."""
    if not places:
        return message
    shown = ", ".join(map(str, places[:_MAX_PLACES]))
    return f"{message.removesuffix('.')}, in a template used at {shown}"


class LoadedTemplate:
    """One template with all templates that it names literally; shared by all hosts and threads.

    ``path`` is its path below the directory, ``name`` its name in positions. ``reached`` are the
    templates that it may run, itself first, and ``uses`` has for each of the others the position of
    the tag that names it, by path.
    """

    def __init__(self, library: Library, text: str, path: str, name: str) -> None:
        self.library = library
        self.text = text
        self.path = path
        self.name = name
        self.positions = Positions(name, text)
        self.code: PlacedTemplate
        self.facets: template_checks.Facets
        self.reached: tuple[LoadedTemplate, ...] = ()
        self.uses: dict[str, tuple[LoadedTemplate, int]] = {}
        self.is_whole = True

    def check(self, added: Iterable[str] = ()) -> None:
        """InputError with each name that neither ccm nor these names nor the templates set."""
        if not self.is_whole:
            return  # a template included by a computed path may set any name
        known = {*KNOWN, *self.library.functions, *added}
        for part in self.reached:
            known |= part.facets.introduced | part.facets.optional
        problems = [
            self.led_to(part, part.problem(*found))
            for part in self.reached
            for found in template_checks.unknown_names(part.facets, known)
        ]
        if problems:
            raise InputError(problems)

    def problem(self, message: str, hint: str, offset: int) -> Problem:
        """A mistake, for the user."""
        return Problem(message, self.positions.of(offset), hint, "template")

    def led_to(self, part: LoadedTemplate, problem: Problem, *places: Position) -> Problem:
        """The problem, with the positions that lead to it: ``places`` and the positions that
        name the template with them, the innermost first.
        """
        found = list(places)
        while part.path in self.uses:
            part, offset = self.uses[part.path]
            found.append(part.positions.of(offset))
        return problem._replace(message=with_include_stack(problem.message, found))


class Library:
    """The whole templates of a directory. Thread-safe.

    A path in ``include``, ``import`` or ``extends`` is relative to the template that contains it
    or, with a leading slash, to the directory. It may leave the directory only for files next to a
    template with a literal path. ``functions`` are names in addition to those of every template.
    ``prefix`` precedes a path in positions. Without ``relative``, every path is relative to the
    directory.
    """

    def __init__(
        self,
        directory: Directory,
        lenient: bool = False,
        *,
        settings: Settings = _DEFAULT,
        functions: Iterable[str] = (),
        prefix: str = "",
        relative: bool = True,
    ) -> None:
        self.directory = directory
        self.functions = frozenset(functions)
        self.literals: frozenset[str] = frozenset()
        self._prefix = prefix
        self._relative = relative
        self._lock = RLock()
        self._loaded: dict[tuple[str, str], LoadedTemplate] = {}
        self._found: dict[str, LoadedTemplate] = {}
        self._outside: dict[str, Directory] = {}
        undefined = Empty if lenient else Missing
        self._undefined = undefined
        self._settings = settings
        self.sandbox = WholeSandbox(undefined, settings, self._named, self._join)
        self._sandboxes = {settings: self.sandbox}

    def load(self, path: str, literal: bool = True) -> LoadedTemplate:
        """A template in the directory with all templates that it names.

        InputError with every mistake; EvaluationError if it cannot be read. ``literal``: the user
        wrote the path, so it may be outside the directory.
        """
        return self.parse_file(self.directory.read(path, literal), path)

    def parse_file(self, text: str, path: str) -> LoadedTemplate:
        """The template in a file that was already read; see ``load``."""
        above = posixpath.dirname(posixpath.normpath(path))
        if above.startswith("..") and above not in self._outside:
            own = self.directory
            self._outside[above] = Directory(own.path / above, own.bounds, above=own)
        return self.parse(text, path)

    def parse(self, text: str, path: str, name: str = "") -> LoadedTemplate:
        """Return the template of a string; InputError with every mistake in it and in the templates
        that it names."""
        text = normalized(text)
        with self._lock:
            template = self._parse(text, posixpath.normpath(path), name or self._prefix + path)
            if not template.reached:
                self._reach(template)
            return template

    def _parse(self, text: str, path: str, name: str) -> LoadedTemplate:
        known = self._loaded.get((path, text))
        if known is not None:
            return known
        template = LoadedTemplate(self, text, path, name)
        whole = split_header(text, self._settings)
        if whole.problem:
            message = f"the header line #jinja2: {whole.problem}"
            raise InputError([template.problem(message, f"it may set {', '.join(HEADER_KEYS)}", 0)])
        template.positions = Positions(name, whole.text)
        sandbox = self._sandbox_of(whole.settings)
        signs = sandbox.variable_start_string, sandbox.block_start_string
        tags = sum(map(whole.text.count, signs))
        if tags > MAX_TAGS:
            what = f"a template with {tags:,} expressions and blocks, more than {MAX_TAGS:,}"
            raise InputError([template.problem(what, "use a loop, or split it", 0)])
        try:
            tree = sandbox.parse(whole.text, path)
            problems = template_checks.tree_problems(tree, sandbox)
            if problems:
                raise InputError([template.problem(*found) for found in problems])
            template.facets = template_checks.facets(tree)
            template.code = sandbox.compile_tree_of(tree, path, template.positions)
        except TemplateSyntaxError as error:
            from orchestrator.language.call_errors import of_syntax

            message = of_syntax(error.message or "it is not a template")
            found = template.problem(message, "", error.lineno - 1)
            raise InputError([found]) from error
        except RecursionError as error:
            where = Position(name, 1, 1)
            problem = Problem("it is nested too deeply", where, "split it", "template")
            raise InputError([problem]) from error
        self.literals |= template.facets.literals
        self._loaded[path, text] = template
        return template

    def _sandbox_of(self, settings: Settings) -> WholeSandbox:
        """The compiler of templates with these settings."""
        if settings not in self._sandboxes:
            made = WholeSandbox(self._undefined, settings, self._named, self._join)
            self._sandboxes[settings] = made
        return self._sandboxes[settings]

    def _reach(self, template: LoadedTemplate) -> None:
        reached = {template.path: template}
        pending, problems = [template], []
        while pending:
            part = pending.pop()
            for path, offset, optional in part.facets.references:
                if path is None:
                    template.is_whole = False
                    continue
                try:
                    found = self._find(self._join(path, part.path))
                except InputError as error:
                    place = part.positions.of(offset)
                    problems += [template.led_to(part, one, place) for one in error.problems]
                    continue
                except (EvaluationError, TemplateNotFound) as error:
                    if isinstance(error, EvaluationError) or not optional:
                        problem = part.problem(self.why(error), "check the path", offset)
                        problems.append(template.led_to(part, problem))
                    continue
                if found.path not in reached:
                    reached[found.path] = found
                    template.uses[found.path] = (part, offset)
                    pending.append(found)
        if problems:
            raise InputError(problems)
        template.reached = tuple(reached.values())

    def why(self, error: Exception) -> str:
        """The message for a template that was not found."""
        if isinstance(error, TemplateNotFound):
            return f"there is no template {self._prefix}{error.name}"
        return getattr(error, "message", "") or str(error)

    def _join(self, path: str, parent: str) -> str:
        """The path below the directory to which ``path`` in the template ``parent`` resolves."""
        if path.startswith("/") or not self._relative:
            return posixpath.normpath(path).lstrip("/")
        return posixpath.normpath(posixpath.join(posixpath.dirname(parent), path))

    def _find(self, path: str) -> LoadedTemplate:
        with self._lock:
            if path not in self._found:
                text = self._beside(path)
                if text is None:
                    raise TemplateNotFound(path)
                self._found[path] = self._parse(normalized(text), path, self._prefix + path)
            return self._found[path]

    def _named(self, path: Any) -> PlacedTemplate:
        return self._find(path).code

    def _beside(self, path: str) -> str | None:
        """The text of a file that a template names; None if it is missing."""
        directory, name = self.directory, path
        for above, outside in self._outside.items():
            if path.startswith(above + "/"):
                directory, name = outside, path[len(above) + 1 :]
        try:
            place = directory.locate(name, literal=False)
        except EvaluationError as error:
            message = (
                f"{path[:_SHOWN]!r} is not in the manifest's directory, "
                "and only files there may be included"
            )
            raise EvaluationError(message, kind="template.file") from error
        if not place.is_file():
            return None
        return directory.read(name, literal=False)


@lru_cache(maxsize=256)
def library_of(directory: Directory, lenient: bool) -> Library:
    """The library of a manifest's directory: one per run, and one for data, overrides and order."""
    return Library(directory, lenient)
