"""What is refused, and what is said."""

import pytest

from orchestrator.expressions import EvaluationError, FactsUnavailableError
from orchestrator.language.errors import NeedFileError
from tests.orchestrator.language.jet.fakes import failure, refused, render
from tests.texts import expect_text


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("a\n  {{ 1", "t.jet:2:3: {{ is not closed: }} is missing"),
        ("{* never", "t.jet:1:1: the comment {* is not closed"),
        ("{{ 'x' }}", "t.jet:1:4: single quotes are not supported"),
        ('{{ "x }}', 't.jet:1:4: the string that starts with " is not closed'),
        ("{{ $x }}", "names have no $ in Jet"),
        ('{{ "\\q" }}', "\\q is not an escape sequence"),
        ("{{ 0644 }}", "0644 would be read as an octal number"),
        ("{{ 1e999 }}", "the number 1e999 is too large"),
        ("{{ 1a }}", "'1a' is not a number"),
        ("{{ 1 + }}", "t.jet:1:8: expected a value, found the end of the action"),
        ("{{ (1 }}", "expected ')', found the end of the action"),
        ("{{ 1 2 }}", "t.jet:1:6: expected the end of the action, found '2'"),
        ("{{ if true }}", "t.jet:1:1: if has no end"),
        ("{{ range data.x }}{{ else if 1 }}{{ end }}", "range has no 'else if'"),
        ("{{ end }}", "t.jet:1:1: end without the action that it closes"),
        ("{{ if true }}{{ catch }}{{ end }}", "if cannot have catch here"),
        ("{{ uper(1) }}", "t.jet:1:4: there is no function 'uper' (did you mean upper?)"),
        ("{{ 1 | 2 }}", "only functions are allowed after a pipe"),
        ("{{ upper() }}", "upper takes 1 argument, not 0"),
        ('{{ replace("a", "b", "c") }}', "replace takes 4 arguments, not 3"),
        ("{{ dump() }}", "dump() is not supported here"),
        ("{{ safeJs: 1 }}", "safeJs() is not supported here (use json)"),
        ("{{ data.x.Method() }}", "values have no methods here"),
        ("{{ data.x = 1 }}", "only variables can be set, nothing inside a value"),
        ("{{ 1 := 2 }}", "only a variable can be set"),
        ("{{ a, b := 1 }}", "2 names, but 1 values"),
        ("{{ x := data.a | upper }}", "no pipes in an assignment: write x := upper(y)"),
        ("{{ if data.a | upper }}{{ end }}", "no pipes in a condition"),
        ("{{ range i = data.x }}{{ end }}", "expected ':=' and what to range over"),
        ('{{ lookup("other.x") }}', "a path starts with facts., data. or environ."),
        (
            "{{ lookup(facts.x) }}",
            "t.jet:1:4: lookup(): the path up to its first dot must be literal text",
        ),
        ('{{ lookup("data" + facts.x) }}', "the path up to its first dot must be literal text"),
        ("{{ facts.x | lookup }}", "the path up to its first dot must be literal text"),
        (
            '{{ lookup(facts.x ? "data.a" : facts.x) }}',
            "the path up to its first dot must be literal text",
        ),
        ("{{ dta.x }}", "t.jet:1:4: 'dta' is not set anywhere (did you mean data?)"),
        ("{{ x }}", "'x' is not set anywhere (set it first: x := …)"),
        ("{{ _ }}", "_ is allowed only in a call after a pipe"),
        ("x{{ import `a` }}", "import must come before everything else"),
        ("{{ trans `a` }}", "trans is not supported"),
        ("{{ yield menu }}", "'(' as in yield menu()"),
        ("{{ yield menu(1) }}", "pass arguments by name"),
        ("{{ block menu }}{{ end }}", "expected '(' and optional parameters"),
        ("{{ upper(includeIfExists(`x`)) }}", "it must be alone in its action"),
        ("{{ x.y: 1 }}", "only a function is allowed before a colon"),
        ("{{ if 1 }}" * 16 + "{{ end }}" * 16, "nested deeper than 15 levels"),
        ("{{ " + "(" * 5000 + "1" + ")" * 5000 + " }}", "nested too deeply"),
    ],
)
def test_what_is_not_jet_is_refused_before_it_is_rendered(text: str, message: str) -> None:
    """A mistake is told with its place and what to do."""
    assert message in refused(text)


