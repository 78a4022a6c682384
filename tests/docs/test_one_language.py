"""The pages and the examples teach one language; the others have a page of their own."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import yaml
from jinja2 import TemplateSyntaxError, nodes

from orchestrator.language.expression_checks import walk
from orchestrator.language.exprlang.builtins import FUNCTIONS
from orchestrator.language.sandbox import sandbox
from tests.docs.pages import DOCS, PAGES, ROOT, blocks, links

BELOW = DOCS / "reference" / "other-languages"
OTHERS = BELOW / "README.md"
LEAD_THERE = (DOCS / "README.md", DOCS / "reference" / "resources" / "scaffold.md")
TAUGHT = [
    page
    for page in PAGES
    if page != OTHERS
    and not {BELOW, DOCS / "design"} & {*page.parents}
    and page.name != "CHANGELOG.md"
]
EXAMPLES = [
    path
    for path in (ROOT / "examples").rglob("*")
    if path.is_file() and path.suffix in ("", ".yaml", ".conf", ".j2")
]
OTHER = re.compile(r"\bJet\b|\bjet\(|\.jet\b|expr-lang|GJSON|text/template|\[\[ |engine: (?!jinja)")
INLINE = re.compile(r"\{\{(.+?)\}\}")
VALIDATE = re.compile(r"@validate ([^\n@]+)")


def texts() -> Iterator[tuple[str, str]]:
    """Every text that shows expressions, with its place."""
    for page in TAUGHT:
        for language in ("yaml", "jinja"):
            yield from ((f"{block}.{language}", block.text) for block in blocks(page, language))
    for path in EXAMPLES:
        yield str(path.relative_to(ROOT)), path.read_text(encoding="utf-8")
    init = ROOT / "orchestrator" / "cli" / "init.py"
    yield (
        "init.py",
        init.read_text(encoding="utf-8").partition('_SITE = """')[2].partition('"""')[0],
    )


TEXTS = dict(texts())


def expressions(text: str, place: str) -> Iterator[str]:
    """What stands between braces, in keys that take a bare expression, and behind @validate."""
    yield from (match[1] for match in INLINE.finditer(text))
    yield from (match[1] for match in VALIDATE.finditer(text))
    if place.endswith(".yaml"):
        yield from bare(yaml.safe_load(text))


def bare(value: Any) -> Iterator[str]:
    """The expressions without braces in a manifest."""
    if isinstance(value, list):
        for entry in value:
            yield from bare(entry)
    elif isinstance(value, dict):
        for key, entry in value.items():
            if key == "control":
                yield from (entry[word] for word in ("if", "unless") if word in entry)
            elif key in ("foreach", "that"):
                yield entry
            yield from bare(entry)


def problem(source: str) -> str:
    """Why an expression is not Jinja2's alone; empty where it is."""
    try:
        tree = sandbox(False).parse_expression(source.strip())
    except TemplateSyntaxError as error:
        return f"{source}: {error}"
    found = {
        call.node.name for call in walk([tree], nodes.Call) if isinstance(call.node, nodes.Name)
    }
    return f"{source}: {found & set(FUNCTIONS)}" if found & set(FUNCTIONS) else ""


@pytest.mark.parametrize("page", TAUGHT, ids=lambda page: str(page.relative_to(ROOT)))
def test_a_page_names_no_other_language(page: Path) -> None:
    """Jet, Go's templates, expr-lang and GJSON are on their own page, to which two pages lead."""
    text = page.read_text(encoding="utf-8")
    assert [line for line in text.splitlines() if OTHER.search(line)] == []
    targets = {(page.parent / link.partition("#")[0]).resolve() for link in links(page)}
    there = {path for path in targets if path == OTHERS or BELOW in path.parents}
    assert there == ({OTHERS} if page in LEAD_THERE else set())


@pytest.mark.parametrize("place", TEXTS)
def test_an_example_shows_no_other_language(place: str) -> None:
    """Each expression of an example is Jinja2's, and each scaffold says so."""
    text = TEXTS[place]
    found = map(problem, expressions(text, place))
    assert [told for told in found if told] == []
    assert not OTHER.search(text)
    assert len(re.findall(r"\bscaffold:\n", text)) <= text.count("engine: jinja")
