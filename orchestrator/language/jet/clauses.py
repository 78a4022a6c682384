"""Reads the parts of an action other than expressions: assignments and arguments (controller)."""

from orchestrator.language.cursor import ParseError
from orchestrator.language.jet.expressions import ActionParser
from orchestrator.language.jet.syntax import Expr, Field, Index, Name, Set, Slot


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
