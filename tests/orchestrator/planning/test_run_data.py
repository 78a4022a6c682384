"""Where data comes from, and what it comes to."""

import hashlib
from pathlib import Path
from unittest import mock

import pytest

from orchestrator.manifest import annotations
from remote_runtime.errors import ResourceError, UsageError
from tests.texts import expect_text

from .planned import gathered, plan, planner, refused, refused_host, show

RESOURCES = "ccm: {resources: [{exec: [{x: {}}]}]}"
HIERARCHY = """
data: {a: base, map: {x: 1, y: 2}, list: [1]}
overrides:
  "os:linux": {a: os, map: {x: 10}, list: [2]}
  common: {a: common, map: {z: 3}}
"""
ALL = "{{ Data.a }} {{ Data.map }} {{ Data.list }}"


@pytest.mark.parametrize(
    ("hierarchy", "text"),
    [
        ("", 'base {"x": 1, "y": 2} [1]'),
        ("{order: [common, never]}", 'common {"z": 3} [1]'),
        ("{order: [never, 'os:{{ lookup(''facts.host.info.os'') }}']}", 'os {"x": 10} [2]'),
        (
            "{order: ['os:{{ Facts.host.info.os }}', common], merge: deep}",
            'common {"x": 10, "y": 2, "z": 3} [1, 2]',
        ),
        ("{order: [common, 'os:linux'], merge: deep}", 'os {"x": 10, "y": 2, "z": 3} [1, 2]'),
        ("{order: ['{{ Facts.nope }}', common]}", 'common {"z": 3} [1]'),
        ("{order: ['os:{{ Facts.nope }}', common]}", 'common {"z": 3} [1]'),
    ],
)
def test_overrides_are_laid_over_data(tmp_path: Path, hierarchy: str, text: str) -> None:
    """first replaces top-level keys by the first match; deep merges every match in order."""
    head = HIERARCHY + (f"hierarchy: {hierarchy}" if hierarchy else "")
    assert show(tmp_path, ALL, head) == text


def test_without_a_hierarchy_the_override_default_counts(tmp_path: Path) -> None:
    """The order is [default] where none is given."""
    head = "data: {a: base}\noverrides: {default: {a: over}}"
    assert show(tmp_path, "{{ Data.a }}", head) == "over"


def test_an_order_entry_whose_expressions_are_empty_is_skipped(tmp_path: Path) -> None:
    """'os:' is not looked for when the fact is missing, even where such an override exists."""
    head = (
        "data: {a: base}\noverrides: {'os:': {a: wrong}}\nhierarchy: {order: ['os:{{ Facts.no }}']}"
    )
    assert show(tmp_path, "{{ Data.a }}", head) == "base"


def test_external_data_and_assignments_go_on_top(tmp_path: Path) -> None:
    """--hiera files resolve by themselves and merge deep, in order; --data always wins."""
    (tmp_path / "one.yaml").write_text("data: {n: {b: one, c: one, d: one}, l: [2]}")
    (tmp_path / "two.yaml").write_text(
        "hierarchy: {order: ['{{ Facts.host.info.os }}']}\noverrides: {linux: {n: {c: two, d: 2}}}"
    )
    found = show(
        tmp_path,
        "{{ Data.n }} {{ Data.l }}",
        "data: {n: {a: own, b: own}, l: [1]}",
        hiera=[str(tmp_path / "one.yaml"), str(tmp_path / "two.yaml")],
        data=["n.d=5", "n.e=yes", "n.f='7'"],
    )
    expect_text(found)


KEYED = """\
data: {users: [ann, bob], ntp: [own], more: [a], map: {x: 1, y: 2}, gone: 1}
hierarchy:
  keys: {users: unique, ntp: first}
  knockout: "--"
"""


