"""Plans of manifests that apply others."""

import json
import os
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import schemas
from orchestrator.planning.host_plan import HostPlan
from orchestrator.planning.resolved_manifest import resolved_manifest
from remote_runtime.errors import PlanError
from remote_runtime.options import RunOptions
from remote_runtime.plan_item import Item
from remote_runtime.plans import plan as target
from tests.orchestrator.planning.planned import (
    FakeHost,
    gathered,
    plan,
    planner,
    refused,
    refused_host,
)
from tests.texts import expect_text


def write(directory: Path, text: str, name: str = "web/site.yaml") -> Path:
    path = directory / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def manifest(*resources: str, head: str = "") -> str:
    lines = "".join(f"    - {resource}\n" for resource in resources)
    return f"{head}\nccm:\n  resources:\n{lines}"


def apply(properties: str = "{}", name: str = "web/site.yaml") -> str:
    return f'apply: [{{"{name}": {properties}}}]'


def echo(*paths: str, name: str = "show") -> str:
    words = " ".join(f"{{{{ lookup('{path}', '-') }}}}" for path in paths)
    return f'exec: [{{{name}: {{command: "{words}"}}}}]'


def received(made: HostPlan) -> list[Item]:
    """The items as the target reads them, pre-order."""
    payload = json.loads(made.payload({"run_id": "1"}))
    Draft202012Validator(schemas.load("plan")).validate(payload)

    def walk(items: Any) -> Any:
        for item in items:
            yield item
            yield from walk(item.children)

    return list(walk(target.parse(payload).items))


def test_children_stand_below_what_applies_them(tmp_path: Path) -> None:
    """One plan holds all manifests; its items count on from an apply to its children."""
    write(tmp_path, manifest(echo("data.x"), apply("{noop: true}", "deep/more.yaml")))
    write(tmp_path, manifest(echo("data.x", name="deepest")), "web/deep/more.yaml")
    made = plan(tmp_path, manifest(apply(), echo("data.x", name="after")))
    items = received(made)
    ids = ["apply#web/site.yaml", "exec#show", "apply#deep/more.yaml", "exec#deepest", "exec#after"]
    assert [item.id for item in items] == list(made.identities()) == ids
    assert [item.index for item in items] == [item.index for item in made.items] == [0, 1, 2, 3, 4]
    assert [item.manifest for item in items] == [
        "", "web/site.yaml", "web/site.yaml", "web/deep/more.yaml", "",
    ]  # fmt: skip
    assert [item.noop for item in items] == [False, False, True, True, False]
    assert made.previews
    assert not plan(tmp_path, manifest(echo("data.x"))).previews


@pytest.mark.parametrize("key", ["noop", "health_check_only"])
def test_noop_and_checks_are_only_strengthened(tmp_path: Path, key: str) -> None:
    """What an apply switches on holds for all below it, also where that says false."""
    write(tmp_path, manifest(echo("data.x"), apply(f"{{{key}: false}}", "more.yaml")))
    write(tmp_path, manifest(echo("data.x", name="deepest")), "web/more.yaml")
    items = received(plan(tmp_path, manifest(apply(f"{{{key}: true}}"), echo("data.x"))))
    field = "noop" if key == "noop" else "monitor_only"
    assert [getattr(item, field) for item in items] == [True, True, True, True, False]


@pytest.mark.parametrize("key", ["noop", "health_check_only"])
def test_what_cannot_be_weakened_is_a_warning(tmp_path: Path, key: str) -> None:
    """An apply that switches off what is on above it, or for the whole run, is told so, once."""

    def told(text: str, **run: bool) -> list[str]:
        made = planner(tmp_path, text, run=RunOptions(**run))
        return [str(warning) for warning in made.site.warnings]

    write(tmp_path, manifest(apply(f"{{{key}: false}}", "more.yaml")))
    write(tmp_path, manifest(echo("data.x")), "web/more.yaml")
    twice = apply(f"{{{key}: true}}"), apply(f"{{{key}: true}}", "./web/site.yaml")
    (warning,) = told(manifest(*twice))
    assert warning.startswith(f"{tmp_path}/web/site.yaml:4:")
    assert f": apply#more.yaml: {key}: false changes nothing" in warning
    assert told(manifest(apply())) == []
    whole = {"noop" if key == "noop" else "monitor_only": True}
    assert len(told(manifest(apply()), **whole)) == 1
    assert len(told(manifest(apply(f"{{{key}: false}}")), **whole)) == 2


