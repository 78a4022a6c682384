"""The likely intended words for misspelled ones, for the hints of errors (both sides)."""

from typing import Iterable


def nearest(word: str, known: Iterable[str]) -> str:
    """The known word that is spelled most alike, or an empty text where none is near."""
    import difflib  # only an error needs it

    close = difflib.get_close_matches(word, list(known), 1)
    return close[0] if close else ""
