"""The maps that all hosts share."""

import copy

import pytest

from orchestrator.language.errors import OtherFactsError
from orchestrator.language.other_hosts import FactsOfHosts, OtherHost, PackedFacts, read_only


def test_nothing_in_a_shared_tree_can_be_changed() -> None:
    """A map at any depth refuses every change, and a copy of it is itself."""
    tree = read_only({"a": [{"b": {"c": 1}}]})
    inner = tree["a"][0]["b"]
    with pytest.raises(TypeError):
        inner["c"] = 2
    for change in ("clear", "popitem"):
        with pytest.raises(TypeError):
            getattr(inner, change)()
    with pytest.raises(TypeError):
        tree.update(a=1)
    assert copy.deepcopy(tree) is tree


def test_facts_are_packed_until_they_are_read() -> None:
    """Facts come back as they were; only a few stay unpacked."""
    facts = FactsOfHosts()
    for number in range(100):
        facts.known[f"h{number}"] = PackedFacts.of("now", {"n": number, "half": "\ud800"})
    for number in range(100):
        assert facts.of(f"h{number}") == {"n": number, "half": "\ud800"}
    assert len(facts._unpacked) <= 32
    assert facts.of("none") is None


def test_a_host_has_facts_where_they_are_known() -> None:
    """A host whose facts are not known is as if it had none, and says why to who insists."""
    facts = FactsOfHosts()
    host = OtherHost({"name": "db1"}, facts)
    assert host.get("facts", 1) == 1
    assert "gathered" not in host
    with pytest.raises(OtherFactsError, match="ccm facts -l db1"):
        host["facts"]
    with pytest.raises(KeyError):
        host["nothing"]
    facts.known["db1"] = PackedFacts.of("now", {"a": 1})
    assert host["facts"] == {"a": 1}
    assert host.get("gathered") == "now"
    assert dict(host) == {"name": "db1"}
