"""The likely intended words for misspelled ones, for hints in errors (both sides)."""

from typing import Iterable


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word with the most similar spelling; "" if none is similar."""
    import difflib  # only an error needs it

    words = list(known)
    close = difflib.get_close_matches(word, words, 1, 0.65)
    if close and len(word) < 4 and close[0][:1] != word[:1]:
        close = []  # most short words resemble each other
    close = close or [one for one in words if sorted(one) == sorted(word)]
    return close[0] if close else ""
