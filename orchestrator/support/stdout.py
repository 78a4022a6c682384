"""Handles a standard output that can no longer be written to (controller)."""

import os
import sys


def detach_stdout() -> None:
    """Stop writing to it, so that the interpreter does not report an error at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
