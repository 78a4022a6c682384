"""Calls of whole templates that cannot succeed."""

import pytest

from .fakes import refused


@pytest.mark.parametrize(
    ("template", "told"),
    [
        ("{{ 'x' | replace('a') }}", "t.j2:1:10: replace() requires the argument 'new'"),
        ("{{ 'x' | upper(1) }}", "t.j2:1:10: too many arguments for upper()"),
        ("{{ 'x' | join(nope=1) }}", "t.j2:1:10: join() has no argument 'nope'"),
        ("{% filter replace('a') %}x{% endfilter %}", "replace() requires the argument 'new'"),
        ("{% if 'x' is match %}{% endif %}", "t.j2:1:11: match() requires the argument 'pattern'"),
        ("\n{{ file() }}", "t.j2:2:4: file() requires the argument 'path'"),
        ("{{ kvGet(key='a') }}", "t.j2:1:4: kvGet() requires the argument 'bucket'"),
        (
            "{{ registrations('a', service='b') }}",
            "registrations() requires the arguments 'protocol' and 'address'",
        ),
    ],
)
def test_arguments_that_cannot_do_are_told_without_a_host(template: str, told: str) -> None:
    """Missing, unknown and superfluous arguments have the place of the call."""
    assert told in refused(template)


@pytest.mark.parametrize(
    "template",
    [
        "{{ [1] | map('upper') | join(',') }}{{ 'x' | indent(4) }}{{ {} | dictsort(true) }}",
        "{{ [[1]] | sum(start=[]) }}{{ [1, 2] | batch(2) | list }}{{ [3] | sort }}",
        "{% set a = ['a', 'b'] %}{{ 'x' | replace(*a) }}{{ file(**{'path': 'x'}) }}",
        "{% macro file() %}x{% endmacro %}{{ file() }}",
        "{{ kvGet('a', 'b') }}{{ 'x' | default }}{{ 1 is divisibleby 2 }}{{ 1 is defined }}",
    ],
)
def test_arguments_that_may_do_are_accepted(template: str) -> None:
    """Lists and maps of arguments, macros and functions with defaults are left to the run."""
    with pytest.raises(pytest.fail.Exception, match="DID NOT RAISE"):
        refused(template)