def test_independent_mistakes_are_told_together() -> None:
    """Every unknown function is in one report."""
    assert refused("{{ uper(1) }}\n{{ lowr(1) }}").count("there is no function") == 2


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("\n{{ data.map.x }}", "data.map.x: no such path (t.jet:2:12)"),
        ('{{ data["x"].y }}', "data.x: no such path (t.jet:1:8)"),
        ("{{ .x }}", ".x: no such path"),
        ("{{ data.none.x }}", "data.none: it is nil, which has no entries"),
        ("{{ data.list[3] }}", "data.list[3]: the length is only 3"),
        ("{{ data.list.x }}", "a list is indexed by numbers, not 'x'"),
        ("{{ data.port.x }}", "data.port: a number has no entries"),
        ("{{ data.list[2:9] }}", "data.list[2:9]: the length is only 3"),
        ('{{ s := "é" }}{{ s[0:1] }}', "s[0:1] splits a character"),
        ('{{ lookup("data.x") }}', "lookup('data.x'): no such path (t.jet:1:4)"),
        ("{{ 1 / 0 }}", "1 / 0 cannot be calculated (t.jet:1:6)"),
        ("{{ 1 + true }}", "+ takes two numbers, not a number and true or false"),
        ('{{ 1 + "x" }}', "+ after a number needs a number, not the text 'x'"),
        ('{{ 1 < "2" }}', "< compares two numbers or two text values"),
        ("{{ upper(1) }}", "upper takes text, not a number"),
        ("{{ range data.port }}{{ end }}", "range takes a list or a map, not a number"),
        ("{{ ints(3, 3) }}", "the second number must be the larger one"),
        ("{{ map(1) }}", "map takes pairs"),
        ("{{ if false }}{{ x := 1 }}{{ end }}{{ x }}", "'x' is not set (t.jet:1:39)"),
        ("{{ if false }}{{ x := 1 }}{{ end }}{{ x = 1 }}", "'x' is not a variable yet"),
        ("{{ data = 1 }}", "'data' is not a variable yet"),
        ("{{ yield menu() }}", "there is no block 'menu'; define or import it"),
        ('{{ lookup("data." + facts.name) }}', "no such path"),
        ("{{ block a() }}{{ yield a() }}{{ end }}", "nested deeper than 40 levels"),
        ('{{ repeat("x", 100000000) }}', "at most 16777216 are allowed"),
        ("{{ ints(0, 100000) }}", "at most 10000 are allowed"),
        (
            "{{ range ints(0,9999) }}{{ range ints(0,9999) }}{{ end }}{{ end }}",
            "takes more than 1000000 steps",
        ),
        ("{{ range ints(0,9999) }}" + "x" * 2000 + "{{ end }}", "more than 16 MiB of text"),
        ('{{ x := "x" }}{{ range ints(0, 40) }}{{ x = x + x }}{{ end }}', "at most 16777216"),
        ("{{ 1e308 * 10 }}", "inf is not a finite number"),
    ],
)
def test_what_goes_wrong_for_a_host_names_the_place(text: str, message: str) -> None:
    """A path that is not there, a value of the wrong kind and a text without end are errors."""
    assert message in failure(text)


def test_signals_pass_through_a_try() -> None:
    """A try hides neither facts that could not be gathered nor the need of a file."""
    with pytest.raises(FactsUnavailableError):
        render("{{ try }}{{ facts.cpu }}{{ end }}")
    with pytest.raises(NeedFileError):
        render('{{ try }}{{ file("/etc/x") }}{{ end }}')


def test_undefined_has_a_kind_of_its_own() -> None:
    """Scripts can tell a missing path from other mistakes."""
    with pytest.raises(EvaluationError) as caught:
        render("{{ data.x }}")
    assert caught.value.kind == "template.undefined"


def test_a_value_is_never_a_template() -> None:
    """Text that came from a host is written as it is, and Python's attributes are out of reach."""
    assert render("{{ facts.evil }}") == "{{ 1 + 1 }}"
    expect_text(failure("{{ data.__class__ }}"))
    expect_text(failure("{{ data.name.__class__ }}"))
