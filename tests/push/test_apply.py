"""Child manifests, pushed over SSH and here."""

import json
from pathlib import Path

import pytest

from tests.push.target import Target

SITE = """\
data: {greeting: hello, token: parent-token}
ccm:
  resources:
    - apply:
        - web/site.yaml:
            data: {greeting: "{{ lookup('data.greeting') }} from {{ Host.name }}"}
            health_checks: [{command: "test -e DIR/conf"}]
    - exec:
        - announce:
            command: "touch DIR/announced"
            refresh_only: true
            subscribe: ["apply#web/site.yaml"]
        - on-file:
            command: "touch DIR/on-file"
            refresh_only: true
            require: ["exec#nested"]
            subscribe: ["file#conf"]
"""
CHILD = """\
data:
  greeting: nothing
  # @secret
  token: child-token
ccm:
  resources:
    - file:
        - DIR/conf:
            alias: conf
            content: "{{ lookup('data.greeting') }} {{ lookup('data.token') }}\\n"
            owner: OWNER
            group: GROUP
            mode: "0644"
        - DIR/static: {source: static.txt, owner: OWNER, group: GROUP, mode: "0644"}
    - apply:
        - deep/more.yaml: {}
"""
DEEPEST = """\
ccm:
  resources:
    - exec:
        - nested: {command: "touch DIR/nested", creates: DIR/nested}
"""


def write(target: Target, text: str, name: str) -> Path:
    """A manifest beside the site, its words filled in as the site's."""
    (target.ccm.scratch / name).parent.mkdir(parents=True, exist_ok=True)
    return target.ccm.site(target.filled(text), name)


def test_a_tree_of_manifests(target: Target) -> None:
    """Preview and push do what all the manifests say, in order, with each one's data and files."""
    write(target, CHILD, "web/site.yaml")
    write(target, DEEPEST, "web/deep/more.yaml")
    write(target, "beside the child\n", "web/static.txt")
    preview = target.push(SITE, "--noop")
    assert target.names() == []
    done = target.push(SITE)
    assert (preview.code, done.code) == (0, 0), done.output
    assert list(target.statuses(done)) == [
        "file#conf", "file#static", "exec#nested", "apply#deep/more.yaml", "apply#web/site.yaml",
        "exec#announce", "exec#on-file",
    ]  # fmt: skip
    assert target.statuses(preview) == target.statuses(done)
    assert set(target.statuses(done).values()) == {"changed"}
    assert target.read("conf") == "hello from web1 child-token\n"
    assert target.read("static") == "beside the child\n"
    again = target.push(SITE)
    assert set(target.statuses(again).values()) == {"stable"}
    checks = again.event("apply#web/site.yaml")["health_check"]
    assert [check["status"] for check in checks] == ["OK"]


def test_whose_child_a_resource_is(target: Target) -> None:
    """Events and summary name the child manifest, and its secrets are in neither."""
    write(target, CHILD, "web/site.yaml")
    write(target, DEEPEST, "web/deep/more.yaml")
    write(target, "", "web/static.txt")
    preview = target.push(SITE, "--noop")
    assert {f"{e['type']}#{e['name']}": e.get("manifest") for e in preview.events} == {
        target.id("file#conf"): "web/site.yaml",
        target.id("file#static"): "web/site.yaml",
        "exec#nested": "web/deep/more.yaml",
        "apply#deep/more.yaml": "web/site.yaml",
        "apply#web/site.yaml": None,
        "exec#announce": None,
        "exec#on-file": None,
    }
    (stored,) = target.ccm.scratch.glob("state/ccm/runs/*/phases.jsonl")
    (plan,) = (one for one in map(json.loads, stored.open()) if "resources" in one)
    assert plan["applied"] == [
        [
            "apply#web/site.yaml",
            [target.id("file#conf"), target.id("file#static"), "apply#deep/more.yaml"],
        ],
        ["apply#deep/more.yaml", ["exec#nested"]],
    ]
    assert "in web/deep/more.yaml would exec#nested run" in " ".join(preview.stdout.split())
    assert "child-token" not in preview.output + str(preview.events)
    assert preview.event("apply#web/site.yaml")["noop_message"] == "Would have applied changes"
    assert preview.event("apply#web/site.yaml")["prediction"] == "certain"


def test_only_strengthened(target: Target) -> None:
    """noop and health_check_only hold for the one child, and nothing there is changed."""
    write(target, DEEPEST, "a.yaml")
    write(target, DEEPEST.replace("nested", "checked"), "b.yaml")
    site = """\
ccm:
  resources:
    - apply:
        - a.yaml: {noop: true}
        - b.yaml: {health_check_only: true}
    - exec:
        - real: {command: "touch DIR/real"}
        - fired: {command: "touch DIR/fired", refresh_only: true, subscribe: ["apply#a.yaml"]}
"""
    done = target.push(site)
    assert done.code == 0, done.output
    assert target.names() == ["real"]
    assert done.event("exec#nested")["noop_message"] == "Would have executed"
    assert done.event("apply#a.yaml")["noop"]
    assert done.event("exec#checked")["health_check_only"]
    assert done.event("apply#b.yaml")["status"] == "stable"
    assert "in a.yaml would exec#nested run" in " ".join(done.stdout.split())
    weaker = target.push(site.replace("a.yaml: {noop: true}", "a.yaml: {noop: false}"), "--noop")
    assert weaker.event("exec#nested")["noop"]
    assert "apply#a.yaml: noop: false changes nothing" in weaker.output


