"""The facts of a host, for every language (controller)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from orchestrator.language.errors import FactsUnavailableError


class Facts(dict[str, Any]):
    """The facts of one host; reading a family that could not be gathered raises an error.

    ``are_partial``: the host was not contacted, so values that depend on its facts are unknown.
    """

    are_partial = False

    def __init__(self, facts: Mapping[str, Any], unavailable: Mapping[str, str]) -> None:
        super().__init__(facts)
        self.unavailable = {k: v for k, v in unavailable.items() if k not in facts}

    def copied(self) -> Facts:
        """A deep copy that raises the same errors."""
        import copy

        made = self.__class__.__new__(self.__class__)
        made.__dict__.update(self.__dict__)
        dict.update(made, copy.deepcopy(dict(dict.items(self))))
        return made

    def __missing__(self, key: str) -> NoReturn:
        self.refuse(key)
        raise KeyError(key)

    def __contains__(self, key: object) -> bool:
        self.refuse(key)
        return super().__contains__(key)

    def __repr__(self) -> str:
        self.refuse_any()
        return super().__repr__()

    def __iter__(self) -> Iterator[str]:
        self.refuse_any()
        return super().__iter__()

    def get(self, key: str, default: Any = None) -> Any:
        self.refuse(key)
        return super().get(key, default)

    def keys(self) -> Any:
        self.refuse_any()
        return super().keys()

    def values(self) -> Any:
        self.refuse_any()
        return super().values()

    def items(self) -> Any:
        self.refuse_any()
        return super().items()

    def refuse(self, key: object) -> None:
        """Raise FactsUnavailableError if ``key`` is a family that was not gathered."""
        if self.unavailable and key in self.unavailable:
            raise FactsUnavailableError(str(key), self.unavailable[str(key)])

    def refuse_any(self) -> None:
        """Raise the error if any family was not gathered."""
        for key in self.unavailable:
            self.refuse(key)
