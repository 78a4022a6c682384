"""The texts that URLs name."""

import hashlib

import pytest

from orchestrator.sources.address import SourceError
from orchestrator.sources.url_text import Access, read_text
from tests.remote_runtime.archive import server

NAMED = Access(("127.0.0.1",))


def test_with_a_digest_it_is_read_once(web: server.Web) -> None:
    """The cache has it from then on, also where no machine may be contacted."""
    text = "data: {a: 1}\n"
    web.answers["/a"] = server.content(text.encode())
    url = f"{web.url('/a')}#sha256={hashlib.sha256(text.encode()).hexdigest()}"
    assert read_text(url, Access(contact=False)) is None
    assert read_text(url, Access()) == text
    assert read_text(url, Access(contact=False)) == text
    assert len(web.requests) == 1


def test_without_one_it_is_read_each_time(web: server.Web) -> None:
    """Nothing of it is kept."""
    web.answers["/a"] = server.content(b"data: {a: 1}\n")
    assert read_text(web.url("/a"), NAMED)
    assert read_text(web.url("/a"), NAMED)
    assert len(web.requests) == 2
    assert read_text(web.url("/a"), NAMED._replace(contact=False)) is None


def test_another_digest_is_refused(web: server.Web) -> None:
    """The message has both, so that a person can compare."""
    web.answers["/a"] = server.content(b"data: {a: 1}\n")
    with pytest.raises(SourceError, match=r"expected sha256 0{64}, got [0-9a-f]{64}"):
        read_text(web.url("/a") + "#sha256=" + "0" * 64, NAMED)


def test_what_is_no_text(web: server.Web) -> None:
    """Bytes beyond UTF-8 and archives are no data."""
    web.answers["/a"] = server.content(b"\xff")
    with pytest.raises(SourceError, match="not UTF-8"):
        read_text(web.url("/a"), NAMED)
    with pytest.raises(SourceError, match="not an archive"):
        read_text(f"{web.url('/a')}#sha256={'0' * 64}&manifest=x.yaml", NAMED)