def test_fail_on_error_is_the_childs_own(tmp_path: Path) -> None:
    """fail_on_error of a child travels with it, and the parent's does not."""
    write(tmp_path, manifest(echo("data.x")) + "  fail_on_error: true\n")
    assert received(plan(tmp_path, manifest(apply())))[0].fail_on_error
    write(tmp_path, manifest(echo("data.x")))
    made = plan(tmp_path, manifest(apply()) + "  fail_on_error: true\n")
    assert made.fail_on_error
    assert not received(made)[0].fail_on_error


def test_data_of_a_child(tmp_path: Path) -> None:
    """The child's hierarchy, then the apply's data, --hiera and --data; never the parent's."""
    head = "data: {a: own, b: own, c: own, d: own, list: [1]}\nhierarchy: {order: [x]}\n"
    head += "overrides: {x: {b: hierarchy, c: hierarchy, d: hierarchy}}"
    write(tmp_path, manifest(echo(*(f"data.{key}" for key in "abcde"), "data.list"), head=head))
    write(tmp_path, "data: {d: hiera, list: [3]}", "more.yaml")
    parent = manifest(
        apply("{data: {c: \"{{ lookup('data.e') }}\", d: handed, list: [2]}}"),
        head="data: {a: parent, e: parent}",
    )
    made = plan(tmp_path, parent, hiera=[str(tmp_path / "more.yaml")])
    assert made.items[1].properties["command"] == "own hierarchy parent hiera - [1, 2, 3]"
    made = plan(tmp_path, parent, data=["d=given"])
    assert made.items[1].properties["command"] == "own hierarchy parent given - [1, 2]"


def test_data_that_a_child_inherits(tmp_path: Path) -> None:
    """inherit_data copies keys of the parent's data, below data; a child of the child gets more."""
    child = manifest(
        echo("data.web.port", "data.web.user", "data.l"),
        apply("{inherit_data: [web]}", "more.yaml"),
        head="data: {web: {user: child}, l: [1]}",
    )
    write(tmp_path, child)
    write(tmp_path, manifest(echo("data.web.port", name="deepest")), "web/more.yaml")
    parent = manifest(
        apply("{inherit_data: [web, l], data: {web: {port: 81}, l: [3]}}"),
        head="data: {web: {port: 80, user: parent}, l: [2], other: 1}",
    )
    items = plan(tmp_path, parent).items
    assert items[1].properties["command"] == "81 parent [1, 2, 3]"
    assert items[3].properties["command"] == "81"
    assert plan(tmp_path, parent, data=["web.user=given"]).items[1].properties["command"] == (
        "81 given [1, 2, 3]"
    )


def test_an_inherited_key_that_is_not_there_refuses_the_host(tmp_path: Path) -> None:
    """With its place and the nearest key; where control leaves the apply out it does not matter."""
    write(tmp_path, manifest(echo("data.x")))
    text = manifest(apply("{inherit_data: [users, usres]CONTROL}"), head="data: {users: [1]}")
    error = refused_host(tmp_path, text.replace("CONTROL", ""))
    expect_text(str(error))
    assert "site.yaml:" in str(error)
    assert plan(tmp_path, text.replace("CONTROL", ", control: {if: 'false'}"))


@pytest.mark.parametrize("wrong", ["users", "[]", "[1]", "['']"])
def test_what_inherit_data_takes(tmp_path: Path, wrong: str) -> None:
    """A list of keys."""
    write(tmp_path, manifest(echo("data.x")))
    assert "inherit_data" in refused(tmp_path, manifest(apply(f"{{inherit_data: {wrong}}}")))


def test_what_a_child_asks_for_may_be_inherited(tmp_path: Path) -> None:
    """@require is then a matter of each host."""
    write(tmp_path, manifest(echo("data.a"), head="data:\n  # @require\n  a: ''\n"))
    assert plan(tmp_path, manifest(apply("{inherit_data: [a]}"), head="data: {a: 1}"))
    with pytest.raises(PlanError) as refused:
        plan(tmp_path, manifest(apply("{inherit_data: [a]}"), head="data: {a: ''}"))
    expect_text(refused.value)


