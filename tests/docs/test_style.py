"""How the pages of types are written, as the reference's guide for its documentation asks."""

import json
import re
from pathlib import Path

import pytest

from orchestrator.manifest.api_request import PROTOCOL
from schemas.tables import WIDTH
from tests.docs.pages import DOCS, TYPE_PAGES, blocks

PAGES = sorted(DOCS.rglob("*.md"))
READ = [page for page in PAGES if DOCS / "design" not in page.parents]
CALLOUT = re.compile(r"> \*\*[A-Z]\w+:\*\* .+\n(?:> .+\n)*")
EMOJI = re.compile("[\U0001f000-\U0001faff\u2600-\u27bf\ufe0f]")
FILLER = re.compile(r"\b(note that|it is important to|simply|of course|basically)\b", re.IGNORECASE)
COUNTERS = DOCS / "reference" / "plan-counters.md"
MIN_LINE = 40  # columns of a line that goes on
MAX_COMMAND = 120  # columns, then it goes on behind a backslash

of_each_type = pytest.mark.parametrize("page", TYPE_PAGES, ids=lambda page: page.stem)


def text_of(page: Path) -> str:
    """The page without what stands in fences."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^```.*?^```[ ]*$", "```", text, flags=re.MULTILINE | re.DOTALL)


def tables(text: str) -> list[list[str]]:
    """The tables of a text, each as its lines."""
    return [found.splitlines() for found in re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)]


@of_each_type
def test_a_page_begins_with_what_the_resource_does(page: Path) -> None:
    """One or two sentences, a callout, and then the example."""
    heading, _, opening, callout, rest = text_of(page).strip().split("\n\n", 4)
    assert heading == f"# {page.stem.capitalize()}"
    assert opening.startswith(f"The `{page.stem}` resource ")
    assert 1 <= len(re.findall(r"\.(?:\s|$)", opening)) <= 2
    assert CALLOUT.fullmatch(callout + "\n")
    assert rest.startswith("## Example\n")


@of_each_type
def test_an_example_is_explained(page: Path) -> None:
    """Text stands between the three forms of the example and the next section."""
    forms = text_of(page).partition("<!-- api-request:end -->\n")[2].partition("\n## ")[0]
    assert re.search(r"^[A-Z`][^.\n]+ [^.\n]+", forms, re.MULTILINE)
    assert forms.rstrip().endswith(".")


@pytest.mark.parametrize("page", [*READ, DOCS.parent / "CHANGELOG.md"], ids=lambda page: page.name)
def test_paragraphs_have_full_lines(page: Path) -> None:
    """No line of a paragraph ends long before its next word would not fit."""
    lines = text_of(page).splitlines()
    short = [
        line
        for before, line, after in zip(lines, lines[1:], lines[2:], strict=False)
        if len(line) < MIN_LINE
        and re.match(r" *[-*\w`(]", before)
        and re.match(r" *[A-Za-z`(].*[^.:]$", line)
        and re.match(r" *[\w`(]", after)
    ]
    assert short == []


@pytest.mark.parametrize("page", [*TYPE_PAGES, COUNTERS], ids=lambda page: page.stem)
def test_tables_are_aligned(page: Path) -> None:
    """The pipes of a table stand below each other."""
    crooked = [table[0] for table in tables(text_of(page)) if len({*map(len, table)}) > 1]
    assert crooked == []


@pytest.mark.parametrize("page", READ, ids=lambda page: str(page.relative_to(DOCS)))
def test_tables_are_narrow(page: Path) -> None:
    """A table is read as text, too."""
    lines = [line for table in tables(text_of(page)) for line in table]
    assert [line for line in lines if len(line) > WIDTH] == []


@of_each_type
def test_values_and_properties_are_code_with_a_fragment(page: Path) -> None:
    """Each row of the two tables has its name in backticks and no full stop at its end.

    A table that would be too wide is a list.
    """
    text = text_of(page)
    for part in ("ensure", "properties"):
        found = text.partition(f"<!-- {part}:begin -->\n")[2].partition("<!-- ")[0]
        listed = re.findall(r"^- (\S+): (.+(?:\n  .+)*)", found, re.MULTILINE)
        rows = [re.split(r"(?<!\\)\|", line)[1:3] for table in tables(found) for line in table[2:]]
        assert listed or rows
        for name, description in [*listed, *rows]:
            assert re.fullmatch(r"`[^`]+`", name.strip()), name
            assert description.strip(), name
            assert not description.strip().endswith("."), name


@of_each_type
def test_headings_are_plain_sentences(page: Path) -> None:
    """Only the first word of a heading is capitalized, and its first paragraph follows at once."""
    text = text_of(page)
    headings = re.findall(r"^#+ (.+)$", text, re.MULTILINE)
    assert [found for found in headings if re.search(r" [A-Z][a-z]", found)] == []
    assert re.findall(r"^##+ .+\n\n[A-Za-z`\[](?!``)", text, re.MULTILINE) == []
    assert re.findall(r"[^\n]\n#+ .+", text) == []


@of_each_type
def test_the_forms_of_an_example(page: Path) -> None:
    """Commands stand in ``sh``, long ones on several lines; requests say what they are."""
    for block in blocks(page, "sh"):
        assert "ccm ensure " in block.text, block
        assert max(map(len, block.text.splitlines())) <= MAX_COMMAND, block
    for block in blocks(page, "json"):
        request = json.loads(block.text)
        assert (request["protocol"], request["type"]) == (PROTOCOL, page.stem), block


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(DOCS)))
def test_no_page_has_emojis_or_filler(page: Path) -> None:
    """Facts and instructions, without words that say nothing."""
    text = re.sub(r"`[^`\n]*`", "", text_of(page))
    assert EMOJI.findall(text) + FILLER.findall(text) == []
