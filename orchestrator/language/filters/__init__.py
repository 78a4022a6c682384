"""The filters and tests known from Ansible, in addition to Jinja2's own (controller).

There is one module for each family; ``registry`` has all of them with their documentation.
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
