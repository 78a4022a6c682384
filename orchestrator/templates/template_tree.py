"""A directory of templates, compiled once per run and rendered for each host (controller)."""

import posixpath
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

from orchestrator.language.builtin_names import Names
from orchestrator.language.errors import EvaluationError
from orchestrator.language.manifest_directory import Directory
from orchestrator.templates.engines import make_engine
from orchestrator.templates.engines.base import MAX_DEPTH, Compiled
from orchestrator.templates.tree_source import (
    SourceFile,
    name_problem,
    read_source,
    template_text,
)
from remote_runtime.errors import InputError, Problem
from remote_runtime.system.paths import parents

MAX_TEXT = 256 << 20
MAX_FILES = 50_000


class RenderedFile(NamedTuple):
    """One file for one host: the text of a template, or a file that is copied unchanged."""

    path: str
    content: str | Path
    executable: bool


class TreeSettings(NamedTuple):
    """How a directory is rendered. With ``delimiters`` None, those of the engine are used.
    ``added`` has names that its templates can read in addition to those of every template.
    """

    engine: str = "jet"
    delimiters: tuple[str, str] | None = None
    skip_empty: bool = False
    added: tuple[str, ...] = ()


class Tree:
    """One directory in one language.

    Thread-safe. InputError with all of its problems. ``prefix`` is the name of the directory in
    positions.
    """

    def __init__(self, directory: Path, prefix: str, settings: TreeSettings) -> None:
        self.prefix = prefix
        self.settings = settings
        self._engine = make_engine(
            settings.engine,
            settings.delimiters,
            directory=Directory(directory),
            prefix=prefix,
            added=settings.added,
        )
        problems: list[Problem] = []
        source = read_source(directory, prefix, problems)
        self.files = [file for file in source.files if not file.is_partial]
        self.directories = source.directories
        self._lock = Lock()
        self._places = {file.path: file for file in source.files}
        self._texts: dict[str, str] = {}
        self._compiled: dict[str, Compiled] = {}
        self._empty: set[str] = set()
        self._read(problems)
        if problems:
            raise InputError(problems)

    def _read(self, problems: list[Problem]) -> None:
        for path, file in self._places.items():
            name = self.prefix + path
            try:
                text = template_text(file, self._engine.openers, name)
                if text is not None:
                    self._texts[path] = text
                elif self.settings.skip_empty and _is_blank(file):
                    self._empty.add(path)
            except OSError as error:
                message = f"cannot read {name}: {error.strerror}"
                problems.append(Problem(message, None, "", "plan.source"))
            except ValueError as error:
                problems.append(Problem(str(error), None, "", "plan.source"))
        for path, text in self._texts.items():
            if self._places[path].is_partial:
                problems += self._engine.problems(path, text)
            else:
                self._compile(path, text, problems)

    def _compile(self, path: str, text: str, problems: list[Problem]) -> None:
        """Compile a template and its literal templates. The variables of a partial depend on its
        caller, so it is checked completely only when it is rendered.
        """
        try:
            compiled = self._compiled[path] = self._engine.compile(path, text)
        except InputError as error:
            problems += [problem for problem in error.problems if problem not in problems]
            return
        problems += self._engine.unset(compiled)
        for named, where in self._engine.rendered(compiled):
            try:
                below = below_directory(named)
            except ValueError as error:
                problems.append(Problem(f"render: {error}", where, "", "template"))
                continue
            if below not in self._places:
                message = f"render: there is no {below!r} in {self.prefix}"
                problems.append(Problem(message, where, "check the path", "template"))
            elif below in self._texts and below not in self._compiled:
                self._compile(below, self._texts[below], problems)

    def render(self, names: Names) -> list[RenderedFile]:
        """Every file for one host, sorted; EvaluationError with the position, NeedFileError."""
        return TreeRendering(self, names).run()

    def template(self, path: str) -> Compiled | None:
        """The template at a path; None for a file that is copied. EvaluationError, KeyError."""
        self._places[path]
        text = self._texts.get(path)
        if text is None:
            return None
        with self._lock:
            if path not in self._compiled:
                try:
                    self._compiled[path] = self._engine.compile(path, text)
                except InputError as error:
                    problem = error.problems[0]
                    raise EvaluationError(problem.message, problem.where) from error
            return self._compiled[path]

    def texts(self) -> list[tuple[str, str]]:
        """Return the name of each template in positions, with its text."""
        return [(self.prefix + path, text) for path, text in self._texts.items()]

    @property
    def delimiters(self) -> tuple[str, str]:
        """The delimiters of its code."""
        usual = ("[[", "]]") if self.settings.engine == "jet" else ("{{", "}}")
        return self.settings.delimiters or usual

    def place(self, path: str) -> Path:
        """The position of a file."""
        return self._places[path].place

    def is_empty(self, path: str) -> bool:
        """Whether a copied file must be skipped."""
        return path in self._empty


