"""Reads literals, names, and functions with their predicates (controller)."""

from jinja2 import nodes

from orchestrator.language.cursor import ParseError, Token
from orchestrator.language.exprlang import PREFIX
from orchestrator.language.exprlang.builtins import FUNCTIONS, REFUSED
from orchestrator.language.exprlang.regex import RegexError, compile_regex
from orchestrator.language.exprlang.token_reader import Reader, operation
from remote_runtime.text.suggestions import nearest

_CONSTANTS = {
    "true": True, "True": True, "false": False, "False": False,
    "nil": None, "none": None, "None": None,
}  # fmt: skip
_POINTERS = {"#": "it", "#acc": "acc", "#index": "index"}


class Literals(Reader):
    """Reads the start of a value."""

    def primary(self) -> nodes.Expr:
        """Parse a literal, a name, a placeholder of a predicate, or an expression in brackets."""
        token = self.token
        if token.kind == "number":
            return nodes.Const(self.take().value, lineno=token.at)
        if token.kind == "string":
            return self._text()
        if token.kind == "name":
            return self._name()
        if token.kind == "pointer" or (token.sign == "." and self.predicates):
            return self._pointer()
        if token.sign == "(":
            return self._parentheses()
        if token.sign == "[":
            self.take()
            return nodes.List(self._entries("]"), lineno=token.at)
        if token.sign == "{":
            return self._map()
        if token.sign == ".":
            hint = "it stands for the entry in filter(list, .name == 'x')"
            raise ParseError(". without a value before it", token.at, hint)
        raise self.unexpected("a value")

    def _text(self) -> nodes.Expr:
        at, texts = self.token.at, []
        while self.token.kind == "string":
            texts.append(self.take().value)
        return nodes.Const("".join(texts), lineno=at)

    def _name(self) -> nodes.Expr:
        token = self.take()
        name = token.value
        if name in _CONSTANTS and self.sign != "(":
            return nodes.Const(_CONSTANTS[name], lineno=token.at)
        if name in self.variables:
            return nodes.Name(self.variable(name), "load", lineno=token.at)
        if name.startswith(PREFIX):
            raise ParseError(f"{name!r} is not a name that templates can use", token.at)
        if name == "if":
            hint = "write condition ? yes : no"
            raise ParseError("if { } is not supported here", token.at, hint)
        if self.sign == "(" and name not in self.extra:
            if name in FUNCTIONS:
                return self.function(token)
            if name in REFUSED:
                message = f"{name}() is not supported here"
                raise ParseError(message, token.at, REFUSED[name])
        elif name in FUNCTIONS and name not in self.known:
            usage = FUNCTIONS[name].usage
            raise ParseError(f"{name} is a function", token.at, f"write {usage}")
        return nodes.Name(name, "load", lineno=token.at)

    def _pointer(self) -> nodes.Expr:
        token = self.token
        if token.sign == ".":
            return nodes.Name(f"{PREFIX}it", "load", lineno=token.at)  # the dot is read next
        self.take()
        if not self.predicates:
            hint = "it stands for the entry in filter(list, # > 1)"
            raise ParseError(f"{token.sign} outside of a predicate", token.at, hint)
        if token.sign not in _POINTERS:
            likely = nearest(token.sign, _POINTERS)
            hint = f"did you mean {likely}?" if likely else "use #, #index or #acc"
            raise ParseError(f"there is no {token.sign}", token.at, hint)
        return nodes.Name(PREFIX + _POINTERS[token.sign], "load", lineno=token.at)

    def _parentheses(self) -> nodes.Expr:
        at = self.take().at
        if self.accept(")"):
            return nodes.Tuple([], "load", lineno=at)
        value = self.expression()
        if self.accept(","):
            return nodes.Tuple([value, *self._entries(")")], "load", lineno=at)
        self.expect(")", "')'")
        self.divided()
        return value

    def _entries(self, closer: str) -> list[nodes.Expr]:
        found: list[nodes.Expr] = []
        while self.sign != closer:
            found.append(self.expression())
            if not self.accept(","):
                break
        self.expect(closer, f"{closer!r} or a comma")
        return found

    def _map(self) -> nodes.Expr:
        at = self.take().at
        pairs: list[nodes.Pair] = []
        while self.sign != "}":
            key = self.token
            if key.kind in ("name", "number", "string"):
                self.take()
                made: nodes.Expr = nodes.Const(str(key.value))
            elif key.sign == "(":
                made = operation("key", key.at, self._parentheses())
            else:
                raise self.unexpected("a key")
            self.expect(":", "':' after the key")
            pairs.append(nodes.Pair(made, self.expression(), lineno=key.at))
            if not self.accept(","):
                break
        self.expect("}", "'}' or a comma")
        return nodes.Dict(pairs, lineno=at)

    def function(self, name: Token, piped: nodes.Expr | None = None) -> nodes.Expr:
        """A call of one of expr-lang's functions; the name has already been consumed."""
        function = FUNCTIONS[name.value]
        self.expect("(", "'('")
        arguments = [] if piped is None else [piped]
        while self.sign != ")":
            if len(arguments) == function.predicate and not self._is_key(name.value):
                arguments.append(self._predicate())
            else:
                arguments.append(self.expression())
            if not self.accept(","):
                break
        self.expect(")", "')' or a comma")
        if not function.least <= len(arguments) <= function.maximum:
            message = f"{name.value}() takes {function.takes()}, not {len(arguments)}"
            hint = f"write {function.usage}"
            raise ParseError(message, name.at, hint)
        return operation(f"f_{name.value}", name.at, *arguments)

    def _is_key(self, function: str) -> bool:
        """Whether ``sortBy`` is given a key instead of a predicate."""
        plain = self.token.kind == "string" and self.after().sign in (",", ")")
        return function == "sortBy" and plain

    def _predicate(self) -> nodes.Name:
        self.predicates += 1
        braces = self.accept("{")
        made = self.body()
        if braces:
            self.expect("}", "'}'")
        self.predicates -= 1
        return made

    def check_pattern(self, value: nodes.Expr) -> None:
        """Refuse a literal that is not a valid regular expression."""
        if isinstance(value, nodes.Const) and isinstance(value.value, str):
            try:
                compile_regex(value.value)
            except RegexError as error:
                message = f"matches {value.value!r}: {error}"
                raise ParseError(message, value.lineno, error.hint) from error
