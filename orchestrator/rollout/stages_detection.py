"""Distinguishes a stages file from a manifest (controller)."""

import os
import re

from remote_runtime.errors import UsageError

# At the margin, or as the first key.
_KEY = r"""(?mx)(?:^|\A(?:[ \t]*(?:[#%][^\n]*|---[ \t]*(?:\#[^\n]*)?)?\n)*[ \t]+)
        (?:\{\s*)? (["']?)stages\1 \s*:(?:\s|$)"""


def is_stages(path: str) -> bool:
    """Whether a file contains stages rather than a manifest; false for an unreadable one.

    UsageError for a file that can be read only once, such as the pipe of ``<(command)``.
    """
    if os.path.exists(path) and not os.path.isfile(path) and not os.path.isdir(path):
        message = f"{path} is not a regular file, but a manifest is read more than once"
        raise UsageError(message, hint="write it to a file first")
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return False
    return "stages" in text and re.search(_KEY, text) is not None
