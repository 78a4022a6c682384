"""``ccm validate``, ``ccm render`` and ``ccm schema``, as processes."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from tests.texts import expect_text

ROOT = Path(__file__).resolve().parents[3]

SITE = """
data:
  port: 80
  password: sesame  # @secret
ccm:
  post_message: done
  resources:
    - file:
        - /etc/app:
            content: |
              port {{ Data.port }}
              role {{ Facts.role }}
              pw {{ Data.password }}
            owner: root
            group: root
            mode: "0644"
    - exec:
        - "on-{{ Host.name }}": {command: "true", control: {if: "Facts.role == 'web'"}}
"""


def ccm(directory: Path, *words: str) -> "subprocess.CompletedProcess[str]":
    argv = [sys.executable, *words] if words[0] == "-X" else [sys.executable, "-m", APP, *words]
    environ = {**os.environ, "PYTHONPATH": str(ROOT), "XDG_STATE_HOME": str(directory / "state")}
    return subprocess.run(
        argv, cwd=directory, env=environ, capture_output=True, text=True, check=False
    )


APP = "orchestrator.cli.app"


@pytest.fixture
def site(tmp_path: Path) -> Path:
    (tmp_path / "site.yaml").write_text(SITE)
    (tmp_path / "hosts.yaml").write_text("hosts: {db1: {vars: {role: db}}, db2: {}}")
    return tmp_path


def test_a_good_manifest_is_said_to_be_good(site: Path) -> None:
    """validate counts the resources and exits 0."""
    done = ccm(site, "validate", "site.yaml")
    assert (done.returncode, done.stdout) == (0, "site.yaml is valid: 2 resources\n"), done.stderr


def test_values_of_yaml_1_1_are_text_and_noted(tmp_path: Path) -> None:
    """NO, 022 and 22:22 reach templates as they were written, and validate names each place."""
    (tmp_path / "site.yaml").write_text(
        "data: {country: NO, umask: 022, alias: 22:22, big: 1_000}\n"
        "ccm: {resources: [{exec: [{'a': {command: 'echo {{ Data.country }} {{ Data.umask }}"
        " {{ Data.alias }} {{ Data.big }}'}}]}]}\n"
    )
    done = ccm(tmp_path, "validate", "site.yaml")
    assert done.returncode == 0
    assert [line.partition(" is text")[0] for line in done.stderr.splitlines()] == [
        "ccm: note: site.yaml:1:17: NO",
        "ccm: note: site.yaml:1:28: 022",
        "ccm: note: site.yaml:1:40: 22:22",
        "ccm: note: site.yaml:1:52: 1_000",
    ]
    assert "echo NO 022 22:22 1_000" in ccm(tmp_path, "render", "--offline", "site.yaml").stdout


def test_rendered_yaml_reads_back(tmp_path: Path) -> None:
    """Texts that YAML 1.2 would take for numbers are quoted in what ccm writes."""
    (tmp_path / "site.yaml").write_text(
        "data: {a: '1e3', b: '0o17', c: '09', d: 'NO', e: 5, f: 1.5}\n"
        "ccm: {resources: [{exec: [{a: {command: 'true'}}]}]}\n"
    )
    shown = ccm(tmp_path, "hiera", "parse", "--yaml", "site.yaml").stdout
    (tmp_path / "again.yaml").write_text("data:\n" + re.sub("^", "  ", shown, flags=re.MULTILINE))
    done = ccm(tmp_path, "hiera", "parse", "again.yaml")
    expected = {"a": "1e3", "b": "0o17", "c": "09", "d": "NO", "e": 5, "f": 1.5}
    assert json.loads(done.stdout) == expected, shown


def test_validate_with_an_inventory(site: Path) -> None:
    """With -i each host's plan is made as far as no facts are needed, and the rest is counted."""
    done = ccm(site, "validate", "-i", "hosts.yaml", "-l", "db1", "site.yaml")
    assert done.returncode == 0, done.stderr
    assert done.stdout.endswith("; all resources of 1 host were checked\n")
    done = ccm(site, "validate", "-i", "hosts.yaml", "site.yaml")
    expect_text(done.stdout)
    done = ccm(site, "validate", "-i", "hosts.yaml", "--tags", "rloe", "site.yaml")
    assert done.returncode == 2
    (site / "hosts.yaml").write_text("hosts: {db1: {vars: {role: NO, on: 1}}}")
    done = ccm(site, "validate", "-i", "hosts.yaml", "site.yaml")
    expect_text(done.stderr)


