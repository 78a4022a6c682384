"""Data of other machines in the plans of hosts."""

import json
from pathlib import Path
from typing import Any

import pytest

from orchestrator.planning import PlanOptions
from orchestrator.planning.remote_data import fetched
from orchestrator.registration.key_value import KeyValueLookup
from remote_runtime.errors import InputError, PlanError
from tests.orchestrator.planning.planned import FakeHost, plan, planner
from tests.orchestrator.registration.test_key_value import Fake
from tests.texts import expect_text

URL = "https://h.example/data.yaml"


def show(directory: Path, expression: str, text: str, head: str = "", **options: Any) -> Any:
    """What an expression results in with this text as remote data."""
    more = {"hiera": [URL], "fetched": {URL: text}, **options}
    site = f"{head}\nccm: {{resources: [{{exec: [{{x: {{command: {json.dumps(expression)}}}}}]}}]}}"
    (item,) = plan(directory, site, **more).items
    return item.properties.get("command") or item.deferred_error


def test_values_are_plain(tmp_path: Path) -> None:
    """Nothing in them is rendered, wherever they are used; other types stay as they are."""
    text = "data: {a: '{{ 1 }}', b: ['${ Environ.X }'], n: 1}"
    found = show(tmp_path, "{{ Data.a }} {{ Data.b }} {{ Data.n + 1 }}", text)
    assert found == '{{ 1 }} ["${ Environ.X }"] 2'
    assert "never computed text" in show(tmp_path, "{{ template(Data.a) }}", text)


@pytest.mark.parametrize(
    "entry",
    [
        "{{ Environ.SECRET }}",
        "{{ lookup('environ.SECRET') }}",
        "{{ file('secret.txt') }}",
        "{{ template('secret.txt') }}",
        "{{ jet('secret.txt') }}",
        "{{ Data.secret }}",
        "{{ registrations('*', '*', '*', '*') }}",
        "{{ Hosts.db1.vars.secret }}",
    ],
)
def test_its_expressions_see_the_host_alone(tmp_path: Path, entry: str) -> None:
    """An order that names the controller's own things finds nothing or refuses the host."""
    (tmp_path / "secret.txt").write_text("s3cret")
    text = json.dumps({"hierarchy": {"order": [entry]}, "overrides": {"s3cret": {"hit": "yes"}}})
    head = "data: {secret: s3cret, hit: 'no'}"
    try:
        found = show(tmp_path, "{{ Data.hit }}", text, head, environ={"SECRET": "s3cret"})
    except (PlanError, InputError):
        return
    assert found == "no"


def test_its_order_reads_facts_and_the_host(tmp_path: Path) -> None:
    """As the order of a file does."""
    text = json.dumps(
        {
            "hierarchy": {"order": ["{{ Facts.host.info.os }}:{{ Host.name }}"]},
            "overrides": {"linux:web1": {"hit": "yes"}},
        }
    )
    assert show(tmp_path, "{{ Data.hit }}", text) == "yes"


def test_its_checks_see_the_value_alone(tmp_path: Path) -> None:
    """@validate, @require and @secret work; an expression of a check sees no environment."""
    good = "data:\n  # @validate value > 1\n  # @secret\n  a: 12345\n"
    site = "ccm: {resources: [{exec: [{'echo {{ Data.a }}': {}}]}]}"
    made = plan(tmp_path, site, hiera=[URL], fetched={URL: good})
    assert "12345" in made.secrets
    spying = "data:\n  # @validate Environ.SECRET == 's3cret'\n  a: 1\n"
    options = {"hiera": [URL], "environ": {"SECRET": "s3cret"}, "fetched": {URL: spying}}
    with pytest.raises((InputError, PlanError)):
        plan(tmp_path, site, **options)


def test_what_was_not_read_leaves_hosts_open(tmp_path: Path) -> None:
    """Without contact, resources that read data are unknown, and nothing is reported of them."""
    head = "data: {a: 1, users: [x]}\n# @require\n"
    resources = "[{exec: [{'echo {{ Data.b }}': {}}, {'true': {}}, "
    resources += "{'{{ item }}': {foreach: Data.users}}]}]"
    made = planner(
        tmp_path,
        f"{head}ccm: {{resources: {resources}}}",
        hiera=[URL],
        source_hosts=["h.example"],
        contact=False,
        data=["zzz=1"],
    )
    check = made.examine(FakeHost())
    assert (check.known, check.unknown, check.problems) == (1, {"data.unread": 2}, ())
    assert made.data_warnings([FakeHost()]) == []
    assert made.site.warnings == []
    assert made.unread() == [
        f"the data of {URL} was not checked: this command contacts no other machine"
    ]


def test_a_worker_reads_the_buckets_of_the_site(tmp_path: Path) -> None:
    """It is told nothing of a bucket that no text of the site names."""
    site = """ccm: {resources: [{exec: [{"echo {{ kvGet('CCM', 'a') }}": {}}]}]}"""
    made = planner(tmp_path, site)
    made._run_data.buckets = KeyValueLookup(lambda: Fake({"a": b"1"}))
    assert made.answer({"bucket": "CCM", "key": "a"}) == {"value": "1"}
    expect_text(made.answer({"bucket": "OTHER", "key": "a"})["error"][0])


def test_every_problem_at_once() -> None:
    """All URLs that cannot be read are in one report."""
    options = PlanOptions(hiera=["https://a/x", "http://b/y", "site.yaml", "ftp://c/z"])
    with pytest.raises(InputError) as caught:
        fetched(options)
    assert len(caught.value.problems) == 3
