"""Records the hashes that templates compute, so that those of secrets are masked (controller).

It does not import Jinja2, because it is also loaded by runs whose manifest has no template.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

_environ: ContextVar[Any] = ContextVar("environ", default=None)
_made: ContextVar[list[tuple[str, str]] | None] = ContextVar("made", default=None)


def note(text: str, found: str) -> None:
    """Record a string and its hash for ``noting_hashes``."""
    made = _made.get()
    if made is not None:
        made.append((text, found))


def secret_texts() -> Any:
    """Return the store of strings to mask on this host; None without a host."""
    return getattr(_environ.get(), "secrets_read", None)


@contextmanager
def noting_hashes() -> Iterator[list[tuple[str, str]]]:
    """Yield the hashed strings of the block with their hashes, for a later check for secrets."""
    made: list[tuple[str, str]] = []
    token = _made.set(made)
    try:
        yield made
    finally:
        _made.reset(token)


@contextmanager
def collecting_secrets(environ: Any) -> Iterator[None]:
    """Record secrets even if a template cannot see ``Environ``, such as an imported template."""
    token = _environ.set(environ)
    try:
        yield
    finally:
        _environ.reset(token)