def test_merges_of_keys_and_marks_hold_over_later_sources(tmp_path: Path) -> None:
    """Of --hiera, --data and apply: unique joins once, first replaces, a mark removes; other keys
    merge deep."""
    over = (
        "{users: [bob, carl, --ann], ntp: [over], more: [b, --a], map: {x: '--', z: 3}, gone: '--'}"
    )
    expected = '["bob", "carl"] ["over"] ["b"] {"y": 2, "z": 3} '
    shown = "{{ Data.users }} {{ Data.ntp }} {{ Data.more }} {{ Data.map }} {{ Data.gone | d }}"
    (tmp_path / "over.yaml").write_text(f"data: {over}")
    hiera = [str(tmp_path / "over.yaml")]
    assert show(tmp_path, shown, KEYED, hiera=hiera) == expected
    assert show(tmp_path, "- {{ Data.map }}", KEYED, data=["map.y=--"]) == '- {"x": 1}'
    (tmp_path / "child.yaml").write_text(
        f"{KEYED}ccm: {{resources: [{{exec: [{{x: {{command: '{shown}'}}}}]}}]}}"
    )
    parent = f"ccm: {{resources: [{{apply: [{{child.yaml: {{data: {over}}}}}]}}]}}"
    (item,) = [one for one in plan(tmp_path, parent).items if one.type == "exec"]
    assert item.properties["command"] == expected


def test_without_them_later_sources_merge_deep(tmp_path: Path) -> None:
    """The merge of a later source is its own affair, and --x is a text."""
    (tmp_path / "over.yaml").write_text(
        "data: {l: [--a]}\nhierarchy: {keys: {l: first}, knockout: '--'}"
    )
    hiera = [str(tmp_path / "over.yaml")]
    assert show(tmp_path, "- {{ Data.l }}", "data: {l: [a]}", hiera=hiera) == '- ["a", "--a"]'


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"hiera": ["/nowhere/x.yaml"]}, "/nowhere/x.yaml"),
        ({"hiera": ["https://example.org/x"]}, "has no digest"),
        ({"hiera": ["ftp://example.org/x"]}, "ftp:// is not supported"),
        ({"facts": ["/nowhere/f.json"]}, "/nowhere/f.json"),
    ],
)
def test_a_source_that_cannot_be_read_is_refused(
    tmp_path: Path, options: dict[str, list[str]], words: str
) -> None:
    """Every source is opened before a host is contacted."""
    assert words in refused(tmp_path, RESOURCES, **options)


def test_external_data_must_have_the_known_keys(tmp_path: Path) -> None:
    """Bare values at the top of a --hiera file are refused with what to do."""
    (tmp_path / "x.yaml").write_text("port: 80")
    assert "put values under data:" in refused(
        tmp_path, RESOURCES, hiera=[str(tmp_path / "x.yaml")]
    )


@pytest.mark.parametrize("text", ["a", "=1", "a..b=1", "a=[1]", "a={"])
def test_a_bad_assignment_is_a_usage_error(tmp_path: Path, text: str) -> None:
    """--data takes NAME=SCALAR and nothing else."""
    with pytest.raises(UsageError):
        planner(tmp_path, RESOURCES, data=[text])


def test_requirements_are_checked_before_any_host(tmp_path: Path) -> None:
    """@require and @validate of data that no host has a part in refuse the run, with positions."""
    head = """data:
  # @require
  password: ""
  # @validate isIP
  ip: 10.0.0.300
  # a note
  # @validate value > 10
  count: 5
  deep:
    - name: x  # @required
      # @required
      key:
"""
    text = refused(tmp_path, head + RESOURCES)
    expect_text(text)
    assert "data.deep.*.name" not in text


def test_a_list_is_held_entry_by_entry(tmp_path: Path) -> None:
    """A condition holds every entry of a list, an expression sees the list."""
    data = """data:
  # @validate isIP
  dns: [10.0.0.1, "::1"]
  # @validate isRegex(value, '^v[0-9]+$')
  tags: [v1, v2]
  # @validate len(value) > 1
  many: [1, 2]
"""
    site = data + "ccm: {resources: [{exec: [{'true': {}}]}]}\n"
    assert plan(tmp_path, site).items
    text = refused(tmp_path, site.replace("::1", "nowhere").replace("v2]", "x]"))
    expect_text(text)


