"""The likely intended words for misspelled ones, for hints in errors (both sides)."""

from typing import Iterable


def nearest(word: str, known: Iterable[str]) -> str:
    """Return the known word with the most similar spelling; "" if none is similar."""
    import difflib  # only an error needs it

    close = difflib.get_close_matches(word, list(known), 1)
    return close[0] if close else ""