def test_all_mistakes_are_told_and_exit_2(site: Path) -> None:
    """validate reports every mistake with its place on stderr."""
    (site / "bad.yaml").write_text(
        "dat: {}\nccm: {resources: [{fil: {name: x}}, {exec: [{a: {cwd: 5}}]}]}\n"
    )
    done = ccm(site, "validate", "bad.yaml")
    assert done.returncode == 2
    assert "3 errors" in done.stderr
    for words in ("bad.yaml:1:1", "did you mean data?", "bad.yaml:2:20", "bad.yaml:2:55"):
        assert words in done.stderr
    assert done.stdout == ""


def test_validate_reads_external_data(site: Path) -> None:
    """A --hiera file that cannot be used and a bad --data are refused without a host."""
    (site / "extra.yaml").write_text("data: [")
    assert ccm(site, "validate", "--hiera", "extra.yaml", "site.yaml").returncode == 2
    assert ccm(site, "validate", "--data", "x", "site.yaml").returncode == 2


def test_validate_imports_neither_ssh_nor_the_live_view(site: Path) -> None:
    """What no validation needs is not loaded."""
    done = ccm(site, "-X", "importtime", "-m", APP, "validate", "site.yaml")
    assert "is valid" in done.stdout
    for heavy in ("paramiko", "fabric", "invoke", "rich", "cryptography"):
        assert f" {heavy}\n" not in done.stderr


def test_a_thousand_resources_validate_in_a_second(site: Path) -> None:
    """The whole process takes less than a second of CPU for 1,000 resources with templates."""
    lines = ["data: {port: 80}", "ccm:", "  resources:"]
    for number in range(1000):
        lines += [
            "    - file:",
            f"        - /etc/f{number}:",
            f'            content: "{{{{ Data.port }}}} {{{{ Facts.role }}}} {number}"',
            "            owner: root",
            "            group: root",
            '            mode: "0644"',
        ]
    (site / "large.yaml").write_text("\n".join(lines))
    spent = []
    for _ in range(2):
        before = os.times()
        done = ccm(site, "validate", "large.yaml")
        after = os.times()
        spent.append(
            after.children_user
            + after.children_system
            - before.children_user
            - before.children_system
        )
        assert "1000 resources" in done.stdout, done.stderr
    assert min(spent) < 1.0


def test_render_shows_one_hosts_manifest(site: Path) -> None:
    """Names and values are final, secrets are masked, what control leaves out says so."""
    done = ccm(site, "render", "-i", "hosts.yaml", "-l", "db1", "--offline", "site.yaml")
    assert done.returncode == 0, done.stderr
    assert "sesame" not in done.stdout
    assert yaml.safe_load(done.stdout) == {
        "ccm": {
            "resources": [
                {
                    "file": [
                        {
                            "/etc/app": {
                                "content": "port 80\nrole db\npw [masked]\n",
                                "owner": "root",
                                "group": "root",
                                "mode": "0644",
                            }
                        }
                    ]
                },
                {
                    "exec": [
                        {
                            "on-db1": {
                                "command": "true",
                                "control": {"if": "Facts.role == 'web'"},
                                "managed": False,
                            }
                        }
                    ]
                },
            ],
            "post_message": "done",
        }
    }


def test_a_part_is_shown(site: Path) -> None:
    """render has what is chosen and no more, a child's too; what meant nothing there is told."""
    (site / "part.yaml").write_text(
        "ccm: {resources: [{exec: [a: {tags: [x]}, b: {}, 'on-{{ Host.name }}': {}]},\n"
        " {apply: [child.yaml: {}]}]}"
    )
    (site / "child.yaml").write_text("ccm: {resources: [{exec: [c: {tags: [x]}, d: {}]}]}")
    line = ["render", "-i", "hosts.yaml", "-l", "db1", "--offline"]

    def shown(*words: str) -> list[str]:
        done = ccm(site, *line, *words, "part.yaml")
        assert done.returncode == 0, done.stderr
        return re.findall(r"\b(?:[a-d]|on-db1|child.yaml)(?=:)", done.stdout)

    assert shown("--tags", "x") == ["a", "child.yaml", "c"]
    assert shown("--only", "exec#on-db1") == ["on-db1"]
    assert shown("--skip", "apply", "--skip", "exec#b") == ["a", "on-db1"]
    nothing = ccm(site, *line, "--only", "exec#on-db2", "part.yaml")
    assert nothing.returncode == 0
    expect_text(nothing.stderr)


