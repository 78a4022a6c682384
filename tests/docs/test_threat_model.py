"""The threat model: what its rows name has to exist."""

from tests.docs.pages import DOCS, ROOT
from tests.docs.test_coverage import complaint, rows

PAGE = DOCS / "design" / "threat-model.md"


def test_each_statement_is_held() -> None:
    """Each row says who can or cannot do what, and names tests that exist."""
    found = [row for row in rows(PAGE) if row[1:] != ["What", "Tests"]]
    assert len(found) > 25
    assert {row[0] for row in found} == {"Can", "Cannot"}
    wrong = [f"{row[1]}: {why}" for row in found if (why := complaint(row[2]))]
    assert wrong == []


def test_how_to_report_is_said() -> None:
    """SECURITY.md leads to the page."""
    text = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
    assert str(PAGE.relative_to(ROOT)) in text
    assert all(f"## {title}" in text for title in ("Report", "Supported versions", "Scope"))
