"""Asks for secrets on the terminal (controller)."""

import sys


def ask_secret(prompt: str) -> str:
    """What is typed, which is not shown; "" where the input ends, as with Ctrl-D."""
    import getpass

    try:
        return getpass.getpass(prompt)
    except EOFError:
        print(file=sys.stderr)  # or what is said next would stand behind the prompt
        return ""
