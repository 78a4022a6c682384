"""What a selection leaves out of the plan of one host."""

from pathlib import Path

import pytest

from orchestrator.planning.host_plan import HostPlan
from tests.orchestrator.planning.planned import FakeHost, entries, gathered, plan, planner
from tests.texts import expect_text

SITE = """
ccm:
  resources:
    - file:
        - defaults: {ensure: absent}
        - /etc/nginx/nginx.conf: {tags: [web], alias: conf}
        - "/etc/nginx/{{ Host.name }}.conf": {tags: [web, slow]}
        - /etc/motd: {}
    - apply:
        - child.yaml:
            tags: [base]
            data: {word: hello}
            health_checks: [{command: "true"}]
            register_when_stable: [{cluster: c, service: s, protocol: p, address: a}]
    - exec:
        - reload: {command: "true", require: [file#conf], control: {if: "Host.name != 'web9'"}}
"""
CHILD = """
data: {word: none}
ccm:
  resources:
    - file:
        - defaults: {ensure: absent}
        - "/etc/{{ Data.word }}": {}
        - /etc/below: {tags: [slow]}
"""
EVERY = [
    "/etc/nginx/nginx.conf",
    "/etc/nginx/web1.conf",
    "/etc/motd",
    "child.yaml",
    "/etc/hello",
    "/etc/below",
    "reload",
]


def made(directory: Path, **options: list[str]) -> HostPlan:
    (directory / "child.yaml").write_text(CHILD)
    return plan(directory, SITE, **options)


@pytest.mark.parametrize(
    ("options", "chosen"),
    [
        ({}, EVERY),
        ({"only": ["file#/etc/nginx/*"]}, EVERY[:2]),
        ({"only": ["file#conf"]}, EVERY[:1]),
        ({"only": ["file#/etc/nginx/web1.conf", "exec"]}, [EVERY[1], "reload"]),
        ({"only": ["file#/etc/hello"]}, ["child.yaml", "/etc/hello"]),
        ({"only": ["apply#child.yaml"]}, EVERY[3:6]),
        ({"only": ["apply#*"], "tags": ["slow"]}, ["child.yaml", "/etc/below"]),
        ({"tags": ["web"]}, EVERY[:2]),
        ({"tags": ["web,-slow"]}, EVERY[:1]),
        ({"tags": ["web", "base"]}, [*EVERY[:2], *EVERY[3:6]]),
        ({"tags": ["-base"]}, [*EVERY[:3], "reload"]),
        ({"skip": ["apply"]}, [*EVERY[:3], "reload"]),
        ({"skip": ["file"]}, ["child.yaml", "reload"]),
        ({"only": ["file"], "skip": ["*#/etc/nginx/*"]}, EVERY[2:6]),
    ],
)
def test_what_is_chosen(tmp_path: Path, options: dict[str, list[str]], chosen: list[str]) -> None:
    """Names, aliases, types and tags choose; a child does so with all that it is made of."""
    found = made(tmp_path, **options)
    assert [item.name for item in found.items if not item.left_out] == chosen
    assert [item.name for item in found.items] == EVERY


def test_why(tmp_path: Path) -> None:
    """Each resource that is left out says by which option, in its children's records too."""
    found = made(tmp_path, only=["file", "apply"], tags=["-slow"], skip=["file#/etc/motd"])
    reasons = {item.name: item.left_out for item in found.items}
    assert list(reasons.values()) == ["", "tags", "skip", "", "", "tags", "only"]
    told = entries(found)
    assert [entry.get("left_out", "") for entry in told] == ["", "tags", "skip", "", "only"]
    assert [entry.get("left_out", "") for entry in told[3]["children"]] == ["", "tags"]


def test_the_rest_stays_as_it_is(tmp_path: Path) -> None:
    """A part has the numbers, references, data and blobs of the whole, and a digest of its own."""
    whole, part = made(tmp_path), made(tmp_path, tags=["web"])
    plain = [item._replace(left_out="") for item in part.items]
    assert [(i.id, i.require, i.properties, i.managed) for i in plain] == [
        (i.id, i.require, i.properties, i.managed) for i in whole.items
    ]
    assert [item.index for item in part.items] == list(range(len(EVERY)))
    head = {"run_id": "1", "manifest": "site.yaml"}
    digests = [plan.payload(head).partition(b'"digest":"')[2][:64] for plan in (whole, part)]
    assert digests[0] != digests[1]


