"""The syntax tree of a maintainer script (target; in previews only)."""

from typing import List, NamedTuple, Optional, Sequence, Tuple, Union


class ParseError(ValueError):
    """The text is not a shell script, or is one of an unsupported kind."""


class Part(NamedTuple):
    """A piece of a word.

    ``kind`` is text, variable, command or unknown; ``text`` is the literal text or the variable's
    name; ``operator`` and ``operand`` follow the name in braces; ``commands`` are those of a
    command substitution.
    """

    kind: str
    text: str = ""
    quoted: bool = False
    operator: str = ""
    operand: Tuple["Part", ...] = ()
    commands: Tuple["Node", ...] = ()


Word = Tuple[Part, ...]


class Redirect(NamedTuple):
    """A redirection. ``operator`` excludes the number; ``document`` is the text of
    a here-document.
    """

    operator: str
    target: Word
    document: Optional[Word] = None


class Simple(NamedTuple):
    """A command with its words.

    Each redirection is in a separate list, so that a here-document can be inserted after the line
    is read.
    """

    assigned: Sequence[Tuple[str, Word]]
    words: Sequence[Word]
    redirects: Sequence[List[Redirect]]


class Pipeline(NamedTuple):
    """Commands whose output is piped to the next one."""

    negated: bool
    commands: Sequence["Node"]


class AndOr(NamedTuple):
    """A list with ``&&`` or ``||``; ``rest`` has each further command with the operator
    before it.
    """

    first: "Node"
    rest: Sequence[Tuple[str, "Node"]]


class If(NamedTuple):
    """Conditions with their commands; ``otherwise`` has the commands for the case that none is
    true.
    """

    branches: Sequence[Tuple[Sequence["Node"], Sequence["Node"]]]
    otherwise: Sequence["Node"]


class For(NamedTuple):
    """A ``for`` loop; ``words`` is None for the positional parameters."""

    name: str
    words: Optional[Sequence[Word]]
    body: Sequence["Node"]


class While(NamedTuple):
    """A ``while`` or ``until`` loop."""

    condition: Sequence["Node"]
    body: Sequence["Node"]


class Case(NamedTuple):
    """A word with the branches: patterns and commands."""

    subject: Word
    arms: Sequence[Tuple[Sequence[Word], Sequence["Node"]]]


class Group(NamedTuple):
    """Commands in braces or, for a ``subshell``, in parentheses."""

    body: Sequence["Node"]
    subshell: bool


class Function(NamedTuple):
    """The definition of a function."""

    name: str
    body: "Node"


class Redirected(NamedTuple):
    """A compound command with redirections."""

    node: "Node"
    redirects: Sequence[List[Redirect]]


Node = Union[Simple, Pipeline, AndOr, If, For, While, Case, Group, Function, Redirected]
