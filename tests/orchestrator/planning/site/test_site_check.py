"""A site, checked with what an inventory says of its hosts."""

from pathlib import Path
from typing import Any

import pytest

from orchestrator.planning.planner import Planner
from orchestrator.planning.site.site_check import SiteCheck
from tests.orchestrator.planning.planned import FakeHost, planner
from tests.texts import expect_text

CHILD = """
data: {port: 1}
ccm: {resources: [{file: [{/etc/x: {content: "{{ Data.port }}"}}]}]}
"""
SITE = """
hierarchy: {order: ["role:{{ lookup('facts.role') }}", "os:{{ Facts.host.info.os }}"]}
data: {port: 80}
overrides: {"role:web": {port: 81}, "os:linux": {user: root}}
ccm:
  defaults: {file: {owner: root, group: root, mode: 0644}}
  resources:
    - apply:
        - "roles/{{ lookup('facts.role') }}.yaml": {data: {port: "{{ Data.port }}"}}
    - exec:
        - a: {command: "id {{ Data.user }}"}
        - b: {command: "echo {{ Facts.host.info.os }}", tags: [late]}
"""


def made(directory: Path, text: str = SITE, **options: Any) -> Planner:
    (directory / "roles").mkdir(exist_ok=True)
    (directory / "roles" / "web.yaml").write_text(CHILD)
    return planner(directory, text, **options)


def check(directory: Path, text: str = SITE, *roles: str, **options: Any) -> SiteCheck:
    site = made(directory, text, **options)
    return SiteCheck(
        site.examine(FakeHost(name=f"h{number}", vars={"role": role}))
        for number, role in enumerate(roles or ("web",))
    )


def test_a_child_whose_path_a_variable_gives(tmp_path: Path) -> None:
    """The child of each host is checked, with its parent's defaults; a missing one is told."""
    found = check(tmp_path)
    assert found.problems == []
    expect_text(found.summary)
    (problem,) = check(tmp_path, SITE, "web", "db", "db").problems
    expect_text(problem.message)
    assert problem.message.endswith("(on h1, h2)")
    (tmp_path / "roles" / "web.yaml").write_text(CHILD.replace("content", "contnt"))
    (problem,) = SiteCheck(
        [planner(tmp_path, SITE).examine(FakeHost(vars={"role": "web"}))]
    ).problems
    expect_text(problem.hint)


def test_everything_is_checked_where_no_facts_are_read(tmp_path: Path) -> None:
    """Without facts in it nothing of a site is left out."""
    text = SITE.replace("Facts.host.info.os", "Host.name")
    expect_text(check(tmp_path, text, "web", "web").summary)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("Data.port", "Data.prot", "did you mean port?"),
        ('command: "id', 'timeout: "{{ Data.port }}", command: "id', "timeout"),
    ],
)
def test_mistakes_that_only_a_host_shows(tmp_path: Path, old: str, new: str, words: str) -> None:
    """What cannot be rendered, or has the wrong type, is told with the hosts."""
    found = check(tmp_path, SITE.replace(old, new), "web", "web", "web", "web", "web")
    (problem,) = found.problems
    assert words in str(problem)
    assert "(on h0, h1, h2 and 2 more)" in problem.message


def test_what_is_sure_to_fail_is_a_warning(tmp_path: Path) -> None:
    """A text that cannot be rendered at its turn is told, and refuses nothing."""
    found = check(tmp_path, SITE.replace("Data.user", "Data.usr"))
    assert found.problems == []
    assert found.warnings[0].startswith("exec#a will fail: command: Data.usr")


def test_a_selection_that_means_nothing(tmp_path: Path) -> None:
    """Tags and names of resources whose values need facts count as known."""
    site = made(tmp_path, tags=["late"])
    site.examine(FakeHost(vars={"role": "web"}))
    assert site.unmatched() == []
    site = made(tmp_path, tags=["lat"])
    site.examine(FakeHost(vars={"role": "web"}))
    expect_text(site.unmatched())
    assert site.sees_all


