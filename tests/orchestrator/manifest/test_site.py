"""The manifest checked whole, with positions."""

from pathlib import Path

import pytest

from remote_runtime.errors import InputError
from tests.texts import expect_text

from .site import load, refused, refused_resource


def test_both_forms_of_a_resource_are_read_in_order(tmp_path: Path) -> None:
    """A list of named maps and one map with a name give the same resources, as written."""
    text = """
ccm:
  fail_on_error: true
  pre_message: hello
  resources:
    - exec:
        - a:
        - b: {command: "true"}
    - exec: {name: c, command: "true"}
"""
    site = load(tmp_path, text)
    assert [resource.id for resource in site.resources] == ["exec#a", "exec#b", "exec#c"]
    assert site.resources[2].values == {"command": "true"}
    assert (site.fail_on_error, site.pre_message, site.post_message) == (True, "hello", "")


def test_defaults_fill_in_wherever_they_stand(tmp_path: Path) -> None:
    """Own properties win over defaults, a list replaces a list, the other spelling counts."""
    text = """
ccm:
  resources:
    - exec:
        - a: {returns: [3]}
        - defaults: {returns: [1, 2], refreshonly: true, command: "true"}
        - b: {refresh_only: false}
    - exec:
        - c: {}
"""
    a, b, c = load(tmp_path, text).resources
    assert a.values == {"returns": [3], "refresh_only": True, "command": "true"}
    assert b.values == {"returns": [1, 2], "refresh_only": False, "command": "true"}
    assert c.values == {}