BROKEN = """\
ccm:
  resources:
    - apply:
        - denied.yaml: {allow_apply: false}
        - stops.yaml: {}
        - off.yaml: {control: {if: "false"}}
    - exec:
        - gated: {command: "true", require: ["apply#denied.yaml"]}
        - after-off: {command: "touch DIR/after-off", require: ["exec#off"]}
"""


COMMANDS = (
    "validate",
    "push",
    "push --noop",
    "plan -o kept",
    "verify",
    "drift",
    "render --offline",
)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize(
    ("child", "words"),
    [
        ("ccm: {resources: [{exec: [{x: {comand: x}}]}]}", "exec has no property 'comand'"),
        ("ccm: {resources: [{apply: [{child.yaml: {}}]}]}", "child.yaml applies itself"),
        ("data:\n  # @require\n  a: ''\nccm: {resources: [{exec: [{a: {}}]}]}", "required"),
        ("", "No such file"),
    ],
)
def test_a_broken_child_refuses_every_command(
    local: Target, command: str, child: str, words: str
) -> None:
    """A mistake in a child exits with 2 before a host is contacted, whatever reads the site."""
    if child:
        write(local, child, "child.yaml")
    site = "ccm: {resources: [{file: [{DIR/new: {ensure: directory, owner: root, group: root,"
    site += ' mode: "0755"}}]}, {apply: [{child.yaml: {}}]}]}'
    path = local.ccm.site(local.filled(site))
    where = () if command == "validate" else ("-i", "localhost,")
    done = local.ccm.run(*command.split(), str(path), *where)
    assert done.code == 2, done.output
    assert words in done.output
    assert local.names() == []


def test_children_that_fail(target: Target) -> None:
    """A child that fails, or is denied, fails its apply; the rest goes on."""
    write(target, "ccm: {resources: [{apply: [{off.yaml: {}}]}]}", "denied.yaml")
    write(
        target,
        "ccm: {fail_on_error: true, resources: [{exec: [{bad: {command: 'false'}}, {never: {}}]}]}",
        "stops.yaml",
    )
    write(target, "ccm: {resources: [{exec: [{off: {command: 'true'}}]}]}", "off.yaml")
    done = target.push(BROKEN)
    assert done.code == 1
    started = done.output.index("web1: ")
    assert done.output.index("apply#denied.yaml will fail: denied.yaml contains apply") < started
    assert target.statuses(done) == {
        "apply#denied.yaml": "failed",
        "exec#bad": "failed",
        "apply#stops.yaml": "failed",
        "apply#off.yaml": "skipped",
        "exec#gated": "skipped",
        "exec#after-off": "changed",
    }
    told = done.event("apply#stops.yaml")["error"]
    assert told == ["1 of 2 resources failed, 1 not run (fail_on_error)"]


def test_a_child_for_each_host(local: Target) -> None:
    """A name that holds a template chooses the child of a host."""
    write(local, DEEPEST.replace("nested", "of-web"), "roles/web.yaml")
    site = """\
ccm:
  resources:
    - apply:
        - "roles/{{ lookup('facts.role') }}.yaml": {alias: role}
    - exec:
        - after: {command: "true", require: [apply#role, exec#of-web]}
"""
    done = local.push(site)
    assert (done.code, local.names()) == (0, ["of-web"])
    other = local.push(site.replace(", exec#of-web", ""), "--fact", "role=db")
    assert other.code == 1
    assert "roles/db.yaml: No such file" in other.output
    assert local.statuses(other) == {}


FAILING = """\
ccm:
  resources:
    - exec:
        - "{{ 'made' }}": {command: "false"}
    - apply:
        - web/site.yaml: {}
"""


def test_a_failure_names_its_place_in_the_manifest(target: Target) -> None:
    """File, line and column of what failed stand in its event, live, in the summary and reports."""
    write(
        target, "ccm:\n  resources:\n    - exec: [{nested: {command: 'exit 7'}}]\n", "web/site.yaml"
    )
    done = target.push(FAILING)
    assert done.code == 1
    top = target.ccm.scratch
    places = {"made": f"{top}/site.yaml:4:11", "nested": f"{top}/web/site.yaml:3:15"}
    unwrapped = "".join(done.stdout.split())
    for name, place in places.items():
        assert target.event(done, f"exec#{name}")["place"] == place
        assert unwrapped.count(place) == 2, done.stdout
        (error,) = target.event(done, f"exec#{name}")["error"]
        assert "site.yaml" not in error
    assert "place" not in target.push(FAILING, "--noop").events[0]
    for words in (("report",), ("report", "--junit", "-"), ("report", "--markdown", "-")):
        shown = target.ccm.run(*words, done.events[0]["run_id"])
        told = "".join(shown.stdout.split())
        assert all(place in told for place in places.values()), shown.output
    alone = target.ccm.run("ensure", "exec", "false", "--json")
    assert '"place"' not in alone.output
