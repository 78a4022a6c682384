"""The Jinja2 environment of whole templates, and their header lines (controller).

The cost of a template is limited: its loops, calls and long strings are counted (``bounds.spend``),
and the operations that the sandbox bounds everywhere are bounded here, too.

Jinja2 counts only lines, so the tokens carry their offset (from 1) instead of the line. In its
syntax errors and in compiled templates, Jinja2's lines are therefore offsets.
"""

import ast
import json
import re
from collections.abc import Callable, Iterable, Iterator, Sized
from functools import wraps
from math import isfinite
from typing import Any, NamedTuple, NoReturn

import jinja2
from jinja2 import TemplateSyntaxError, Undefined, nodes, utils
from jinja2.compiler import Frame
from jinja2.filters import FILTERS
from jinja2.lexer import TokenStream
from jinja2.runtime import LoopContext, Macro
from jinja2.utils import Cycler, Joiner

from orchestrator.language import cost_limits, value_types
from orchestrator.language.builtin_names import VIEWS
from orchestrator.language.cursor import Positions
from orchestrator.language.errors import EvaluationError
from orchestrator.language.sandbox import Generator, Sandbox, bounded_filter

# Filters that only files use, not expressions; the widths are bounded.
_FILTERS = ("batch", "center", "e", "escape", "indent", "slice", "wordwrap")
_PER_MACRO, _PER_INCLUDE = 20, 100  # steps, as they take longer than a pass of a loop
_LINE_FILTERS = ("indent", "wordwrap")
_COUNTED = "ccm counted"  # no template can spell it


class Settings(NamedTuple):
    """How templates are written. ``delimiters`` None: ``{{`` and ``}}``.

    ``trim_blocks``: the line end after a block is removed. ``lstrip_blocks``: so is the white space
    before a block at the start of a line.
    """

    delimiters: tuple[str, str] | None = None
    trim_blocks: bool = True
    lstrip_blocks: bool = False


class PlacedTemplate(jinja2.Template):
    """A compiled template with the positions of its text."""

    positions: Positions

    def position(self, code_line: int) -> Any:
        """The position in the template of a line of its code."""
        return self.positions.of(self.get_corresponding_lineno(code_line) - 1)

    def _get_default_module(self, ctx: Any = None) -> Any:
        """Jinja2's hook for ``import``, which would otherwise keep the variables of a module for
        all hosts.
        """
        return self.make_module()


class _Generator(Generator):
    """Generates code with limits on joined strings and parts of strings."""

    def visit_List(self, node: nodes.List, frame: Frame) -> None:  # noqa: N802 - Jinja2's name
        """``[a, b]``."""
        self._made(super().visit_List, node, frame)

    def visit_Tuple(self, node: nodes.Tuple, frame: Frame) -> None:  # noqa: N802 - Jinja2's name
        """``(a, b)``; as an assignment target, unchanged."""
        if node.ctx == "load":
            self._made(super().visit_Tuple, node, frame)
        else:
            super().visit_Tuple(node, frame)

    def visit_Dict(self, node: nodes.Dict, frame: Frame) -> None:  # noqa: N802 - Jinja2's name
        """``{a: b}``."""
        self._made(super().visit_Dict, node, frame)

    def _made(self, visit: Callable[[Any, Frame], None], node: Any, frame: Frame) -> None:
        self.write("environment.made(")
        visit(node, frame)
        self.write(")")

    def visit_Getitem(self, node: nodes.Getitem, frame: Frame) -> None:  # noqa: N802 - Jinja2's name
        """``a[1:2]``; other indices are compiled as usual."""
        if not isinstance(node.arg, nodes.Slice):
            super().visit_Getitem(node, frame)
            return
        self.write("environment.part(")
        self.visit(node.node, frame)
        self.write(", slice(")
        for bound in (node.arg.start, node.arg.stop, node.arg.step):
            if bound is None:
                self.write("None")
            else:
                self.visit(bound, frame)
            self.write(", ")
        self.write("))")


