"""What a host said last, kept for other hosts' templates."""

import os
from pathlib import Path
from typing import Any, NamedTuple, cast

import pytest

from inventory import Host
from orchestrator.fleet.store.fact_cache import MAX_BYTES, FactCache


class Named(NamedTuple):
    """What distinguishes a ``Host`` of an inventory."""

    name: str
    address: str = "192.0.2.1"
    port: int | None = None
    jump: str | None = None
    connection: str = "ssh"


HOST: Any = Named("web1")


@pytest.fixture
def store(tmp_path: Path) -> FactCache:
    return FactCache(tmp_path)


def path_of(tmp_path: Path) -> Path:
    (path,) = (tmp_path / "facts").iterdir()
    return path


def test_facts_come_back_with_their_age(store: FactCache, tmp_path: Path) -> None:
    """What is kept of a host is read again with its moment, from a file of its user's alone."""
    assert store.of(HOST) is None
    assert store.keep(HOST, {"a": [1, None, "ä"]}, now=1000.0)
    kept = store.of(HOST)
    assert kept is not None
    assert kept.facts == {"a": [1, None, "ä"]}
    assert kept.moment == "1970-01-01T00:16:40Z"
    assert kept.age(1060.0) == 60
    assert kept.age(999.0) == float("inf")
    path = path_of(tmp_path)
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_what_a_host_could_not_gather_is_kept(store: FactCache, tmp_path: Path) -> None:
    """With the reasons; a file that has anything else there is none."""
    assert store.keep(HOST, {"a": 1}, unavailable={"partition": "timed out"})
    kept = store.of(HOST)
    assert kept is not None
    assert kept.unavailable == {"partition": "timed out"}
    path = path_of(tmp_path)
    for wrong in ('["x"]', '{"partition": 1}', '"x"'):
        path.write_text(path.read_text().replace('{"partition":"timed out"}', wrong))
        assert store.of(HOST) is None
        path.write_text(path.read_text().replace(wrong, '{"partition":"timed out"}'))


def test_the_last_word_counts(store: FactCache, tmp_path: Path) -> None:
    """A host has one file, which has what it said last."""
    for number in (1, 2):
        store.keep(HOST, {"n": number})
    kept = store.of(HOST)
    assert kept is not None
    assert kept.facts == {"n": 2}
    path_of(tmp_path)


@pytest.mark.parametrize(
    "other", [HOST._replace(address="192.0.2.2"), HOST._replace(port=22), HOST._replace(jump="x")]
)
def test_another_host_of_that_name_is_another_host(store: FactCache, other: Any) -> None:
    """Two inventories may call different hosts the same."""
    store.keep(HOST, {"n": 1})
    assert store.of(other) is None


def test_the_longest_name_has_a_file(store: FactCache) -> None:
    """A host's name may be as long as a file's."""
    long, other = cast("list[Host]", [Named("x" * 255), Named("x" * 254)])
    store.keep(long, {"n": 1})
    assert store.of(long) is not None
    assert store.of(other) is None


def test_too_much_is_not_kept(store: FactCache, tmp_path: Path) -> None:
    """A host that says more than the bound is not kept, and leaves what was kept before."""
    store.keep(HOST, {"n": 1})
    assert not store.keep(HOST, {"x": "x" * MAX_BYTES})
    kept = store.of(HOST)
    assert kept is not None
    assert kept.facts == {"n": 1}


@pytest.mark.parametrize(
    "text",
    [
        b"", b"{", b"[]", b"null", b"\xff", b'{"format": 1}', b"[" * 100_000,
        b"x" * (MAX_BYTES + 1),
        b'{"format": 2, "host": "web1", "time": 1.0, "facts": {}}',
        b'{"format": 1, "host": "web2", "time": 1.0, "facts": {}}',
        b'{"format": 1, "host": "web1", "time": "now", "facts": {}}',
        b'{"format": 1, "host": "web1", "time": 1e300, "facts": {}}',
        b'{"format": 1, "host": "web1", "time": 1.0, "facts": []}',
        b'{"format": 1, "host": "web1", "time": NaN, "facts": {}}',
    ],
)  # fmt: skip
def test_what_is_no_such_file_counts_as_nothing(
    store: FactCache, tmp_path: Path, text: bytes
) -> None:
    """A file that is broken, of another host or too large is as if it were not there."""
    store.keep(HOST, {"n": 1})
    path_of(tmp_path).write_bytes(text)
    assert store.of(HOST) is None
    assert store.keep(HOST, {"n": 2})
    assert store.of(HOST) is not None


def test_a_directory_in_its_place_is_no_file(store: FactCache, tmp_path: Path) -> None:
    """What cannot be read counts as nothing."""
    store.keep(HOST, {"n": 1})
    path = path_of(tmp_path)
    os.remove(path)
    path.mkdir()
    assert store.of(HOST) is None
