"""What engines have in common whose templates know nothing of each other (controller)."""

from __future__ import annotations

from typing import Any, NoReturn

from remote_runtime.errors import InputError, Position, Problem


class Alone:
    """A template that only others run is checked by compiling it: it stands for itself."""

    def compile(self, path: str, text: str) -> Any:
        """See ``Engine``."""
        raise NotImplementedError

    def problems(self, path: str, text: str) -> list[Problem]:
        """See ``Engine``."""
        try:
            self.compile(path, text)
        except InputError as error:
            return error.problems
        return []


def too_deep(name: str, error: RecursionError) -> NoReturn:
    """Refuse a template that is nested more deeply than its compiler can go."""
    where = Position(name, 1, 1)
    raise InputError([Problem("it is nested too deeply", where, "split it", "template")]) from error
