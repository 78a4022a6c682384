"""The syntax tree of a Jet template; ``at`` is an offset in its text (controller)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class Node:
    """Any syntax element with a position."""

    at: int


@dataclass
class Const(Node):
    """A number, a string, true, false or nil."""

    value: Any


@dataclass
class Name(Node):
    """A variable, one of the names of the scope, or a function after a pipe."""

    name: str


@dataclass
class Dot(Node):
    """The context."""


@dataclass
class Slot(Node):
    """``_`` as a placeholder for a piped value or for an unused variable."""


@dataclass
class Field(Node):
    """``base.name``."""

    base: Expr
    name: str


@dataclass
class Index(Node):
    """``base[key]``."""

    base: Expr
    key: Expr


@dataclass
class Slice(Node):
    """``base[low:high]``."""

    base: Expr
    low: Expr | None
    high: Expr | None


@dataclass
class Call(Node):
    """``name(arguments)``."""

    name: str
    arguments: list[Expr]


METHODS = {
    "Error": "the caught error",
    "PrometheusFileSD": "the result of registrations()",
}
"""The known methods, each with a description of its objects."""


@dataclass
class Method(Node):
    """``base.name()``: see ``METHODS``."""

    base: Expr
    name: str


@dataclass
class Binary(Node):
    """An arithmetic operation or a comparison."""

    operator: str
    left: Expr
    right: Expr


@dataclass
class Logic(Node):
    """``&&`` or ``||``; the right side is evaluated only if needed."""

    operator: str
    left: Expr
    right: Expr


@dataclass
class Not(Node):
    """``!operand``."""

    operand: Expr


@dataclass
class Negative(Node):
    """``-operand``."""

    operand: Expr


@dataclass
class Ternary(Node):
    """``condition ? yes : no``."""

    condition: Expr
    yes: Expr
    no: Expr


Expr = (
    Const | Name | Dot | Slot | Field | Index | Slice | Call | Method
    | Binary | Logic | Not | Negative | Ternary
)  # fmt: skip


@dataclass
class Plain(Node):
    """Text that is copied."""

    text: str


@dataclass
class Output(Node):
    """An expression whose value is written."""

    value: Expr


@dataclass
class Set(Node):
    """``names := values`` or ``names = values``.

    ``found``: the second of two names is true if the only value, an index, exists.
    """

    let: bool
    names: list[str]
    values: list[Expr]
    found: bool = False


@dataclass
class If(Node):
    """``first`` is an assignment before the condition."""

    first: Set | None
    condition: Expr
    body: list[Statement]
    otherwise: list[Statement]


@dataclass
class Range(Node):
    """Without a name for the value, the value becomes the context."""

    index: str
    value: str
    items: Expr
    body: list[Statement]
    otherwise: list[Statement]


@dataclass
class Block(Node):
    """A definition, which also runs the block in place. A default of None: required."""

    name: str
    parameters: list[tuple[str, Expr | None]]
    context: Expr | None
    body: list[Statement]
    content: list[Statement] | None


@dataclass
class Yield(Node):
    """Runs a block."""

    name: str
    arguments: list[tuple[str, Expr]]
    context: Expr | None
    content: list[Statement] | None


@dataclass
class YieldContent(Node):
    """Runs the content that was passed to the running block."""

    context: Expr | None


@dataclass
class Include(Node):
    """Runs another template; ``optional``: does nothing if it does not exist."""

    path: Expr
    context: Expr | None
    optional: bool = False


@dataclass
class Return(Node):
    """Sets the result of ``exec()``."""

    value: Expr


@dataclass
class Try(Node):
    """``error`` is the name of the message in the catch part."""

    body: list[Statement]
    error: str
    otherwise: list[Statement]


Statement = (
    Plain | Output | Set | If | Range | Block | Yield | YieldContent | Include | Return | Try
)


@dataclass
class Tree:
    """A whole template: the templates that it extends and imports, and its statements."""

    extends: Const | None = None
    imports: list[Const] = field(default_factory=list)
    body: list[Statement] = field(default_factory=list)
    blocks: dict[str, Block] = field(default_factory=dict)
