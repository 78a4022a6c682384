"""The words that change records make."""

import pytest

from orchestrator.report.action_text import ChangeLine, intent, operation_words, with_object


@pytest.mark.parametrize(
    ("type_name", "changes", "words"),
    [
        ("file", [("ensure", "absent", "present"), ("content", "", "sha256:1")], "create"),
        ("file", [("ensure", "absent", "directory")], "create directory"),
        ("file", [("ensure", "directory", "absent")], "remove"),
        ("file", [("mode", "0600", "0644")], "change"),
        ("exec", [("command", "", "true")], "run"),
        ("exec", [("command", "[masked]", "[masked]")], "run"),
        ("cron", [("command", "[masked]", "[masked]")], "change"),
        ("package", [("ensure", "absent", "1.2")], "install"),
        ("package", [("ensure", "absent", "present")], "install"),
        ("package", [("ensure", "1.1", "1.2")], "change"),
        ("package", [("ensure", "1.1", "absent")], "remove"),
        ("package", [("ensure", "1", "absent"), *((f"package {p}", "1", "absent") for p in "abc")],
         "remove, also remove packages a, b and c"),
        ("package", [("ensure", "1.1", "1.2"), ("package a", "1", "absent")], "remove package a"),
        ("service", [("ensure", "stopped", "running"), ("enable", "false", "true")],
         "start and enable"),
        ("archive", [("ensure", "absent", "present"), ("extracted", "", "/x")],
         "create and extract"),
        ("scaffold", [("a", "", "sha256:1"), ("b", "sha256:1", "sha256:2")],
         "create 1 file, change 1 file"),
        ("scaffold", [("a", "absent", "directory"), ("b", "present", "absent")],
         "create 1 directory, remove 1 file"),
        ("scaffold", [("a", "0644", "0755"), ("b", "0644", "0755")], "change 2 files"),
        ("cron", [("ensure", "absent", "present")], "create"),
        ("apply", [], "change"),
    ],
)  # fmt: skip
def test_words(type_name: str, changes: list[tuple[str, str, str]], words: str) -> None:
    """What a resource would do is what its changes are, counted where they are about files."""
    assert intent(type_name, [ChangeLine(*c, "") for c in changes], False).words == words


def test_what_fired_it_is_told() -> None:
    """A restart that a subscription asks for says so; a version stands behind the words."""
    restart = intent("service", [ChangeLine("ensure", "running", "restarted", "")], True)
    assert restart.words == "restart (refresh)"
    install = intent("package", [ChangeLine("ensure", "absent", "1.2", "")], False)
    assert (install.words, install.values, install.rest) == ("install", "1.2", ())


@pytest.mark.parametrize(
    ("words", "whole"),
    [
        ("create", "create it"),
        ("start and enable", "start and enable it"),
        ("create directory", "create directory"),
        ("change 2 files", "change 2 files"),
    ],
)
def test_a_sentence_ends_with_an_object(words: str, whole: str) -> None:
    """A verb alone gets one."""
    assert with_object(words) == whole


@pytest.mark.parametrize(
    ("kind", "name", "state", "words"),
    [
        ("path", "/x", "file", "write file /x"),
        ("path", "/x", "absent", "remove /x"),
        ("mount", "/x", "absent", "unmount /x"),
        ("package", "nginx", "1.2", "install nginx 1.2"),
        ("package", "nginx", "absent", "remove package nginx"),
        ("user", "bob", "present", "create or change user bob"),
        ("group", "bob", "absent", "remove group bob"),
        ("unit", "x.service", "restarted", "restart x.service"),
        ("unit", "x.service", "unheard of", "unheard of unit x.service"),
    ],
)
def test_words_of_operations(kind: str, name: str, state: str, words: str) -> None:
    """Each is a verb and what it is about."""
    assert operation_words({"kind": kind, "name": name, "state": state}) == words
