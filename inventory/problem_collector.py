"""Collects the problems of a document, so that all are reported together (controller)."""

from collections.abc import Iterable

from inventory.document_nodes import Mapping, Node, Scalar, Sequence
from remote_runtime.errors import InputError, Problem
from remote_runtime.text.suggestions import nearest


class Checker:
    """Gathers problems with their positions while a document is walked."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []
        self.warnings: list[Problem] = []
        self.notes: list[Problem] = []

    def report(self, node: Node, message: str, hint: str = "", kind: str = "input.type") -> None:
        """Add one problem at a node."""
        self.problems.append(Problem(message, node.position, hint, kind))

    def forget_repeated(self) -> None:
        """Remove repeated problems, because a problem of a range is a problem of each of
        its hosts.
        """
        self.problems = list(dict.fromkeys(self.problems))

    def finish(self) -> None:
        """Raise InputError with every problem found, in the order of their positions in
        each file.
        """
        if self.problems:
            raise InputError(sorted(self.problems, key=_order))

    def mapping(self, node: Node | None, what: str) -> Mapping | None:
        """The node as a map; None if it is missing or empty, or if it is wrong and therefore
        reported.
        """
        if node is None or is_null(node) or isinstance(node, Mapping):
            return node if isinstance(node, Mapping) else None
        self.report(node, f"{what} must be a map, not {node.describe()}", "write 'key: value'")
        return None

    def sequence(self, node: Node | None, what: str) -> Sequence | None:
        """The node as a list; None if it is missing or empty, or if it is wrong and therefore
        reported.
        """
        if node is None or is_null(node) or isinstance(node, Sequence):
            return node if isinstance(node, Sequence) else None
        self.report(node, f"{what} must be a list, not {node.describe()}", "write [one, two]")
        return None

    def unknown_key(self, key: Scalar, known: Iterable[str], what: str) -> None:
        """Report an unknown key, with the most similar known one."""
        words = sorted(known)
        guess = nearest(key.text, words)
        hint = f"did you mean {guess}?" if guess else "known: " + ", ".join(words)
        self.report(key, f"{what}: unknown key {key.text[:60]!r}", hint, "input.unknown_key")


def is_null(node: Node) -> bool:
    """Whether nothing was written, or ``null``."""
    return isinstance(node, Scalar) and node.kind == "null"


def _order(problem: Problem) -> tuple[str, int, int]:
    where = problem.where
    return (where.file, where.line, where.column) if where else ("", 0, 0)