@pytest.mark.parametrize("command", ["validate", "render"])
def test_a_part_that_is_surely_none_is_refused(site: Path, command: str) -> None:
    """A type or name that is misspelt is told without a host, with what was probably meant."""
    for words in (("--only", "file#/etc/ap"), ("--skip", "flie"), ("--tags", "web")):
        done = ccm(site, command, *words, "site.yaml")
        assert (done.returncode, done.stdout) == (2, ""), words
    expect_text(done.stderr)
    good = ccm(site, "validate", "--only", "file#/etc/*", "--skip", "exec", "site.yaml")
    assert good.returncode == 0, good.stderr


def test_render_masks_health_checks(site: Path) -> None:
    """Credentials of goss rules are masked, and the checks of a sensitive resource wholly."""
    http = '{status: 200, password: quiet-1, request-headers: ["X-Token: quiet-2"]}'
    rules = f'http: {{"http://h/": {http}}}'
    (site / "checked.yaml").write_text(f"""
ccm:
  resources:
    - exec:
        - a: {{health_checks: [{{name: shown, goss_rules: {{{rules}}}}}]}}
        - b: {{sensitive: true, health_checks: [{{command: check quiet-3}}]}}
""")
    done = ccm(site, "render", "-i", "hosts.yaml", "-l", "db1", "--offline", "checked.yaml")
    assert done.returncode == 0, done.stderr
    assert "quiet" not in done.stdout
    a, b = (entry["exec"][0] for entry in yaml.safe_load(done.stdout)["ccm"]["resources"])
    assert a["a"]["health_checks"][0]["name"] == "shown"
    assert b["b"]["health_checks"] == "[masked]"


def test_without_an_inventory_it_is_this_host(site: Path) -> None:
    """facts and render ask this host then, as apply does."""
    done = ccm(site, "facts", "host.info.os")
    assert done.stdout == '{\n  "localhost": "linux"\n}\n'
    expect_text(done.stderr)
    (site / "here.yaml").write_text(
        "ccm: {resources: [{exec: [{x: {command: 'echo {{ Facts.host.info.os }}'}}]}]}"
    )
    done = ccm(site, "render", "here.yaml")
    assert "command: echo linux" in done.stdout, done.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("apply", "--noop", "here.yaml"),
        ("ensure", "exec", "x", "--command", "true", "--noop"),
        ("status", "file", "/etc/passwd"),
        ("facts", "host.info.os"),
    ],
)
def test_the_first_line_says_that_it_is_this_machine(site: Path, words: tuple[str, ...]) -> None:
    """Commands about this machine say so first, unless hosts are named or a program reads them."""
    (site / "here.yaml").write_text("ccm: {resources: [{exec: [{x: {command: 'true'}}]}]}")
    (site / "local.yaml").write_text("hosts: {here: {connection: local}}")
    line = "this command runs on this machine only; use -i or -l for other hosts"
    done = ccm(site, *words)
    first = (done.stderr or done.stdout).splitlines()[0]
    assert first.removeprefix("ccm: ") == line, done.stderr
    named = ccm(site, *words, "-i", "local.yaml")
    assert (named.returncode, line in named.stdout + named.stderr) == (0, False), named.stderr
    if words[0] != "facts":
        done = ccm(site, *words, "--json")
        assert line not in done.stdout + done.stderr


def test_render_wants_one_host_that_has_its_facts(site: Path) -> None:
    """Several hosts are a usage error; a control that needs a missing fact refuses the host."""
    assert ccm(site, "render", "-i", "hosts.yaml", "--offline", "site.yaml").returncode == 2
    done = ccm(site, "render", "-i", "hosts.yaml", "-l", "db2", "--offline", "site.yaml")
    assert done.returncode == 1
    assert "site.yaml:18:" in done.stderr
    words = ("render", "-i", "hosts.yaml", "-l", "db2", "--offline", "--fact", "role=web")
    assert "managed" not in ccm(site, *words, "site.yaml").stdout


