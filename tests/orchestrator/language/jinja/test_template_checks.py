"""What shows of a whole template without a host."""

import pytest

from tests.texts import expect_text

from .fakes import refused, text


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("\n  {% iff x %}", "t.j2:2:6: unknown tag 'iff'"),
        ("{% if true %}\n", "t.j2:1:"),
        ("{% if 1 %}{% endfor %}", "unexpected tag 'endfor' (the innermost open block is 'if')"),
        ("a\n{{ Data.name | uper }}", "t.j2:2:16: there is no filter 'uper' (did you mean upper?)"),
        ("{{ [-1e999] }}", "t.j2:1:6: the number is larger than 1.7e308"),
        (
            "{{ x | d(null) }}",
            "t.j2:1:10: 'null' is not a name or function of this template (write none)",
        ),
        ("{% if 1 is od %}{% endif %}", "t.j2:1:9: there is no test 'od'"),
        ("{{ Dta.name }}", "t.j2:1:4: 'Dta' is not a name or function of this template"),
        ("{% for x in y %}{{ x }}{% endfor %}", "t.j2:1:13: 'y' is not a name"),
        ("{{ lookup(Facts.x) }}", "t.j2:1:"),
        (
            "{% set l = lookup %}{{ l(Facts.x) }}",
            "t.j2:1:12: lookup can be called only by its own name",
        ),
        ("{{ hostvars['web1'].port }}", "this template (write Hosts)"),
        (
            "{{ ansible_fqdn }}",
            "this template (write a path under Facts; ccm facts lists all paths)",
        ),
        ("{{ lookup('env', 'HOME') }}", "not 'env': write Environ.NAME"),
        ("{{ 1 $ 2 }}", "t.j2:1:6: unexpected char '$'"),
        ("{{ 'a' }", "t.j2:1:8: unexpected '}'"),
        ("{# x", "t.j2:1:"),
        ("{% block a %}{% endblock %}\n{% block a %}{% endblock %}", "t.j2:2:4: block 'a' defined"),
        ("-%}\n\n{%- if x -%}\n\n y {{ zz }}{% endif %}", "t.j2:3:8: 'x' is not"),
    ],
)
def test_a_mistake_is_told_with_line_and_column(template: str, told: str) -> None:
    """A mistake of a template shows before any host, with its place."""
    assert told in refused(template)


@pytest.mark.parametrize(
    "template",
    [
        "{{ item }}{{ index }}{{ key }}",
        "{% if tls is defined %}{{ tls }}{% endif %}{{ nope | default('x') }}",
        "{% macro m(a) %}{{ a }}{{ varargs }}{{ kwargs }}{% endmacro %}{{ m(1) }}",
        "{% for a, b in Data.map.items() %}{{ loop.index }}{{ a }}{{ b }}{% endfor %}",
        "{% set n = namespace(x=1) %}{% with y = 2 %}{{ y }}{{ n.x }}{% endwith %}",
        "{{ managed() }} {{ facts.list }} {{ file('x') }} {{ template('x') }}",
    ],
)
def test_names_that_are_set_somewhere_are_known(template: str) -> None:
    """Loops, macros and tests for a name set it or can do without it."""
    added = ("item", "index", "key")
    with pytest.raises(AssertionError) as refused:
        _accepted(template, added)
    expect_text(refused.value)


def _accepted(template: str, added: tuple[str, ...]) -> None:
    try:
        refused(template, added=added)
    except pytest.fail.Exception as error:
        raise AssertionError(str(error)) from error


def test_a_name_that_is_not_set_may_be_tested_for() -> None:
    """`is defined` and `default` answer for a name that nothing sets."""
    assert text("{{ tls is defined }}{{ nope | default('x') }}") == "falsex"
