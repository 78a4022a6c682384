"""Prompts on the terminal (controller)."""

from __future__ import annotations

import select
import sys
from collections.abc import Callable


def ask_secret(prompt: str) -> str:
    """Input without echo; "" at the end of the input, such as Ctrl-D."""
    import getpass

    try:
        return getpass.getpass(prompt)
    except EOFError:
        print(file=sys.stderr)  # otherwise the next message would follow the prompt on its line
        return ""


def terminal_secret() -> Callable[[str], str] | None:
    """The function that prompts for a password; None without a terminal."""
    return ask_secret if sys.stdin.isatty() else None


def ask_line(prompt: str, remaining: Callable[[], float]) -> str | None:
    """A line of input; None at the end of input or after the ``remaining`` seconds."""
    print(prompt, end="", file=sys.stderr, flush=True)
    while remaining() > 0:
        ready, _, _ = select.select([sys.stdin], [], [], 0.2)
        if ready:
            line = sys.stdin.readline()
            return line or None
    print(file=sys.stderr)
    return None
