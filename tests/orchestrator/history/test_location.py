"""Which addresses of a history are accepted."""

import pytest

from orchestrator.history.location import history_location
from remote_runtime.errors import UsageError


@pytest.mark.parametrize(
    "address",
    ["https://studio.example.net", "https://h:8700/x", "http://127.0.0.1:1", "http://[::1]:8700"],
)
def test_addresses_of_studios(address: str) -> None:
    """TLS is required beyond this machine."""
    assert history_location(f"{address}/", {}).address == address
    assert history_location(address, {}).is_studio


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("http://studio.example.net", "without encryption"),
        ("http://127.0.0.1.example.net", "without encryption"),
        ("https://me:secret@studio.example.net", "contains credentials"),
        ("ftp://studio.example.net", "not an https address"),
        ("https://", "not an https address"),
        ("https://h:99999", "not an address"),
        ("https://h/?a=b", "not a plain address"),
        ("https://h/#a", "not a plain address"),
    ],
)
def test_other_addresses_are_refused(address: str, words: str) -> None:
    """A login is refused without being repeated."""
    with pytest.raises(UsageError, match=words) as caught:
        history_location(address, {})
    assert "secret" not in str(caught.value)
