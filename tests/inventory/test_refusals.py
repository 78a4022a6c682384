"""Bad inventories: every mistake at its place, with what to do."""

from __future__ import annotations

from pathlib import Path

import pytest

from inventory import load
from remote_runtime.errors import InputError
from tests.texts import expect_text

from .conftest import Refuser


def test_all_mistakes_are_reported_at_once(refused: Refuser) -> None:
    """One pass finds every mistake, in the order of the file."""
    found = refused(
        """\
        default: {}
        hosts:
          a: {prot: 22, port: 70000, port: 1}
          -b: {}
        groups:
          web: {hosts: a, children: [egde]}
          edge: [a]
        """
    )
    assert [str(p.where) for p in found] == [
        "hosts.yaml:1:1",
        "hosts.yaml:3:7",
        "hosts.yaml:3:23",
        "hosts.yaml:3:30",
        "hosts.yaml:4:3",
        "hosts.yaml:6:16",
        "hosts.yaml:6:30",
        "hosts.yaml:7:9",
    ]
    assert "defaults" in found[0].hint
    assert "port" in found[1].hint
    assert "1 to 65535" in found[2].message
    assert "edge" in found[6].hint


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("port: 0", "1 to 65535"),
        ("port: '22'", "without quotes"),
        ("port: true", "1 to 65535"),
        ("user: -l", "a username"),
        ("user: 'a b'", "a username"),
        ("user: 7", "in quotes"),
        ("address: -oProxyCommand=x", "an IP address"),
        ("address: 'a;b'", "an IP address"),
        ("address: ''", "an IP address"),
        ("address: [a]", "not a list"),
        ("become: 'yes'", "write true or false"),
        ("become: yes", "write true or false"),
        ("become: 1", "true, false or a username"),
        ("connection: docker", "ssh or local"),
        ("connect_timeout: 0", "greater than 0"),
        ("connect_timeout: -1", "greater than 0"),
        ("connect_timeout: .nan", "greater than 0"),
        ("connect_timeout: " + "9" * 400, "greater than 0"),
        ("connect_timeout: 10x", "not a duration"),
        ("connect_timeout: true", "seconds or a duration"),
        ("python: 'python3; rm'", "interpreter"),
        ("jump: '-J x'", "user@gate:22"),
        ("site: 7", "in quotes"),
        ("site: [paris]", "not a list"),
        ("site: 'le mans'", "underscores and hyphens"),
        ("site: zürich", "letters a-z"),
        ("key_file: ''", "is empty"),
        ('key_file: "a\\nb"', "control character"),
        ("vars: [1]", "must be a map"),
    ],
)
def test_a_property_of_the_wrong_kind(refused: Refuser, text: str, said: str) -> None:
    """A property's wrong type or range is named with what was expected."""
    (problem,) = refused(f"hosts:\n  h:\n    {text}\n")
    assert said in problem.message + problem.hint
    assert problem.where is not None
    assert problem.where.line == 3


@pytest.mark.parametrize(
    "name",
    ["-h", "a b", "a;b", "a$b", "../x", ".x", "a/b", '"a\\u0007"', "é", "a*", "all", "failed"],
)
def test_a_name_that_could_do_harm(refused: Refuser, name: str) -> None:
    """Names that programs, shells, paths or terminals could misread are refused."""
    (problem,) = refused(f"hosts:\n  ? {name}\n  : {{}}\n")
    assert problem.kind == "inventory.name"
    assert "\x07" not in str(problem)


@pytest.mark.parametrize(
    ("word", "means"),
    [
        ("all", "every host"),
        ("failed", "last push failed"),
        ("remaining", "not started"),
        ("run", "run:ID:failed"),
    ],
)
def test_words_of_patterns_name_nothing(refused: Refuser, word: str, means: str) -> None:
    """Words that stand for hosts by their runs name neither a group nor a host."""
    for text in (f"groups: {{{word}: {{hosts: [a]}}}}", f"hosts: {{{word}: {{}}}}"):
        (problem,) = refused(text)
        assert means in problem.message


