"""The environment variables that templates can read, and which of them are secret (controller)."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

from remote_runtime.reporting.masking import SHORTEST

CCM_VARIABLES = "CCM_"
"""The prefix of ccm's own variables. They may be passwords, so templates cannot read them."""

LIST_SIZE = "CCM_SECRET_ENV"
"""The variable that lists additional secret names: globs separated by commas."""

SECRET_WORDS = ("PASSWORD", "PASSWD", "PASSPHRASE", "SECRET", "TOKEN", "CREDENTIAL")
SECRET_ENDING = "_KEY"


def _is_secret(name: str, patterns: Sequence[str]) -> bool:
    if name.endswith(SECRET_ENDING) or any(word in name for word in SECRET_WORDS):
        return True
    return any(fnmatchcase(name, pattern) for pattern in patterns)


class Environ(dict[str, str]):
    """The variables that templates may read.

    ``secrets_read`` receives the values of variables with a secret name when they are read. A plan
    contains the strings that its host must mask, so it must not contain secrets that no template of
    the host reads.
    """

    def __init__(self, variables: Mapping[str, str]) -> None:
        super().__init__({k: v for k, v in variables.items() if not k.startswith(CCM_VARIABLES)})
        listed = [name.strip() for name in variables.get(LIST_SIZE, "").split(",")]
        patterns = [pattern.upper() for pattern in filter(None, listed)]
        self._secret = frozenset(name for name in self if _is_secret(name.upper(), patterns))
        self.secrets_read: dict[str, None] = {}

    def public(self) -> dict[str, str]:
        """The variables whose names do not mark them as secret."""
        return {name: text for name, text in dict.items(self) if name not in self._secret}

    def reporting_to(self, secrets_read: dict[str, None]) -> Environ:
        """A copy that reports secrets to another receiver."""
        copy = Environ({})
        copy.update(dict.items(self))
        copy._secret, copy.secrets_read = self._secret, secrets_read
        return copy

    def report_named(self, text: str) -> None:
        """Report every secret that a string names, because the string is rendered later."""
        for name in self._secret:
            if name in text:
                self._note(name)

    def __getitem__(self, name: str) -> str:
        self._note(name)
        return super().__getitem__(name)

    def __repr__(self) -> str:
        return repr(dict(self))  # it reads all variables

    def __iter__(self) -> Iterator[str]:
        return super().__iter__()  # without it, a copy would bypass __getitem__

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
                self.secrets_read[value] = None
