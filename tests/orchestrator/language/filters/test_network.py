"""Questions about addresses."""

from typing import Any

import pytest

from orchestrator.expressions import EvaluationError
from tests.orchestrator.expressions.fakes import evaluate
from tests.texts import expect_text

HOST = "'192.0.2.10/24'"


@pytest.mark.parametrize(
    ("source", "value"),
    [
        (f"{HOST} | ipaddr", "192.0.2.10/24"),
        ("'web1' | ipaddr", False),
        (f"{HOST} | ipaddr('address')", "192.0.2.10"),
        (f"{HOST} | ipaddr('netmask')", "255.255.255.0"),
        (f"{HOST} | ipaddr('network')", "192.0.2.0"),
        (f"{HOST} | ipaddr('broadcast')", "192.0.2.255"),
        (f"{HOST} | ipaddr('prefix')", 24),
        (f"{HOST} | ipaddr('range_usable')", "192.0.2.1-192.0.2.254"),
        (f"{HOST} | ipaddr('192.0.0.0/16')", "192.0.2.10/24"),
        (f"{HOST} | ipaddr('198.51.100.0/24')", False),
        (f"{HOST} | ipaddr('2001:db8::/32')", False),
        ("'192.0.2.0/24' | ipaddr(5)", "192.0.2.5/24"),
        ("'192.0.2.0/24' | ipaddr(-2)", "192.0.2.254/24"),
        ("'192.0.2.0/24' | ipaddr(300)", False),
        ("'192.0.2.0/24' | ipaddr('net')", "192.0.2.0/24"),
        (f"{HOST} | ipaddr('net')", False),
        ("'10.0.0.1' | ipaddr('private')", "10.0.0.1"),
        ("'10.0.0.1' | ipaddr('public')", False),
        ("['192.0.2.1', 'x', '2001:db8::1'] | ipaddr('ipv6')", ["2001:db8::1"]),
        ("'192.0.2.1' | ipaddr('revdns')", "1.2.0.192.in-addr.arpa."),
        ("'2001:db8::/64' | ipaddr('size')", 2**64),
        ("'2001:db8::1/64' | ipwrap", "[2001:db8::1]/64"),
        ("'192.0.2.1/31' | ipaddr('first_usable')", "192.0.2.0"),
    ],
)
def test_questions(source: str, value: Any) -> None:
    """As Ansible's filters of these names."""
    assert evaluate(source) == value


def test_an_unknown_question_is_refused() -> None:
    """The message lists those there are."""
    with pytest.raises(EvaluationError) as refused:
        evaluate(f"{HOST} | ipaddr('adress')")
    expect_text(refused.value)


URL = "'https://joe:pass@WWW.example.net:9000/a/b.html?x=1#end'"


@pytest.mark.parametrize(
    ("part", "value"),
    [
        ("scheme", "https"),
        ("hostname", "www.example.net"),
        ("port", 9000),
        ("path", "/a/b.html"),
        ("query", "x=1"),
        ("fragment", "end"),
        ("username", "joe"),
    ],
)
def test_parts_of_a_url(part: str, value: Any) -> None:
    """Alone or in a map, as Ansible's filter gives them."""
    assert evaluate(f"{URL} | urlsplit('{part}')") == value
    assert evaluate(f"({URL} | urlsplit).{part}") == value


@pytest.mark.parametrize("part", ["password", "netloc", "host"])
def test_a_url_has_no_other_parts(part: str) -> None:
    """Above all not the password, which nothing would mask any more."""
    with pytest.raises(EvaluationError, match="urlsplit takes one of fragment, hostname"):
        evaluate(f"{URL} | urlsplit('{part}')")


def test_a_broken_url_is_refused() -> None:
    """The message says what is wrong."""
    with pytest.raises(EvaluationError) as refused:
        evaluate("'https://[::1/' | urlsplit('hostname')")
    expect_text(refused.value)