def test_overrides_that_nothing_reaches(tmp_path: Path) -> None:
    """An override is told that no entry of the order can name, or none of the hosts has."""
    text = SITE.replace('"role:web": {port: 81}', '"role:web": {}, "rloe:web": {}, "role:db": {}')
    hosts = [FakeHost(vars={"role": "web"})]
    site = made(tmp_path, text)
    told = [str(problem) for problem in site.data_warnings() if problem.kind == "data.override"]
    assert len(told) == 1
    expect_text(told[0])
    told = [one.message for one in site.data_warnings(hosts) if one.kind == "data.override"]
    assert told == [f"the override {name!r} applies to no host" for name in ("rloe:web", "role:db")]


@pytest.mark.parametrize(
    ("expression", "told"),
    [
        ("Data.prot", "did you mean Data.port?"),
        ("lookup('data.prot')", "did you mean Data.port?"),
        ("lookup('data.prot', 1)", ""),
        ("Data.prot | default(1)", ""),
        ("Data.items()", ""),
        ("Data.given", ""),
        ("'Data.prot'", ""),
    ],
)
def test_data_that_nothing_sets(tmp_path: Path, expression: str, told: str) -> None:
    """A template that names data which nothing has is told with the nearest name."""
    command = f'"{{{{ {expression} }}}}"'
    text = f"data: {{port: 1}}\nccm: {{resources: [{{exec: [{{a: {{command: {command}}}}}]}}]}}"
    found = made(tmp_path, text, data=["given=1"]).data_warnings()
    assert [problem.hint for problem in found] == ([told] if told else [])


PARTLY = """\
data:
  # @require
  os: "{{ Facts.host.info.os }}"
  java: "{{ Asked.java.stdout }}"
  stored: "{{ kvGet('apps', 'port') }}"
  label: "on {{ Data.os }}"
  app: {port: 80}
ccm:
  ask: {java: {command: java -version}}
  assert: [{that: Data.stored == '1', message: m}, {that: Data.os == 'linux', message: m}]
  resources:
    - exec:
        - a: {command: "echo {{ Data.os }}"}
        - b: {command: "echo {{ Data.label }}"}
        - c: {command: "echo {{ Data.java }}"}
        - d: {command: "echo {{ Data.stored }}"}
        - e: {command: "echo {{ Data.app.port }}"}
    - apply:
        - child.yaml: {inherit_data: [os, app]}
"""


def test_values_of_data_that_only_a_host_decides(tmp_path: Path) -> None:
    """They leave out only what reads them, in a child as well; what each needs is told."""
    (tmp_path / "child.yaml").write_text(
        "data: {os: '', app: {}}\nccm:\n  resources:\n    - exec:\n"
        "        - f: {command: 'echo {{ Data.os }}'}\n"
        "        - g: {command: 'echo {{ Data.app.port }}'}\n"
    )
    found = check(tmp_path, PARTLY, contact=False)
    assert found.problems == []
    expect_text(found.summary)
    (told,) = check(tmp_path, PARTLY.replace("app.port", "app.prot"), contact=False).warnings
    expect_text(told)
    more = "- x: {command: x, timeout: '{{ Data.app.port }}x'}\n        - e: "
    (problem,) = check(tmp_path, PARTLY.replace("- e: ", more), contact=False).problems
    expect_text(problem.message)


PARENT = """\
ccm:
  resources:
    - apply:
        - child.yaml: {data: {os: "{{ Facts.host.info.os }}", port: 80}}
        - again.yaml: {control: {if: Facts.host.info.os == 'linux'}}
        - "each-{{ item }}": {foreach: Facts.host.disks, manifest: again.yaml}
"""


def test_a_child_whose_data_needs_facts(tmp_path: Path) -> None:
    """Its resources that do not read these values are checked; manifests that may not be used are
    named."""
    (tmp_path / "child.yaml").write_text(
        "data: {os: '', port: 1, named: 'on {{ Data.os }}'}\nccm:\n  resources:\n    - exec:\n"
        "        - f: {command: 'echo {{ Data.named }}'}\n"
        "        - g: {command: 'echo {{ Data.port }}'}\n"
    )
    (tmp_path / "again.yaml").write_text("ccm: {resources: [{exec: [{h: {command: h}}]}]}\n")
    found = check(tmp_path, PARENT)
    assert found.problems == []
    assert found.summary == (
        "1 of 5 resources of 1 host was checked; 4 need facts that only a host reports; not "
        "checked: the child manifests of apply#again.yaml and apply#each-{{ item }}, which need "
        "facts that only a host reports"
    )
    mistake = PARENT.replace("port: 80", "port: 80, wait: soon")
    child = (tmp_path / "child.yaml").read_text()
    timeout = "command: 'echo {{ Data.port }}', timeout: '{{ Data.wait }}'"
    (tmp_path / "child.yaml").write_text(
        child.replace("command: 'echo {{ Data.port }}'", timeout).replace(
            "os: ''", "os: '', wait: 1s"
        )
    )
    (problem,) = check(tmp_path, mistake).problems
    expect_text(problem.message)


