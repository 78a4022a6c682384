"""Archives of manifests by their URLs."""

import hashlib
from pathlib import Path

import pytest

from orchestrator.sources.address import SourceError
from orchestrator.sources.archives import Archives
from tests.orchestrator.sources.test_unpacking import member, packed
from tests.remote_runtime.archive import server


def serve(web: server.Web, data: bytes, more: str = "") -> str:
    """The URL of an archive."""
    web.answers["/a.tar.gz"] = server.content(data)
    return f"{web.url('/a.tar.gz')}#sha256={hashlib.sha256(data).hexdigest()}{more}"


@pytest.mark.parametrize(
    ("names", "more", "found"),
    [
        (["site.yaml", "x"], "", "site.yaml"),
        (["site.yaml", "manifest.yaml"], "", "manifest.yaml"),
        (["role-1.2/manifest.yaml", "role-1.2/x"], "", "role-1.2/manifest.yaml"),
        (["a/x.yaml", "b/y.yaml"], "&manifest=b/y.yaml", "b/y.yaml"),
    ],
)
def test_the_manifest_of_an_archive(
    web: server.Web, names: list[str], more: str, found: str
) -> None:
    """By its name at the top, in the one directory there, or as the URL names it."""
    url = serve(web, packed(*map(member, names)), more)
    unpacked = Archives().get(url)
    assert unpacked is not None
    assert unpacked.manifest == found
    assert unpacked.path.read_bytes() == b"x"


def test_it_is_downloaded_once(web: server.Web) -> None:
    """The cache has it for other runs, also where no machine is contacted."""
    url = serve(web, packed(member("site.yaml")))
    assert Archives(contact=False).get(url) is None
    archives = Archives()
    assert archives.get(url) == archives.get(url) == Archives(contact=False).get(url)
    assert len(web.requests) == 1
    there = archives.get(url)
    assert there is not None
    assert archives.holding(there.path) == Path(there.directory)
    assert archives.holding(Path("site.yaml")) is None
    assert Archives(contact=False, known={url: ("/x", "y.yaml")}).get(url) == ("/x", "y.yaml")


def test_what_was_altered_on_disk(web: server.Web) -> None:
    """It is never run under the digest of something else."""
    url = serve(web, packed(member("site.yaml")))
    found = Archives().get(url)
    assert found is not None
    found.path.chmod(0o600)
    found.path.write_text("y")
    with pytest.raises(SourceError, match="differs from the content of"):
        Archives().get(url)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("https://h/a.tar.gz", "has no digest"),
        ("kv://CCM/a", "has no digest"),
        ("https://h/a.tar.gz?x=1#sha256=" + "0" * 64, "has a query"),
        ("ftp://h/a.tar.gz", "not supported"),
    ],
)
def test_urls_that_no_manifest_has(url: str, words: str) -> None:
    """A digest is always wanted: a manifest can run any command."""
    with pytest.raises(SourceError, match=words):
        Archives().get(url)


def test_archives_without_a_manifest(web: server.Web) -> None:
    """It is said what was looked for."""
    with pytest.raises(SourceError, match=r"neither manifest.yaml nor site.yaml"):
        Archives().get(serve(web, packed(member("x.yaml"), member("y"))))
    with pytest.raises(SourceError, match="has no file"):
        Archives().get(serve(web, packed(member("x.yaml")), "&manifest=../x.yaml"))
