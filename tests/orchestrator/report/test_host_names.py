"""Host names written short."""

import pytest

from orchestrator.report.host_names import fold, named


@pytest.mark.parametrize(
    ("names", "folded"),
    [
        (["web1"], ["web1"]),
        (["web1", "web2", "web3"], ["web[1-3]"]),
        (["web3", "web1", "web2"], ["web[1-3]"]),
        (["web1", "web3", "web4"], ["web[1,3-4]"]),
        (["db01", "db02", "db10"], ["db[01-02,10]"]),
        (["db08", "db09", "db10"], ["db[08-10]"]),
        (["web9", "web10"], ["web[9-10]"]),
        (["web1.example.org", "web2.example.org"], ["web[1-2].example.org"]),
        (["web1.dc2.example.org", "web2.dc2.example.org"], ["web[1-2].dc2.example.org"]),
        (["10.0.0.1", "10.0.0.2", "10.0.1.1"], ["10.0.0.[1-2]", "10.0.1.1"]),
        (["web1", "mail", "web2"], ["web[1-2]", "mail"]),
        (["a", "b"], ["a", "b"]),
        (["web1", "web1"], ["web1"]),
    ],
)
def test_names_that_differ_in_a_number_stand_together(names: list[str], folded: list[str]) -> None:
    """Ranges are written as such, leading zeros are kept, other names stand as they are."""
    assert fold(names) == folded


def test_many_names_are_cut_and_counted() -> None:
    """However many hosts there are, the text has about the length asked for and the number."""
    names = [f"web{number}" for number in range(1, 1000, 2)]
    text = named(names, 60)
    assert text.endswith("(500 hosts)")
    assert len(text) < 80
