"""What hosts learn of packages for one another."""

import json
import threading
from pathlib import Path
from typing import Any

import pytest

from orchestrator.fleet.package_cache import MAX_REQUESTS, HostPackages, PackageMetadataCache
from remote_runtime.errors import ProtocolError
from remote_runtime.protocol import wire
from remote_runtime.protocol.package_sharing import fingerprint

A, B = "a" * 64, "b" * 64
FOUND: dict[str, Any] = {"members": [], "conffiles": [], "scripts": {}}
TEXT = json.dumps(FOUND, separators=(",", ":"))


class Link:
    """Keeps what is sent."""

    def __init__(self) -> None:
        self.sent: list[Any] = []

    def send_bytes(self, data: bytes) -> None:
        self.sent += wire.Decoder(wire.MAX_FROM_CONTROLLER).feed(data)


def host_lore(
    package_metadata: PackageMetadataCache, name: str = "web1"
) -> tuple[HostPackages, Any]:
    link: Any = Link()
    return HostPackages(link, package_metadata, name), link


NOTHING: Any = {"t": "packages", "known": {}, "alone": {}}


def found_by(
    package_metadata: PackageMetadataCache, *hosts: str, sha: str = A, text: str = TEXT
) -> None:
    """Hosts, one after the other, look into a package and tell what they found."""
    for host in hosts:
        assert sha in package_metadata.ask([sha], host).to_read
        package_metadata.tell(sha, text, host)


def test_the_word_of_one_host_is_checked_by_a_second() -> None:
    """Who asks first and second is left to look; the answer of the others is what both told."""
    package_metadata = PackageMetadataCache(wait=0)
    first, link = host_lore(package_metadata)
    first.ask({"t": "packages", "shas": [A]})
    assert link.sent == [{**NOTHING, "left": [A]}]
    first.tell({"t": "package", "sha": A, "contents": FOUND})
    second, link = host_lore(package_metadata, "web2")
    second.ask({"t": "packages", "shas": [A, B]})
    assert link.sent == [{**NOTHING, "alone": {A: FOUND}, "left": [A, B]}]
    third, link = host_lore(package_metadata, "web3")
    third.ask({"t": "packages", "shas": [A]})
    assert link.sent == [{**NOTHING, "alone": {A: FOUND}, "left": []}]
    second.tell({"t": "package", "sha": A, "contents": FOUND})
    third.ask({"t": "packages", "shas": [A]})
    assert link.sent[1:] == [{**NOTHING, "known": {A: FOUND}, "left": []}]


def test_a_host_has_its_own_word() -> None:
    """What it found itself it need not find again."""
    package_metadata = PackageMetadataCache(wait=0)
    found_by(package_metadata, "web1")
    assert package_metadata.ask([A], "web1") == ({A: TEXT}, {}, [])


def test_where_two_hosts_differ_neither_counts(tmp_path: Path) -> None:
    """Every host looks itself then, and waits for nobody."""
    package_metadata = PackageMetadataCache(tmp_path, wait=60)
    found_by(package_metadata, "web1")
    package_metadata.ask([A], "web2")
    package_metadata.tell(A, json.dumps({**FOUND, "conffiles": ["/etc/a"]}), "web2")
    for host in ("web3", "web4"):
        assert package_metadata.ask([A], host) == ({}, {}, [A])
    package_metadata.tell(A, TEXT, "web3")
    assert package_metadata.ask([A], "web5") == ({}, {}, [A])
    assert list(tmp_path.iterdir()) == []


def test_a_host_waits_for_one_that_is_at_it() -> None:
    """It gets what the other ones found, as soon as the second has told it."""
    package_metadata = PackageMetadataCache(wait=60)
    found_by(package_metadata, "web1")
    assert package_metadata.ask([A], "web2").to_read == [A]
    got: list[Any] = []
    waiting = threading.Thread(target=lambda: got.append(package_metadata.ask([A], "web3")))
    waiting.start()
    package_metadata.tell(A, TEXT, "web2")
    waiting.join(30)
    assert got == [({A: TEXT}, {}, [])]


@pytest.mark.parametrize("end", ["nothing", "gone"])
def test_nobody_waits_for_a_host_that_found_nothing_or_is_gone(end: str) -> None:
    """The next one looks itself."""
    package_metadata = PackageMetadataCache(wait=60)
    first, _ = host_lore(package_metadata)
    first.ask({"t": "packages", "shas": [A]})
    if end == "nothing":
        first.tell({"t": "package", "sha": A, "contents": None})
    else:
        first.close()
    assert package_metadata.ask([A], "web2") == ({}, {}, [A])


def test_nobody_waits_longer_than_that() -> None:
    """A host that takes its time keeps no other from going on."""
    package_metadata = PackageMetadataCache(wait=0.05)
    package_metadata.ask([A], "web1")
    assert package_metadata.ask([A], "web2") == ({}, {}, [])


