"""The Jinja2 environment that expressions are compiled in (controller).

Differences from Jinja2's own sandbox: a mapping's key takes precedence over its attribute, nothing
can be changed, only filters with limited cost exist, and operators and calls are checked by
``bounds``.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from functools import cache, wraps
from math import isfinite
from typing import Any, NoReturn

from jinja2 import ChainableUndefined, StrictUndefined, Template, Undefined, nodes
from jinja2.compiler import CodeGenerator, Frame
from jinja2.filters import FILTERS
from jinja2.parser import Parser
from jinja2.sandbox import ImmutableSandboxedEnvironment
from jinja2.utils import missing

from orchestrator.language import cost_limits
from orchestrator.language.errors import OtherFactsError
from orchestrator.language.filters import FILTERS as OWN_FILTERS
from orchestrator.language.filters import TESTS as OWN_TESTS
from orchestrator.language.other_hosts import OF_FACTS, OtherHost
from orchestrator.language.value_types import as_text, kind
from remote_runtime.text.suggestions import nearest

# These make markup, pad without bounds, or are for whole templates.
_NO_FILTERS = {
    "attr", "batch", "center", "e", "escape", "filesizeformat", "forceescape", "format", "indent",
    "pprint", "random", "safe", "slice", "striptags", "urlize", "wordwrap", "xmlattr",
}  # fmt: skip
# These make one text of all that they are given, or look at each part of it more than once.
_WHOLE = (
    "capitalize", "dictsort", "groupby", "join", "list", "lower", "max", "min", "replace", "sort",
    "string", "sum", "title", "tojson", "trim", "unique", "upper", "urlencode", "wordcount",
)  # fmt: skip
_SPLITTING = ("title", "wordcount")
_BY_ATTRIBUTE = {
    "groupby": 0, "join": 1, "map": None, "max": 1, "min": 1, "rejectattr": 0, "selectattr": 0,
    "sort": 2, "sum": 0, "unique": 1,
}  # fmt: skip
"""The filters that look up the path of an attribute in each element, and the position of that path
after the value; None if it can only be a keyword."""
_MAX_PARTS = 32
_MAPPING_TYPES = (dict, Mapping)
_OF_MAPPINGS = frozenset(["get", "items", "keys", "values"])
"""The methods of a mapping that only read it, which ccm's own mappings also provide."""


class Trusted:
    """Classes whose methods are part of a language: they perform their own checks and limits.

    Templates cannot access such objects, only the results of their methods.
    """


class Generator(CodeGenerator):
    """Generates code with limits on joined strings."""

    def visit_Concat(self, node: nodes.Concat, frame: Frame) -> None:  # noqa: N802 - Jinja2's name
        """``a ~ b``."""
        self.write("environment.joined((")
        for part in node.nodes:
            self.visit(part, frame)
            self.write(", ")
        self.write("))")

    def visit_Const(self, node: nodes.Const, frame: Frame) -> None:  # noqa: N802 - Jinja2's name
        """A constant; infinite numbers, which filters can produce from strings, are
        written as names.
        """
        if isinstance(node.value, float) and not isfinite(node.value):
            self.write(f"float({str(node.value)!r})")
        else:
            super().visit_Const(node, frame)


