"""Mistakes in a site that ``validate -i`` finds before any host is contacted."""

from pathlib import Path
from typing import NamedTuple

import pytest

from orchestrator.cli.app import main
from tests.texts import expect_text

FILES = {
    "hosts.yaml": """\
hosts:
  db1: {address: 192.0.2.10, vars: {role: db}}
groups:
  web: {hosts: ["web[1:2]"], vars: {role: web, port: 8080}}
""",
    "ccm.yaml": "inventory: hosts.yaml\ndata: data\n",
    "data/default.yaml": "owner: root\n",
    "data/role/web.yaml": "owner: www-data\n",
    "site.yaml": """\
data:
  motd: Hello
  users: [ada, bob]
  port: 80 # @validate isInt(value)
  app: {workers: 2}
hierarchy:
  order: ["role:{{ Facts.role }}", default]
  merge: deep
overrides:
  role:web: {motd: Web, app: {workers: 4}}
ccm:
  assert:
    - {that: "Data.users | length > 0", message: no users}
    - {that: Data.app.workers > 1, message: "{{ Data.owner }} has too few workers"}
  resources:
    - file:
        - defaults: {owner: root, group: root, mode: "0644"}
        - /etc/motd: {content: "{{ Data.motd }}", tags: [base]}
        - /etc/peers: {content: "{{ template('peers.j2') }}"}
        - /etc/app.conf: {source: files/app.conf}
        - "/home/{{ item }}": {foreach: Data.users, ensure: directory, alias: homes}
        - /etc/os: {content: "{{ Facts.host.info.os }}"}
    - package:
        - nginx: {ensure: "1.10"}
    - exec:
        - reload: {command: /bin/true, refresh_only: true, subscribe: ["file#/etc/motd"]}
    - apply:
        - role:
            manifest: "roles/{{ Facts.role }}.yaml"
            data: {port: "{{ Data.port }}"}
""",
    "roles/web.yaml": """\
ccm:
  resources:
    - service:
        - nginx: {ensure: running, enable: true}
    - scaffold:
        - /etc/nginx: {source: tree, engine: jinja}
""",
    "roles/db.yaml": """\
ccm:
  resources:
    - file:
        - /etc/db.conf: {content: "{{ Data.port }}", owner: root, group: root, mode: "0600"}
""",
    "roles/tree/site.conf": "{% for n in Groups.web %}server {{ n }}\n{% endfor %}",
    "peers.j2": (
        "{% include 'head.j2' %}{% for n in Groups.web %}{{ Hosts[n].address }}\n{% endfor %}"
    ),
    "head.j2": "{{ managed() | comment }}",
    "files/app.conf": "a = 1\n",
}


class Mistake(NamedTuple):
    """A change of a file, and what is told of it; ``code`` 0 for a warning."""

    file: str
    old: str
    new: str
    told: str
    code: int = 2