def test_an_apply_under_a_name_of_its_own(tmp_path: Path) -> None:
    """Events of the child's resources call the manifest by it, those of a child below by a path."""
    write(tmp_path, manifest(echo("data.x"), apply(name="deep/more.yaml")))
    write(tmp_path, manifest(echo("data.x", name="deepest")), "web/deep/more.yaml")
    made = plan(tmp_path, manifest(apply("{manifest: web/site.yaml}", "blog")))
    assert [(item.id, item.manifest) for item in received(made)] == [
        ("apply#blog", ""),
        ("exec#show", "blog"),
        ("apply#deep/more.yaml", "blog"),
        ("exec#deepest", "deep/more.yaml"),
    ]


def test_nothing_of_a_child_stays(tmp_path: Path) -> None:
    """What stands behind an apply has its parent's data, directory and mode again."""
    write(tmp_path, manifest(echo("data.a"), head="data: {a: child, b: child}"))
    write(tmp_path, "root", "text.txt")
    after = echo("data.a", "data.b", name="after").replace('}}"', "}} {{ file('text.txt') }}\"")
    handed = apply("{noop: true, health_check_only: true, data: {b: handed}}")
    last = received(plan(tmp_path, manifest(handed, after, head="data: {a: parent}")))[-1]
    assert last.properties["command"] == "parent - root"
    assert (last.noop, last.monitor_only) == (False, False)


def test_data_that_a_child_asks_for(tmp_path: Path) -> None:
    """@require of a child is met by what the apply hands over; else the run is refused."""
    write(tmp_path, manifest(echo("data.a"), head="data:\n  # @require\n  a: ''\n"))
    assert not plan(tmp_path, manifest(apply("{data: {a: 1}}"))).items[0].deferred_error
    expect_text(refused(tmp_path, manifest(apply())))


def test_files_beside_the_child(tmp_path: Path) -> None:
    """source, file() and template() are relative to the manifest that they stand in."""
    for directory in ("", "web/"):
        write(tmp_path, f"text of {directory or 'root'}", f"{directory}text.txt")
    resources = (
        'file: [{/NAME-a: {owner: root, group: root, mode: "0644", content: '
        "\"{{ file('text.txt') }}\"}}, {/NAME-b: {owner: root, group: root, mode: '0644', "
        "source: text.txt}}]",
    )
    write(tmp_path, manifest(*(text.replace("NAME", "child") for text in resources)))
    parent = (text.replace("NAME", "parent") for text in resources)
    made = plan(tmp_path, manifest(apply(), *parent))
    texts = {}
    for item in made.items[1:]:
        key = "content" if item.name.endswith("a") else "source"
        blob = made.blob(item.properties[key]["$blob"])
        texts[item.name] = b"".join(blob.chunks()).decode()
    assert texts == {
        "/child-a": "text of web/",
        "/child-b": "text of web/",
        "/parent-a": "text of root",
        "/parent-b": "text of root",
    }


def test_a_child_stays_within_the_pushed_directory(tmp_path: Path) -> None:
    """A child may name files of its parent's directory, but nothing outside of the pushed one."""
    site = tmp_path / "site"
    write(tmp_path, "secret", "secret.txt")
    write(site, "shared", "shared.txt")
    source = "file: [{/a: {owner: root, group: root, mode: '0644', source: %s}}]"
    write(site, manifest(source % "../shared.txt"))
    assert not plan(site, manifest(apply())).items[0].deferred_error
    write(site, manifest(source % "../../secret.txt"))
    expect_text(refused(site, manifest(apply())))
    planner(site, manifest(source % "../secret.txt"))


def test_a_name_that_is_known_per_host(tmp_path: Path) -> None:
    """A templated name chooses a child for each host; a missing one refuses that host alone."""
    write(tmp_path, manifest(echo("data.x", name="linux")), "os/linux.yaml")
    text = manifest(apply(name="os/{{ Facts.os }}.yaml"), 'exec: [{x: {require: ["exec#linux"]}}]')
    made = planner(tmp_path, text.replace("x: {", 'x: {command: "true", '))
    linux = made.plan(FakeHost(), gathered({"os": "linux"}))
    assert [item.id for item in linux.items] == ["apply#os/linux.yaml", "exec#linux", "exec#x"]
    with pytest.raises(PlanError) as refused:
        made.plan(FakeHost(), gathered({"os": "plan9"}))
    expect_text(refused.value)


def test_a_refusal_is_masked(tmp_path: Path) -> None:
    """A missing child is named without the @secret data in its name."""
    text = "data:\n  a: sesame99  # @secret\n" + manifest(apply(name="{{ Data.a }}.yaml"))
    error = str(refused_host(tmp_path, text, gathered()))
    assert "sesame99" not in error
    assert "[masked].yaml" in error


