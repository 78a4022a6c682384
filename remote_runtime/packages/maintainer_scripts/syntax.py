"""The syntax tree of a maintainer script (target; in previews only)."""

from typing import List, NamedTuple, Optional, Sequence, Tuple, Union


class ParseError(ValueError):
    """The text is not a shell script, or is one of an unsupported kind."""


class Part(NamedTuple):
    """A piece of a word: ``kind`` is text, variable, command or unknown.

    ``text`` is the literal text or the variable's name, ``operator`` and ``operand`` what follows
    the name in braces, ``commands`` those of a command substitution.
    """

    kind: str
    text: str = ""
    quoted: bool = False
    operator: str = ""
    operand: Tuple["Part", ...] = ()
    commands: Tuple["Node", ...] = ()


Word = Tuple[Part, ...]


class Redirect(NamedTuple):
    """``operator`` without the number; ``document`` is the text of a here-document."""

    operator: str
    target: Word
    document: Optional[Word] = None


class Simple(NamedTuple):
    """A command with its words.

    Each redirection is in its own list, so a here-document can be inserted after the line is read.
    """

    assigned: Sequence[Tuple[str, Word]]
    words: Sequence[Word]
    redirects: Sequence[List[Redirect]]


class Pipeline(NamedTuple):
    """Commands whose output goes to the next."""

    negated: bool
    commands: Sequence["Node"]


class AndOr(NamedTuple):
    """``rest`` has each further command with the operator before it."""

    first: "Node"
    rest: Sequence[Tuple[str, "Node"]]


class If(NamedTuple):
    """Conditions with the commands for each; ``otherwise`` are those if none is true."""

    branches: Sequence[Tuple[Sequence["Node"], Sequence["Node"]]]
    otherwise: Sequence["Node"]


class For(NamedTuple):
    """``words`` is None for the positional parameters."""

    name: str
    words: Optional[Sequence[Word]]
    body: Sequence["Node"]


class While(NamedTuple):
    """Also ``until``."""

    condition: Sequence["Node"]
    body: Sequence["Node"]


class Case(NamedTuple):
    """A word with the arms: patterns and commands."""

    subject: Word
    arms: Sequence[Tuple[Sequence[Word], Sequence["Node"]]]


class Group(NamedTuple):
    """Commands in braces or, as a ``subshell``, in parentheses."""

    body: Sequence["Node"]
    subshell: bool


class Function(NamedTuple):
    """A definition."""

    name: str
    body: "Node"


class Redirected(NamedTuple):
    """A compound command with redirections."""

    node: "Node"
    redirects: Sequence[List[Redirect]]


Node = Union[Simple, Pipeline, AndOr, If, For, While, Case, Group, Function, Redirected]
