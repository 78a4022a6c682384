"""Inventories that are printed by a program."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from inventory import Inventory, load
from inventory.dynamic import run_program
from remote_runtime.errors import InputError
from tests.texts import expect_text


def program(directory: Path, body: str) -> Path:
    path = directory / "inventory-program"
    path.write_text("#!/bin/sh\n" + body)
    path.chmod(0o755)
    return path


def ansible(directory: Path, data: object) -> Inventory:
    return load(program(directory, f"cat <<'END'\n{json.dumps(data, indent=1)}\nEND\n"))


def test_a_program_prints_the_documented_form(tmp_path: Path) -> None:
    """An executable is called with --list and prints the same form as a file."""
    path = program(tmp_path, '[ "$1" = --list ] || exit 9\necho "hosts: {a: {key_file: k}}"\n')
    host = load(path).hosts["a"]
    assert host.key_file == str(tmp_path / "k")
    assert host.position.file == f"{path} --list"


def test_ansibles_yaml_is_read_by_yaml_1_1(tmp_path: Path) -> None:
    """What an inventory script prints for Ansible keeps the values that Ansible reads."""
    text = "_meta: {hostvars: {a: {on: yes, n: 010, role: NO}}}\nweb: {hosts: [a]}"
    assert load(program(tmp_path, f"echo '{text}'\n")).hosts["a"].vars == {
        "on": True,
        "n": 8,
        "role": False,
    }


def test_ansibles_list_becomes_hosts_and_groups(tmp_path: Path) -> None:
    """Ansible's connection variables become properties, the others stay variables."""
    inventory = ansible(
        tmp_path,
        {
            "_meta": {
                "hostvars": {
                    "web1": {
                        "ansible_host": "192.0.2.1",
                        "ansible_port": "2222",
                        "ansible_user": "deploy",
                        "ansible_ssh_private_key_file": "/k",
                        "ansible_python_interpreter": "/usr/bin/python3",
                        "ansible_become": "yes",
                        "ansible_become_user": "app",
                        "role": "web",
                    },
                    "box": {"ansible_connection": "local", "ansible_become": False},
                    "web2": {"ansible_python_interpreter": "auto_silent"},
                }
            },
            "all": {"children": ["ungrouped", "web"]},
            "web": {"hosts": ["web1", "web2"], "vars": {"tier": 1}},
            "ungrouped": {"hosts": ["box"]},
        },
    )
    web1, box, web2 = (inventory.hosts[name] for name in ("web1", "box", "web2"))
    assert (web1.address, web1.port, web1.user) == ("192.0.2.1", 2222, "deploy")
    assert (web1.key_file, web1.python, web1.become) == ("/k", "/usr/bin/python3", "app")
    assert web1.vars == {"tier": 1, "role": "web", "ansible_become_user": "app"}
    assert web1.groups == ("web",)
    assert (box.connection, box.become) == ("local", False)
    assert web2.python is None


def test_ansibles_older_form_of_plain_lists(tmp_path: Path) -> None:
    """Groups may be plain lists of hosts, and an empty group is a child only."""
    inventory = ansible(tmp_path, {"web": ["a", "b"], "top": {"children": ["web", "none"]}})
    assert inventory.hosts["a"].groups == ("web", "top")
    assert inventory.groups["none"].hosts == ()


def test_values_as_ansible_prints_them(tmp_path: Path) -> None:
    """A link-local address with its interface, a port as text, braces in the path of a key."""
    variables = {
        "ansible_host": "fe80::1%eth0",
        "ansible_port": "22",
        "ansible_ssh_private_key_file": "/keys/{{ lookup('env', 'K') }}/{a}",
    }
    host = ansible(tmp_path, {"_meta": {"hostvars": {"a": variables}}}).hosts["a"]
    assert (host.address, host.port) == ("fe80::1%eth0", 22)
    assert host.key_file == "/keys/{{ lookup('env', 'K') }}/{a}"


@pytest.mark.parametrize(
    ("variables", "said"),
    [
        ({"ansible_password": "sesame"}, "password"),
        ({"ansible_connection": "docker"}, "ssh or local"),
        ({"ansible_become_method": "su"}, "only sudo"),
        ({"ansible_become": "perhaps"}, "true or false"),
        ({"ansible_host": "{{ ip }}"}, "an IP address"),
    ],
)
def test_what_ansible_may_say_and_we_do_not_take(
    tmp_path: Path, variables: dict[str, str], said: str
) -> None:
    """Passwords and connections that we do not have are refused, never dropped silently."""
    with pytest.raises(InputError) as caught:
        ansible(tmp_path, {"_meta": {"hostvars": {"a": variables}}})
    (problem,) = caught.value.problems
    assert said in problem.message + problem.hint
    assert "sesame" not in str(problem)


@pytest.mark.parametrize(
    ("printed", "said", "hint"),
    [
        ("no hosts today", "an inventory must be a map, not text", "key: value"),
        ("[web]\\nh1", "an Ansible inventory in INI", "a program must print"),
        ("web: {hosts: {h1: {}}}", "an Ansible inventory in YAML", "a program must print"),
    ],
)
def test_a_program_that_prints_something_else(
    tmp_path: Path, printed: str, said: str, hint: str
) -> None:
    """It is no file that could be converted, and plain text is no inventory of Ansible."""
    path = program(tmp_path, f"printf '{printed}\\n'\n")
    with pytest.raises(InputError) as caught:
        load(path)
    (problem,) = caught.value.problems
    assert said in problem.message
    assert hint in problem.hint


