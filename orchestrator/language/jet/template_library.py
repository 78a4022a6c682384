"""The templates of one directory, each read and compiled once (controller)."""

from __future__ import annotations

import posixpath
from collections.abc import Iterable, Iterator
from functools import lru_cache
from itertools import count
from threading import RLock
from typing import TYPE_CHECKING, Any

from orchestrator.language.builtin_names import TEMPLATE_VARIABLES
from orchestrator.language.cursor import ParseError, Positions
from orchestrator.language.errors import EvaluationError
from orchestrator.language.jet import template_checks
from orchestrator.language.jet.lexer import Delimiters
from orchestrator.language.jet.parser import parse
from orchestrator.language.jet.syntax import Const, Plain, Tree
from orchestrator.language.manifest_directory import Directory
from remote_runtime.errors import InputError, Position, Problem

if TYPE_CHECKING:
    from orchestrator.language.jet.compiler import BlockBodies

EXTENSIONS = ("", ".jet", ".html.jet", ".jet.html")
MAX_CHAIN = 20


class Template:
    """One compiled template; immutable once its library has returned it, and shared by all threads.

    ``path`` is its path below the directory, ``name`` its name in positions; ``reached`` has the
    templates that rendering it may run, including itself, if their paths are literal; ``position``
    returns the position of an offset. A template without a ``library`` is only read, never run.
    """

    def __init__(
        self, text: str, path: str, *, name: str, number: int, library: Library | None = None
    ) -> None:
        self.library = library
        self.text = text
        self.path = path
        self.name = name
        self.number = number
        self.tree = Tree()
        self.extends: Template | None = None
        self.imports: list[Template] = []
        self.reached: tuple[Template, ...] = ()
        self.checked: set[frozenset[str]] = set()  # each with these names beyond the usual ones
        self.blocks: dict[str, BlockBodies] = {}
        self.macros: list[str] = []
        self.root = ""
        self.code: Any = None
        self.position = Positions(name, text).of

    def read(self, delimiters: Delimiters, functions: Iterable[str]) -> list[Problem]:
        """Create the tree; return the mistakes that are visible in this template alone."""
        try:
            self.tree = parse(self.text, delimiters)
            problems = list(template_checks.call_problems(self.tree, functions))
        except ParseError as error:
            problems = [error]
        except RecursionError:
            problems = [ParseError("an expression is nested too deeply", 0, "split it")]
        return [self.problem(error) for error in problems]

    def problem(self, error: ParseError) -> Problem:
        """A mistake in this template, for the user."""
        return Problem(error.message, self.position(error.at), error.hint, "template")

    def parts(self) -> Iterator[Template]:
        """The templates whose blocks it may run, including itself."""
        yield self
        for other in (*self.imports, *([self.extends] if self.extends else [])):
            yield from other.parts()

    def plain_texts(self) -> Iterator[tuple[str, Position]]:
        """Yield the literal strings of all reachable templates, with their positions."""
        for part in self.reached:
            for node in template_checks.walk(part.tree.body):
                if isinstance(node, Plain):
                    yield node.text, part.position(node.at)