def test_every_mistake_is_reported_at_once_with_its_place(tmp_path: Path) -> None:
    """One report holds all problems in the order of the file."""
    text = """
data: [1]
hierarchi: {}
ccm:
  resourcs: []
  fail_on_error: maybe
  resources:
    - exec:
        - a: {comand: x}
    - servce: {name: x}
"""
    found = [(p.where.line, p.where.column) for p in refused(tmp_path, text) if p.where]
    assert found == [(2, 7), (3, 1), (5, 3), (6, 18), (9, 15), (10, 7)]


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("- exec:\n    - a: {}\n  file: []", 3, "a second key, 'file'"),
        ("- exec:\n    - a: {}\n      b: {}", 3, "a second name, 'b'"),
        ("- exec:\n    - defaults: {}\n    - defaults: {}", 3, "a second 'defaults'"),
        ("- exec: {command: x}", 1, "exec has no name"),
        ("- exec:\n    - a: [x]", 2, "must be a map, not a list"),
        ("- exec:\n    - a", 2, "write '- a: {}'"),
        ("- exec:\n    - a", 2, ": an exec resource must be written as"),
        ("- file:\n    - a", 2, ": a file resource must be written as"),
        ("- exec: {name: [x]}", 1, "the name of an exec must be text"),
        ('- exec:\n    - "": {command: x}', 2, "the name of an exec must not be empty"),
        ("- exec: 5", 1, "must be a list of named resources"),
        ("- 5", 1, "a resource must be a map"),
        ("- exec: []", 1, "the list of exec resources is empty"),
        ("- fil:\n    - /a: {}", 1, "did you mean file?"),
        ("- exec:\n    - a: {onlyfi: x}", 2, "did you mean onlyif?"),
        ("- file:\n    - /a: {state: file}", 2, "use the property ensure"),
        ("- exec:\n    - a: {when: x}", 2, "use the property control"),
        ("- exec:\n    - a: {with_items: [x]}", 2, "use the property foreach"),
        ("- file:\n    - /a: {notify: x}", 2, "add subscribe to the resource"),
        ("- exec:\n    - a: {enabled: true}", 2, "known: "),
        ("- service:\n    - a: {enabled: true}", 2, "use the property enable"),
        ("- exec:\n    - a: {refresh_only: true, refreshonly: true}", 2, "the same property"),
        ("- exec:\n    - a: {onlyif: {command: x, tmeout: 1s}}", 2, "did you mean timeout?"),
        ("- exec:\n    - a: {returns: [0, 300]}", 2, "returns[1] must be at most 255"),
        ("- exec:\n    - a: {provider: zsh}", 2, "there is no provider 'zsh'"),
        ("- exec:\n    - a: {control: {iff: 'true'}}", 2, "did you mean if?"),
        ("- exec:\n    - a: {control: {if: \"'yes'\"}}", 2, "control must return true or false"),
        ("- exec:\n    - a: {control: {if: '{{ 1 }}'}}", 2, "without braces"),
        ("- exec:\n    - a: {health_checks: [{command: x, tries: 0}]}", 2, "at least 1"),
        (
            "- exec:\n    - a: {health_checks: [{name: x}]}",
            2,
            "required property 'command' or 'goss_rules' is missing (use exactly one of them)",
        ),
        (
            "- exec:\n    - a: {health_checks: [{command: x, goss_rules: {file: {}}}]}",
            2,
            "health_checks[0] has both command and goss_rules (use exactly one of them)",
        ),
        (
            "- exec:\n    - a: {register_when_stable: [{cluster: c}]}",
            2,
            "required property 'service' is missing",
        ),
        ("- file:\n    - /a: {owner: r, group: r}", 2, "required property 'mode' is missing"),
        ("- file:\n    - a: {ensure: absent}", 2, "absolute path"),
        ("- file:\n    - /a: {ensure: presnt}", 2, "did you mean present?"),
        ("- file:\n    - /a/: {ensure: absent}", 2, "a trailing slash: write /a"),
        ("- exec:\n    - a: {cwd: \"{{ lokup('data.x') }}\"}", 2, "did you mean lookup?"),
        ("- exec:\n    - a: {path: \"{{ file('/etc/p') }}\"}", 2, "cannot read file("),
        ("- exec:\n    - a: {environment: '${ x'}", 2, "is not closed"),
        ('- exec:\n    - a: {cwd: "/a\\0"}', 2, "cwd must not contain a NUL character"),
        (
            '- file:\n    - /a: {owner: "r\\0", group: r, mode: "1"}',
            2,
            "owner must not contain a NUL",
        ),
    ],
)
def test_a_mistake_says_what_was_expected(tmp_path: Path, text: str, line: int, words: str) -> None:
    """Each rule has a sentence with the line and, for a misspelling, the nearest right word."""
    problems = refused_resource(tmp_path, text)
    assert any(words in str(p) and p.where and p.where.line == line + 2 for p in problems), problems


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ("mode: 644", 'YAML reads 644 as a number (quote it: "644")'),
        ("owner: 0", 'quote it: "0"'),
        ("content: true", 'YAML reads true as a boolean (quote it: "true")'),
    ],
)
def test_a_number_where_text_belongs_must_be_quoted(tmp_path: Path, value: str, words: str) -> None:
    """What YAML has already turned into something else is refused, never guessed at."""
    text = f"- file:\n    - /a:\n        group: root\n        {value}"
    assert any(words in str(problem) for problem in refused_resource(tmp_path, text))


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("exec:\n    - a: {timeout: 5}", "'5' is not a duration such as 30s"),
        ("exec:\n    - a: {onlyif: {command: x, timeout: 5}}", "'5' is not a duration such as 30s"),
        ("exec:\n    - a: {umask: 99}", "'99' is not allowed"),
        ("exec:\n    - a: {cwd: 7}", "'7' is not an absolute path"),
        ("exec:\n    - a: {health_checks: [{command: x, timeout: 5}]}", "a duration such as 500ms"),
        ("package:\n    - a: {update_cache: true}", "'true' is not a duration such as 30s"),
        (
            "package:\n    - a: {ensure: true}",
            "ensure must be present, absent, latest or a version, not 'true'",
        ),
    ],
)
def test_quoting_is_advised_only_where_it_helps(tmp_path: Path, text: str, words: str) -> None:
    """Where the quoted text would be refused too, the hint says at once what is wanted."""
    (problem,) = refused_resource(tmp_path, f"- {text}")
    assert words in problem.hint
    assert "quote" not in str(problem)