def test_a_failing_program_is_quoted(tmp_path: Path) -> None:
    """The exit code and the end of the standard error are in the error, made safe to show."""
    path = program(tmp_path, "printf 'no \\033[31mtoken\\n' >&2\nexit 3\n")
    with pytest.raises(InputError) as caught:
        load(path)
    expect_text(caught.value)
    assert caught.value.kind == "inventory.program"


def test_a_program_that_hangs_is_ended(tmp_path: Path) -> None:
    """A program that does not end is ended with its children."""
    path = program(tmp_path, "sleep 600 & sleep 600\n")
    with pytest.raises(InputError, match="timed out after"):
        run_program(str(path), timeout=0.5)


def test_a_program_that_leaves_something_behind_is_not_waited_for(tmp_path: Path) -> None:
    """A child that keeps the pipe open does not hold the program's answer back."""
    path = program(tmp_path, "echo 'hosts: [a]'\nsleep 60 &\n")
    assert run_program(str(path), timeout=20) == "hosts: [a]\n"


def test_a_program_that_floods_is_ended(tmp_path: Path) -> None:
    """More output than allowed ends the program."""
    with pytest.raises(InputError) as refused:
        run_program(str(program(tmp_path, "exec yes\n")), max_bytes=100_000)
    expect_text(refused.value)


def test_a_text_that_happens_to_be_executable(tmp_path: Path) -> None:
    """A .yaml file is read and never run; another text that cannot be run says what to do."""
    path = tmp_path / "hosts.yaml"
    path.write_text("hosts: [a]\n")
    path.chmod(0o755)
    assert list(load(path).hosts) == ["a"]
    other = tmp_path / "hosts"
    other.write_bytes(b"\x00\x01hosts: [a]\n")
    other.chmod(0o755)
    with pytest.raises(InputError, match="chmod -x"):
        load(other)


def test_a_manifest_is_no_inventory(tmp_path: Path) -> None:
    """The manifest behind -i, which is easily mistaken, is told as that."""
    path = tmp_path / "site.yaml"
    path.write_text("data: {a: 1}\nccm: {resources: []}\n")
    with pytest.raises(InputError) as caught:
        load(str(path))
    (problem,) = caught.value.problems
    assert f"{path}:2:1: this is a manifest, not an inventory" in str(problem)


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("all:\n  hosts: {h1: }\n  children: {web: {hosts: {h2: }}}\n", "YAML"),
        ("web: {hosts: {h1: {ansible_host: 192.0.2.1}}}\n", "YAML"),
        ("[web]\nh1\nh2 ansible_host=192.0.2.1 ansible_port=2222\n[web:vars]\na = b\n", "INI"),
        ("# all\nh1\nh2\n", "INI"),
    ],
)
def test_an_inventory_of_ansible_is_named(tmp_path: Path, text: str, form: str) -> None:
    """A file that is written for Ansible is refused with its form and the way to convert it."""
    path = tmp_path / "ansible"
    path.write_text(text)
    with pytest.raises(InputError) as caught:
        load(str(path))
    (problem,) = caught.value.problems
    assert f"{path}:1:1: this looks like an Ansible inventory in {form}" in str(problem)
    assert f"ansible-inventory -i {path} --list" in problem.hint


@pytest.mark.parametrize(
    ("text", "wrong"),
    [
        ("[1, 2]", "an inventory must be a map, not a list"),
        ("[]", "an inventory must be a map, not a list"),
        ("[1,2]", "an inventory must be a map, not a list"),
        ('{"hosts": {"h1": {}, "h2": {"po', ":1:29: invalid JSON: the string that starts here is"),
        (
            '{"hosts": {"h1": {\n}\n\n',
            ":2:1: invalid JSON: unexpected end: a bracket is not closed",
        ),
        ('{"hosts": {"h1": {} "h2": {}}}', ":1:21: invalid JSON: a comma or a closing bracket"),
    ],
)
def test_json_that_is_no_inventory(tmp_path: Path, text: str, wrong: str) -> None:
    """It is told as what it is: no YAML, and nothing of Ansible's."""
    path = tmp_path / "hosts.json"
    path.write_text(text)
    with pytest.raises(InputError, match=wrong):
        load(str(path))


def test_a_host_without_its_comma(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A word that is no file is taken for a host whose comma is missing."""
    monkeypatch.chdir(tmp_path)
    with pytest.raises(InputError, match="-i h1,"):
        load("h1")


def test_what_decides_the_connection_in_ansible_only(tmp_path: Path) -> None:
    """A variable that Ansible connects by and ccm does not is a warning, once, with its place."""
    path = tmp_path / "list.json"
    hosts = {h: {"ansible_ssh_common_args": "-J b", "ansible_distribution": "x"} for h in "ab"}
    path.write_text(json.dumps({"web": {"hosts": ["a", "b"]}, "_meta": {"hostvars": hosts}}))
    (warning,) = load(str(path)).warnings
    assert f"{path}:1:" in str(warning)
    assert "ansible_ssh_common_args" in str(warning)
