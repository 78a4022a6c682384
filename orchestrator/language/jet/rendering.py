"""One rendering of a Jet template for one host (controller).

Jet has dynamic scope: a block can read the variables of the template that yields it, and an
included template those of the including template.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from jinja2 import TemplateError

from orchestrator.language import value_types
from orchestrator.language.builtin_names import FUNCTIONS, Names, added_names, template_variables
from orchestrator.language.cost_limits import MAX_TEXT, TooLargeError
from orchestrator.language.errors import EvaluationError, FactsUnavailableError
from orchestrator.language.jet import operators
from orchestrator.language.jet.runtime_operations import Caught, Frame, Operations
from orchestrator.language.jet.template_library import Library, Template
from remote_runtime.errors import CcmError, InputError
from remote_runtime.text.suggestions import nearest

if TYPE_CHECKING:
    from orchestrator.language.jet.compiler import BlockBodies

MAX_STEPS = 1_000_000
MAX_DEPTH = 40
FAILURES = (
    EvaluationError, InputError, TemplateError, ArithmeticError, LookupError, TypeError, ValueError,
    RecursionError,
)  # fmt: skip


def render(
    template: Template,
    names: Names,
    functions: Mapping[str, Callable[..., Any]] | None = None,
    context: Sequence[Any] = (),
) -> str:
    """The text for one host; EvaluationError with the position, NeedFileError.

    ``functions`` are those of the library. ``context`` contains the value of the dot, unless it is
    the variables.
    """
    assert template.library is not None  # only a library compiles
    given = names(frozenset(template.library.literals))
    more = {**{name: given[name] for name in (*FUNCTIONS, "template")}, **(functions or {})}
    variables = {**template_variables(given), **added_names(given)}
    return Run(template.library, variables, more).render(template, context)


class Content(NamedTuple):
    """The content of ``yield content``: a macro, and its variables."""

    macro: str
    frame: Frame
    outer: Content | None


class Run(Operations):
    """The state of one rendering, and the functions that a compiled template calls.

    ``variables`` has the names of the scope, ``functions`` the additional functions.
    """

    def __init__(
        self,
        library: Library,
        variables: Mapping[str, Any],
        functions: Mapping[str, Callable[..., Any]],
    ) -> None:
        self._library = library
        super().__init__(variables, {"exec": self._exec, **functions})
        self._content: Content | None = None
        self._macros: dict[str, Callable[[], str]] = {}
        self._loaded: set[int] = set()
        self._running: list[Template] = []
        self._given: Any = None
        self._returned: Any = None
        self._depth = 0
        self._steps = 0
        self._size = 0
        names = [name for name in dir(self) if name.startswith("jet_")]
        self._names = {name: getattr(self, name) for name in names}

    def render(self, template: Template, context: Sequence[Any] = ()) -> str:
        """The whole text; EvaluationError with its position, NeedFileError."""
        if context:
            self._dot = context[0]
        try:
            return self._execute(template)
        except FAILURES as error:
            raise self._explained(error) from error

    def _explained(self, error: Exception) -> EvaluationError:
        where = self._library.positions[self._at]
        if isinstance(error, InputError):
            problem = error.problems[0]
            return EvaluationError(problem.message, problem.where or where, problem.kind)
        if isinstance(error, EvaluationError):
            error.where = error.where or where
            return error
        if isinstance(error, RecursionError):
            return EvaluationError("the template is nested too deeply", where)
        kind = "template.undefined" if isinstance(error, operators.MissingError) else ""
        if isinstance(error, CcmError):
            return EvaluationError(error.message, where, kind)
        from orchestrator.language.call_errors import of_call

        return EvaluationError(of_call(str(error)), where, kind)

    def _execute(self, template: Template) -> str:
        for part in template.parts():
            if part.number not in self._loaded:
                self._loaded.add(part.number)
                module = part.code.make_module(self._names)
                self._macros.update({name: getattr(module, name) for name in part.macros})
        self._frame = Frame(self._frame, {}, template.blocks)
        self._running.append(template)
        root = template
        while root.extends is not None:
            root = root.extends
        text = self._macro(root.root)
        self._running.pop()
        assert self._frame.parent is not None  # it was made above
        self._frame = self._frame.parent
        return text

    def _macro(self, name: str) -> str:
        """Run a macro; the handler of its exceptions restores ``_depth``."""
        if self._depth >= MAX_DEPTH:
            raise TooLargeError(f"blocks and templates are nested deeper than {MAX_DEPTH} levels")
        self._depth += 1
        text = str(self._macros[name]())
        self._depth -= 1
        return text

    # Statements

    def jet_spend(self, size: int) -> None:
        """Count one step and its text."""
        self._steps += 1
        self._size += size
        if self._steps > MAX_STEPS:
            raise TooLargeError(f"the template takes more than {MAX_STEPS} steps")
        if self._size > MAX_TEXT:
            raise TooLargeError(f"the template produces more than {MAX_TEXT >> 20} MiB of text")

    def jet_enter(self) -> None:
        """Begin a statement list with its own variables."""
        self._frame = Frame(self._frame, {})

    def jet_leave(self) -> None:
        """End the statement list."""
        assert self._frame.parent is not None  # enter and leave are paired
        self._frame = self._frame.parent

    def jet_write(self, value: Any, at: int) -> str:
        """The text of a value."""
        self._at = at
        text = value.message if isinstance(value, Caught) else operators.text(value)
        self.jet_spend(len(text))
        return text

    def jet_set(self, let: bool, names: list[str], found: list[Any], at: int) -> None:
        """``names := found`` or ``names = found``."""
        self._at = at
        for name, value in zip(names, found, strict=True):
            if name == "_":
                continue
            frame = self._frame if let else self._frame_of(name)
            if frame is None or (frame.parent is None and not let):
                raise ValueError(f"{name!r} is not a variable yet; write {name} := …")
            frame.variables[name] = value

    def jet_set_found(self, let: bool, names: list[str], base: Any, key: Any, at: int) -> None:
        """``value, found := base[key]``."""
        there = self.jet_has(base, [key], nil=True)
        value = operators.element(base, key, "") if there else None
        self.jet_set(let, names, [value, there], at)

    def jet_range(self, items: Any, index: str, value: str, size: int, at: int) -> Iterator[None]:
        """Run a loop's body with its variables; a map is iterated in the order of its keys."""
        self._at = at
        if isinstance(items, Mapping):
            pairs: Any = [(key, items[key]) for key in sorted(items.keys())]
        elif isinstance(items, list | tuple | range):
            pairs = enumerate(items)
        else:
            raise ValueError(f"range takes a list or a map, not {value_types.kind(items)}")
        frame, dot = self._frame, self._dot
        for key, entry in pairs:
            self.jet_spend(size)
            self._frame = Frame(frame, {})
            if index not in ("", "_"):
                self._frame.variables[index] = key
            if value not in ("", "_"):
                self._frame.variables[value] = entry
            if not value:
                self._dot = entry
            yield
        self._frame, self._dot = frame, dot

    def jet_return(self, value: Any) -> None:
        """Set the result of ``exec()``."""
        self._returned = value

    def jet_attempt(self, body: str, otherwise: str, error_name: str) -> str:
        """Run a ``try``: return the body's text, or that of the catch part. Signals are
        never caught.
        """
        state = self._frame, self._dot, self._content, self._depth, len(self._running)
        try:
            return self._macro(body)
        except FactsUnavailableError:
            raise
        except FAILURES as error:
            caught = self._explained(error)
        self._frame, self._dot, self._content, self._depth, running = state
        del self._running[running:]
        if not error_name:
            return self._macro(otherwise)
        self._frame = Frame(self._frame, {error_name: Caught(str(caught))})
        text = self._macro(otherwise)
        self._frame = state[0]
        return text

    # Blocks and templates

    def jet_yield(
        self, name: str, at: int, arguments: dict[str, Any], context: list[Any], content: str
    ) -> str:
        """Run a block, which must be known."""
        self._at = at
        block = self._block(name)
        if block is None:
            raise operators.MissingError(self._no_block(name))
        return self._run_block(block, arguments, context, content)

    def jet_block(self, name: str, at: int) -> str:
        """Run a block at its place of definition; a nearer one of this name takes precedence."""
        self._at = at
        block = self._block(name)
        assert block is not None  # the template that is running defines it
        context: list[Any] = []
        if block.context:
            self._macros[block.context]()
            context = [self._given]
        return self._run_block(block, {}, context, block.content)

    def jet_give(self, value: Any) -> None:
        """Return the context of a block's definition."""
        self._given = value

    def jet_lacks(self, name: str) -> bool:
        """Whether a parameter was not given."""
        return name not in self._frame.variables

    def jet_default(self, name: str, value: Any) -> None:
        """Set a parameter to its default."""
        self._frame.variables[name] = value

    def jet_need(self, name: str, at: int) -> None:
        """Refuse a block whose parameter has neither a value nor a default."""
        if name not in self._frame.variables:
            self._at = at
            raise ValueError(f"the block needs {name}=…, which has no default")

    def jet_content(self, at: int, context: list[Any]) -> str:
        """Run the content passed to the current block; nothing without content."""
        self._at = at
        if self._content is None:
            return ""
        frame, dot, content = self._frame, self._dot, self._content
        self._frame, self._content = content.frame, content.outer
        if context:
            self._dot = context[0]
        text = self._macro(content.macro)
        self._frame, self._dot, self._content = frame, dot, content
        return text

    def jet_include(self, path: Any, at: int, context: list[Any], optional: bool) -> str:
        """Run another template in place of the statement."""
        self._at = at
        template = self._library.find(path, self._running[-1], optional)
        if template is None:
            return ""
        self.jet_spend(len(template.text))
        dot = self._dot
        if context:
            self._dot = context[0]
        text = self._execute(template)
        self._dot = dot
        return text

    def _exec(self, path: Any, *context: Any) -> Any:
        outer, self._returned = self._returned, None
        self.jet_include(path, self._at, list(context), False)
        value, self._returned = self._returned, outer
        return value

    def _run_block(
        self, block: BlockBodies, arguments: dict[str, Any], context: list[Any], content: str
    ) -> str:
        frame, dot, outer = self._frame, self._dot, self._content
        self._frame = Frame(frame, dict(arguments))
        if content:
            self._content = Content(content, self._frame, outer)
        if context:
            self._dot = context[0]
        text = self._macro(block.body)
        self._frame, self._dot, self._content = frame, dot, outer
        return text

    def _block(self, name: str) -> BlockBodies | None:
        frame: Frame | None = self._frame
        while frame is not None:
            if name in frame.blocks:
                return frame.blocks[name]
            frame = frame.parent
        return None

    def _no_block(self, name: str) -> str:
        known, frame = [], self._frame
        while frame.parent is not None:
            known += list(frame.blocks)
            frame = frame.parent
        likely = nearest(name, known)
        hint = f"; did you mean {likely}?" if likely else "; define or import it"
        return f"there is no block {name!r}{hint}"
