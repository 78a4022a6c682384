"""ccm.ask: what is declared is checked before any host is contacted."""

from pathlib import Path

import pytest

from tests.orchestrator.planning.planned import planner, refused
from tests.texts import expect_text

RESOURCES = "resources: [{exec: [{x: {}}]}]"


def text(asks: str, resources: str = RESOURCES, head: str = "") -> str:
    """A manifest with these lookups."""
    return f"{head}\nccm:\n  ask: {asks}\n  {resources}\n"


@pytest.mark.parametrize(
    ("asks", "message"),
    [
        ("[]", "3:8: ask must be a map of lookups, not "),
        ("{}", "ask must be a map of lookups, not an empty map"),
        ("{a: x}", "3:12: ask.a must be a map that says what to look up, not "),
        (
            "{a: {comand: x}}",
            "3:13: ask.a: there is no kind of lookup 'comand' (did you mean command?)",
        ),
        ("{a: {packge: x}}", "there is no kind of lookup 'packge' (did you mean package?)"),
        ("{a: {exec: x}}", "there is no kind of lookup 'exec'"),
        (
            "{a: {}}",
            "ask.a must have one of command, file, stat, package, service",
        ),
        ("{a: {stat: /a, file: /b}}", "3:23: ask.a has both stat and file"),
        ("{a: {stat: /a, timeout: 1s}}", "ask.a: stat: unknown key 'timeout'"),
        ("{a: {command: x, timeot: 1s}}", "did you mean timeout?"),
        ("{a-b: {stat: /a}}", "'a-b' cannot be the name of a lookup"),
        ("{a: {file: etc/x}}", "ask.a: file must be an absolute path, not 'etc/x'"),
        ("{a: {file: [x]}}", "ask.a: file must be text, not "),
        ("{a: {command: 'x \"'}}", "ask.a: "),
        ("{a: {command: x, timeout: 11s}}", "ask.a: timeout must be at most 10s, not 11s"),
        ("{a: {command: x, timeout: soon}}", "ask.a: timeout: 'soon' is not a duration"),
        ("{a: {command: x, cwd: y}}", "'y' is not an absolute path"),
        ("{a: {command: x, environment: y}}", "environment must be a list of KEY=value"),
        ("{a: {package: 'a b'}}", "ask.a: name 'a b' is not allowed"),
        ("{a: {stat: /a, sensitive: 1}}", "sensitive must be true or false"),
        ("{a: {stat: '{{ nope }}'}}", "nope"),
        ("{a: {stat: /a}, b: {stat: '{{ Asked.a.target }}'}}", "cannot use the answer of another"),
        (
            "{a: {stat: '{{ file(\"/etc/x\") }}'}}",
            "reads a file on the target (use a file lookup)",
        ),
    ],
)
def test_mistakes_are_told_with_their_place(tmp_path: Path, asks: str, message: str) -> None:
    """A misspelt kind or key with the nearest right word."""
    found = refused(tmp_path, text(asks))
    assert message in found
    assert "site.yaml:3:" in found


def test_there_are_at_most_64(tmp_path: Path) -> None:
    """In one manifest."""
    asks = ", ".join(f"a{number}: {{stat: /a}}" for number in range(65))
    expect_text(refused(tmp_path, text(f"{{{asks}}}")))


@pytest.mark.parametrize(
    ("read", "name"),
    [
        ("x: {command: '{{ Asked.jav.stdout }}'}", "jav"),
        ("'{{ Asked.jav.stdout }}': {}", "jav"),
        ("x: {control: {if: \"Asked['jav'].exit_code == 0\"}}", "jav"),
        ("'{{ item }}': {foreach: Asked.jav.stdout.split()}", "jav"),
        ("x: {command: \"{{ 'Asked.no' ~ Asked.jav.stdout }}\"}", "jav"),
    ],
)
def test_a_look_up_that_nobody_declares(tmp_path: Path, read: str, name: str) -> None:
    """Is told where it is read, with the nearest one."""
    found = refused(tmp_path, text("{java: {command: x}}", f"resources: [{{exec: [{{{read}}}]}}]"))
    assert f"the manifest declares no lookup {name!r} (did you mean java?)" in found
    assert "site.yaml:4:" in found
    assert "Asked.no" not in found


def test_without_any(tmp_path: Path) -> None:
    """It is said where to declare one; assertions and data are looked at, too."""
    site = (
        "data: {a: '{{ Asked.a.stdout }}'}\nccm:\n  assert: [{that: Asked.b.exists, message: m}]\n"
    )
    found = refused(tmp_path, f"{site}  {RESOURCES}")
    expect_text(found)


def test_a_template_file_is_looked_at(tmp_path: Path) -> None:
    """With line and column there; what is computed, or a method, is left alone."""
    (tmp_path / "t.j2").write_text(
        "{% for x in Asked.items() %}{{ Asked[x[0]] }}{% endfor %}\n{{ Asked.jav }}"
    )
    resources = "resources: [{exec: [{x: {command: \"{{ template('t.j2') }}\"}}]}]"
    found = refused(tmp_path, text("{java: {command: x}}", resources))
    expect_text(found)


def test_what_is_right_is_accepted(tmp_path: Path) -> None:
    """Every kind, settings of a command, templates that read data, facts and the host."""
    asks = (
        "{c: {command: 'x -v', timeout: 5s, user: 1000, cwd: /srv, environment: [A=b],"
        " umask: '022'},"
        " f: {file: '{{ Data.f }}', sensitive: true}, s: {stat: '/{{ Facts.a }}/{{ Host.name }}'},"
        " p: {package: nginx}, u: {service: app@1}}"
    )
    made = planner(tmp_path, text(asks, head="data: {f: /etc/x}"))
    assert list(made.site.asks) == ["c", "f", "s", "p", "u"]
    assert made.site.asks["f"].sensitive
