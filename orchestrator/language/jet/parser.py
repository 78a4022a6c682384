"""Reads a whole Jet template into its syntax tree (controller)."""

from orchestrator.language.cursor import ParseError
from orchestrator.language.jet.expressions import ActionParser
from orchestrator.language.jet.lexer import Action, Delimiters, Lexer, Text
from orchestrator.language.jet.syntax import (
    Block,
    Call,
    Const,
    Expr,
    Field,
    If,
    Include,
    Index,
    Name,
    Output,
    Plain,
    Range,
    Return,
    Set,
    Slot,
    Statement,
    Tree,
    Try,
    Yield,
    YieldContent,
)


class ClauseParser(ActionParser):
    """Reads the clauses of statements from the tokens of one action."""

    def assignment(self, first: Expr) -> Set:
        """The remainder of ``names := values``, after its first target."""
        targets = self._listed(first)
        let = self.sign == ":="
        if self.sign not in (":=", "="):
            raise self.unexpected("':=' or '='")
        self.take()
        values = self._listed(self.expression())
        names = [self._target(target) for target in targets]
        found = len(names) == 2 and len(values) == 1 and isinstance(values[0], Index)
        if len(names) != len(values) and not found:
            message = f"{len(names)} names, but {len(values)} values"
            raise ParseError(message, first.at)
        return Set(first.at, let, names, values, found)

    def condition(self) -> tuple[Set | None, Expr]:
        """The part after ``if``: an optional assignment, and the condition."""
        first = None
        condition = self.expression()
        if self.sign in (",", ":=", "="):
            first = self.assignment(condition)
            self.expect(";", "';' and the condition")
            condition = self.expression()
        hint = "no pipes in a condition: write upper(x)" if self.sign == "|" else ""
        self.close(hint)
        return first, condition

    def range_names(self, first: Expr) -> tuple[list[str], Expr]:
        """The remainder of ``index, value := items`` in a range."""
        targets = self._listed(first)
        if len(targets) > 2:
            raise ParseError("range sets an index and a value, nothing more", first.at)
        self.expect(":=", "':=' and what to range over")
        return [self._target(target) for target in targets], self.expression()

    def yield_arguments(self, block: str) -> list[tuple[str, Expr]]:
        """The arguments of a yield in the form name=value."""
        found: list[tuple[str, Expr]] = []
        self.expect("(", f"'(' as in yield {block}()")
        while self.sign != ")":
            hint = f'pass arguments by name: yield {block}(title="x")'
            if self.sign != "name":
                raise self.unexpected("an argument as name=value", hint)
            argument = self.take()
            if self.sign != "=":
                raise self.unexpected("'=' and the value of the argument", hint)
            self.take()
            found.append((argument.value, self.expression()))
            if not self.accept(","):
                break
        self.expect(")", "')' or a comma")
        return found

    def parameters(self) -> list[tuple[str, Expr | None]]:
        """The parameters of a block with their defaults."""
        found: list[tuple[str, Expr | None]] = []
        self.expect("(", "'(' and optional parameters, as in block menu(title=\"\")")
        while self.sign != ")":
            parameter = self.expect("name", "a parameter or ')'")
            found.append((parameter.value, self.expression() if self.accept("=") else None))
            if not self.accept(","):
                break
        self.expect(")", "')' or a comma")
        return found

    def _listed(self, first: Expr) -> list[Expr]:
        """The expressions of a comma-separated list, whose first expression was already read."""
        found = [first]
        while self.accept(","):
            found.append(self.expression())
        return found

    def _target(self, target: Expr) -> str:
        if isinstance(target, Name):
            return target.name
        if isinstance(target, Slot):
            return "_"
        if isinstance(target, Field | Index):
            hint = "set a separate variable"
            raise ParseError("only variables can be set, nothing inside a value", target.at, hint)
        raise ParseError("only a variable can be set", target.at)


MAX_DEPTH = 15
_ENDS = ("end", "else", "catch", "content")


def parse(text: str, delimiters: Delimiters) -> Tree:
    """The tree of a template; ParseError at the first mistake."""
    return _Parser(Lexer(text, delimiters).split()).parse()