GENERATED = "ccm: {resources_jet_file: made.jet}\n"


def test_resources_that_a_template_makes_of_facts(tmp_path: Path) -> None:
    """They are told as not checked, alone and below an apply; one that makes none is told so."""
    (tmp_path / "made.jet").write_text("- exec: [{'[[ Facts.host.info.os ]]': {command: x}}]\n")
    (tmp_path / "made.yaml").write_text(GENERATED)
    need = "which need facts that only a host reports"
    assert check(tmp_path, GENERATED, "web", "web").summary == (
        f"no resources of 2 hosts were checked; not checked: the resources from made.jet, {need}"
    )
    site = made(tmp_path, GENERATED, tags=["late"])
    site.examine(FakeHost())
    assert not site.sees_all
    text = "ccm: {resources: [{apply: [{made.yaml: {}}]}]}\n"
    found = check(tmp_path, text)
    assert found.warnings == []
    expect_text(found.summary)
    (tmp_path / "made.jet").write_text("")
    expect_text(check(tmp_path, GENERATED).summary)
    expect_text(check(tmp_path, GENERATED, "web", "db").summary)


@pytest.mark.parametrize(
    "apply",
    [
        "'{{ Facts.host.info.os }}.yaml': {}",
        "'as {{ item }}': {manifest: linux.yaml, foreach: '[Facts.host.info.os]'}",
        "'as {{ item }}': {manifest: '{{ item }}.yaml', foreach: '[Facts.host.info.os]'}",
    ],
)
def test_a_requirement_may_stand_in_a_child_that_needs_facts(tmp_path: Path, apply: str) -> None:
    """Which resources the child has is not known, so a name may be one of them."""
    (tmp_path / "linux.yaml").write_text("ccm: {resources: [{exec: [{inner: {}}]}]}\n")
    after = "{exec: [{last: {require: ['exec#inner'], subscribe: ['exec#inner']}}]}"
    text = f"ccm: {{resources: [{{apply: [{{{apply}}}]}}, {after}]}}\n"
    assert check(tmp_path, text).problems == []
    known = "{exec: [{'{{ Host.name }}': {}}]}"
    (problem, _) = check(tmp_path, text.replace(f"{{apply: [{{{apply}}}]}}", known)).problems
    expect_text(problem.message)


def test_parts_of_a_gathered_family(tmp_path: Path) -> None:
    """What variables and --fact set of a family is known, and the rest of it is not."""
    text = """
ccm:
  resources:
    - exec:
        - a: {command: "echo {{ lookup('facts.host.info.os') }}{{ Facts.host.info.os }}"}
        - b: {command: "echo {{ jet('[[ Facts.host.info.os ]]') }}"}
        - c: {command: "echo {{ Facts.host.info.hostname | default('x') }}"}
        - d: {command: "echo {{ Facts.host.info }}"}
        - e: {command: "echo {{ Facts.host.info | length }}"}
        - f: {command: "echo {{ Facts.cpu }}"}
        - g: {command: "echo {{ lookup('facts.host.info.h*', 'x') }}"}
"""
    found = check(tmp_path, text, fact=("host.info.os=linux",))
    assert (found.problems, found.warnings) == ([], [])
    assert (found.known, dict(found.unknown)) == (2, {"facts.timeout": 5})
    host = FakeHost(vars={"host": {"info": {"os": "linux"}}})
    assert made(tmp_path, text).examine(host).known == 2


def test_a_template_that_reads_a_file_of_the_host(tmp_path: Path) -> None:
    """The summary counts it, because only the run can render it."""
    text = """\
ccm:
  resources:
    - file:
        - defaults: {ensure: present, owner: root, group: root, mode: "0644"}
        - /a: {content: "{{ file('/etc/hostname') }}"}
"""
    expect_text(check(tmp_path, text).summary)