class Sandbox(ImmutableSandboxedEnvironment):
    """Compiles bare expressions; one instance serves all threads."""

    code_generator_class = Generator
    intercepted_binops = frozenset(cost_limits.OPERATORS)

    def __init__(self, undefined: type[Undefined]) -> None:
        # Folding constants ahead would cost more than each template's few evaluations gain.
        super().__init__(undefined=undefined, autoescape=False, cache_size=0, optimized=False)
        self.globals = {"range": cost_limits.bounded_range, "dict": _dict}
        self.filters = {k: v for k, v in FILTERS.items() if k not in _NO_FILTERS}
        self.filters["replace"] = _bounded(self.filters["replace"], cost_limits.check_replace)
        self.filters["join"] = _bounded(self.filters["join"], _check_join)
        self.filters["sum"] = _bounded(self.filters["sum"], _check_sum)
        for name in _SPLITTING:
            self.filters[name] = _bounded(self.filters[name], _check_words)
        for name, place in _BY_ATTRIBUTE.items():
            self.filters[name] = _attribute_limited(self.filters[name], place)
        for name in _WHOLE:  # outermost: what comes one by one is a list to the checks above
            self.filters[name] = _size_limited(self.filters[name])
        for name in ("round", "tojson", "truncate"):
            self.filters[name] = bounded_filter(self.filters[name])
        self.filters.update({name: entry.function for name, entry in OWN_FILTERS.items()})
        self.tests.update({name: entry.function for name, entry in OWN_TESTS.items()})

    def joined(self, parts: Iterable[Any]) -> str:
        """Several values joined into one text."""
        texts = [part if part.__class__ is str else _text_of(part) for part in parts]
        cost_limits.check_size(sum(map(len, texts)), cost_limits.MAX_TEXT, "the joined text")
        return "".join(texts)

    def getattr(self, obj: Any, attribute: str) -> Any:
        """``obj.attribute``; the key of a mapping takes precedence."""
        if isinstance(obj, _MAPPING_TYPES):
            if attribute in obj:
                return obj[attribute]
            if attribute not in _OF_MAPPINGS:
                return self._missing(obj, attribute)
        return super().getattr(obj, attribute)

    def _missing(self, owner: Any, name: str) -> Undefined:
        """The value of a missing key."""
        if owner.__class__ is OtherHost and name in OF_FACTS:
            refusal: Any = lambda _: owner.unavailable()  # noqa: E731 - replaces a class
            return UnknownFacts(exc=refusal)
        return self.undefined(obj=owner, name=name)

    def getitem(self, obj: Any, argument: Any) -> Any:
        """``obj[argument]``, without Jinja2's fallback to ``obj.argument``."""
        if isinstance(obj, _MAPPING_TYPES) and isinstance(argument, str):
            try:
                return obj[argument]
            except (LookupError, OtherFactsError):
                return self.getattr(obj, argument)
        return super().getitem(obj, argument)

    def wrap_str_format(self, value: Any) -> Any:
        """A string's ``format``, whose widths are bounded."""
        wrapped = super().wrap_str_format(value)
        if wrapped is None:
            return None

        @wraps(wrapped)
        def formatted(*args: Any, **kwargs: Any) -> Any:
            """The method, refused if its result could be too long. ValueError."""
            cost_limits.check_format(value.__self__, [args, kwargs])
            return wrapped(*args, **kwargs)

        return formatted

    def call_binop(self, context: Any, operator: str, left: Any, right: Any) -> Any:
        """Perform a binary operation within limits."""
        return cost_limits.OPERATORS[operator](left, right)

    def call(__self, __context: Any, __obj: Any, *args: Any, **kwargs: Any) -> Any:  # noqa: N805 - as Jinja2 has it
        """Call a function that a template may call, within limits."""
        owner = getattr(__obj, "__self__", None)
        if isinstance(owner, Trusted):
            return __obj(*args)  # the keywords are Jinja2's own
        name = getattr(__obj, "__name__", "")
        if name == "join" and args and isinstance(args[0], Iterator):
            args = (cost_limits.bounded_list(args[0]), *args[1:])
        cost_limits.check_method(owner, name, (*args, *kwargs.values()))
        return super().call(__context, __obj, *args, **kwargs)

    def parse_expression(self, source: str) -> nodes.Expr:
        """The syntax tree of one bare expression; TemplateSyntaxError."""
        parser = Parser(self, source, state="variable")
        tree = parser.parse_expression()
        if not parser.stream.eos:
            parser.fail(f"the expression ends before {parser.stream.current.value!r}")
        tree.set_environment(self)
        return tree

    def compile_tree(self, tree: nodes.Expr) -> Any:
        """A callable that receives the names and returns the value, perhaps an ``Undefined``."""
        body: list[nodes.Node] = [nodes.Assign(nodes.Name("result", "store"), tree, lineno=1)]
        template = self.compile_template(nodes.Template(body, lineno=1))
        root = template.root_render_func

        def evaluate(names: dict[str, Any]) -> Any:
            """The value of the expression with these names."""
            context = template.new_context(names)
            for _ in root(context):
                pass
            return context.vars["result"]

        return evaluate

    def compile_template(self, tree: nodes.Template) -> Template:
        """A whole template, from the compiler of another language."""
        tree.set_environment(self)
        return self.from_string(tree)


class _Chained(StrictUndefined):
    """Values below a missing one are missing, too, so ``default`` works after any path."""

    def __getattr__(self, name: str) -> _Chained:
        if name[:2] == "__":
            raise AttributeError(name)
        return self

    def __getitem__(self, key: Any) -> _Chained:  # type: ignore[override]  # it has every key
        return self


class _Named(Undefined):
    """Describes the missing value in terms of manifests, not of Python."""

    @property
    def _undefined_message(self) -> str:
        owner: Any = self._undefined_obj
        name: Any = self._undefined_name
        if owner is missing or self._undefined_hint:
            return str(super()._undefined_message)
        if not isinstance(owner, _MAPPING_TYPES):
            shown = repr(name) if isinstance(name, str) else kind(name)
            if type(name) in (int, float, bool):
                shown = as_text(name)
            what = "element " if type(name) is int else "key " if isinstance(name, str) else ""
            return f"{kind(owner)} has no {what}{shown}"
        # Facts refuses to be read as a whole while some are missing; their names may be.
        names = map(str, dict.keys(owner)) if isinstance(owner, dict) else ()
        likely = nearest(str(name), names)
        return f"there is no key {name!r}" + (f" (did you mean {likely}?)" if likely else "")