def test_it_is_kept_for_later_runs(tmp_path: Path) -> None:
    """Another run finds what this one learnt; a damaged file counts for nothing."""
    directory = tmp_path / "packages"
    for sha in (A, B):
        found_by(PackageMetadataCache(directory, wait=0), "web1", "web2", sha=sha)
    for damaged in ("{", "[" * 100 + "]" * 100, "{}", TEXT, '{"contents": 7, "hosts": []}'):
        (directory / f"{B}.json").write_text(damaged)
        assert PackageMetadataCache(directory).ask([A, B], "web3") == ({A: TEXT}, {}, [B])
    assert directory.stat().st_mode & 0o777 == 0o700


@pytest.mark.parametrize(
    "message",
    [
        {"shas": None},
        {"shas": ["../../etc/passwd"]},
        {"shas": [A, 7]},
        {"shas": [f"{number:064x}" for number in range(MAX_REQUESTS + 1)]},
    ],
)
def test_a_question_that_is_none_ends_the_host(message: dict[str, Any]) -> None:
    """Only hashes are asked for, and not more than a plan can need."""
    asked, link = host_lore(PackageMetadataCache(wait=0))
    with pytest.raises(ProtocolError):
        asked.ask(message)
    assert link.sent == []


@pytest.mark.parametrize(
    "message", [{"sha": B, "contents": FOUND}, {"sha": A, "contents": []}, {"sha": None}]
)
def test_only_what_was_left_to_a_host_is_taken_from_it(message: dict[str, Any]) -> None:
    """A host tells nothing of packages that it did not ask for, and nothing twice."""
    package_metadata = PackageMetadataCache(wait=0)
    told, _ = host_lore(package_metadata)
    told.ask({"shas": [A]})
    with pytest.raises(ProtocolError):
        told.tell(message)
    told.tell({"sha": A, "contents": FOUND})
    with pytest.raises(ProtocolError):
        told.tell({"sha": A, "contents": FOUND})


def test_what_is_told_has_a_bound() -> None:
    """Hosts look themselves into what there is no room for; what is forgotten makes room."""
    package_metadata = PackageMetadataCache(wait=0, space=len(TEXT) + 1)
    for sha in (A, B):
        found_by(package_metadata, "web1", "web2", sha=sha)
    assert package_metadata.ask([A, B], "web3").known == {A: TEXT}
    package_metadata.compare(A, B)
    package_metadata.leave("web3")
    found_by(package_metadata, "web1", "web2", sha=B)
    assert package_metadata.ask([A, B], "web3").known == {B: TEXT}


@pytest.mark.parametrize("message", [{"shas": []}, {"shas": [A]}])
def test_who_asks_for_ever_is_ended(message: dict[str, Any]) -> None:
    """Asking is no progress that could go on without end."""
    asked, _ = host_lore(PackageMetadataCache(wait=0))
    for _ in range(MAX_REQUESTS):
        asked.ask(message)
    with pytest.raises(ProtocolError) as caught:
        asked.ask(message)
    assert caught.value.kind == "protocol.flood"


@pytest.mark.parametrize("depth", [100, 100_000])
def test_contents_that_nest_deep_end_the_host(depth: int) -> None:
    """They are no defect of ours, and no other host is told what its interpreter may not read."""
    package_metadata = PackageMetadataCache(wait=0)
    told, _ = host_lore(package_metadata)
    told.ask({"shas": [A]})
    nested: Any = []
    for _ in range(depth):
        nested = [nested]
    with pytest.raises(ProtocolError):
        told.tell({"sha": A, "contents": {"members": nested}})
    assert package_metadata.ask([A], "web2") == ({}, {}, [])


def test_what_an_installation_belies_is_forgotten(tmp_path: Path) -> None:
    """Knowledge that is true stays; with another fingerprint the next preview looks again."""
    told = json.dumps({**FOUND, "members": [["/usr/bin/a"]]})
    package_metadata = PackageMetadataCache(tmp_path)
    for sha in (A, B):
        found_by(package_metadata, "web1", "web2", sha=sha, text=told)
    later = PackageMetadataCache(tmp_path)
    pushed, _ = host_lore(later)
    pushed.confirm({"prints": {A: fingerprint(["/usr/bin/a"], {}), B: A}})
    assert later.ask([A, B], "web3").known == {A: told}
    assert PackageMetadataCache(tmp_path).ask([A, B], "web3").known == {A: told}


@pytest.mark.parametrize(
    "prints", [None, {A: 7}, {"../x": A}, {f"{n:064x}": A for n in range(MAX_REQUESTS + 1)}]
)
def test_an_installation_that_is_none_ends_the_host(prints: Any) -> None:
    """Only hashes are taken, and not more than a plan can need."""
    pushed, _ = host_lore(PackageMetadataCache())
    with pytest.raises(ProtocolError):
        pushed.confirm({"prints": prints})