@pytest.mark.parametrize("name", ["~", "null", "{a: 1}", "[a]"])
def test_what_is_no_name_in_a_list_of_hosts(refused: Refuser, name: str) -> None:
    """Nothing, a map and a list are no names."""
    (problem,) = refused(f"hosts: [{name}]")
    expect_text(problem.message)


@pytest.mark.parametrize(
    "text",
    [
        "defaults: {password: sesame}",
        "hosts: {a: {become_password: sesame}}",
        "hosts: {a: {vars: {ansible_password: sesame}}}",
        "groups: {g: {vars: {ansible_become_pass: sesame}}}",
    ],
)
def test_passwords_are_refused_and_never_shown(refused: Refuser, text: str) -> None:
    """A password in an inventory is refused, with where it belongs, and is not repeated."""
    (problem,) = refused(text)
    assert problem.kind == "inventory.password"
    assert "--ask-pass" in problem.hint
    assert "sesame" not in str(problem)


def test_a_sites_own_secret_variable_is_not_a_login_password(tmp_path: Path) -> None:
    """``db_password`` is data of the site and may stand in vars."""
    path = tmp_path / "hosts.yaml"
    path.write_text("hosts: {a: {vars: {db_password: x}}}")
    assert load(path).hosts["a"].vars == {"db_password": "x"}


def test_a_cycle_of_groups_names_its_steps(refused: Refuser) -> None:
    """A cycle is reported once, with every step and its place."""
    (problem,) = refused(
        """\
        groups:
          a: {children: [b]}
          b: {children: [c]}
          c: {children: [a]}
          d: {children: [a]}
        """
    )
    assert problem.kind == "inventory.group_cycle"
    assert str(problem.where) == "hosts.yaml:4:18"
    for step in ("a -> b", "b -> c", "c -> a"):
        assert step in problem.message


def test_a_group_that_is_its_own_child(refused: Refuser) -> None:
    """The shortest cycle is one too."""
    (problem,) = refused("groups: {a: {children: [a]}}")
    assert "a -> a" in problem.message


def test_an_unknown_child_that_is_a_host(refused: Refuser) -> None:
    """A host named under children is sent to its own key."""
    (problem,) = refused("hosts: [zz1]\ngroups: {g: {children: [zz1]}}")
    assert problem.kind == "inventory.unknown_group"
    assert "under 'hosts'" in problem.hint


def test_one_host_with_two_values_for_a_property(refused: Refuser) -> None:
    """A host that is described in two places must say the same in both."""
    (problem,) = refused("hosts: {a: {port: 1}}\ngroups: {g: {hosts: {a: {port: 2}}}}")
    assert problem.kind == "inventory.conflict"
    assert "hosts.yaml:1:19" in problem.message


def test_ansibles_yaml_form_gets_a_hint(refused: Refuser) -> None:
    """Someone who brings Ansible's YAML inventory is told how to convert it."""
    (problem,) = refused("all: {vars: {x: 1}, hosts: {a: {}}, other: {}}\n")
    assert "ansible-inventory --list" in problem.hint


def test_a_directory_is_not_a_source(tmp_path: Path) -> None:
    """A directory is refused with what to do instead."""
    with pytest.raises(InputError) as refused:
        load(tmp_path)
    expect_text(refused.value)


def test_mistakes_of_all_sources_are_reported(tmp_path: Path) -> None:
    """A broken file does not hide the mistakes of the next one."""
    (tmp_path / "a.yaml").write_text("a: b: c")
    (tmp_path / "b.yaml").write_text("hots: {}")
    with pytest.raises(InputError) as caught:
        load([tmp_path / "a.yaml", tmp_path / "b.yaml", tmp_path / "c.yaml"])
    assert len(caught.value.problems) == 3
