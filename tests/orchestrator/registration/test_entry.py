import pytest

from orchestrator.registration.entry import Query, Registration, in_order

WEB = {"cluster": "prod", "service": "web", "protocol": "http", "address": "10.0.0.1", "port": 80}


def test_subject() -> None:
    """An endpoint has one subject, with its address as one token and its hash at the end."""
    entry = Registration.of(WEB)
    # FNV-64a of "prodwebhttp10.0.0.180".
    assert entry.subject == "choria.ccm.registration.v1.prod.http.web.10_0_0_1.b5dab0e5bff8ac7a"
    assert Registration.of({**WEB, "priority": 9}).subject == entry.subject
    assert Registration.of({**WEB, "port": 81}).subject != entry.subject


def test_payload() -> None:
    """What is published reads back as it was, and says only what was given."""
    entry = Registration.of({**WEB, "port": "80", "ttl": "10m", "annotations": {"a": "b"}}, now=0)
    assert entry.payload() == {
        **WEB,
        "timestamp": "1970-01-01T00:00:00Z",
        "priority": 1,
        "ttl": "10m",
        "annotations": {"a": "b"},
    }
    assert Registration.from_payload(entry.payload()) == entry
    assert "ttl" not in Registration.of(WEB).payload()


def test_without_a_port() -> None:
    """A service may have no port; it is left out of the payload and of the endpoint."""
    entry = Registration.of({k: v for k, v in WEB.items() if k != "port"})
    assert (entry.port, entry.endpoint) == (0, "10.0.0.1")
    assert "port" not in entry.payload()
    assert Registration.from_payload(entry.payload()) == entry


@pytest.mark.parametrize(
    ("ttl", "age", "valid"),
    [("10s", 9, True), ("10s", 11, False), ("never", 1e9, True), ("", 1e9, True), ("1m", 59, True)],
)
def test_ttl(ttl: str, age: float, valid: bool) -> None:
    """An entry is valid for its ttl, without one for good."""
    assert Registration.of({**WEB, "ttl": ttl}, now=1000).is_valid(1000 + age) is valid


@pytest.mark.parametrize(
    "broken",
    [
        {},
        {**WEB, "port": "x"},
        {**WEB, "cluster": 5},
        {**WEB, "annotations": ["x"]},
        {**WEB, "port": float("inf")},
        {**WEB, "ttl": "soon"},
        {**WEB, "address": "10.0.0.1; } evil {"},
        {**WEB, "address": "10.0.0.1\n"},
        {**WEB, "service": "we\x1b[2Jb"},
        {**WEB, "cluster": "{{1+1}}"},
        {**WEB, "port": -1},
        {**WEB, "port": 65_536},
        {**WEB, "priority": 10**30},
        {**WEB, "timestamp": "2026-11-30\nx"},
    ],
)
def test_broken_payload(broken: dict[str, object]) -> None:
    """A payload that is no entry is refused."""
    with pytest.raises(ValueError, match=r"must be|is not a duration"):
        Registration.from_payload(broken)


def test_query() -> None:
    """Each part of a query may be any; the subject and the selection agree."""
    entry = Registration.of(WEB)
    for query, selects, subject in (
        (Query(), True, "*.*.*.*.*"),
        (Query("prod", "http", "web", "10.0.0.1"), True, "prod.http.web.10_0_0_1.*"),
        (Query("", "", "web"), True, "*.*.web.*.*"),
        (Query("test"), False, "test.*.*.*.*"),
        (Query(address="10.0.0.2"), False, "*.*.*.10_0_0_2.*"),
        (Query("prod.http", ">", "we*"), False, "prod_http._.we_.*.*"),
        (Query("a\r\nPUB x 1", "\0", "\x1b"), False, "a__PUB_x_1._._.*.*"),
    ):
        assert query.selects(entry) is selects
        assert query.subject == "choria.ccm.registration.v1." + subject


def test_a_part_is_never_a_wildcard() -> None:
    """Whatever an entry says, its subject means this one only, so no other one can be removed."""
    entry = Registration("*", "x\r\ny", "a.>", "*", 80)
    assert entry.subject.startswith("choria.ccm.registration.v1._.a__.x__y._.")


def test_order() -> None:
    """Entries come by address, then by port as a number."""
    entries = [
        Registration.of({**WEB, "address": address, "port": port})
        for address, port in (("b", 9), ("a", 80), ("a", 9))
    ]
    assert [(e.address, e.port) for e in in_order(entries)] == [("a", 9), ("a", 80), ("b", 9)]