class WholeSandbox(Sandbox):
    """Compiles whole templates. ``find`` returns the template with a name, or raises
    TemplateNotFound; ``join`` resolves the name in ``include`` and similar tags, relative to the
    including template. One instance serves all threads; ``compile_tree_of`` is not thread-safe.
    """

    code_generator_class = _Generator
    template_class: type[jinja2.Template] = PlacedTemplate

    def __init__(
        self,
        undefined: type[Undefined],
        settings: Settings,
        find: Callable[[str], jinja2.Template],
        join: Callable[[str, str], str],
    ) -> None:
        super().__init__(undefined)
        self.filters = {name: _looking(one) for name, one in self.filters.items()}
        self.variable_start_string, self.variable_end_string = settings.delimiters or ("{{", "}}")
        self.trim_blocks = settings.trim_blocks
        self.lstrip_blocks = settings.lstrip_blocks
        self.keep_trailing_newline = True
        self.finalize = as_output
        self.concat = self.joined  # type: ignore[method-assign]  # Jinja2 assigns a function, too
        self._find, self._join = find, join
        for name in _FILTERS:
            self.filters[name] = bounded_filter(FILTERS[name])
        for name in _LINE_FILTERS:
            self.filters[name] = _by_line(self.filters[name])
        self.globals.update(namespace=Namespace, cycler=Cycler, joiner=Joiner)
        self.filters[_COUNTED] = _counted

    def compile_tree_of(self, tree: nodes.Template, name: str, positions: Positions) -> Any:
        """The template of a tree; TemplateSyntaxError."""
        for output in tree.find_all(nodes.Output):  # errors point to the expression's start
            for child in output.nodes:
                inner = [node.lineno for node in child.find_all(nodes.Node) if node.lineno]
                child.lineno = min([child.lineno, *inner])
        code = self.compile(tree, name, name)
        template = PlacedTemplate.from_code(self, code, self.make_globals(None), None)
        assert isinstance(template, PlacedTemplate)
        template.positions = positions
        return template

    def join_path(self, template: str, parent: str) -> str:
        """The name to which a template's reference to another template resolves."""
        if not isinstance(template, str) or not template:
            raise EvaluationError("the path of a template must be text")
        return self._join(template, parent)

    def handle_exception(self, source: str | None = None) -> NoReturn:
        """Raise the error unchanged: Jinja2 would add template lines, which are offsets here."""
        raise

    def made(self, value: Any) -> Any:
        """A new list or map, which must not contain the same collections over and over."""
        cost_limits.check_collection(value)
        return value

    def part(self, value: Any, key: slice) -> Any:
        """Return a part of a string or a list."""
        found = value[key]
        if isinstance(found, Sized):
            cost_limits.spend_text(len(found))
        return found

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805 - as Jinja2 has it
        """Call a function that a template may call, and count it."""
        cost_limits.spend(_PER_MACRO if isinstance(__obj, Macro) else 1)
        if isinstance(__obj, LoopContext) and args and isinstance(args[0], Sized):
            cost_limits.spend(len(args[0]))
        cost_limits.spend_look(getattr(__obj, "__self__", None))
        cost_limits.check_collection(_kept(__obj, args, kwargs))
        found = super().call(__context, __obj, *args, **kwargs)
        if found.__class__ is str and not isinstance(__obj, Macro):
            cost_limits.spend_text(len(found))
        return found

    def _load_template(self, name: Any, globals: Any) -> jinja2.Template:  # noqa: A002 - as Jinja2 has it
        """Jinja2's hook for ``include``, ``import`` and ``extends``."""
        cost_limits.spend(_PER_INCLUDE)
        return self._find(name)

    def _tokenize(
        self, source: str, name: str | None, filename: str | None = None, state: str | None = None
    ) -> TokenStream:
        """Jinja2's hook before the parser."""
        pieces = _placed(self.lexer.tokeniter(source, name, filename, state), source)
        return TokenStream(self.lexer.wrap(pieces, name, filename), name, filename)

    def _generate(
        self, source: nodes.Template, name: Any, filename: Any, defer_init: bool = False
    ) -> str:
        """Jinja2's hook before code is generated: make every loop count its passes."""
        for loop in source.find_all(nodes.For):
            loop.iter = nodes.Filter(
                loop.iter, _COUNTED, [], [], None, None, lineno=loop.lineno, environment=self
            )
        return super()._generate(source, name, filename, defer_init)


def normalized(text: str) -> str:
    """The text with the line ends that Jinja2 writes."""
    return re.sub("\r\n?", "\n", text) if "\r" in text else text


def as_output(value: Any) -> str:
    """A value between braces, as in the text of a property."""
    kind = value.__class__
    if kind is str:
        cost_limits.spend_text(len(value))
        return str(value)
    if isinstance(value, str | Undefined):
        return str(value)
    if kind is float and not isfinite(value):
        raise ValueError(f"{value} is not a finite number")
    if value is None or kind in (bool, int, float):
        return value_types.as_text(value)
    if isinstance(value, VIEWS):
        value = list(value)
    if not isinstance(value, dict | list | tuple | range):
        hint = "; add |list to it" if kind.__name__ == "generator" else ""
        raise ValueError(f"{value_types.kind(value)} is not text, a number, a list or a map{hint}")
    cost_limits.check_size(cost_limits.text_length(value), cost_limits.MAX_TEXT, "the value")
    try:
        return json.dumps(
            value_types.plain(value), ensure_ascii=False, allow_nan=False, default=_inside
        )
    except ValueError as error:
        if "JSON compliant" in str(error):
            raise ValueError("it contains a number that is not finite") from error
        raise


def _inside(value: Any) -> str:
    """Return text for a value that JSON cannot contain; a missing value raises with its name."""
    if isinstance(value, Undefined):
        return str(value)
    raise ValueError(f"{value_types.kind(value)} in a list or a map cannot be rendered")