def test_a_host_cannot_lead_out_of_the_directory(tmp_path: Path) -> None:
    """A name that a fact makes lead out is refused before the host is changed."""
    write(tmp_path, manifest(echo("data.x")), "secret.yaml")
    (tmp_path / "site").mkdir()
    error = refused_host(
        tmp_path / "site",
        manifest(apply(name="{{ Facts.os }}.yaml")),
        gathered({"os": "../secret"}),
    )
    assert "must be inside its parent's directory" in str(error)


def test_references_to_a_child_known_per_host(tmp_path: Path) -> None:
    """What a host's child turns out not to have is refused before that host is changed."""
    write(tmp_path, manifest(echo("data.x", name="linux")), "os/linux.yaml")
    resource = 'exec: [{x: {command: "true", require: ["exec#lunix"]}}]'
    text = manifest(apply(name="os/{{ Facts.os }}.yaml"), resource)
    error = refused_host(tmp_path, text, gathered({"os": "linux"}))
    expect_text(str(error))


def test_an_apply_that_is_not_managed(tmp_path: Path) -> None:
    """Where control leaves the apply out, nothing that is wrong in the child matters."""
    head = "data:\n  # @validate isInt\n  a: \"{{ lookup('facts.evil') }}\"\n"
    broken = (
        'exec: [{x: {command: "true", cwd: "{{ lookup(\'data.none\') }}", '
        'timeout: "{{ Data.z }}"}}]'
    )
    write(tmp_path, manifest(broken, head=head))
    write(tmp_path, manifest(broken), "fine.yaml")
    left_out = '{control: {if: "false"}}'
    text = manifest(
        apply(left_out), apply(left_out, "fine.yaml"), "exec: [{y: {require: [exec#x]}}]"
    )
    made = plan(tmp_path, text.replace("y: {", 'y: {command: "true", '))
    items = received(made)
    assert [item.id for item in items if not item.managed] == [
        "apply#web/site.yaml",
        "apply#fine.yaml",
        "exec#x",
    ]
    assert made.warnings == []


def test_a_name_that_is_not_known_where_nothing_runs(tmp_path: Path) -> None:
    """Where an apply is left out, a name of its child that cannot be rendered may be required."""
    write(tmp_path, manifest("exec: [{\"{{ lookup('facts.none') }}\": {}}]"))
    resource = 'exec: [{y: {command: "true", require: ["exec#something"]}}]'
    made = planner(tmp_path, manifest(apply('{control: {if: "Facts.os == 1"}}'), resource))
    ids = [item.id for item in made.plan(FakeHost(), gathered({"os": 2})).items]
    assert ids == ["apply#web/site.yaml", "exec#y"]
    refused_host(tmp_path, manifest(apply(), resource))


def test_a_broken_child_under_control(tmp_path: Path) -> None:
    """A broken child is a warning where control may exclude it, and refuses the other hosts."""
    made = planner(tmp_path, manifest(apply('{control: {if: "Facts.os == 2"}}')))
    (warning,) = made.site.warnings
    expect_text(str(warning))
    assert [item.managed for item in made.plan(FakeHost(), gathered({"os": 1})).items] == [False]
    with pytest.raises(PlanError) as refused:
        made.plan(FakeHost(), gathered({"os": 2}))
    expect_text(refused.value)


def test_every_mistake_is_in_one_report(tmp_path: Path) -> None:
    """Mistakes in the manifest, its children and the child's child are told together."""
    write(tmp_path, manifest("exec: [{a: {comand: x}}]"), "bad.yaml")
    write(tmp_path, manifest(apply(name="deep.yaml")))
    write(tmp_path, manifest("exec: [{b: {cwdd: x}}]"), "web/deep.yaml")
    text = refused(tmp_path, manifest("exec: [{c: {usr: x}}]", apply(), apply(name="bad.yaml")))
    assert all(word in text for word in ("'comand'", "'cwdd'", "'usr'"))


