"""The answers of a host to the lookups of a manifest, for every language (controller)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from orchestrator.language.errors import NoAnswerError
from remote_runtime.text.suggestions import nearest

_METHODS = frozenset(("get", "items", "keys", "values"))
Find = Callable[[str], Any]
"""Returns the answer to the lookup with a name; EvaluationError if there is none."""


class Answers(dict[str, Any]):
    """``Asked``: an answer is resolved when it is first read. Reading a lookup without an answer
    raises an error.

    ``names`` are the lookups that the manifest declares.
    """

    def __init__(self, names: Iterable[str] = (), find: Find | None = None) -> None:
        super().__init__()
        self._left = dict.fromkeys(names)
        self._find = find

    def __missing__(self, key: str) -> Any:
        self._look(key)
        if dict.__contains__(self, key):
            return dict.__getitem__(self, key)
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        self._look(key)
        return dict.__contains__(self, key)

    def __iter__(self) -> Iterator[str]:
        self._look_all()
        return super().__iter__()

    def __len__(self) -> int:
        return dict.__len__(self) + len(self._left)

    def __repr__(self) -> str:
        self._look_all()
        return super().__repr__()

    def get(self, key: str, default: Any = None) -> Any:
        self._look(key)
        return super().get(key, default)

    def keys(self) -> Any:
        self._look_all()
        return super().keys()

    def values(self) -> Any:
        self._look_all()
        return super().values()

    def items(self) -> Any:
        self._look_all()
        return super().items()

    def copied(self) -> Answers:
        """Return a deep copy, whose values a template may change."""
        import copy

        other = Answers(self._left, self._find)
        dict.update(other, copy.deepcopy(dict(dict.items(self))))
        return other

    def _look(self, key: object) -> None:
        """Resolve an answer that has not been read yet; NoAnswerError if it is not declared."""
        if dict.__contains__(self, key) or key in _METHODS or not isinstance(key, str):
            return
        if key not in self._left or self._find is None:
            likely = nearest(key, [*dict.keys(self), *self._left])
            reason = "the manifest declares no such lookup under ccm.ask"
            raise NoAnswerError(key, f"{reason} (did you mean {likely}?)" if likely else reason)
        found = self._find(key)
        dict.__setitem__(self, key, found)
        self._left.pop(key, None)

    def _look_all(self) -> None:
        for key in list(self._left):
            self._look(key)


NO_ANSWERS = Answers()
