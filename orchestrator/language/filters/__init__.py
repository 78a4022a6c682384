"""The filters and tests that people know from Ansible, beside Jinja2's own (controller).

One module for each family; ``registry`` has all of them with their documentation.
"""

from orchestrator.language.filters import (
    data,
    encoding,
    network,
    passwords,
    paths,
    regex,
    tests,
    text,
)
from orchestrator.language.filters.registry import FAMILIES, FILTERS, TESTS, Entry, entries

__all__ = [
    "FAMILIES",
    "FILTERS",
    "TESTS",
    "Entry",
    "data",
    "encoding",
    "entries",
    "network",
    "passwords",
    "paths",
    "regex",
    "tests",
    "text",
]
