"""The problems of files that a browser requests, for pages (controller)."""

import os
from pathlib import Path

from remote_runtime.errors import InputError, Problem

KIND = "input.design"


def refusal(message: str, hint: str, kind: str = KIND) -> InputError:
    """The error for a file or an edit that is refused."""
    return InputError([Problem(message, None, hint, kind)])


def problem_text(error: Exception, root: Path, action: str = "written") -> str:
    """An error in one line, with paths relative to ``root``; ``action`` is what failed with an
    OSError.
    """
    if isinstance(error, InputError):
        text = "; ".join(map(str, error.problems))
    elif isinstance(error, OSError):
        text = f"the file cannot be {action}: {os.strerror(error.errno or 0)}"
    else:
        text = str(error)
    return text.replace(f"{root}/", "")