def test_a_line_may_hold_several_annotations(tmp_path: Path) -> None:
    """Each of them counts; an @ inside quotes begins none, and a word that is unknown is told."""
    data = """data:
  # @require @secret @validate isRegex(value, '^x @require y$') @reqire
  key: KEY
"""
    site = data + "ccm: {resources: [{exec: [{'echo {{ Data.key }}': {}}]}]}\n"
    expect_text(refused(tmp_path, site.replace("KEY", "''")))
    expect_text(refused(tmp_path, site))
    made = plan(tmp_path, site.replace("KEY", "x @require y"))
    assert made.secrets == ("x @require y",)
    found = planner(tmp_path, site.replace("KEY", "x @require y")).survey.warnings
    expect_text([problem.message for problem in found])


def test_an_apostrophe_hides_no_annotation(tmp_path: Path) -> None:
    """It begins no quotes within a word."""
    data = "data:\n  # @require the team's own @secret, don't share it\n  key: hunter2\n"
    site = data + "ccm: {resources: [{exec: [{'echo {{ Data.key }}': {}}]}]}\n"
    assert plan(tmp_path, site).secrets == ("hunter2",)


def test_requirements_are_met_from_outside(tmp_path: Path) -> None:
    """What is required may come from --data, because the merged result is what counts."""
    head = "data:\n  # @require\n  password: ''\n"
    assert show(tmp_path, "{{ Data.password }}", head, data=["password=x"]) == "x"


def test_requirements_that_depend_on_the_host_refuse_that_host(tmp_path: Path) -> None:
    """Where data depends on facts the host is refused, not the run."""
    text = "data:\n  # @require\n  a: '{{ Facts.nope }}'\n" + RESOURCES
    assert refused_host(tmp_path, text).kind == "data.required"


def test_an_unknown_annotation_is_a_warning(tmp_path: Path) -> None:
    """A misspelt annotation is told with the nearest right word."""
    site = planner(tmp_path, "data:\n  # @secrt\n  a: x\n" + RESOURCES).site
    assert [str(w) for w in site.warnings] == [
        f"{tmp_path}/site.yaml:3:3: @secrt is not an annotation (did you mean @secret?)"
    ]


def test_an_annotation_of_an_override_is_a_warning(tmp_path: Path) -> None:
    """Only those under data count, so that a secret is not taken for masked."""
    head = "data: {a: x}\noverrides:\n  default:\n    # @secret\n    a: y\n"
    site = planner(tmp_path, head + RESOURCES).site
    assert [str(w) for w in site.warnings] == [
        f"{tmp_path}/site.yaml:5:5: @secret has no effect in an override "
        "(write it above the same key under data)"
    ]


def test_an_annotation_in_each_entry_of_a_list_is_one(tmp_path: Path) -> None:
    """It covers all entries: what it refuses is told once, and the data is gone through once."""
    entry = "    - name: ''  # @require\n      token: sesame-{}  # @secret\n"
    site = "data:\n  users:\n" + "".join(map(entry.format, range(50))) + RESOURCES
    assert refused(tmp_path, site).count("data.users.*.name is required") == 50  # entries
    with mock.patch.object(annotations, "_values", wraps=annotations._values) as asked:
        made = plan(tmp_path, site.replace("''", "x"))
    assert len(made.secrets) == 50
    assert asked.call_count < 50 * 50


def test_secret_values_are_listed_for_masking(tmp_path: Path) -> None:
    """@secret marks texts of four characters and more, above the key or behind the value."""
    text = """data:
  # @secret
  password: "sesame-{{ Facts.host.info.os }}"
  pin: abc  # @secret
  token: "tok#en"  # @secret
  # @secret
  all: {a: [first, secnd], b: 12345}
  open: plain
"""
    made = plan(tmp_path, text + RESOURCES)
    assert made.secrets == ("sesame-linux", "tok#en", "first", "secnd", "12345")


def test_the_hash_of_a_secret_in_the_data_is_masked(tmp_path: Path) -> None:
    """What is made of an annotated value inside of the data itself is as secret."""
    text = """data:
  # @secret
  password: sesame123
  hash: "{{ Data.password | hash }}"
  other: "{{ 'x' | hash }}"
"""
    found = plan(tmp_path, text + RESOURCES).secrets
    assert hashlib.sha1(b"sesame123").hexdigest() in found
    assert hashlib.sha1(b"x").hexdigest() not in found


