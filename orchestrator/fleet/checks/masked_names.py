"""Finds the planned resources that a host means by names in which it had to mask a secret
(controller).
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

from remote_runtime.reporting.masking import MASKED, Mask

MIN_LOOKS, LOOKS_EACH = 10_000, 20
"""The maximum number of a plan's names that are compared for one host: in total, and for
each name.
"""

_without_hashes = Mask(hashes=True).text


class MaskedNames:
    """The ``planned`` names of one host behind their masks; ``missing`` counts how many reports of
    each are missing.

    ``mask`` hides the secrets that the controller knows; a target may know more.
    """

    def __init__(
        self, planned: Sequence[str], missing: Mapping[str, int], mask: Callable[[Any], Any]
    ) -> None:
        self._planned = planned
        self._missing = missing
        self._mask = mask
        self._first_due = 0
        self._looks = MIN_LOOKS + LOOKS_EACH * len(planned)

    def due(self, masked_name: str) -> str:
        """The first expected name that a masked name matches; "" for none."""
        names = self._by_mask.get(masked_name)
        while names:
            if self._missing[names[-1]]:
                return names[-1]
            names.pop()
        return self._alike(masked_name.split(MASKED))

    @cached_property
    def _by_mask(self) -> dict[str, list[str]]:
        """The names as targets mask them; of equal ones, the first comes last."""
        names: dict[str, list[str]] = {}
        for name in reversed(dict.fromkeys(self._planned)):
            masked = self._mask(name)
            for form in {masked, _without_hashes(masked)} - {name}:
                names.setdefault(form, []).append(name)
        return names

    def _alike(self, pieces: list[str]) -> str:
        """The first expected name with these pieces.

        The number of comparisons for a host is limited by the size of its plan.
        """
        # Each mask replaces at least one character, so shorter names are skipped.
        least = sum(map(len, pieces)) + len(pieces) - 1
        planned, missing = self._planned, self._missing
        while self._first_due < len(planned) and not missing[planned[self._first_due]]:
            self._first_due += 1
        for index in range(self._first_due, len(planned)):
            self._looks -= 1
            if self._looks < 0:
                return ""
            name = planned[index]
            if len(name) >= least and missing[name] and _consists_of(name, pieces):
                return name
        return ""


def _consists_of(name: str, pieces: list[str]) -> bool:
    """Whether a name contains these pieces in this order, with anything between them.

    Each is searched for once: with a pattern, a host could make the search take forever.
    """
    first, *inner, last = pieces
    end = len(name) - len(last)
    at = len(first)
    if at > end or not name.startswith(first) or not name.endswith(last):
        return False
    for piece in inner:
        at = name.find(piece, at, end)
        if at < 0:
            return False
        at += len(piece)
    return True