def test_an_advised_quote_is_accepted(tmp_path: Path) -> None:
    """What the hint says to write is taken, also where another property is wrong."""
    text = "- exec:\n    - a: {timeout: 0, returns: zero, environment: [1, A=b]}"
    hints = [problem.hint for problem in refused_resource(tmp_path, text)]
    whole = "write a list of whole numbers"
    assert hints == ['quote it: "0"', whole, "'1' is not KEY=VALUE; neither part may be empty"]
    load(tmp_path, 'ccm: {resources: [{exec: [{a: {timeout: "0"}}]}]}')


def test_modes_need_no_quotes_where_their_digits_are_kept(tmp_path: Path) -> None:
    """A mode with a leading zero, or in YAML's own octal, is the text that was written."""
    site = load(
        tmp_path,
        "ccm: {resources: [{file: [{/a: {owner: root, group: root, mode: 0644}},"
        " {/b: {owner: root, group: root, mode: 0o644}}]}]}",
    )
    assert [one.raw["mode"] for one in site.resources] == ["0644", "0o644"]


def test_yes_is_no_boolean(tmp_path: Path) -> None:
    """Where true or false belongs, the words of YAML 1.1 are refused with what to write."""
    problems = refused_resource(tmp_path, "- service:\n    - a: {enable: on}")
    expect_text([problem.hint for problem in problems])


def test_a_list_is_not_to_be_quoted(tmp_path: Path) -> None:
    """Quoting is advised for a scalar that YAML reads as something else, not for a list."""
    for written, hint in (("5", "quote it"), ("[a]", "")):
        text = f"ccm: {{pre_message: {written}, resources: [{{exec: [{{a: {{}}}}]}}]}}"
        assert [problem.hint for problem in refused(tmp_path, text)] == [hint]


def test_a_version_must_be_quoted(tmp_path: Path) -> None:
    """1.10 reaches us as 1.1, so it is refused at its place."""
    (problem,) = refused_resource(tmp_path, "- package:\n    - nginx: {ensure: 1.10}")
    expect_text(str(problem))
    assert problem.where is not None
    assert problem.where[1:] == (4, 27)


def test_a_templated_value_is_checked_only_when_it_is_known(tmp_path: Path) -> None:
    """Enumerations, patterns and types do not apply to what is still a template."""
    text = """
ccm:
  resources:
    - file:
        - /a: {ensure: "{{ Data.e }}", mode: "{{ Data.m }}"}
        - "{{ Data.n }}": {ensure: absent}
    - exec:
        - b: {returns: "{{ Data.r }}", refresh_only: "{{ Data.x }}"}
"""
    assert len(load(tmp_path, text).resources) == 3


def test_what_no_template_can_mend_is_told_beside_templates(tmp_path: Path) -> None:
    """Unknown keys, and values without a template, are refused in properties that hold one."""
    text = """
ccm:
  resources:
    - service:
        - ssh:
            register_when_stable:
              - {cluster: "{{ Data.c }}", service: s, protocol: tcp, address: a, port: 0, prio: 1}
    - exec:
        - x: {onlyif: {command: "{{ Data.x }}", tmeout: "{{ Data.t }}", timeout: "{{ Data.t }}"}}
    - scaffold:
        - /x: {source: x, post: [{"*.go": "{{ Data.p }}", "*.sh": 3}]}
"""
    found = [problem.message for problem in refused(tmp_path, text)]
    expect_text([message.split(": ", 1)[1] for message in found])


