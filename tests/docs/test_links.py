"""Links between the pages, and how the pages are written."""

import fnmatch
import re
from pathlib import Path

import pytest

from tests.architecture.source import PRODUCT
from tests.docs.pages import DOCS, PAGES, ROOT, TYPE_PAGES, anchors, blocks, links

OWN_PAGES = [page for page in PAGES if DOCS in page.parents]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: str(p.relative_to(ROOT)))
def test_internal_links_resolve(page: Path) -> None:
    """Every link to a page of this repository names a file and a heading that exist."""
    broken = []
    for target in links(page):
        if re.match(r"[a-z]+:", target):
            continue
        name, _, fragment = target.partition("#")
        path = (page.parent / name).resolve() if name else page
        if not path.exists():
            broken.append(f"{target}: no such file")
        elif fragment and path.suffix == ".md" and fragment not in anchors(path):
            broken.append(f"{target}: no such heading, there are {sorted(anchors(path))}")
    assert broken == []


_MODULE = re.compile(r"`([\w/*]+\.py)`")


def test_modules_of_the_design_pages_exist() -> None:
    """Each module that a design page names is a file, or matches some, by the end of its path."""
    named = {
        (page.name, name)
        for page in (DOCS / "design").glob("*.md")
        for name in _MODULE.findall(page.read_text(encoding="utf-8"))
    }
    assert len(named) > 50
    trees = (*PRODUCT, "tests")
    files = [str(file) for tree in trees for file in (ROOT / tree).rglob("*.py")]
    missing = [
        (page, name)
        for page, name in sorted(named)
        if not fnmatch.filter(files, f"*/{name.replace('TYPE', '*')}")
    ]
    assert missing == []


def test_every_page_is_reached_from_the_index() -> None:
    """Starting at docs/README.md, the links lead to every page."""
    reached: set[Path] = set()
    pending = [DOCS / "README.md"]
    while pending:
        page = pending.pop()
        if page in reached:
            continue
        reached.add(page)
        targets = [(page.parent / link.partition("#")[0]).resolve() for link in links(page)]
        pending += [path for path in targets if path.suffix == ".md" and DOCS in path.parents]
    assert sorted(set(DOCS.rglob("*.md")) - reached) == []


@pytest.mark.parametrize("page", OWN_PAGES, ids=lambda p: str(p.relative_to(DOCS)))
def test_a_page_is_plain_and_leads_home(page: Path) -> None:
    """A page is plain Markdown, one title first; below it a link leads to the index."""
    text = page.read_text(encoding="utf-8")
    prose = re.sub(r"^```.*?^```[ ]*$", "", text, flags=re.MULTILINE | re.DOTALL)
    assert re.findall(r"^# .+$", prose, re.MULTILINE) == [text.partition("\n")[0]]
    assert re.findall(r"^(?:\+\+\+|---|:::.*|\{\{.*|> \[!.*|\{%.*)$", prose, re.MULTILINE) == []
    if page != DOCS / "README.md":
        _title, way, _ = text.split("\n\n", 2)
        first = re.match(r"\[ccm documentation\]\(([\w./]+)\)", way)
        assert first, way
        assert (page.parent / first[1]).resolve() == DOCS / "README.md"


@pytest.mark.parametrize("page", TYPE_PAGES, ids=lambda p: p.stem)
def test_a_type_page_follows_the_style_guide(page: Path) -> None:
    """A type's page has a callout, an example and the sections in order."""
    text = page.read_text(encoding="utf-8")
    assert "\n> **Warning:** " in text
    assert next(blocks(page, "yaml"), None), "there is no example"
    headings = re.findall(r"^## (.+)$", text, re.MULTILINE)
    assert headings[:3] == ["Example", "Ensure values", "Properties"]
    forms = re.findall(r"^### (.+)$", text, re.MULTILINE)
    assert forms[:3] == ["Manifest", "Command line", "API request"]
    assert {"Idempotency", "Noop"} <= set(headings)


@pytest.mark.parametrize("page", OWN_PAGES, ids=lambda p: str(p.relative_to(DOCS)))
def test_the_wording_is_the_house_style(page: Path) -> None:
    """No page addresses the reader, uses an em dash or leaves blanks at the end of a line."""
    text = page.read_text(encoding="utf-8")
    prose = re.sub(r"```.*?```|`[^`\n]*`|<!--.*?-->", "", text, flags=re.DOTALL)
    assert re.findall(r"\b(?:you|your|we|our)\b|\u2014", prose, re.IGNORECASE) == []
    assert [n for n, line in enumerate(text.splitlines(), 1) if line != line.rstrip()] == []
