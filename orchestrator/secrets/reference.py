"""``SOURCE#PATH``, the argument of ``secret()`` (controller)."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from remote_runtime.errors import Position

COMMAND = "cmd:"
SYNTAX = "write 'FILE#key.key', 'FILE' for the whole text, or 'cmd:NAME#key'"
# The call in each of the languages: with and without parentheses, as Go has it.
_CALL = re.compile(r"\bsecret(?:\s*\(\s*|\s+)(?P<sign>['\"`])(?P<text>[^'\"`\n]+)(?P=sign)")


class Reference(NamedTuple):
    """A value by its ``source``, a file or ``cmd:NAME``, and the ``path`` of keys inside it.

    Without a path (None), the reference is the whole text. ``argument`` follows the command's name:
    ``cmd:pass/prod/db`` passes ``prod/db`` to the command ``pass``.
    """

    source: str
    path: tuple[str, ...] | None = None

    @property
    def command(self) -> str:
        """The name of the command, "" for a file."""
        return self.source.removeprefix(COMMAND).partition("/")[0] if self.is_command else ""

    @property
    def argument(self) -> str:
        """The argument of the command."""
        return self.source.removeprefix(COMMAND).partition("/")[2]

    @property
    def is_command(self) -> bool:
        """Whether the source is a command."""
        return self.source.startswith(COMMAND)


class SecretRead(NamedTuple):
    """A literal argument of ``secret()``, the directory of its manifest, and its position."""

    text: str
    directory: str
    where: Position | None


class InlineRead(NamedTuple):
    """A value with the tag ``!vault`` or ``!age``, and its position."""

    tag: str
    text: str
    where: Position | None


def parse_reference(text: str) -> Reference:
    """Return the reference in a string; ValueError with the mistake."""
    source, sign, path = text.partition("#")
    if not source.strip() or "\0" in text or "\n" in text:
        raise ValueError(f"{text[:80]!r} does not name a source")
    if source.startswith(COMMAND) and not source.removeprefix(COMMAND).partition("/")[0]:
        raise ValueError(f"{text[:80]!r} does not name a command")
    if not sign:
        return Reference(source)
    keys = tuple(key.replace("\\.", ".") for key in re.split(r"(?<!\\)\.", path))
    if not all(keys):
        raise ValueError(f"{text[:80]!r} has an empty key in its path")
    return Reference(source, keys)


def calls_in(text: str) -> Iterator[tuple[str, int]]:
    """Each literal argument of ``secret()`` in a template or an expression, with its offset."""
    if "secret" in text:
        for match in _CALL.finditer(text):
            called = "(" in text[match.start() : match.start("sign")]
            if called or _is_inside(text, match.start()):
                yield match["text"], match.start()


_BEGIN, _END = ("{{", "{%", "[[", "<<", "<%", "(("), ("}}", "%}", "]]", ">>", "%>", "))")


def _is_inside(text: str, position: int) -> bool:
    """Whether a position is between the tags of a template; outside, ``secret "x"`` is plain text,
    for example in BIND's configuration.
    """
    begin = max(text.rfind(one, 0, position) for one in _BEGIN)
    return begin > max(text.rfind(one, 0, position) for one in _END)