class Missing(_Named, _Chained):
    """A missing value whose use is an error."""


class Empty(_Named, ChainableUndefined):
    """A missing value that counts as "", which strings and lists of strings accept."""

    def __add__(self, other: Any) -> Any:
        return "" + other if isinstance(other, str) else self._of_text(other)

    def __radd__(self, other: Any) -> Any:
        return other + "" if isinstance(other, str) else self._of_text(other)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, ChainableUndefined) or (isinstance(other, str) and not other)

    def __hash__(self) -> int:
        return hash("")

    def _no_number(self, *_: Any, **__: Any) -> NoReturn:
        raise ValueError(self._undefined_message)  # which the filters int and float heed

    __int__ = __float__ = _no_number

    def _of_text(self, other: Any) -> Any:
        """The empty text in combination with another text; UndefinedError for any other value."""
        return "" if isinstance(other, Empty) else self._fail_with_undefined_error()


class UnknownFacts(_Chained):
    """Unknown facts of another host; reading them refuses the host that does so."""


def bounded_filter(function: Any) -> Any:
    """A filter that refuses widths and counts beyond ``bounds.MAX_WIDTH``."""
    return _bounded(function, _check_numbers)


def _dict(*given: Any, **more: Any) -> dict[Any, Any]:
    """A dict of the arguments; the type itself could create other objects."""
    return dict(*given, **more)


def _check_join(parts: Any, arguments: tuple[Any, ...]) -> None:
    cost_limits.check_join(arguments[0] if arguments else "", parts)


def _check_sum(parts: Any, arguments: tuple[Any, ...]) -> None:
    """Check a sum of lists: each addition copies the lists added so far."""
    if any(isinstance(start, list | tuple) for start in arguments):
        cost_limits.check_size(sum(map(len, parts)), cost_limits.MAX_ITEMS, "the sum")


def _check_words(text: Any, _: tuple[Any, ...]) -> None:
    """Each word of a string becomes a separate string, which takes many times as much memory."""
    cost_limits.check_size(cost_limits.text_length(text), cost_limits.MAX_SUM, "the input")


def _attribute_limited(function: Any, place: int | None) -> Any:
    """A filter that refuses an attribute path with too many parts. ValueError."""
    behind = 1 + int(hasattr(function, "jinja_pass_arg"))

    @wraps(function)
    def limited(*args: Any, **kwargs: Any) -> Any:
        """The function, called after its attribute is checked."""
        path = kwargs.get("attribute")
        if place is not None and len(args) > behind + place:
            path = args[behind + place]
        if isinstance(path, str):
            parts = path.count(".") + path.count(",") + 1
            cost_limits.check_size(parts, _MAX_PARTS, "the attribute", "parts")
        return function(*args, **kwargs)

    return limited


def _size_limited(function: Any) -> Any:
    """A filter whose value and result, including their contents, are limited in size."""
    at = int(hasattr(function, "jinja_pass_arg"))

    @wraps(function)
    def limited(*args: Any, **kwargs: Any) -> Any:
        """The function with its input and its result checked against the size limit. ValueError."""
        value = args[at]
        if isinstance(value, Iterator):
            value = cost_limits.bounded_list(value)
        else:
            cost_limits.check_size(
                cost_limits.text_length(value), cost_limits.MAX_TEXT, "the input"
            )
        found = function(*args[:at], value, *args[at + 1 :], **kwargs)
        if isinstance(found, str):
            cost_limits.check_size(len(found), cost_limits.MAX_TEXT, "the text")
        return found

    return limited


def _check_numbers(_: Any, arguments: tuple[Any, ...]) -> None:
    cost_limits.check_numbers(arguments)


def _bounded(function: Any, check: Any) -> Any:
    passes_environment = hasattr(function, "jinja_pass_arg")

    @wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        """The function, called after ``check`` accepts its arguments."""
        value, *rest = args[1:] if passes_environment else args
        check(value, (*rest, *kwargs.values()))
        return function(*args, **kwargs)

    return checked


@cache
def sandbox(lenient: bool) -> Sandbox:
    """The environment in which undefined names are errors, or are empty if it is lenient."""
    return Sandbox(Empty if lenient else Missing)


def _text_of(value: Any) -> str:
    """The text of a value that is not too large to be written."""
    cost_limits.check_size(cost_limits.text_length(value), cost_limits.MAX_TEXT, "the value")
    return str(value)
