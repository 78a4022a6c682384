"""The shell of a maintainer script, as used by the expansion of words and the builtins (target; in
previews only).
"""

from typing import Dict, List, Mapping, NamedTuple, Optional, Sequence, Tuple

from remote_runtime.packages.maintainer_scripts.conditional_expressions import UNKNOWN
from remote_runtime.packages.maintainer_scripts.syntax import Node


class Call(NamedTuple):
    """A command that a script runs.

    ``words`` and ``writes`` contain ``UNKNOWN`` for unknown text. ``certain``: it certainly runs;
    ``directory`` is its working directory, and ``umask`` applies to its new files. ``writes`` are
    the files of its output; with ``appends``, it appends to them. ``given`` is its input, "" for
    none or an unknown input.
    """

    words: Tuple[str, ...]
    certain: bool
    directory: str = "/"
    writes: Tuple[str, ...] = ()
    appends: bool = False
    given: str = ""
    umask: str = "022"

    @property
    def name(self) -> str:
        """The program, without its directory."""
        return self.words[0].rpartition("/")[2] if self.words else ""

    @property
    def text(self) -> str:
        """The words in one line."""
        return " ".join(word.replace(UNKNOWN, "...") for word in self.words + self.writes)


class Shell(object):
    """The state of the shell. ``exposed``: any variable may have been set by a file that
    was read.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.variables: Dict[str, str] = dict(variables)
        self.arguments: List[str] = []
        self.umask = "022"
        self.exposed = False

    def expose(self) -> None:
        """Record that any variable may have changed."""
        self.variables = dict.fromkeys(self.variables, UNKNOWN)
        self.exposed = True

    def output(self, nodes: Sequence[Node]) -> str:
        """Return the output of the commands of a substitution."""
        raise NotImplementedError

    def end(self, what: str) -> None:
        """End the ``script``, ``function``, ``loop`` or ``round`` here."""
        raise NotImplementedError

    def evaluate(self, text: str) -> Optional[bool]:
        """Follow the commands of a text."""
        raise NotImplementedError

    def maybe(self, text: str) -> None:
        """Follow the commands in a text that may run at an unknown time."""
        raise NotImplementedError

    def enter(self, directory: str) -> None:
        """Make paths relative to this directory from here on."""
        raise NotImplementedError

    def report(self, words: Sequence[str]) -> Optional[bool]:
        """Report a call to its handler."""
        raise NotImplementedError

    def test(self, words: Sequence[str]) -> Optional[bool]:
        """Return the result of a test; None if unknown."""
        raise NotImplementedError

    def found(self, program: str) -> Optional[bool]:
        """Return whether a program of this name exists; None if unknown."""
        raise NotImplementedError
