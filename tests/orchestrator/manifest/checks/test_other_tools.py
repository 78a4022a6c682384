"""Words of other tools are answered with what ccm has."""

from pathlib import Path

import pytest

from orchestrator.manifest.checks.other_tools import property_hint, type_hint
from tests.orchestrator.manifest.site import refused_resource
from tests.texts import expect_text

KNOWN = ["apply", "archive", "exec", "file", "package", "service"]


@pytest.mark.parametrize(
    ("word", "hint"),
    [
        ("copy", "the type file"),
        ("template", "template('NAME.j2')"),
        ("ansible.builtin.apt", "the type package"),
        ("ansible.builtin.service", "the type service"),
        ("yum", "the type package"),
        ("lineinfile", "use the type edit, with line"),
        ("community.general.modprobe", "the type module"),
        ("vcsrepo", "the type git"),
        ("shell", "use the type exec"),
    ],
)
def test_types_of_other_tools(tmp_path: Path, word: str, hint: str) -> None:
    """A type of another tool is refused with ccm's type, or with how it is done."""
    assert hint in type_hint(word, KNOWN)
    (problem,) = refused_resource(tmp_path, f"- {word}: [{{/a: {{}}}}]")
    assert hint in problem.hint


def test_a_version_of_a_checkout_is_its_ref() -> None:
    """Of anything else, it is the desired state."""
    expect_text(property_hint("version", ["ensure", "ref"]))
    expect_text(property_hint("version", ["ensure"]))
    expect_text(property_hint("repo", ["url"]))


def test_a_type_that_exists_needs_no_hint() -> None:
    """Words that nobody is known to use have no hint of their own."""
    assert type_hint("sevice", KNOWN) == ""
    assert property_hint("comand", ["command"]) == ""
    expect_text(property_hint("src", ["device", "type"]))
    expect_text(property_hint("opts", ["options"]))


@pytest.mark.parametrize(
    ("text", "hint"),
    [
        ("target: /x", "name of a resource is its key"),
        ("dest: /x", "name of a resource is its key"),
        ("src: x", "use the property source"),
        ("become: true", "--become"),
        ("notify: x", "subscribe"),
    ],
)
def test_properties_of_other_tools(tmp_path: Path, text: str, hint: str) -> None:
    """A property of another tool is refused with ccm's word."""
    problems = refused_resource(tmp_path, f"- file: [{{/a: {{{text}, ensure: absent}}}}]")
    assert hint in problems[0].hint
    assert "did you mean" not in problems[0].hint


def test_the_path_of_a_wait_is_its_file(tmp_path: Path) -> None:
    """A type with a file property is not told to put the path into its name."""
    problems = refused_resource(tmp_path, "- wait: [{up: {path: /x}}]")
    assert "use the property file" in [problem.hint for problem in problems]


@pytest.mark.parametrize(
    ("text", "message", "type_"),
    [
        ("/usr: {ensure: absent}", "/usr cannot be unmounted; the host needs it", "mount"),
        ("anna: {uid: -1}", "uid must be at least 0, not '-1'", "user"),
    ],
)
def test_a_description_is_no_hint(tmp_path: Path, text: str, message: str, type_: str) -> None:
    """The form of a property is no advice for a value that has the right form."""
    problems = refused_resource(tmp_path, f"- {type_}: [{{{text}}}]")
    found = [(one.message.partition(": ")[2], one.hint) for one in problems]
    assert found == [(message, f"see 'ccm docs {type_}'")]


@pytest.mark.parametrize(
    "text",
    [
        "{{ $labels.instance }}",
        "{{.Names}}",
        "${ user.name }",
        "{{#each x}}",
        "{{ names }}",
        "{{- if .Values.x }}",
        "{{ range $i, $e := .x }}",
    ],
)
def test_braces_of_other_programs(tmp_path: Path, text: str) -> None:
    """Braces that are meant for another program are refused with the ways to write them."""
    (problem,) = refused_resource(tmp_path, f'- exec: [{{a: {{command: "{text}"}}}}]')
    for words in ("render: false", "{{ '{{' }}", "a file next to the manifest"):
        assert words in problem.hint


def test_a_source_that_is_a_url(tmp_path: Path) -> None:
    """A file's source that is an address is refused with the type for downloads."""
    text = "- file: [{/a: {source: 'https://h/x', owner: a, group: a, mode: '644'}}]"
    (problem,) = refused_resource(tmp_path, text)
    expect_text(problem.message)
