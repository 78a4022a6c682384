"""Every error that ccm raises on purpose (both sides; Python 3.6 and newer).

::

    CcmError
    +-- UsageError        the command line is wrong                      exit 2
    +-- InputError        a file the user wrote is wrong, with positions exit 2
    +-- HostError         becomes that host's result, other hosts go on
    |   +-- UnreachableError   not reached or lost                       exit 3
    |   +-- PlanError          no plan could be made for this host       exit 1
    +-- ResourceError     travels inside the resource's event            exit 1
    |   +-- Missing            a condition on the target is not met (see ``base``)
    |   +-- UnsettledError     what was done has not brought the desired state
    +-- ProtocolError     the other side broke the wire protocol         exit 3

``kind`` is a stable slug that scripts can match, such as ``transport.auth``.
"""

from typing import List, NamedTuple, Optional, Sequence


class Position(NamedTuple):
    """A position in a text: 1-based line and column."""

    file: str
    line: int
    column: int

    def __str__(self) -> str:
        return "%s:%d:%d" % (self.file, self.line, self.column)


class Problem(NamedTuple):
    """One mistake in an input: what was expected, where, and what to do.

    ``missing`` names the property that a resource lacks. ``has_lines``: newlines in the message
    were written by its author and are kept; names and values in it must then be on one line.
    """

    message: str
    where: Optional[Position] = None
    hint: str = ""
    kind: str = "input"
    missing: str = ""
    has_lines: bool = False

    def __str__(self) -> str:
        text = "%s: %s" % (self.where, self.message) if self.where else self.message
        if self.has_lines and "\n" in self.message:
            text += "\n(%s)" % self.hint if self.hint else ""
            return "\n  ".join(in_one_line(line) for line in text.split("\n"))
        return in_one_line("%s (%s)" % (text, self.hint) if self.hint else text)


def in_one_line(text: str) -> str:
    """Return the text with control characters as escapes: names may contain a newline."""
    if text.isprintable():
        return text
    unsafe = {one for one in text if one < " " or "\x7f" <= one <= "\x9f"}
    return "".join(ascii(one)[1:-1] if one in unsafe else one for one in text)


class CcmError(Exception):
    """The base class: a message for people, a stable ``kind`` for scripts and a hint on what
    to do.
    """

    default_kind = "ccm"
    command = ""
    only = ""

    def __init__(self, message: str, kind: str = "", hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.kind = kind or self.default_kind
        self.hint = hint

    @property
    def advice(self) -> str:
        """Return the complete hint."""
        return self.hint

    def __str__(self) -> str:
        if not self.advice:
            return self.message
        # After a diff, a hint on its last line would read as part of it.
        return "%s%s(%s)" % (self.message, "\n" if "\n" in self.message else " ", self.advice)


class UsageError(CcmError):
    """The command line cannot be carried out as given."""

    default_kind = "usage"


class InputError(CcmError):
    """One or more mistakes in the user's input, all found in one pass."""

    default_kind = "input"

    def __init__(self, problems: Sequence[Problem], kind: str = "") -> None:
        self.problems: List[Problem] = list(problems)
        first = self.problems[0] if self.problems else Problem("invalid input")
        super().__init__("\n".join(str(p) for p in self.problems), kind or first.kind)


class HostError(CcmError):
    """The error that ended one host's run; other hosts are not affected."""

    default_kind = "host"


class UnreachableError(HostError):
    """The host was not reached, or the connection to it was lost.

    ``command`` follows the hint; it must run for the inventory's host in ``only``.
    """

    default_kind = "transport"

    def __init__(
        self, message: str, kind: str = "", *, hint: str = "", command: str = "", only: str = ""
    ) -> None:
        super().__init__(message, kind, hint)
        self.command = command
        self.only = only

    @property
    def advice(self) -> str:
        """Return the complete hint."""
        return " ".join(filter(None, (self.hint, self.command, self.only and "-l " + self.only)))


class PlanError(HostError):
    """The host answered, but its plan could not be made; nothing on the host was changed."""

    default_kind = "plan"


class ProtocolError(CcmError):
    """The other side sent something that the wire protocol does not allow."""

    default_kind = "protocol"


class ResourceError(CcmError):
    """One resource cannot be brought to its desired state; the text is put into its event.

    ``output`` is the end of a command's output; it follows the message in the event.
    """

    default_kind = "resource"

    def __init__(self, message: str, kind: str = "", hint: str = "", output: str = "") -> None:
        super().__init__(message, kind, hint)
        self.output = output


class UnsettledError(ResourceError):
    """The action did not reach the desired state; the message is the reason."""

    default_kind = "resource.unsettled"

    def __init__(self, reason: str, kind: str = "", hint: str = "", output: str = "") -> None:
        super().__init__("desired state not achieved: " + reason, kind, hint, output)
