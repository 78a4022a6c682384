"""What whole templates may write, and what it may cost."""

from pathlib import Path

import pytest

from tests.texts import expect_text

from .fakes import failure, text


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (
            "{% for x in Data.list %}\n{{ loop.index }}{{ x }}\n{% endfor %}\nend\n",
            "1a\n2b\n3c\nend\n",
        ),
        ("  {% if Data.on %}\nx\n{% endif %}", "  x\n"),
        ("a{%- if true %}  b {%- endif -%}  c", "a  bc"),
        ("{% set x = 2 %}{{ x }}{# gone #}{% raw %}{{ x }}{% endraw %}", "2{{ x }}"),
        ("{{ true }} {{ none }} {{ [1, 'a'] }} {{ {'a': 1.5} }}", 'true  [1, "a"] {"a": 1.5}'),
        ("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m('&') }}", "<&>"),
        ("{% macro m() %}<{{ caller() }}>{% endmacro %}{% call m() %}x{% endcall %}", "<x>"),
        ("{% filter upper %}a{% endfilter %}{% set y %}b{% endset %}{{ y }}", "Ab"),
        ("{{ Data.name[1:] }}{{ Data.list[::2] }}{{ 'a' ~ 1 ~ true }}", 'eb["a", "c"]a1True'),
        ("{{ data.map.items() | list | length }} {{ range(3) }}", "2 [0, 1, 2]"),
        ("${NAME} ${ Data.port } \r\n{{ 1 }}", "${NAME} ${ Data.port } \n1"),
        ("{{ 'a\n\nb' | indent(2) }}", "a\n\n  b"),
    ],
)
def test_a_whole_template(template: str, expected: str) -> None:
    """Blocks, macros, white space as Ansible sets it, values as in the text of a property."""
    assert text(template) == expected


GROW = "{% set n = namespace(x='x' * 9999) %}{% for i in range(60) %}GROWN{% endfor %}"