def test_data_sees_facts_environ_and_data(tmp_path: Path) -> None:
    """A missing path is empty there; an order that reads data is a warning, because it is empty."""
    text = "data: {a: 'x-{{ lookup(''facts.no'') }}', b: '{{ Data.a }}', c: '{{ Environ.E }}'}\n"
    order = "hierarchy: {order: ['{{ Data.a }}']}\n"
    made = planner(tmp_path, text + order + RESOURCES, environ={"E": "env"})
    expect_text(str(made.site.warnings[0]))
    shown = show(tmp_path, "{{ Data.a }} {{ Data.b }} {{ Data.c }}", text, environ={"E": "env"})
    assert shown == "x- x- env"


def test_data_that_needs_missing_facts_refuses_the_host(tmp_path: Path) -> None:
    """An unavailable family that data touches is facts.timeout."""
    text = "data: {a: '{{ lookup(''facts.cpu.info'') }}'}\n" + RESOURCES
    error = refused_host(tmp_path, text, gathered({}, unavailable={"cpu": "2 s are over"}))
    assert error.kind == "facts.timeout"


SECRET = {"DB_PASSWORD": "hunter2-hunter2", "API_TOKEN": "of-no-use-here", "OF_MINE": "by-its-name"}


@pytest.mark.parametrize(
    "text",
    [
        "{exec: [{x: {command: '{{ Environ.DB_PASSWORD }}'}}]}",
        "{exec: [{\"{{ lookup('environ.DB_PASSWORD') }}\": {}}]}",
        "{exec: [{x: {command: '{{ Data.password }}'}}]}",
        "{exec: [{x: {control: {if: \"Environ.DB_PASSWORD != ''\"}}}]}",
        "{file: [{/x: {content: \"{{ file('/etc/x') ~ Environ.DB_PASSWORD }}\", owner: root,"
        " group: root, mode: '0644'}}]}",
    ],
)
def test_a_secret_of_the_environment_is_masked_where_it_is_read(tmp_path: Path, text: str) -> None:
    """The plan has what its templates read, and nothing else of the environment."""
    data = "data: {password: \"{{ lookup('environ.DB_PASSWORD') }}\"}\n" * ("Data" in text)
    made = plan(tmp_path, f"{data}ccm: {{resources: [{text}]}}", environ=SECRET)
    assert made.secrets == ("hunter2-hunter2",)
    listed = {**SECRET, "CCM_SECRET_ENV": "OF_*"}
    made = plan(
        tmp_path, "ccm: {resources: [{exec: [{'{{ Environ.OF_MINE }}': {}}]}]}", environ=listed
    )
    assert made.secrets == ("by-its-name",)


def test_a_turn_reads_no_secret_that_the_host_does_not_mask(tmp_path: Path) -> None:
    """A name that is put together at the turn, behind a file of the target, fails the resource."""
    content = "{{ file('/etc/x') }}{{ lookup('environ.DB_' ~ 'PASSWORD') }}"
    file = f'{{/x: {{content: "{content}", owner: root, group: root, mode: "0644"}}}}'
    made = plan(tmp_path, f"ccm: {{resources: [{{file: [{file}]}}]}}", environ=SECRET)
    with pytest.raises(ResourceError) as caught:
        made.render(0, lambda path: b"x")
    expect_text(caught.value)


@pytest.mark.parametrize(
    ("hierarchy", "told"),
    [
        ("{keys: {a: uniq}}", "3:23: keys.a must be first, deep or unique, not 'uniq'"),
        ("{keys: [a]}", "keys must be a map, not a list"),
        ("{keys: {a.b: deep}}", "keys takes top-level keys of the data, not a.b"),
        ("{knockout: 5}", "knockout must be text, not '5'"),
        ("{knockout: ''}", "knockout must be text, not ''"),
        ("{knock: x}", "hierarchy: unknown key 'knock'"),
    ],
)
def test_a_hierarchy_that_cannot_be_read_is_refused(
    tmp_path: Path, hierarchy: str, told: str
) -> None:
    """Each mistake with its place."""
    text = f"data: {{a: 1}}\n{RESOURCES}\nhierarchy: {hierarchy}\n"
    assert told in refused(tmp_path, text)