def test_what_only_leads_there(tmp_path: Path) -> None:
    """A child of which a part is chosen is not checked or announced as a whole."""
    led, whole = made(tmp_path, only=["file#/etc/below"]), made(tmp_path, tags=["base"])
    assert led.items[3].health_checks == ()
    assert list(led.registrations("apply#child.yaml")) == []
    assert whole.items[3].health_checks
    assert list(whole.registrations("apply#child.yaml"))


@pytest.mark.parametrize(
    ("options", "needed"),
    [
        ({"only": ["exec#last"]}, {"/a", "/b", "x.yaml", "/in"}),
        ({"only": ["exec#last"], "skip": ["file#/b"]}, {"/a", "/b", "x.yaml", "/in"}),
        ({"only": ["exec#last", "file#/b"]}, {"/a", "x.yaml", "/in"}),
        ({"only": ["exec#inner"]}, {"/in"}),
        ({"only": ["exec#away"]}, set()),
        ({"only": ["file"]}, set()),
        ({"skip": ["file#/a"]}, {"/a"}),
    ],
)
def test_what_is_needed(tmp_path: Path, options: dict[str, list[str]], needed: set[str]) -> None:
    """What a chosen resource requires, by others that are left out too, is marked so."""
    (tmp_path / "x.yaml").write_text("ccm: {resources: [{file: [{/in: {ensure: absent}}]}]}")
    site = """
ccm:
  resources:
    - file:
        - defaults: {ensure: absent}
        - /a: {alias: first}
        - /b: {require: [file#first]}
        - /c: {}
    - apply: [{x.yaml: {}}]
    - exec:
        - last: {command: "true", require: [file#/b, apply#x.yaml]}
        - inner: {command: "true", require: [file#/in]}
        - away: {command: "true", require: [file#/c], control: {if: "false"}}
"""
    found = {item.name for item in plan(tmp_path, site, **options).items if item.needed}
    assert found == needed


def test_what_no_host_has(tmp_path: Path) -> None:
    """What could be meant and is on no host is told once, not where one of them has it."""
    (tmp_path / "child.yaml").write_text(CHILD)
    options = {"only": ["file#/etc/nginx/web2.conf", "file#/etc/nginx/web7*", "file#conf"]}
    run = planner(tmp_path, SITE, **options)
    assert run.unmatched() == []  # nobody was asked
    for name in ("web1", "web2"):
        run.plan(FakeHost(name), gathered())
    expect_text(run.unmatched())
    assert planner(tmp_path, SITE).unmatched() == []


def test_what_planners_of_other_processes_have_seen(tmp_path: Path) -> None:
    """What a host fits that another planner has planned is known once that is told."""
    import json

    (tmp_path / "child.yaml").write_text(CHILD)
    options = {"only": ["file#/etc/nginx/web2.conf", "file#/etc/nginx/web7*"]}
    here, there = planner(tmp_path, SITE, **options), planner(tmp_path, SITE, **options)
    here.remember(json.loads(json.dumps(there.remembered())))
    assert here.unmatched() == []  # nobody was asked there either
    there.plan(FakeHost("web2"), gathered())
    here.remember(json.loads(json.dumps(there.remembered())))
    expect_text(here.unmatched())
    for odd in (
        7,
        [1, []],
        ["1", [], []],
        [-1, [], []],
        [True, [], []],
        [1, [[[]]], []],
        [1, [], 7],
    ):
        with pytest.raises((TypeError, ValueError)):
            here.remember(odd)
    expect_text(here.unmatched())
    whole = planner(tmp_path, SITE)
    whole.remember(planner(tmp_path, SITE).remembered())
    assert whole.unmatched() == []


def test_resources_of_a_template(tmp_path: Path) -> None:
    """What a template gives is chosen like what is written; its tags are known per host."""
    text = "- exec:\n    - a: {tags: [one]}\n    - '[[ Facts.host.info.hostname ]]': {}\n"
    (tmp_path / "all.jet").write_text(text)
    site = "ccm: {resources_jet_file: all.jet}\n"
    found = plan(tmp_path, site, tags=["one"])
    assert [(item.name, item.left_out) for item in found.items] == [("a", ""), ("web1", "tags")]
    run = planner(tmp_path, site, tags=["two"])
    run.plan(FakeHost(), gathered())
    expect_text(run.unmatched())
