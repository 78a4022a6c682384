"""Output streams whose lines a CI cannot mistake for its commands (controller).

A CI system executes certain lines in the log of a job: they set variables for later steps, hide
words, or are added to its summary. The log also contains output of hosts, which must not run CI
commands.
"""

import re
from typing import Any, TextIO

_MARK = re.compile(r"#(?=#(?:vso|teamcity)?\[)")
_BEGINNING = re.compile(r"^([^\S\n]*:)(?=:)", re.MULTILINE)
_OF_JSON = ("{", "[", '"')


class Log:
    """A stream that turns CI commands into plain text by inserting a space into their markers.

    In JSON, which must remain valid, the marker is escaped.
    """

    def __init__(self, stream: TextIO) -> None:
        self._stream = stream
        self._begun = False  # there is more than blanks in the line

    def write(self, text: str) -> int:
        """Write to the stream."""
        self._stream.write(self._harmless(text))
        return len(text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def _harmless(self, text: str) -> str:
        begun = self._begun
        last = text.rpartition("\n")[2]
        self._begun = bool(last.strip()) or (begun and "\n" not in text)
        if "::" in text:
            head, end, rest = text.partition("\n")
            head = head if begun else _BEGINNING.sub(r"\1 ", head)
            text = head + end + _BEGINNING.sub(r"\1 ", rest)
        if "##" in text:
            text = "".join(map(_unmarked, text.splitlines(keepends=True)))
        return text


def _unmarked(line: str) -> str:
    escaped = line.lstrip().startswith(_OF_JSON)
    return _MARK.sub(r"\\u0023" if escaped else "# ", line)