class TreeRendering:
    """One host's rendering of a tree; templates call its ``render`` and ``write``."""

    def __init__(self, tree: Tree, names: Names) -> None:
        self.names = names
        self.cache: dict[str, Any] = {}
        self._tree = tree
        self._skip_empty = tree.settings.skip_empty
        self._made: dict[str, RenderedFile] = {}
        self._depth = 0
        self._size = 0

    def run(self) -> list[RenderedFile]:
        """Render all files."""
        for file in self._tree.files:
            compiled = self._tree.template(file.path)
            text = None if compiled is None else compiled.render(self, ())
            try:
                if text is not None:
                    self._add(file.path, text, file.executable)
                elif not self._tree.is_empty(file.path):
                    self._put(RenderedFile(file.path, file.place, file.executable))
            except ValueError as error:
                raise EvaluationError(f"{self._tree.prefix}: {error}") from error
        self._check_directories()
        return [self._made[path] for path in sorted(self._made)]

    def render(self, path: Any, *context: Any) -> str:
        """The text of another template in the directory; ``context`` is its data."""
        name = below_directory(path)
        if len(context) > 1:
            raise ValueError("render takes a path and optionally a context")
        if self._depth >= MAX_DEPTH:
            raise ValueError(f"render is nested deeper than {MAX_DEPTH} levels")
        self._depth += 1
        try:
            compiled = self._tree.template(name)
            if compiled is not None:
                return compiled.render(self, context)
            return self._tree.place(name).read_text(encoding="utf-8")
        except KeyError:
            raise ValueError(f"there is no {name!r} in {self._tree.prefix}") from None
        except OSError as error:
            raise ValueError(f"cannot read {name}: {error.strerror}") from error
        finally:
            self._depth -= 1

    def write(self, path: Any, text: Any) -> str:
        """Add a file to the result of the directory."""
        if not isinstance(text, str):
            raise ValueError(f"write takes a path and text, not {type(text).__name__}")
        self._add(below_directory(path), text, False)
        return ""

    def _add(self, path: str, text: str, executable: bool) -> None:
        if self._skip_empty and not text.strip():
            return
        self._size += len(text)
        if self._size > MAX_TEXT:
            raise ValueError(f"the templates produce more than {MAX_TEXT >> 20} MiB of text")
        self._put(RenderedFile(path, text, executable))

    def _put(self, file: RenderedFile) -> None:
        known = self._made.setdefault(file.path, file)
        if known.content != file.content:
            raise ValueError(f"{file.path!r} is written twice, with different contents")
        if len(self._made) > MAX_FILES:
            raise ValueError(f"more than {MAX_FILES} files")

    def _check_directories(self) -> None:
        """Refuse a path that is both a file and a directory."""
        above = {parent for path in self._made for parent in parents(path)}
        above.update(self._tree.directories)
        for path in sorted(above & self._made.keys()):
            message = f"{self._tree.prefix}: {path!r} would be both a file and a directory"
            raise EvaluationError(message)


def below_directory(path: Any) -> str:
    """A path that a template names, in normalized form; ValueError if it leads outside."""
    if not isinstance(path, str) or not path:
        raise ValueError("a path must be text")
    if path.startswith("/"):
        raise ValueError(f"the path {path!r} must be relative to the directory")
    clean = posixpath.normpath(path)
    if clean in (".", "..") or clean.startswith("../") or path.endswith("/"):
        raise ValueError(f"the path {path!r} does not name a file in the directory")
    for name in clean.split("/"):
        if reason := name_problem(name):
            raise ValueError(f"the path {path!r}: {reason}")
    return clean


def _is_blank(file: SourceFile) -> bool:
    with open(file.place, "rb") as stream:
        while block := stream.read(1 << 16):
            if block.strip():
                return False
    return True
