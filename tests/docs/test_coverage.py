"""The coverage of the reference: what the rows name has to exist."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.conformance.test_cases import CORPUS
from tests.docs.pages import DOCS, ROOT, links

DIRECTORY = DOCS / "design" / "coverage"
PAGES = sorted(page for page in DIRECTORY.glob("*.md") if page.name != "README.md")
HEADER = ["Section", "Rule", "Checked by"]

_TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
_CASE = re.compile(r"`([a-z0-9]+(?:-[a-z0-9]+)+)`")
_RULING = re.compile(r"settled by semantics §(\d+): \S")


def rows(page: Path) -> list[list[str]]:
    """The cells of a page's tables, their heads left out."""
    found = []
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("|"):
            cells = [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if cells != HEADER and not all(re.fullmatch(r":?-+:?", cell) for cell in cells):
                found.append(cells)
    return found


@cache
def names_in(path: str) -> set[str]:
    """The names of the tests in a file, those of classes included."""
    if not (ROOT / path).is_file():
        return set()
    tree = ast.parse((ROOT / path).read_text(encoding="utf-8"))
    functions = (node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef))
    return {node.name for node in functions if node.name.startswith("test_")}


def complaint(held: str) -> str:
    """What is wrong with the last cell of a row, or ""."""
    named, ruling, _ = held.partition("settled by")
    tests = _TEST.findall(named)
    for path, name in tests:
        if name not in names_in(path):
            return f"there is no test {path}::{name}"
    cases = _CASE.findall(_TEST.sub("", named))
    for case in cases:
        if CORPUS.is_dir() and not (CORPUS / f"{case}.yaml").exists():
            return f"there is no case {case}"
    if len(re.findall(r"`[^`]*`", named)) != len(tests) + len(cases):
        return "it names something that is neither a test nor a case"
    if ruling:
        settled = _RULING.match(held[held.index(ruling) :])
        if settled is None or int(settled[1]) not in range(1, 11):
            return "a ruling reads: settled by semantics §N: what is so"
    return "" if tests or cases or ruling else "nothing holds it"


def test_there_are_pages() -> None:
    """Each page is in the index, so that none is lost."""
    assert {DIRECTORY / link for link in links(DIRECTORY / "README.md")} >= set(PAGES)
    assert PAGES


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_rows_name_what_exists(page: Path) -> None:
    """Each row has its section and its statement, and names tests and cases that exist."""
    found = rows(page)
    assert len(found) > 5
    assert [row for row in found if len(row) != 3 or not all(row[1:])] == []
    wrong = [f"{row[1]}: {why}" for row in found if (why := complaint(row[2]))]
    assert wrong == []


@pytest.mark.parametrize(
    "held",
    [
        "",
        "`tests/docs/test_coverage.py::test_nothing_of_this_name`",
        "`tests/docs/test_no_such_file.py::test_x`",
        "`some words`",
        "settled by semantics §44: so",
        "settled by semantics",
    ],
)
def test_a_row_that_nothing_holds_is_found(held: str) -> None:
    """A name that does not exist, or no name at all, is noticed."""
    assert complaint(held)