def through(package_metadata: PackageMetadataCache) -> tuple[PackageMetadataCache, list[Any]]:
    """The lore of a worker, and what it asks of the one that the run has."""
    asked: list[Any] = []

    def ask(question: Any) -> Any:
        asked.append(question)
        return json.loads(json.dumps(package_metadata.answer(question)))

    made = PackageMetadataCache()
    made.forward_to(ask)
    return made, asked


def test_workers_find_out_for_one_another() -> None:
    """A host of one worker waits for that of another one, and has what it finds; a host that asked
    for nothing leaves without a word."""
    whole = PackageMetadataCache(wait=60)
    one, asked = through(whole)
    other, _ = through(whole)
    found_by(whole, "web0")
    assert one.ask([A, A], "web1") == ({}, {A: TEXT}, [A])
    got: list[Any] = []
    waiting = threading.Thread(target=lambda: got.append(other.ask([A, B], "web2")))
    waiting.start()
    one.tell(A, TEXT, "web1")
    waiting.join(30)
    assert got == [({A: TEXT}, {}, [B])]
    asked.clear()
    one.leave("web3")
    one.leave("web1")
    one.leave("web1")
    assert asked == [["leave", "web1"]]
    other.leave("web2")
    assert whole.ask([B], "web4").to_read == [B]


def test_a_worker_is_told_once() -> None:
    """What it holds is not told again, until that is forgotten or another thing."""
    whole = PackageMetadataCache(wait=0)
    found_by(whole, "web8", "web9")
    one, _ = through(whole)
    told: list[Any] = []
    answer = whole.answer

    def noted(question: Any) -> Any:
        told.append(answer(question))
        return told[-1]

    one.forward_to(noted)
    assert [one.ask([A], "web1").known for _ in range(2)] == [{A: TEXT}] * 2
    assert told == [[{A: TEXT}, {}, []], [{A: None}, {}, []]]
    one.compare(A, "0" * 64)
    changed = json.dumps({**FOUND, "scripts": {"postinst": "x"}}, separators=(",", ":"))
    found_by(one, "web1", text=changed)
    assert one.ask([A], "web2") == ({}, {A: changed}, [A])


@pytest.mark.parametrize(
    "question",
    [
        ["tell", "../x", TEXT, "web1"],
        ["compare", "../victim", "0" * 64],
        ["ask", ["../victim"], {}, "web1"],
        ["ask", [A] * (MAX_REQUESTS + 1), {}, "web1"],
        ["tell", A, '{"a":1},"t":"rendered"', "web1"],
        ["tell", A, "{}" + " " * (2 << 20), "web1"],
        ["tell", A, '{"a":' * 30 + "1" + "}" * 30, "web1"],
        ["tell", A, "[" * 100_000, "web1"],
        ["tell", A, "[]", "web1"],
        ["tell", A, TEXT, ["web1"]],
        ["tell", A],
        ["__init__"],
        {"ask": 1},
        [],
        None,
    ],
)
def test_a_question_of_a_hostile_worker(tmp_path: Path, question: Any) -> None:
    """It names no file of the controller, and nothing that another host could take for more than
    the contents of a package."""
    directory = tmp_path / "packages"
    directory.mkdir(mode=0o700)
    victim = tmp_path / "victim.json"
    victim.write_text(json.dumps({"hosts": ["web1", "web2"], "contents": TEXT}), "ascii")
    package_metadata = PackageMetadataCache(directory, wait=0)
    with pytest.raises(ProtocolError, match="package"):
        package_metadata.answer(question)
    assert [*tmp_path.rglob("*.json")] == [victim]


NAMES = [f"{number:064x}" for number in range(9)]


def test_what_a_hostile_worker_tells_has_a_bound() -> None:
    """Small reports of any number of packages do not fill the memory of the controller."""
    package_metadata = PackageMetadataCache(wait=0, most=3)
    for sha in NAMES:
        for host in ("web1", "web2"):
            package_metadata.answer(["tell", sha, TEXT, host])
    assert package_metadata.ask(NAMES, "web3").to_read == NAMES[3:]


def test_what_a_hostile_worker_disputes_has_a_bound() -> None:
    """Once too many packages are disputed, hosts read all others themselves."""
    package_metadata = PackageMetadataCache(wait=0, most=3)
    for sha in NAMES[:3]:
        for host, text in (("web1", TEXT), ("web2", TEXT + " ")):
            package_metadata.tell(sha, text, host)
    for host in ("web1", "web2"):
        package_metadata.tell(NAMES[3], TEXT, host)
    assert package_metadata.ask(NAMES, "web5").to_read == NAMES


def test_nobody_waits_for_more_packages_than_a_run_has() -> None:
    """A worker may ask for any number of packages; those beyond a bound are read by each host."""
    package_metadata = PackageMetadataCache(wait=0, most=3)
    for sha in NAMES:
        package_metadata.answer(["ask", [sha], {}, "web1"])
    assert package_metadata.ask(NAMES, "web2").to_read == NAMES[3:]