MISTAKES = {
    "misspelt key of the manifest": Mistake("site.yaml", "ccm:", "cmm:", "did you mean"),
    "misspelt key below ccm": Mistake("site.yaml", "  resources:", "  resorces:", "resources"),
    "misspelt type": Mistake("site.yaml", "- package:", "- pakage:", "package"),
    "misspelt property": Mistake("site.yaml", "ensure: directory", "ensur: directory", "ensure"),
    "misspelt property in a role behind a template": Mistake(
        "roles/web.yaml", "enable: true", "enabel: true", "enable"
    ),
    "misspelt fact of the inventory": Mistake(
        "site.yaml", "roles/{{ Facts.role }}", "roles/{{ Facts.rolle }}", "rolle", 0
    ),
    "misspelt fact of a host": Mistake(
        "site.yaml", "Facts.host.info.os", "Facts.hots.info.os", "hots", 0
    ),
    "misspelt data": Mistake("site.yaml", "{{ Data.motd }}", "{{ Data.modt }}", "motd", 0),
    "misspelt data in data": Mistake(
        "site.yaml", "motd: Hello", 'motd: "{{ Data.prot }}"', "did you mean Data.port?", 0
    ),
    "misspelt data in a data file": Mistake(
        "data/role/web.yaml", "www-data", '"{{ Data.moted }}"', "web.yaml:1:9: Data.moted", 0
    ),
    "misspelt fact in a data file": Mistake(
        "data/role/web.yaml", "www-data", '"{{ Facts.rolle }}"', "did you mean role?", 0
    ),
    "misspelt key of a merge": Mistake(
        "site.yaml",
        "merge: deep",
        "keys: {usres: unique}",
        "8:10: hierarchy.keys contains 'usres'",
        0,
    ),
    "misspelt key below an override": Mistake(
        "site.yaml", "workers: 4", "wokers: 4", "key 'wokers' by name", 0
    ),
    "misspelt key of a data file": Mistake(
        "data/role/web.yaml", "owner:", "onwer:", "web.yaml:1:1: no template reads the key", 0
    ),
    "misspelt parameter of a role": Mistake(
        "site.yaml", "data: {port:", "data: {prot:", "did you mean port?", 0
    ),
    "misspelt key that an apply inherits": Mistake(
        "site.yaml", 'data: {port: "{{ Data.port }}"}', "inherit_data: [prot]", "mean port?"
    ),
    "misspelt lookup in an included template": Mistake(
        "head.j2", "{{ managed()", "{{ Asked.jva.stdout }}{{ managed()", "head.j2:1:4: the"
    ),
    "misspelt lookup in a data file": Mistake(
        "data/default.yaml", "root", '"{{ Asked.jva.stdout }}"', "default.yaml:1:9: Asked.jva"
    ),
    "misspelt variable of a host": Mistake(
        "peers.j2", "Hosts[n].address", "Hosts[n].vars.prot", "did you mean port?", 0
    ),
    "misspelt value": Mistake("roles/web.yaml", "running", "runing", "did you mean running?"),
    "misspelt provider": Mistake(
        "roles/web.yaml", "ensure: running", "provider: sysetmd", "did you mean systemd?"
    ),
    "misspelt key of a control": Mistake(
        "site.yaml", "tags: [base]", "control: {exits: /etc/motd}", "did you mean exists?"
    ),
    "misspelt key of a health check": Mistake(
        "roles/web.yaml", "ensure: running", "health_checks: [{comand: x}]", "did you mean command?"
    ),
    "misspelt annotation": Mistake("site.yaml", "@validate", "@validte", "mean @validate?", 0),
    "value that is required": Mistake(
        "site.yaml", "port: 80 # @validate isInt(value)", "port: # @require", "is required"
    ),
    "misspelt group": Mistake("peers.j2", "Groups.web", "Groups.wbe", "mean web", 0),
    "misspelt host": Mistake("peers.j2", "Hosts[n]", "Hosts.bd1", "mean db1", 0),
    "misspelt override": Mistake("site.yaml", "role:web:", "role:wbe:", "role:wbe", 0),
    "misspelt function": Mistake(
        "site.yaml", "template('peers.j2')", "templat('peers.j2')", "templat"
    ),
    "misspelt filter": Mistake("site.yaml", "{{ Data.motd }}", "{{ Data.motd | uper }}", "upper"),
    "misspelt reference": Mistake("site.yaml", '"file#/etc/motd"', '"file#/etc/mtod"', "/etc/motd"),
    "reference to what comes later": Mistake(
        "site.yaml", "tags: [base]", 'require: ["package#nginx"]', "package#nginx"
    ),
    "wrong type after rendering": Mistake(
        "roles/db.yaml", 'mode: "0600"', 'mode: "{{ Data.port * 1000 }}"', "mode"
    ),
    "wrong type after rendering in a role": Mistake(
        "roles/web.yaml", "enable: true", 'enable: "{{ Facts.role }}"', "must be true or false"
    ),
    "wrong type in a role": Mistake("roles/web.yaml", "enable: true", "enable: maybe", "enable"),
    "version that is a number": Mistake("site.yaml", '"1.10"', "1.10", "quote it"),
    "template syntax in a property": Mistake(
        "site.yaml", "{{ Data.motd }}", "{{ Data.motd", "not closed"
    ),
    "template syntax in a file": Mistake("peers.j2", "{% endfor %}", "", "'for'"),
    "template syntax in a folder": Mistake("roles/tree/site.conf", "{% endfor %}", "", "site.conf"),
    "template that is not there": Mistake("site.yaml", "peers.j2", "peer.j2", "peer.j2"),
    "source that is not there": Mistake(
        "site.yaml", "files/app.conf", "files/ap.conf", "files/ap.conf"
    ),
    "folder that is not there": Mistake("roles/web.yaml", "source: tree", "source: trees", "trees"),
    "role that is not there": Mistake("hosts.yaml", "role: db", "role: mail", "roles/mail.yaml"),
    "data that is not what it must be": Mistake("site.yaml", "port: 80 #", "port: http #", "port"),
    "data file that applies to no host": Mistake(
        "ccm.yaml", "data: data", "data: data", "data/role/mail.yaml", 0
    ),
    "assertion that is not true": Mistake("site.yaml", "[ada, bob]", "[]", "no users"),
    "loop over a text": Mistake(
        "site.yaml", "foreach: Data.users", "foreach: Data.motd", "foreach"
    ),
    "loop with equal names": Mistake("site.yaml", "[ada, bob]", "[ada, ada]", "/home/ada"),
    "two resources of one name": Mistake("site.yaml", "- /etc/peers:", "- /etc/motd:", "/etc/motd"),
    "duplicate key of YAML": Mistake(
        "site.yaml", "  motd: Hello", "  motd: Hello\n  motd: Bye", "duplicate key"
    ),
    "invalid YAML": Mistake("roles/db.yaml", "resources:", "resources: [", "db.yaml"),
    "name of a host with a bad range": Mistake("hosts.yaml", "web[1:2]", "web[2:1]", "ends before"),
    "property of a host": Mistake("hosts.yaml", "address:", "adress:", "address"),
    "port of a host": Mistake("hosts.yaml", "{address:", "{port: ssh, address:", "port"),
    "condition that is not a boolean": Mistake(
        "site.yaml", "tags: [base]", 'control: {if: "Data.motd"}', "true or false"
    ),
    "key of the project's file": Mistake("ccm.yaml", "inventory:", "inventroy:", "inventory"),
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name, text in FILES.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.delenv("CCM_INVENTORY", raising=False)
    return tmp_path


def check(capsys: pytest.CaptureFixture[str], *more: str) -> tuple[int, str]:
    """What validate says of the site."""
    code = main(["validate", "-i", "hosts.yaml", *more, "site.yaml"])
    done = capsys.readouterr()
    return code, done.out + done.err


def test_a_site_without_mistakes(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A good site is valid, and it says with a number what it could not look into."""
    code, told = check(capsys)
    assert code == 0, told
    assert "warning" not in told
    expect_text(told)
    assert "3 need facts" in told


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_found(site: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """Each kind of mistake is told with its place, though no host is contacted."""
    mistake = MISTAKES[name]
    if "applies to no host" in name:
        (site / "data/role/mail.yaml").write_text("owner: mail\n")
    path = site / mistake.file
    text = path.read_text()
    assert mistake.old in text
    path.write_text(text.replace(mistake.old, mistake.new, 1))
    code, told = check(capsys)
    assert mistake.told in told, told
    assert code == mistake.code, told


@pytest.mark.parametrize(
    ("words", "told", "code"),
    [
        (["--tags", "bsae"], "no resource of any host has the tag 'bsae'", 2),
        (["--only", "file#/etc/mtod"], "matches no resource", 2),
        (["--skip", "pakage#nginx"], "matches no resource", 2),
        (["-l", "wbe"], "web", 2),
        (["--hiera", "none.yaml"], "none.yaml", 2),
    ],
)
def test_a_mistake_of_the_command_line_is_found(
    site: Path, capsys: pytest.CaptureFixture[str], words: list[str], told: str, code: int
) -> None:
    """A word that means nothing in the site is told, with the nearest that does."""
    found = check(capsys, *words)
    assert told in found[1], found[1]
    assert found[0] == code, found[1]


def test_what_applies_disagree_on_is_found(site: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """A child applied twice must not ask for two contents of one file."""
    (site / "site.yaml").write_text(
        """data: {ports: [1, 2]}
ccm:
  resources:
    - apply:
        - "{{ item }}": {foreach: Data.ports, manifest: roles/db.yaml, data: {port: "{{ item }}"}}
"""
    )
    code, told = check(capsys)
    expect_text(told)
    assert code == 2


def test_assertions_that_need_facts_are_counted(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """It says on how many hosts it could not look into one."""
    path = site / "site.yaml"
    text = path.read_text()
    more = "    - {that: Facts.cpu.info | length > 1, message: one core}\n  resources:"
    path.write_text(text.replace("  resources:", more, 1))
    code, told = check(capsys)
    expect_text(told)
    assert code == 0


def test_data_files_of_other_manifests_are_no_mistake(
    site: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """A manifest without a hierarchy says nothing of the files that others of the project use, and
    without an inventory nobody knows the hosts."""
    (site / "data/role/mail.yaml").write_text("owner: mail\n")
    for manifest, options in (("motd.yaml", ["-i", "hosts.yaml"]), ("site.yaml", [])):
        (site / "motd.yaml").write_text("ccm: {resources: [{exec: [{'true': {}}]}]}")
        assert main(["validate", *options, manifest]) == 0
        assert "applies to no host" not in capsys.readouterr().err


@pytest.mark.parametrize("command", [["push"], ["push", "--noop"], ["plan"], ["drift"]])
@pytest.mark.parametrize(
    "words", [["--tags=bsae"], ["--only=file#/etc/mtod"], ["--tags=web", "--skip=pakage#nginx"]]
)
def test_a_selection_that_means_nothing_is_refused_before_any_host(
    site: Path, capsys: pytest.CaptureFixture[str], command: list[str], words: list[str]
) -> None:
    """Roles whose names hold templates are looked into with the inventory."""
    assert main([*command, "-i", "hosts.yaml", *words, "site.yaml"]) == 2
    told = capsys.readouterr().err
    expect_text(told)


@pytest.mark.parametrize("merge", ["first", "deep"])
def test_data_of_an_unknown_role_are_not_known(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], merge: str
) -> None:
    """A host without the fact in the order may get any of the files: none of their values counts,
    and what depends on them is not checked."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "data/role").mkdir(parents=True)
    (tmp_path / "ccm.yaml").write_text("data: data\n")
    (tmp_path / "data/role/web.yaml").write_text("ports: [80, bad]\n")
    (tmp_path / "data/role/mail.yaml").write_text("ports: [25]\n")
    (tmp_path / "data/host.yaml").write_text("ports: [1, 2, 3]\nname: x\n")
    (tmp_path / "hosts.yaml").write_text("hosts: {db1: {connection: local}}\n")
    (tmp_path / "site.yaml").write_text(
        f"data: {{ports: [], name: ''}}\n"
        f'hierarchy: {{order: ["role:{{{{ Facts.role }}}}", host], merge: {merge}}}\n'
        "ccm:\n"
        "  resources:\n"
        "    - wait: [{'port {{ item }}': {foreach: Data.ports, port: '{{ item }}'}}]\n"
        "    - exec: [{'true': {}}]\n"
    )
    assert main(["validate", "-i", "hosts.yaml", "site.yaml"]) == 0
    told = capsys.readouterr()
    expect_text(told.out + told.err)