class _Parser:
    def __init__(self, pieces: list[Text | Action]) -> None:
        self._pieces = pieces
        self._next = 0
        self._depth = 0
        self._tree = Tree()
        self._action = ClauseParser([])

    def parse(self) -> Tree:
        self._head()
        self._tree.body, end, at = self._statements()
        if end:
            raise ParseError(f"{end} without the action that it closes", at)
        return self._tree

    def _head(self) -> None:
        """Read ``extends`` and ``import``, which precede everything except white space, which Jet
        drops there.
        """
        if not any(isinstance(piece, Action) for piece in self._pieces):
            return
        while self._next < len(self._pieces):
            piece = self._pieces[self._next]
            if isinstance(piece, Text):
                if piece.text.strip():
                    return
            else:
                action = ClauseParser(piece.tokens)
                if action.sign not in ("extends", "import"):
                    return
                self._take_head(action)
            self._next += 1

    def _take_head(self, action: ClauseParser) -> None:
        word = action.take()
        path = action.expect("string", f"a quoted path after {word.value}")
        action.close()
        if word.value == "import":
            self._tree.imports.append(Const(path.at, path.value))
        elif self._tree.extends or self._tree.imports:
            raise ParseError("extends must come first, and only once", word.at)
        else:
            self._tree.extends = Const(path.at, path.value)

    def _statements(self) -> tuple[list[Statement], str, int]:
        """Statements up to the action that ends them, with that action and its position."""
        found: list[Statement] = []
        while self._next < len(self._pieces):
            piece = self._pieces[self._next]
            self._next += 1
            if isinstance(piece, Text):
                found.append(Plain(piece.at, piece.text))
                continue
            self._action = ClauseParser(piece.tokens)
            sign = self._action.sign
            if sign in _ENDS:
                self._action.take()
                return found, sign, piece.at
            if sign != "close":
                found += self._statement(sign, piece.at)
        return found, "", 0

    def _body(self, opened_at: int, what: str) -> tuple[list[Statement], str]:
        """The statements inside ``what``, and the word that ends them."""
        if self._depth >= MAX_DEPTH:
            hint = "move part of it into a block"
            message = f"if, range, block and try are nested deeper than {MAX_DEPTH} levels"
            raise ParseError(message, opened_at, hint)
        self._depth += 1
        body, end, _ = self._statements()
        self._depth -= 1
        if not end:
            raise ParseError(f"{what} has no end", opened_at, "add an action with 'end'")
        return body, end

    def _last_body(self, opened_at: int, what: str) -> list[Statement]:
        body, end = self._body(opened_at, what)
        self._end(end, what, opened_at)
        return body

    def _end(self, end: str, what: str, opened_at: int) -> None:
        if end != "end":
            raise ParseError(f"{what} cannot have {end} here", opened_at)
        self._action.close()

    def _statement(self, sign: str, at: int) -> list[Statement]:
        if sign in ("extends", "import"):
            hint = "move it to the top of the file"
            raise ParseError(f"{sign} must come before everything else", at, hint)
        if sign in ("trans", "msg"):
            raise ParseError(f"{sign} is not supported", at)
        read = {
            "if": self._if, "range": self._range, "block": self._block, "yield": self._yield,
            "include": self._include, "return": self._return, "try": self._try,
        }.get(sign)  # fmt: skip
        if read is None:
            return self._simple(at)
        self._action.take()
        return [read(at)]

    def _simple(self, at: int) -> list[Statement]:
        """An assignment, an expression whose value is written, or both."""
        action = self._action
        value = action.expression()
        if action.sign not in (",", ":=", "="):
            return [self._shown(at, value)]
        assignment = action.assignment(value)
        if not action.accept(";"):
            piped = action.sign == "|"
            action.close("no pipes in an assignment: write x := upper(y)" if piped else "")
            return [assignment]
        if action.sign == "close":
            return [assignment]
        return [assignment, self._shown(at, None)]

    def _shown(self, at: int, value: Expr | None) -> Statement:
        shown = self._action.pipeline(value)
        self._action.close()
        if isinstance(shown, Call) and shown.name == "includeIfExists":
            if not 1 <= len(shown.arguments) <= 2:
                raise ParseError("includeIfExists takes a path and optionally a context", at)
            context = shown.arguments[1] if len(shown.arguments) == 2 else None
            return Include(at, shown.arguments[0], context, optional=True)
        return Output(at, shown)

    def _if(self, at: int) -> Statement:
        return self._branch(at, at)

    def _branch(self, at: int, begun: int) -> Statement:
        """A branch of an ``if`` that started at ``begun``."""
        first, condition = self._action.condition()
        body, end = self._body(at, "if")
        if end != "else":
            self._end(end, "if", at)
            return If(at, first, condition, body, [])
        return If(at, first, condition, body, self._else(begun))

    def _else(self, at: int) -> list[Statement]:
        """The part after ``else``; an ``else if`` ends with the end of the first if."""
        if self._action.sign != "if":
            self._action.close()
            return self._last_body(at, "if")
        return [self._branch(self._action.take().at, at)]

    def _range(self, at: int) -> Statement:
        action = self._action
        names: list[str] = []
        items = action.expression()
        if action.sign in (",", ":=", "="):
            names, items = action.range_names(items)
        action.close()
        body, end = self._body(at, "range")
        otherwise: list[Statement] = []
        if end == "else":
            action = self._action
            action.close("range has no 'else if'")
            otherwise = self._last_body(at, "range")
        else:
            self._end(end, "range", at)
        index, value = ([*names, "", ""])[:2]
        return Range(at, index, value, items, body, otherwise)

    def _block(self, at: int) -> Statement:
        action = self._action
        name = action.expect("name", "the name of the block")
        parameters = action.parameters()
        context = None if action.sign == "close" else action.expression()
        action.close()
        body, end = self._body(at, "block")
        content = None
        if end == "content":
            action = self._action
            action.close()
            content = self._last_body(at, "block")
        else:
            self._end(end, "block", at)
        block = Block(name.at, name.value, parameters, context, body, content)
        self._tree.blocks[block.name] = block
        return block

    def _yield(self, at: int) -> Statement:
        action = self._action
        if action.accept("content"):
            context = None if action.sign == "close" else action.expression()
            action.close()
            return YieldContent(at, context)
        name = action.expect("name", "the name of a block, or content")
        arguments = action.yield_arguments(name.value)
        context = None if action.sign in ("close", "content") else action.expression()
        content = None
        given = action.accept("content")
        action.close()
        if given:
            content = self._last_body(at, "yield")
        return Yield(name.at, name.value, arguments, context, content)

    def _include(self, at: int) -> Statement:
        action = self._action
        path = action.expression()
        context = None if action.sign == "close" else action.expression()
        action.close()
        return Include(at, path, context)

    def _return(self, at: int) -> Statement:
        value = self._action.expression()
        self._action.close()
        return Return(at, value)

    def _try(self, at: int) -> Statement:
        self._action.close()
        body, end = self._body(at, "try")
        if end != "catch":
            self._end(end, "try", at)
            return Try(at, body, "", [])
        action = self._action
        error = action.take().value if action.sign == "name" else ""
        action.close()
        return Try(at, body, error, self._last_body(at, "try"))