@pytest.mark.parametrize("name", ["manifest", "inventory", "event", "plan"])
def test_a_schema_is_a_schema(site: Path, name: str) -> None:
    """Each schema is valid JSON Schema 2020-12 and complete in itself."""
    done = ccm(site, "schema", name)
    schema = json.loads(done.stdout)
    jsonschema.Draft202012Validator.check_schema(schema)
    assert schema["$schema"].endswith("2020-12/schema")


def test_the_manifest_schema_knows_the_types(site: Path) -> None:
    """An editor is told of a misspelt property, and takes templates and defaults."""
    schema = json.loads(ccm(site, "schema").stdout)
    check = jsonschema.Draft202012Validator(schema)
    assert check.is_valid(yaml.safe_load(SITE))
    good = [{"file": [{"defaults": {"owner": "root"}}, {"/a": {"mode": "{{ Data.m }}"}}]}]
    assert check.is_valid({"ccm": {"resources": good}})
    mistaken: list[dict[str, Any]] = [
        {"exec": [{"a": {"onlyfi": "x"}}]},
        {"fil": []},
        {"exec": {"command": "x"}},
    ]
    for bad in mistaken:
        assert not check.is_valid({"ccm": {"resources": [bad]}})


def test_what_acts_on_a_terminal(tmp_path: Path) -> None:
    """Nothing that a manifest or an inventory holds reaches the terminal as it is; data does so as
    escapes, and is the same when it is read."""
    evil = "a\x1b[2J\x9b31m\u202eb"
    site = {
        "data": {"x": evil},
        "ccm": {
            "pre_message": f"before {evil}",
            "post_message": f"after {evil}",
            "resources": [{"exec": [{"a": {"command": "true", "environment": [f"A={evil}"]}}]}],
        },
    }
    (tmp_path / "site.yaml").write_text(json.dumps(site))
    hosts = {"hosts": {"h": {"connection": "local", "vars": {"v": evil}}}}
    (tmp_path / "hosts.yaml").write_text(json.dumps(hosts))
    told = {}
    for words in (
        ("push", "-i", "hosts.yaml", "--data", "y\x1b[2J=1", "site.yaml"),
        ("push", "--noop", "-v", "-i", "hosts.yaml", "site.yaml"),
        ("facts", "-i", "hosts.yaml", "v"),
        ("facts", "--yaml", "-i", "hosts.yaml", "v"),
        ("hiera", "parse", "--offline", "site.yaml"),
        ("render", "--offline", "-i", "hosts.yaml", "site.yaml"),
    ):
        done = ccm(tmp_path, *words)
        assert done.returncode == 0, done.stderr
        text = done.stdout + done.stderr
        assert not set("\x1b\x9b\u202e") & set(text), (words, text)
        told[words[:2]] = done.stdout
    assert "before a31mb\n" in told["push", "-i"]
    assert "after a31mb\n" in told["push", "-i"]
    assert json.loads(told["facts", "-i"]) == yaml.safe_load(told["facts", "--yaml"]) == {"h": evil}
    assert json.loads(told["hiera", "parse"]) == {"x": evil}
    rendered = yaml.safe_load(told["render", "--offline"])
    assert rendered["ccm"]["pre_message"] == f"before {evil}"


def test_validate_names_templates_that_make_resources(tmp_path: Path) -> None:
    """The counts of a manifest and of its children leave these resources out, and say so."""
    (tmp_path / "made.jet").write_text("- exec: [{'[[ Facts.host.info.os ]]': {command: x}}]\n")
    (tmp_path / "made.yaml").write_text("ccm: {resources_jet_file: made.jet}\n")
    (tmp_path / "top.yaml").write_text("ccm: {resources: [{apply: [{made.yaml: {}}]}]}\n")
    done = ccm(tmp_path, "validate", "top.yaml")
    expect_text(done.stdout)
    done = ccm(tmp_path, "validate", "made.yaml")
    expect_text(done.stdout)