def test_a_loop_applies_one_child_several_times(tmp_path: Path) -> None:
    """With manifest a foreach applies one child under names of its own."""
    child = 'exec: [{"show-{{ Data.a }}": {command: "true"}}]'
    write(tmp_path, manifest(child, head="data: {a: 0}"))
    properties = '{manifest: web/site.yaml, foreach: "[1, 2]", data: {a: "{{ item }}"}}'
    items = received(plan(tmp_path, manifest(apply(properties, "site {{ item }}"))))
    assert [item.id for item in items] == [
        "apply#site 1", "exec#show-1", "apply#site 2", "exec#show-2",
    ]  # fmt: skip
    assert [item.manifest for item in items[1::2]] == ["site 1", "site 2"]
    absent = properties.replace("web/site", "web/absent")
    expect_text(refused(tmp_path, manifest(apply(absent, "site {{ item }}"))))
    outside = properties.replace("web/site", "../site")
    assert "manifest: a child manifest must be inside" in refused(
        tmp_path, manifest(apply(outside, "site {{ item }}"))
    )


def test_two_manifests_agree(tmp_path: Path) -> None:
    """The same resource may stand in two manifests while its properties are the same."""
    resource = "file: [{{/a: {{owner: root, group: root, mode: '0644', content: {}}}}}]"
    write(tmp_path, manifest(resource.format("one")))
    assert len(plan(tmp_path, manifest(resource.format("one"), apply())).items) == 3
    text = refused(tmp_path, manifest(resource.format("two"), apply()))
    expect_text(text)
    assert "web/site.yaml:4:" in text


def test_two_manifests_agree_in_other_words(tmp_path: Path) -> None:
    """A default that is spelt out, and a mode that is spelt in another way, are the same."""
    resource = "file: [{{/a: {{owner: root, group: root, {}}}}}]"
    write(tmp_path, manifest(resource.format("mode: '0644', content: x")))
    for same in ("mode: '644', contents: x", "mode: '0o644', content: x, ensure: present"):
        assert len(plan(tmp_path, manifest(resource.format(same), apply())).items) == 3
    write(tmp_path, manifest(resource.format("ensure: directory, mode: '0755'")))
    other = manifest(resource.format("ensure: directory, mode: '00755'"), apply())
    expect_text(refused(tmp_path, other))


def test_two_manifests_agree_on_a_host(tmp_path: Path) -> None:
    """Where properties hold templates, hosts are asked whether they are the same."""
    resource = 'exec: [{{x: {{command: "true", cwd: {}}}}}]'
    write(tmp_path, manifest(resource.format('"{{ Facts.cwd }}"')))
    made = planner(tmp_path, manifest(resource.format("/srv"), apply()))
    assert made.plan(FakeHost(), gathered({"cwd": "/srv"}))
    error = refused_host(
        tmp_path, manifest(resource.format("/srv"), apply()), gathered({"cwd": "/tmp"})
    )
    expect_text(str(error))


def test_a_child_applied_twice(tmp_path: Path) -> None:
    """One manifest is applied twice under two spellings of its name, each with its data."""
    make = 'exec: [{"make {{ Data.name }}": {alias: make}}]'
    write(tmp_path, manifest(make, 'exec: [{"use {{ Data.name }}": {require: [exec#make]}}]'))
    both = apply("{data: {name: a}}"), apply("{data: {name: b}}", "./web/site.yaml")
    names = [item.name for item in plan(tmp_path, manifest(*both)).items]
    assert names == ["web/site.yaml", "make a", "use a", "./web/site.yaml", "make b", "use b"]
    write(tmp_path, manifest(both[0].replace("web/", "")), "web/one.yaml")
    write(tmp_path, manifest(both[1].replace("./web/", "")), "web/two.yaml")
    text = refused(tmp_path, manifest(apply(name="web/one.yaml"), apply(name="web/two.yaml")))
    expect_text(text)


def test_allow_apply(tmp_path: Path) -> None:
    """With allow_apply false nothing of a child that applies others is in the plan."""
    write(tmp_path, manifest(echo("data.x"), apply(name="more.yaml")))
    write(tmp_path, manifest(echo("data.x", name="deepest")), "web/more.yaml")
    made = planner(tmp_path, manifest(apply("{allow_apply: false}")))
    assert "denied by allow_apply: false" in made.survey.failing[0][1].message
    (item,) = made.plan(FakeHost(), gathered()).items
    assert "denied by allow_apply: false" in item.deferred_error
    text = manifest(apply('{allow_apply: "{{ Facts.trusted }}"}'))
    made = planner(tmp_path, text)
    assert len(made.plan(FakeHost(), gathered({"trusted": True})).items) == 4
    (item,) = made.plan(FakeHost(), gathered({"trusted": False})).items
    assert "denied" in item.deferred_error


