"""The URLs of sources."""

import pytest

from orchestrator.sources.address import SourceError, is_url, parse_address, recorded_name

HEX = "ab" * 32


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (f"https://h.example/a/b.yaml#sha256={HEX}", ("https", "h.example", HEX, "")),
        (f"https://H.example:8443/a#sha256={HEX.upper()}", ("https", "h.example", HEX, "")),
        (f"http://h/a.tgz#sha256={HEX}&manifest=r/x.yaml", ("http", "h", HEX, "r/x.yaml")),
        ("https://[2001:db8::1]/a", ("https", "2001:db8::1", "", "")),
        ("kv://CCM/data.web-1", ("kv", "CCM", "", "")),
    ],
)
def test_addresses(text: str, found: tuple[str, ...]) -> None:
    """Scheme, host, digest and the manifest of an archive are told apart."""
    address = parse_address(text)
    assert (address.scheme, address.host, address.digest, address.manifest) == found
    assert is_url(text)
    assert "#" not in address.url


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("ftp://h/x", "ftp:// is not supported"),
        ("file:///etc/passwd", "file:// is not supported"),
        ("https://user:hunter2@h/x", "contains credentials"),
        ("https://hunter2@h/x", "contains credentials"),
        ("https://h", "does not name a file"),
        ("https:///x", "does not name a file"),
        ("https://h/x#sha256=12", "64 hexadecimal digits"),
        ("https://h/x#md5=12", "'md5' after #"),
        ("https://h/x#abc", "'abc' after #"),
        ("https://h/x y", "whitespace or a control character"),
        ("https://h/x\n", "whitespace or a control character"),
        ("https://h:port/x", "is invalid"),
        ("https://h/x?...", "is a placeholder"),
        ("kv://CCM", "does not name a key"),
        ("kv://CCM/a?x=1", "does not name a key"),
        ("kv://C.M/a", "does not name a key"),
        ("kv://CCM/a>b", "does not name a key"),
    ],
)
def test_bad_addresses(text: str, words: str) -> None:
    """A mistake is told, and a password never."""
    with pytest.raises(SourceError) as caught:
        parse_address(text)
    assert words in str(caught.value)
    assert "hunter2" not in f"{caught.value} {caught.value.hint}"


def test_what_follows_a_question_mark_is_not_kept() -> None:
    """It may be a secret; files and what follows # stay as they are."""
    assert recorded_name("https://h/x?token=s#sha256=1") == "https://h/x?...#sha256=1"
    assert recorded_name("https://h/x#a?b") == "https://h/x#a?b"
    assert recorded_name("dir/what?.yaml") == "dir/what?.yaml"
    assert parse_address("https://h/x?token=s3cret").shown == "https://h/x?..."