def _placed(pieces: Iterable[tuple[int, str, str]], text: str) -> Iterator[tuple[int, str, str]]:
    """The tokens with their offsets; Jinja2 only omits white space between them."""
    at = 0
    try:
        for _, token, piece in pieces:
            at = max(at, text.find(piece, at))
            yield at + 1, token, piece
            at += len(piece)
    except TemplateSyntaxError as error:
        error.lineno = at + 1
        raise


def _kept(function: Any, given: tuple[Any, ...], named: dict[str, Any]) -> tuple[Any, ...]:
    """An argument of a function that may return it in a list or a map."""
    if isinstance(function, Macro):
        more = (value for name, value in named.items() if name not in function.arguments)
        return (*given[len(function.arguments) :], *more)
    if function is Cycler or getattr(function, "__name__", "") == "_dict":
        return (*given, *named.values())
    return ()


class Namespace(utils.Namespace):
    """Has no text for its content, which could be very long."""

    def __repr__(self) -> str:
        return "<Namespace>"


def _looking(function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that counts the length of the text that it searches."""
    at = int(hasattr(function, "jinja_pass_arg"))

    @wraps(function)
    def looking(*args: Any, **kwargs: Any) -> Any:
        """The function, which counts the characters that it searches."""
        cost_limits.spend_look(args[at])
        return function(*args, **kwargs)

    return looking


def _by_line(function: Callable[..., Any]) -> Callable[..., Any]:
    """A filter that adds its argument before or after each line of its result."""
    at = int(hasattr(function, "jinja_pass_arg"))

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        """The function, refused if its result could be too long. ValueError."""
        text, *rest = args[at:]
        given = (*rest, *kwargs.values())
        added = sum(len(one) if isinstance(one, str) else 0 for one in given)
        if function.__name__ == "do_indent":
            lines = str(text).count("\n") + 1
            added += sum(one for one in given if isinstance(one, int))
        else:
            lines = len(str(text)) if added else 1
        cost_limits.check_size(len(str(text)) + lines * added, cost_limits.MAX_TEXT, "the text")
        return function(*args, **kwargs)

    return checked


def _counted(values: Any) -> Any:
    try:
        size = len(values)
    except TypeError:
        return _counting(values)
    cost_limits.spend(size)
    return values


def _counting(values: Iterable[Any]) -> Iterator[Any]:
    for value in values:
        cost_limits.spend(1)
        yield value


_HEADER = re.compile(r"#jinja2:([^\n]*)(\n|\Z)")
_PAIR = re.compile(r"\s*(\w+)\s*:\s*('[^']*'|\"[^\"]*\"|\w+)\s*(?:,|\Z)")
_BLANKS = re.compile(r"[ \t]+(?=\{[%#](?!\+))")
"""White space before a block or a comment, unless the tag has a plus sign, which keeps it."""
_FLAGS = ("trim_blocks", "lstrip_blocks")
_BEGIN, _END = "variable_start_string", "variable_end_string"
KNOWN = (*_FLAGS, _BEGIN, _END)


class TemplateHeader(NamedTuple):
    """A template with its header as a comment, and the settings of the header.

    ``problem`` is its problem, "" for none.
    """

    text: str
    settings: Settings
    problem: str = ""


def split_header(text: str, settings: Settings) -> TemplateHeader:
    """Return the template of a string that may start with such a line; others are unchanged."""
    match = _HEADER.match(text)
    if match is None:
        return TemplateHeader(text, settings)
    found: dict[str, bool | str] = {}
    at = 0
    while match[1][at:].strip():
        pair = _PAIR.match(match[1], at)
        if pair is None:
            return TemplateHeader(
                text, settings, f"expected a setting at {match[1][at:].strip()[:40]!r}"
            )
        at = pair.end()
        value = _value(pair[2])
        if pair[1] not in KNOWN or isinstance(value, bool) != (pair[1] in _FLAGS):
            return TemplateHeader(text, settings, f"{pair[1]}: {pair[2]} is not supported")
        found[pair[1]] = value
    if (_BEGIN in found) != (_END in found) or "" in (found.get(_BEGIN), found.get(_END)):
        return TemplateHeader(text, settings, f"{_BEGIN} and {_END} require each other")
    flags: dict[str, Any] = {name: found[name] for name in _FLAGS if name in found}
    own = settings._replace(**flags)
    if _BEGIN in found:
        own = own._replace(delimiters=(str(found[_BEGIN]), str(found[_END])))
    # The line end goes with the comment, and lines keep their numbers.
    line, body = re.sub("[{}#]", "-", match[1]), text[match.end() :]
    if own.trim_blocks:
        return TemplateHeader(f"{{#{line}#}}\n{body}", own)
    # The first line does not begin a line for Jinja2, which therefore keeps its blanks.
    blanks = _BLANKS.match(body) if own.lstrip_blocks else None
    left = blanks.end() if blanks else 0
    return TemplateHeader(f"{{#{line}\n{' ' * (left - 2)}#}}{body[left:]}", own)


def _value(text: str) -> bool | str:
    if text[0] in "'\"":
        text = str(ast.literal_eval(text)) if "\\" not in text else text[1:-1]
    return {"true": True, "false": False, "yes": True, "no": False}.get(text.lower(), text)
