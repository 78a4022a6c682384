"""Each example in docs/reference/filters.md is true."""

from typing import Any

import pytest
from jinja2.filters import FILTERS as JINJA

from orchestrator.language.filters import FAMILIES, FILTERS, TESTS, Entry, entries
from orchestrator.language.sandbox import sandbox
from tests.docs.pages import DOCS
from tests.orchestrator.expressions.fakes import evaluate
from tests.orchestrator.language.jinja.fakes import text

ENTRIES = [entry for family in FAMILIES for entry in entries(family)]
DATA: dict[str, Any] = {"web": {"port": 80}}


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.name)
def test_every_example_gives_what_the_page_says(entry: Entry) -> None:
    """In an expression and in a whole template."""
    found, wanted = evaluate(entry.example, data=DATA), evaluate(entry.result)
    assert (found, type(found)) == (wanted, type(wanted))
    template = f"{{% if ({entry.example}) == ({entry.result}) %}}yes{{% endif %}}"
    assert text(template, data=DATA) == "yes"
    assert entry.name in entry.example


def test_every_filter_has_a_family() -> None:
    """No entry is left out of the page, and only two hide one of Jinja2's."""
    assert len(ENTRIES) == len(FILTERS) + len(TESTS)
    assert set(FILTERS) & set(JINJA) == {"d", "random"}


def test_the_filters_that_are_left_out_are_documented() -> None:
    """The page names each filter of Jinja2 that no template has."""
    page = (DOCS / "reference" / "filters.md").read_text(encoding="utf-8")
    left_out = set(JINJA) - set(sandbox(False).filters)
    assert all(f"`{name}`" in page for name in left_out - {"e"})
