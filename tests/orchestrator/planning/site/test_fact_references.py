"""Whose facts a site reads, as far as its text says."""

from pathlib import Path

import pytest

from orchestrator.manifest import load_site
from orchestrator.planning.site.expression_sources import texts_of
from orchestrator.planning.site.fact_references import hosts_read

GROUPS = {"all": ["a", "b", "c", "d"], "web": ["b", "c"], "db": ["d"]}


@pytest.mark.parametrize(
    ("texts", "hosts"),
    [
        (["Hosts.a.address", "Facts.host", "lookup('facts.x')"], ""),
        (["Hosts.a.facts.host.info.os"], "a"),
        (["Hosts['b'].facts.x", 'Hosts["d"]["facts"]["x"]'], "b d"),
        (["Hosts.nobody.facts.x"], ""),
        (["{% for n in Groups.web %}{{ Hosts[n].facts.x }}{% endfor %}"], "b c"),
        (["{% for n in Groups['web'] + Groups.db %}{{ Hosts[n].facts.x }}{% endfor %}"], "b c d"),
        (["{% for n in Groups.web %}{{ Hosts[n].facts.x }}{% endfor %}", "Hosts.a.name"], "b c"),
        (["{% for n in Groups[Data.lb] %}{{ Hosts[n].facts.x }}{% endfor %}"], "a b c d"),
        (["{% for h in Hosts.values() %}{{ h.facts.x }}{% endfor %}"], "a b c d"),
        (["Hosts[Data.primary].facts.x"], "a b c d"),
        (["Hosts | map(attribute='facts')"], "a b c d"),
        (["{% set h = Hosts[n] %}{% include 'x' %}", "{{ h.facts.x }}", "Groups.db"], "d"),
        (["[[ range i, n := Groups.db ]][[ Hosts[n].facts.x ]][[ end ]]"], "d"),
    ],
)
def test_whose_facts_may_be_read(texts: list[str], hosts: str) -> None:
    """Hosts that are spelt out, the members of groups that are, and all where neither is."""
    assert hosts_read(texts, GROUPS, GROUPS["all"]) == hosts.split()


def test_templates_are_found_through_those_that_name_them(tmp_path: Path) -> None:
    """The text of a site has its expressions, templates that these name, and what these include."""
    (tmp_path / "t/deep").mkdir(parents=True)
    (tmp_path / "parts").mkdir()
    (tmp_path / "tree").mkdir()
    (tmp_path / "top.j2").write_text("TOP {% include 'parts/one.j2' %}")
    (tmp_path / "parts/one.j2").write_text('ONE {% import "two.j2" as two %}')
    (tmp_path / "parts/two.j2").write_text("TWO {{ Hosts.db1.facts.x }} 'top.j2'")
    (tmp_path / "tree/file").write_text("TREE")
    (tmp_path / "other").write_text("OTHER")
    (tmp_path / "site.yaml").write_text(
        "data: {a: \"{{ 'DATA' ~ Groups.web[0] }}\"}\nccm:\n  resources:\n"
        "    - file:\n        - /a: {content: \"{{ template('top.j2') }}\", owner: o, group: g,\n"
        "            mode: '0600',\n"
        "            control: {if: \"'CONTROL' == Hosts.a.name\"}}\n"
        "    - exec:\n        - \"echo {{ item }}\": {foreach: \"['LOOP', 'other']\"}\n"
        "    - scaffold:\n        - /t: {source: tree, engine: jinja}\n"
    )
    found = "\n".join(texts_of(load_site(tmp_path / "site.yaml")))
    for word in ("DATA", "CONTROL", "LOOP", "TOP", "ONE", "TWO", "TREE"):
        assert word in found, word
    assert "OTHER" not in found