@pytest.mark.parametrize(
    ("template", "message"),
    [
        (GROW.replace("GROWN", "{% set n.x = n.x ~ n.x %}"), "at most"),
        (GROW.replace("GROWN", "{% set n.x = n.x + n.x %}"), "at most"),
        (GROW.replace("GROWN", "{% set n.x %}{{ n.x }}{{ n.x }}{% endset %}"), "at most"),
        (GROW.replace("GROWN", "{% set n.x = [n.x, n.x] %}") + "{{ n.x }}", "at most"),
        (
            "{% set b = 'x' * 9999999 %}{% set y %}"
            "{% for i in range(9999) %}{{ b[1:] }}{% endfor %}{% endset %}",
            "steps",
        ),
        (
            "{% set b = 'x' * 9999999 %}"
            "{% for i in range(9999) %}{% set c = b.upper() %}{% endfor %}",
            "steps",
        ),
        (
            "{% macro m(n) %}{% if n %}{{ m(n - 1) }}{{ m(n - 1) }}{% endif %}{% endmacro %}"
            "{{ m(60) }}",
            "steps",
        ),
        (
            "{% for a in range(9999) recursive %}{{ loop(range(9999)) }}{% endfor %}",
            "steps",
        ),
        ("{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}", "steps"),
        ("{% for a in range(9999) %}{{ 'x' * 9999 }}{% endfor %}", "16 MiB"),
        (GROW.replace("GROWN", "{% set n.x = [n.x, n.x] %}") + "{{ n.x ~ '' }}", "at most"),
        (
            GROW.replace("GROWN", "{% set n.x = [n.x, n.x] %}") + "{{ {'a': n.x}.values() ~ '' }}",
            "at most",
        ),
        (
            GROW.replace("GROWN", "{% set n.x = [n.x, n.x] %}")
            + "{{ {'a': n.x}.items() | string }}",
            "at most",
        ),
        (GROW.replace("GROWN", "{% set n.x = [n.x, n.x] %}") + "{{ n.x == [n.x] }}", "at most"),
        (GROW.replace("GROWN", "{% set n.x = [n.x] + [n.x] %}"), "at most"),
        (GROW.replace("GROWN", "{% set n.x = (n.x, n.x) %}"), "at most"),
        (GROW.replace("GROWN", "{% set n.x = {'a': n.x, 'b': n.x} %}"), "at most"),
        (GROW.replace("GROWN", "{% set n.x = dict(a=n.x, b=n.x) %}"), "at most"),
        (GROW.replace("GROWN", "{% set n.x = cycler(n.x, n.x).items %}"), "at most"),
        (
            "{% macro m(n) %}{% set n.x = varargs %}{% endmacro %}"
            + GROW.replace("GROWN", "{{ m(n, n.x, n.x) }}"),
            "at most",
        ),
        (
            "{% macro m(n) %}{% set n.x = kwargs %}{% endmacro %}"
            + GROW.replace("GROWN", "{{ m(n, a=n.x, b=n.x) }}"),
            "at most",
        ),
        (
            "{% set n = namespace(x=3) %}"
            "{% for i in range(9999) %}{% for j in range(3) %}{% set n.x = n.x + n.x %}"
            "{% endfor %}{% endfor %}",
            "bits",
        ),
        (
            "{% set n = namespace(x=3) %}"
            "{% for i in range(9999) %}{% for j in range(3) %}{% set n.x = n.x - -n.x %}"
            "{% endfor %}{% endfor %}",
            "bits",
        ),
        (
            "{% set b = 'x' * 9999999 %}"
            "{% for i in range(999) %}{% set c = b | reverse %}{% endfor %}",
            "steps",
        ),
        (
            "{% set b = 'x' * 9999999 %}"
            "{% for i in range(999) %}{% set c = b.find('y') %}{% endfor %}",
            "steps",
        ),
        ("{{ ('x\n' * 99999) | indent(9999) }}", "at most"),
        ("{{ ('x\n' * 99999) | indent('y' * 9999) }}", "at most"),
        ("{{ ('x' * 99999) | wordwrap(1, true, 'y' * 9999) }}", "at most"),
        ("{% for a in range(9999) %}{% set x = Data.list | map('upper') | list %}{% endfor %}", ""),
    ],
)
def test_what_a_template_costs_is_bounded(template: str, message: str) -> None:
    """Neither texts that double, nor calls that do, nor long texts in a loop eat the controller."""
    if message:
        assert message in failure(template)
    else:
        assert text(template) == ""


def test_a_template_that_includes_itself_twice_is_stopped(tmp_path: Path) -> None:
    """Including counts, so that no tree of includes goes on for ever."""
    (tmp_path / "a.j2").write_text(
        "{% set n = n - 1 %}{% if n %}{% include 'a.j2' %}{% include 'a.j2' %}{% endif %}"
    )
    told = failure("{% set n = 40 %}{% include 'a.j2' %}", directory=tmp_path)
    assert "takes more than 1000000 steps" in told or "nested too deeply" in told


def test_the_text_of_a_namespace_is_short() -> None:
    """What namespaces hold could be without end, so that their text has nothing of it."""
    nested = "{% set n.x = namespace(a=n.x, b=n.x) %}"
    assert text(GROW.replace("GROWN", nested) + "{{ n.x | string }}") == "<Namespace>"


def test_what_is_no_value_is_not_written() -> None:
    """A generator or a namespace is refused with what to do."""
    expect_text(failure("{{ Data.list | map('upper') }}"))
    expect_text(failure("{{ namespace() }}"))
    expect_text(failure("{{ 1e308 * 10 }}"))
    expect_text(failure("{{ [1e308 * 10] }}"))
    expect_text(failure("{{ [Data.nope] }}"))
    assert text("{{ [Data.nope] }}", lenient=True) == '[""]'
    expect_text(failure("{{ [namespace()] }}"))


def test_data_of_a_host_is_never_a_template() -> None:
    """What a fact holds is written as it is."""
    assert text("{{ Facts.evil }}{% set x = Facts.evil %}{{ x }}") == "{{ 1 + 1 }}" * 2