class Library:
    """Jet's set of templates. Thread-safe.

    Paths in ``include``, ``import`` and ``extends`` are relative to the template that contains them
    or, with a leading slash, to the directory; no path may leave the directory. ``functions`` has
    names of additional functions, which each rendering provides. ``prefix`` precedes a path in
    positions.
    """

    def __init__(
        self,
        directory: Directory,
        delimiters: Delimiters | None = None,
        functions: Iterable[str] = (),
        prefix: str = "",
    ) -> None:
        self._directory = directory
        self._delimiters = delimiters or Delimiters()
        self._functions = frozenset(functions)
        self._prefix = prefix
        self._lock = RLock()
        self._numbers = count()
        self._parsed: dict[tuple[str, str], Template] = {}
        self.positions: list[Position] = []
        self.literals: set[str] = set()

    def load(self, name: str) -> Template:
        """A template, checked with all templates that it names. The user wrote its name, so it may
        be outside the directory.

        InputError with every mistake; EvaluationError if it cannot be read.
        """
        return self.parse(self._directory.read(name, literal=True), name)

    def parse(
        self, text: str, name: str, path: str | None = None, added: Iterable[str] = ()
    ) -> Template:
        """Return the template of a string; InputError with every mistake. ``path``: its path;
        ``added``: names in addition to those of every template."""
        with self._lock:
            template = self._parse(text, name if path is None else path, name)
            self._check(template, frozenset(added))
            return template

    def find(self, path: Any, asking: Template, optional: bool = False) -> Template | None:
        """The template that another one names; None for an optional one that is missing."""
        if not isinstance(path, str) or not path:
            raise ValueError("the path of a template must be text")
        with self._lock:
            found = self._find(path, asking)
            if found is None and not optional:
                raise ValueError(self._not_found(path))
            return found

    def _parse(self, text: str, path: str, name: str, chain: tuple[str, ...] = ()) -> Template:
        key = (posixpath.normpath("/" + path), text)
        known = self._parsed.get(key)
        if known is not None:
            return known
        if key[0] in chain or len(chain) >= MAX_CHAIN:
            message = f"{name} extends or imports itself"
            raise InputError([Problem(message, Position(name, 1, 1), "", "template")])
        template = Template(text, key[0], name=name, number=next(self._numbers), library=self)
        problems = template.read(self._delimiters, self._functions)
        if problems:
            raise InputError(problems)
        self._link(template, (*chain, key[0]))
        self._compile(template)
        self._parsed[key] = template
        return template

    def _link(self, template: Template, chain: tuple[str, ...]) -> None:
        """Load the templates that it extends and imports; nearer blocks take precedence."""
        tree = template.tree
        if tree.extends is not None:
            template.extends = self._named(tree.extends, template, chain)
            template.blocks.update(template.extends.blocks)
        for path in tree.imports:
            template.imports.append(self._named(path, template, chain))
            template.blocks.update(template.imports[-1].blocks)

    def _named(self, path: Const, asking: Template, chain: tuple[str, ...]) -> Template:
        found = self._find(path.value, asking, chain)
        if found is None:
            error = ParseError(self._not_found(path.value), path.at, "check the path")
            raise InputError([asking.problem(error)])
        return found

    def _compile(self, template: Template) -> None:
        from jinja2.nodes import Macro

        from orchestrator.language.jet.compiler import Compiler
        from orchestrator.language.sandbox import sandbox

        def note(at: int) -> int:
            """Record a position, and return its number."""
            self.positions.append(template.position(at))
            return len(self.positions) - 1

        if not self.positions:
            self.positions.append(template.position(0))
        compiled = Compiler(f"t{template.number}m", note).compile(template.tree)
        template.root = compiled.root
        template.macros = [one.name for one in compiled.tree.body if isinstance(one, Macro)]
        template.blocks.update(compiled.blocks)
        template.code = sandbox(False).compile_template(compiled.tree)
        self.literals.update(
            node.value
            for node in template_checks.walk(template.tree.body)
            if isinstance(node, Const) and isinstance(node.value, str)
        )

    def _find(self, path: str, asking: Template, chain: tuple[str, ...] = ()) -> Template | None:
        # As Jet has it: normalized below the directory, so that no path can leave it.
        whole = posixpath.normpath(posixpath.join("/", posixpath.dirname(asking.path), path))
        for extension in EXTENSIONS:
            name = whole.lstrip("/") + extension
            if name and self._directory.locate(name, literal=False).is_file():
                text = self._directory.read(name, literal=False)
                return self._parse(text, name, self._prefix + name, chain)
        return None

    def _not_found(self, path: str) -> str:
        return f"there is no template {path!r} in {self._directory.path}"

    def _check(self, template: Template, added: frozenset[str]) -> None:
        """Find names that are not set anywhere within the reach of one rendering."""
        if added in template.checked:
            return
        reached: dict[int, Template] = {}
        whole = self._reach(template, reached)
        if whole:
            known = {*TEMPLATE_VARIABLES, *added}
            for part in reached.values():
                known |= template_checks.introduced(part.tree)
            problems = [
                part.problem(error)
                for part in reached.values()
                for error in template_checks.unknown_names(part.tree, known)
            ]
            if problems:
                raise InputError(problems)
        template.reached = tuple(reached.values())
        template.checked.add(added)

    def _reach(self, template: Template, reached: dict[int, Template]) -> bool:
        """Collect the templates that a rendering may run; False if a path is computed."""
        whole = True
        for part in template.parts():
            if part.number in reached:
                continue
            reached[part.number] = part
            for path, optional in template_checks.includes(part.tree):
                if path is None:
                    whole = False
                    continue
                try:
                    found = self._find(path.value, part) if isinstance(path.value, str) else None
                except EvaluationError as error:
                    problem = part.problem(ParseError(error.message, path.at))
                    raise InputError([problem]) from error
                if found is not None:
                    whole = self._reach(found, reached) and whole
                elif not optional:
                    error_here = ParseError(self._not_found(str(path.value)), path.at)
                    raise InputError([part.problem(error_here)])
        return whole


def text_problems(text: str, delimiters: Delimiters) -> list[Problem]:
    """The problems of a template that can be found without other templates."""
    template = Template(text, "jet()", name="jet()", number=0)
    return template.read(delimiters, ())


@lru_cache(maxsize=16)
def library_of(directory: Directory, delimiters: Delimiters) -> Library:
    """The library of a manifest's directory: one per run and pair of delimiters."""
    return Library(directory, delimiters)
