"""Distinguishes a stages file from a manifest (controller)."""

import re

# At the margin, or as the first key.
_KEY = r"""(?mx)(?:^|\A(?:[ \t]*(?:[#%][^\n]*|---[ \t]*(?:\#[^\n]*)?)?\n)*[ \t]+)
        (?:\{\s*)? (["']?)stages\1 \s*:(?:\s|$)"""


def is_stages(path: str) -> bool:
    """Whether a file contains stages rather than a manifest; false for an unreadable one."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return False
    return "stages" in text and re.search(_KEY, text) is not None
