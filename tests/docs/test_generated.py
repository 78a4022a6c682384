"""The generated parts of the reference."""

import pytest

from docs import command_line, generate, type_pages
from docs.type_pages import TO_WRITE
from schemas import tables
from tests.docs.pages import DOCS, TYPE_PAGES


def test_generated_parts_are_current() -> None:
    """Running ``python -m docs.generate`` would change nothing."""
    assert [str(path.relative_to(DOCS)) for path in generate.outdated()] == []


def test_every_type_has_a_page_and_every_page_a_type() -> None:
    """docs/reference/resources holds one page for each type that the runtime has."""
    pages = {path.stem for path in TYPE_PAGES}
    assert pages == set(type_pages.names())


def test_every_command_has_a_section() -> None:
    """docs/reference/cli.md has a heading for each command."""
    text = (DOCS / "reference" / "cli.md").read_text(encoding="utf-8")
    missing = [name for name in command_line.names() if f"\n## ccm {name}\n" not in text]
    assert missing == []


def test_text_between_markers_is_replaced_and_the_rest_kept() -> None:
    """Filling a part leaves what stands outside of its markers."""
    page = "before\n<!-- a:begin -->\nold \\1\n<!-- a:end -->\nafter\n"
    assert generate.fill(page, {"a": "new \\2"}) == page.replace("old \\1", "new \\2")


def test_a_missing_marker_is_an_error() -> None:
    """A page without the markers of a part is refused, not left as it is."""
    with pytest.raises(ValueError, match="<!-- a:begin -->"):
        generate.fill("no markers\n", {"a": "text"})


def test_aliases_stand_with_the_documented_spelling() -> None:
    """Another spelling of a property has no row of its own; the documented one names it."""
    schema = {
        "properties": {
            "content": {"description": "The text, a|b.", "x-ccm-render": "deferred"},
            "contents": {"description": "Other.", "x-ccm-alias-of": "content"},
        }
    }
    assert tables.properties(schema).splitlines() == [
        "| Property  | Description                             |",
        "|-----------|-----------------------------------------|",
        "| `content` | The text, a\\|b; also spelled `contents` |",
        "",
        "Rendered when the resource runs, after `control` and `require` have passed: `content`.",
    ]


def test_nothing_is_left_to_write() -> None:
    """What the generator left to a person on the page of a new type has been written."""
    assert [page.stem for page in TYPE_PAGES if TO_WRITE in page.read_text(encoding="utf-8")] == []


def test_a_table_too_wide_is_a_list() -> None:
    """Where a row is too long to be read as text, each is an entry; code stays whole."""
    rows = [["`a|b`", f"{'word ' * 20}`ccm hosts trust`", "`x`"], ["`c`", "Short", ""]]
    assert tables.table(["Key", "Meaning", "Default"], rows).splitlines() == [
        f"- `a|b`: {'word ' * 20}".rstrip(),
        "  `ccm hosts trust`. Default: `x`",
        "- `c`: Short",
    ]
