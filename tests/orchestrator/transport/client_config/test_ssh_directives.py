"""Lines of an SSH configuration and their tokens."""

from __future__ import annotations

import pytest

from orchestrator.transport.client_config.ssh_directives import (
    Directive,
    Directives,
    Tokens,
    expand,
    expand_path,
    host_name,
)
from remote_runtime.errors import Position

WHERE = Position("config", 1, 1)


def directives(**values: str) -> Directives:
    found = Directives()
    for key, value in values.items():
        found[key] = [Directive(key, value, WHERE)]
    return found


def test_words_are_cut_at_blanks() -> None:
    """Quotes keep them together."""
    assert Directive("host", 'a "b c"  d', WHERE).words == ["a", "b c", "d"]


def test_the_first_line_counts() -> None:
    """Without its quotes; None where there is none."""
    assert directives(user='"ann"').first("user") == "ann"
    assert directives().first("user") is None


def test_tokens_look_at_what_is_decided() -> None:
    """The host name, the port and the user, and nothing that is not known."""
    found = directives(hostname="%h.example", port="23", user="ann")
    assert host_name("web1", found) == "web1.example"
    assert expand("%r@%h:%p %n %%", Tokens("web1", found)) == "ann@web1.example:23 web1 %"
    with pytest.raises(KeyError):
        expand("%Z", Tokens("web1", found))


def test_paths_know_home_and_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """As ~ and ${NAME}."""
    monkeypatch.setenv("HOME", "/home/ann")
    monkeypatch.setenv("WHERE", "keys")
    assert expand_path("~/${WHERE}/%h", Tokens("web1", Directives())) == "/home/ann/keys/web1"