def test_a_types_own_rules_wait_for_what_has_not_its_form_yet(tmp_path: Path) -> None:
    """A template where a list or a map belongs is no text that a rule could be asked about."""
    text = """
ccm:
  resources:
    - scaffold:
        - /a: {source: x, post: "{{ Data.post }}"}
        - /b: {source: x, post: ["{{ Data.post }}"]}
    - exec:
        - c: {environment: "{{ Data.e }}", unless: {command: "{{ Data.x }}"}}
        - d: {environment: ["{{ Data.e }}"], creates: "{{ Data.x }}"}
"""
    assert len(load(tmp_path, text).resources) == 4


def test_render_false_leaves_everything_as_it_is(tmp_path: Path) -> None:
    """Nothing in such a resource is a template, so nothing in it can be a broken one."""
    text = "ccm: {resources: [{exec: [{'a {{': {command: '{{ x', render: false}}]}]}"
    (resource,) = load(tmp_path, text).resources
    assert resource.values["command"] == "{{ x"
    assert resource.is_static


def test_positions_point_into_block_texts(tmp_path: Path) -> None:
    """A broken expression is found at its own line and column, also inside a block text."""
    text = """ccm:
  resources:
    - exec:
        - a:
            command: |
              one {{ 1 }}
              two {{ lokup('x') }}
"""
    (problem,) = refused(tmp_path, text)
    assert problem.where is not None
    assert problem.where[1:] == (7, 22)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "a manifest must be a map"),
        ("data: {}", "no ccm section"),
        ("defaults: {user: x}\nhosts: {web1: {}}", "2:1: this is an inventory, not a manifest"),
        ("groups: {web: {hosts: [a]}}", "this is an inventory, not a manifest"),
        ("- hosts: all\n  tasks: []", "this is an Ansible playbook, not a manifest"),
        ("- import_playbook: x.yml", "this is an Ansible playbook, not a manifest"),
        ("ccm: {}", "the ccm section has no resources"),
        ("ccm: {resources: []}", "resources is empty; expected a list"),
        ("ccm: {resources_jet_file: x.jet}", "cannot read"),
        ("ccm: {resources_jet_file: [x]}", "must be the name of a file, not"),
        ("ccm: {resources_jet_file: x.jet, resources: []}", "cannot be combined"),
        ("ccm: {resources: [", "invalid YAML"),
        ("ccm: {resources: [{exec: [{a: {}}]}]}\nccm: 1", "duplicate key"),
        ("hierarchy: {merge: deap}\nccm: {resources: [{exec: [{a: {}}]}]}", "did you mean deep?"),
        ("overrides: 1\nccm: {resources: [{exec: [{a: {}}]}]}", "overrides must be a map"),
    ],
)
def test_a_broken_envelope_is_refused(tmp_path: Path, text: str, words: str) -> None:
    """Each mistake above the resources has a sentence of its own."""
    assert any(words in str(problem) for problem in refused(tmp_path, text))


def test_a_manifest_that_is_not_there_is_named(tmp_path: Path) -> None:
    """A missing file is an input error with its path."""
    from orchestrator.manifest import load_site

    with pytest.raises(InputError, match=r"nowhere\.yaml"):
        load_site(tmp_path / "nowhere.yaml")


@pytest.mark.parametrize(
    ("entry", "hint"),
    [
        ("exec: [{same: {foreach: Data.x}}]", "use item, index or key in the name"),
        ("apply: [{r.yaml: {foreach: Data.x}}]", "in the name and 'manifest: r.yaml'"),
        ("exec: [{'{{ item }}': {foreach: Data.x}}]", ""),
        ("apply: [{'{{ item }}': {manifest: r.yaml, foreach: Data.x}}]", ""),
    ],
)
def test_turns_of_a_loop_with_one_name(tmp_path: Path, entry: str, hint: str) -> None:
    """A name without a template suits one turn at most, of which a warning tells."""
    site = load(tmp_path, f"ccm: {{resources: [{{{entry}}}]}}")
    told = [one.hint for one in site.warnings if "so only one iteration is allowed" in one.message]
    assert [hint in one for one in told] == ([True] if hint else [])
