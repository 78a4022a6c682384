"""Values of buckets, of a real NATS server on loopback."""

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from orchestrator.registration import key_value
from orchestrator.registration.bucket_key import Key
from orchestrator.registration.errors import RegistrationError
from orchestrator.registration.key_value import KeyValueLookup, open_buckets, value_of
from remote_runtime.errors import CcmError, UsageError
from tests.orchestrator.registration.test_nats_stream import running


def fill(server: str, values: dict[str, bytes], *deleted: str) -> None:
    """Make the bucket CCM with these values, of which some are deleted again."""
    import nats

    async def work() -> None:
        client = await nats.connect(f"nats://ccm:s3cret@{server}")
        bucket = await client.jetstream().create_key_value(bucket="CCM", history=3)
        for key, value in values.items():
            await bucket.put(key, value)
        for key in deleted:
            await bucket.delete(key)
        await client.close()

    asyncio.run(work())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with running(tmp_path_factory.mktemp("nats")) as address:
        values = {"a": "ä".encode(), "b.c/d": b"", "raw": b"\xff", "gone": b"x"}
        fill(address, {**values, "large": b"x" * 5000}, "gone")
        yield address


def test_values(server: str) -> None:
    """Text, an empty one, a key that never was, and one that was deleted."""
    buckets = open_buckets(f"nats://ccm:s3cret@{server}")
    found = {key: value_of(buckets, Key("CCM", key)) for key in ("a", "b.c/d", "no", "gone")}
    assert found == {"a": "ä", "b.c/d": "", "no": None, "gone": None}


@pytest.mark.parametrize(
    ("key", "maximum", "words"),
    [
        (Key("CCM", "raw"), 9000, "kv://CCM/raw is not UTF-8"),
        (Key("CCM", "large"), 4999, "kv://CCM/large is larger than"),
        (Key("NO", "a"), 9000, "has no bucket NO"),
    ],
)
def test_what_is_no_value(server: str, key: Key, maximum: int, words: str) -> None:
    """Each has a message of its own."""
    with pytest.raises(RegistrationError, match=words):
        value_of(open_buckets(f"nats://ccm:s3cret@{server}"), key, maximum)


def test_a_server_that_refuses(server: str) -> None:
    """The message has no password."""
    for url in (f"nats://ccm:hunter2@{server}", "nats://ccm:hunter2@127.0.0.1:1"):
        with pytest.raises(RegistrationError) as caught:
            value_of(open_buckets(url), Key("CCM", "a"))
        assert "kv://CCM/a of nats://127.0.0.1:" in str(caught.value)
        assert "hunter2" not in f"{caught.value} {caught.value.hint}"


def test_which_server(server: str) -> None:
    """That of the setting, else that of the registrations; a file is no server."""
    url = f"nats://ccm:s3cret@{server}"
    assert value_of(open_buckets("", f"{url}/STREAM"), Key("CCM", "a")) == "ä"
    with pytest.raises(UsageError, match="no NATS server is configured"):
        open_buckets("", "registrations.json")
    with pytest.raises(UsageError, match="this is not the URL of a server"):
        open_buckets("https://h")
    with pytest.raises(UsageError, match="nats: the URL of the NATS server is invalid"):
        open_buckets("nats://a b")


class Fake:
    """A bucket of a dictionary that counts what is read."""

    shown = "fake"

    def __init__(self, values: dict[str, Any]) -> None:
        self.values = values
        self.read: list[str] = []

    def get(self, key: Key) -> bytes | None:
        self.read.append(key.key)
        found = self.values.get(key.key)
        if isinstance(found, Exception):
            raise found
        return found


def test_a_run_reads_a_key_once() -> None:
    """Also one that is missing or fails, and wherever in the run it is asked for."""
    fake = Fake({"a": b"1", "bad": RegistrationError("down", hint="wait")})
    here = KeyValueLookup(lambda: fake)
    there = KeyValueLookup(lambda: pytest.fail("a worker connects to nothing"))
    there.forward_to(here.answer)
    for lookup in (here, there, here, there):
        assert (lookup(Key("B", "a")), lookup(Key("B", "no"))) == ("1", None)
        with pytest.raises(CcmError) as caught:
            lookup(Key("B", "bad"))
        assert (caught.value.message, caught.value.advice) == ("down", "wait")
    assert fake.read == ["a", "no", "bad"]


def test_the_values_of_a_run_are_bounded(monkeypatch: pytest.MonkeyPatch) -> None:
    """All together, however small each is."""
    monkeypatch.setattr(key_value, "MAX_PER_RUN", 5)
    lookup = KeyValueLookup(lambda: Fake({"a": b"123", "b": b"456"}))
    assert lookup(Key("B", "a")) == "123"
    with pytest.raises(CcmError, match="larger than"):
        lookup(Key("B", "b"))


def test_without_the_extra(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is said which one to install."""
    import sys

    monkeypatch.setitem(sys.modules, "nats.aio.client", None)
    monkeypatch.delitem(sys.modules, "orchestrator.registration.nats_stream", raising=False)
    with pytest.raises(UsageError) as caught:
        open_buckets("nats://h")
    assert "ccm-push[nats]" in caught.value.hint