def test_a_child_of_a_template(tmp_path: Path) -> None:
    """A child's resources_jet_file stands beside the child and sees the child's data."""
    write(tmp_path, "data: {n: 2}\nccm: {resources_jet_file: resources.jet}\n")
    jet = "[[ range ints(0, Data.n) ]]\n- exec:\n    - run-[[ . ]]: {command: 'true'}\n[[ end ]]\n"
    write(tmp_path, jet, "web/resources.jet")
    text = manifest(
        apply("{data: {n: 3}}"), 'exec: [{y: {command: "true", require: [exec#run-2]}}]'
    )
    names = [item.name for item in plan(tmp_path, text).items]
    assert names == ["web/site.yaml", "run-0", "run-1", "run-2", "y"]
    error = refused_host(tmp_path, text.replace("run-2", "run-3"))
    expect_text(str(error))


def test_a_template_that_applies_and_may_not(tmp_path: Path) -> None:
    """allow_apply: false holds for a child whose resources a template writes."""
    write(tmp_path, "ccm: {resources_jet_file: resources.jet}\n")
    write(tmp_path, "- apply:\n    - more.yaml: {}\n", "web/resources.jet")
    (item,) = plan(tmp_path, manifest(apply("{allow_apply: false}"))).items
    assert "denied by allow_apply: false" in item.deferred_error


def test_secrets_of_a_child(tmp_path: Path) -> None:
    """@secret of a child, and what a sensitive apply hands over, are masked in every sink."""
    write(tmp_path, manifest(echo("data.a"), head="data:\n  # @secret\n  a: childsecret\n"))
    made = plan(tmp_path, manifest(apply("{sensitive: true, data: {b: [handedover]}}")))
    assert set(made.secrets) == {"childsecret", "handedover"}
    assert "childsecret" not in json.dumps(
        resolved_manifest(planner(tmp_path, "ccm: {resources: [{exec: [{x: {}}]}]}").site, made)
    )


def test_templates_at_their_turn(tmp_path: Path) -> None:
    """A child's resource that waits for a file of the target is rendered by its own data."""
    write(
        tmp_path,
        manifest(
            "exec: [{x: {command: \"{{ lookup('data.a') }} {{ file('/etc/x') }}\"}}]",
            head="data: {a: child}",
        ),
    )
    made = plan(tmp_path, manifest(echo("data.a"), apply(), head="data: {a: parent}"))
    assert [item.deferred_render for item in received(made)] == [False, False, True]
    assert made.render(2, lambda path: b"text") == {"command": "child text"}


def test_shared_by_all_hosts(tmp_path: Path) -> None:
    """What is the same on every host is compiled once, in children as well."""
    write(tmp_path, manifest('exec: [{x: {command: "true"}}]', echo("facts.os")))
    made = planner(tmp_path, manifest(apply()))
    one, two = (made.plan(FakeHost(), gathered({"os": name})) for name in "ab")
    assert one.resources[0].children[0] is two.resources[0].children[0]
    assert one.items[2].properties != two.items[2].properties


def test_render_shows_the_children(tmp_path: Path) -> None:
    """A host's resolved manifest has what is applied below the resource that applies it."""
    write(tmp_path, manifest(echo("data.a"), head="data: {a: child}"))
    made = planner(tmp_path, manifest(apply("{noop: true}")))
    shown = resolved_manifest(made.site, made.plan(FakeHost(), gathered()))
    properties = shown["ccm"]["resources"][0]["apply"][0]["web/site.yaml"]
    assert properties == {
        "noop": True,
        "resources": [{"exec": [{"show": {"command": "child"}}]}],
    }


def test_a_manifest_that_applies_itself(tmp_path: Path) -> None:
    """It is refused before any host is asked, as is a circle of several manifests."""
    write(tmp_path, manifest(apply(name="again.yaml")))
    write(tmp_path, manifest(apply(name="site.yaml")), "web/again.yaml")
    for text in (manifest(echo("data.a"), apply(name="site.yaml")), manifest(apply())):
        expect_text(refused(tmp_path, text))


def test_unreadable_child(tmp_path: Path) -> None:
    """A directory in the place of a child refuses the run."""
    os.makedirs(tmp_path / "web" / "site.yaml")
    assert "Is a directory" in refused(tmp_path, manifest(apply()))
