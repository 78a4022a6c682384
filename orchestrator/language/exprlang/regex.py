"""The regular expressions of ``matches``: Go's, searched by RE2 (controller).

Python's ``re`` tries alternatives one after the other, so a pattern such as ``(a+)+$`` can take
extremely long on a string chosen by a host. RE2's time is at most proportional to the string's
length times the pattern's.
"""

from functools import lru_cache

_HINTS = {
    "missing )": r"write \( for the character",
    "missing ]": r"write \[ for the character",
    "unexpected )": r"write \) for the character",
    "no argument": "write a backslash before it for the character",
    "bad repetition": "put the first repetition in parentheses",
    "invalid perl operator": "look-around is not supported",
    "invalid escape": "write \\ only before punctuation; back-references are not supported",
    "pattern too large": "use smaller repetitions",
}


class RegexError(ValueError):
    """The pattern cannot be used."""

    def __init__(self, message: str) -> None:
        super().__init__(message)
        self.hint = next((h for words, h in _HINTS.items() if message.startswith(words)), "")


class Regex:
    """A compiled pattern; may be shared by threads. RegexError if it is invalid."""

    def __init__(self, pattern: str) -> None:
        import re2

        options = re2.Options()
        options.log_errors = False
        options.never_capture = True
        try:
            self._compiled = re2.compile(_encoded(pattern), options)
        except re2.error as error:
            raise RegexError(error.args[0].decode("utf-8", "replace")) from error

    def steps(self, text: str) -> int:
        """The maximum cost of a search: the number of characters times the states of
        the pattern.
        """
        return len(text) * int(self._compiled.programsize)

    def search(self, text: str) -> bool:
        """Whether the pattern matches anywhere in the text."""
        return self._compiled.search(_encoded(text)) is not None


def _encoded(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")  # a host's JSON may hold half a character


@lru_cache(maxsize=128)
def compile_regex(pattern: str) -> Regex:
    """The pattern, ready to search; RegexError."""
    return Regex(pattern)
