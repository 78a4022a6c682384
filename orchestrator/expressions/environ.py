"""What templates see of the controller's environment, and which of it is secret (controller)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from remote_runtime.reporting.masking import SHORTEST

OWN = "CCM_"
"""What begins with it is ccm's own, passwords among it, and not for templates."""

LISTED = "CCM_SECRET_ENV"
"""The variable that lists further secret names: globs with commas between them."""

SECRET_WORDS = ("PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "TOKEN", "CREDENTIAL")
SECRET_ENDING = "_KEY"


def _is_secret(name: str, patterns: Sequence[str]) -> bool:
    if name.endswith(SECRET_ENDING) or any(word in name for word in SECRET_WORDS):
        return True
    return any(fnmatchcase(name, pattern) for pattern in patterns)


class Environ(dict[str, str]):
    """The variables that templates may read.

    ``heard`` receives the values of those with a secret name once they are read: a plan takes what
    is to be masked to its host, and what no template of that host reads must not get there.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        super().__init__({k: v for k, v in variables.items() if not k.startswith(OWN)})
        listed = [name.strip() for name in variables.get(LISTED, "").split(",")]
        patterns = [pattern.upper() for pattern in filter(None, listed)]
        self._secret = frozenset(name for name in self if _is_secret(name.upper(), patterns))
        self.heard: dict[str, None] = {}

    def public(self) -> dict[str, str]:
        """The variables whose names call none of them secret."""
        return {name: text for name, text in dict.items(self) if name not in self._secret}

    def told_to(self, heard: dict[str, None]) -> Environ:
        """A copy whose secrets go elsewhere."""
        copy = Environ({})
        copy.update(dict.items(self))
        copy._secret, copy.heard = self._secret, heard
        return copy

    def hear(self, text: str) -> None:
        """Take note of every secret that a text names, which is rendered later."""
        for name in self._secret:
            if name in text:
                self._note(name)

    def __getitem__(self, name: str) -> str:
        self._note(name)
        return super().__getitem__(name)

    def __repr__(self) -> str:
        return repr(dict(self))  # which reads all of them

    def __iter__(self) -> Iterator[str]:
        return super().__iter__()  # without it a copy would be made past __getitem__

    def get(self, name: str, default: Any = None) -> Any:
        self._note(name)
        return super().get(name, default)

    def values(self) -> Any:
        return [self[name] for name in self]

    def items(self) -> Any:
        return [(name, self[name]) for name in self]

    def _note(self, name: str) -> None:
        if name in self._secret:
            value = super().__getitem__(name)
            if len(value) >= SHORTEST:
                self.heard[value] = None
