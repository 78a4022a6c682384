"""Wrong calls and operators in templates are told without names of Python code."""

from pathlib import Path

import pytest

from orchestrator.language.call_errors import of_call
from tests.orchestrator.planning.planned import plan


@pytest.mark.parametrize(
    ("source", "words"),
    [
        ("kvGet('CCM')", "kvGet() requires the argument 'key'"),
        ("file()", "file() requires the argument 'path'"),
        ("template()", "template() requires the argument 'text'"),
        (
            "registrations('a')",
            "registrations() requires the arguments 'protocol', 'service' and 'address'",
        ),
        ("lookup('data.u', 1, 2)", "too many arguments for lookup()"),
        ("Data.u | regex_replace()", "regex_replace() requires the argument 'pattern'"),
        ("Data.u | regex_replace('a', pattern='b')", "regex_replace() gets 'pattern' twice"),
        ("Data.u | hash('md5', 'x', 'y')", "too many arguments for hash()"),
        ("Data.u | upper('x')", "too many arguments for upper()"),
        ("1 | round(nope=1)", "round() has no argument 'nope'"),
        ("4 is divisibleby", "divisibleby() requires the argument 'num'"),
        ("[{}] | selectattr('a', 'nope') | list", "there is no test 'nope'"),
        ("[{}] | map('nope') | list", "there is no filter 'nope'"),
        ("Data.n.b", "a number has no key 'b'"),
        ("Data.u.b", "text has no key 'b'"),
        ("Data.none.b", "null has no key 'b'"),
        ("Data.l[5]", "a list has no element 5"),
        ("Data.n()", "expected a function, not a number"),
        ("Data.u + 1", "+ cannot add text and a number (use ~ to join text)"),
        ("Data.none + 1", "+ cannot add null and a number"),
        ("Data.l < 1", "< cannot compare a list with a number"),
        ("Data.u.__class__", "'__class__'"),
        ("Data.n ** Data.u", "** cannot be used with a number and text"),
        ("-Data.u", "- cannot be used with text"),
        ("Data.u | abs", "abs() cannot be used with text"),
        ("Data.n | length", "a number has no length"),
        ("Data.n | first", "expected a list, not a number"),
        ("Data.n | last", "expected a list, not a number"),
        ("Data.n | dictsort", "a number has no key 'items'"),
        ("1 in Data.n", "expected a list, not a number"),
        ("1 in Data.u", "a number cannot be part of text"),
        ("Data.u | round", "round cannot be used with text"),
        ("Data.u.replace(1, 2)", "replace() takes text, not a number"),
        ("Data.u.split(1)", "expected text, not a number"),
        ("Data.u.join([1])", "element 0 is a number, not text"),
        ("Data.l[none]", "a list has no null"),
    ],
)
def test_wrong_arguments(tmp_path: Path, source: str, words: str) -> None:
    """Inline and in a whole template the message names the function as templates do."""
    (tmp_path / "t.j2").write_text(f"{{{{ {source} }}}}\n")
    for command in (f"{{{{ {source} }}}}", "{{ template('t.j2') }}"):
        resources = f'[{{exec: [{{a: {{command: "{command}"}}}}]}}]'
        text = f"data: {{u: x, n: 1, l: [1], none: ~}}\nccm: {{resources: {resources}}}"
        (item,) = plan(tmp_path, text).items
        assert words in item.deferred_error


def test_a_condition_without_else() -> None:
    """Jinja2's sentence, with its own place, is replaced."""
    given = "the inline if-expression on line 1 evaluated to false and no else section was defined."
    assert of_call(given) == "the condition of the inline 'if' is false, and there is no 'else'"
