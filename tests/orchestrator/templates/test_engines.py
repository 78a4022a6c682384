"""What each language of a directory can do beyond what all of them can."""

import builtins
import re
from pathlib import Path
from typing import Any

import pytest

from orchestrator.expressions import EvaluationError
from orchestrator.expressions.environment_variables import Environ
from orchestrator.language.errors import FactsUnavailableError
from orchestrator.language.facts import Facts
from orchestrator.planning.site.site_check import UnknownFacts
from orchestrator.registration.key_value import KeyValueLookup
from orchestrator.templates.engines import go
from tests.orchestrator.language.jet.fakes import DATA, host
from tests.orchestrator.registration.test_key_value import Fake
from tests.orchestrator.templates.trees import failure, fill, needs_gotpl, refused, render, tree
from tests.texts import expect_text


def text(directory: Path, engine: str, template: str, **others: str) -> str:
    return render(directory, {"a": template, **others}, engine)["a"]


# Jet


def test_jet_includes_and_extends_files_of_the_directory(tmp_path: Path) -> None:
    """Paths of include and extends are those of the directory; a base may be a partial."""
    base = "<[[ block body() ]]none[[ end ]]>"
    child = "[[ extends `_partials/base` ]][[ block body() ]][[ include `b` ]][[ end ]]"
    files = {"a": child, "b": "b[[ data.port ]]", "_partials/base": base}
    assert render(tmp_path, files) == {"a": "<b8080>", "b": "b8080"}


def test_a_jet_partial_gets_a_context(tmp_path: Path) -> None:
    """The second argument of render() is the partial's dot."""
    files = {"_partials/user": "[[ .name ]] on [[ data.name ]]"}
    main = "[[ range data.users ]][[ render(`_partials/user`, .) ]]\n[[ end ]]"
    assert render(tmp_path, {"a": main, **files}) == {"a": "Eva on web\nUdo on web\n"}


def test_a_jet_partial_is_checked_where_it_is_rendered(tmp_path: Path) -> None:
    """A partial may use the variables of whoever includes it; one that is rendered has none."""
    included = {"a": "[[ x := 1 ]][[ include `_partials/p` ]]", "_partials/p": "[[ x ]]"}
    assert render(tmp_path / "1", included) == {"a": "1"}
    rendered = {"a": "[[ x := 1 ]][[ render(`_partials/p`, .) ]]", "_partials/p": "[[ x ]]"}
    expect_text(refused(tmp_path / "2", rendered))


def test_a_jet_partial_that_is_not_there_is_refused(tmp_path: Path) -> None:
    """A literal path of render() that leads nowhere is refused at its place."""
    told = refused(tmp_path, {"a": "\n [[ render(`_partials/nope`, .) ]]"})
    expect_text(told)


def test_jet_mistakes_of_included_files_carry_their_place(tmp_path: Path) -> None:
    """A mistake in an included file is told where it is, with the directory in front."""
    files = {"a": "[[ include `_partials/p` ]]", "_partials/p": "\n[[ data.nope ]]"}
    assert "t/_partials/p:2:" in failure(tmp_path, files)


# Go


@needs_gotpl
@pytest.mark.parametrize(
    "path",
    [
        ".Facts.x", "(.Facts.x)", '(print .Facts.x ".y")', '(printf "%s.x" .Facts.x)',
        '(ternary "data.a" .Facts.x true)', "$p", '(.Facts.x | printf "data%s")', '"nope.x"',
    ],
)  # fmt: skip
def test_go_looks_up_no_path_that_a_host_chooses(tmp_path: Path, path: str) -> None:
    """What is not spelt out up to its first dot is refused with its place, wherever it stands."""
    template = '{{ $p := "data.name" }}\n{{ if true }} {{ lookup PATH "d" }}{{ end }}'
    told = refused(tmp_path, {"a": template.replace("PATH", path)}, engine="go")
    assert "t/a:2:18: lookup: " in told


@pytest.mark.parametrize(
    ("engine", "call"),
    [
        pytest.param("go", '{{ kvGet "CCM" "port" }}', marks=needs_gotpl),
        ("jet", '[[ kvGet("CCM", "port") ]]'),
        ("jinja", "{{ kvGet('CCM', 'port') }}"),
    ],
)
def test_values_of_buckets(tmp_path: Path, engine: str, call: str) -> None:
    """Every engine reads them, and only of a bucket that a template spells out."""
    scope = host(tmp_path)._replace(buckets=KeyValueLookup(lambda: Fake({"port": b"80"})))
    (found,) = tree(tmp_path / "good", {"a": call}, engine=engine).render(scope.names)
    assert found.content == "80"
    computed = re.sub("[\"']CCM[\"']", ".Host.name" if engine == "go" else "Host.name", call)
    with pytest.raises(EvaluationError) as refused:
        list(tree(tmp_path / "bad", {"a": computed}, engine=engine).render(scope.names))
    expect_text(refused.value)


@pytest.mark.parametrize(
    ("engine", "template"),
    [
        pytest.param("go", "{{ .facts.host.info.os }}", marks=needs_gotpl),
        pytest.param("go", "{{ range .facts }}{{ end }}", marks=needs_gotpl),
        pytest.param("go", "{{ if .facts.nope }}{{ end }}", marks=needs_gotpl),
        ("jet", "[[ facts.host.info.os ]]"),
        ("jinja", "{{ facts.host.info.os }}"),
    ],
)
def test_facts_of_a_host_that_is_not_contacted(tmp_path: Path, engine: str, template: str) -> None:
    """In every engine they are not known; they are not missing."""
    scope = host(tmp_path)._replace(facts=UnknownFacts(Facts({}, {})))
    with pytest.raises(FactsUnavailableError) as refused:
        tree(tmp_path / "t", {"a": template}, engine=engine).render(scope.names)
    expect_text(refused.value)


@needs_gotpl
@pytest.mark.parametrize(
    "call",
    [
        'lookup "data.name"', '"data.name" | lookup', 'lookup (print "data." "name")',
        'lookup (printf "data.%s" "name")', 'lookup (ternary "data.name" "data.port" true)',
    ],
)  # fmt: skip
def test_go_looks_up_what_is_spelt_out(tmp_path: Path, call: str) -> None:
    """A path may be put together behind its first dot."""
    assert text(tmp_path, "go", "{{ " + call + " }}") == "web"


@needs_gotpl
@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (
            "{{ .data.port }} {{ .Data.on }} {{ .Host.name }} {{ .environ.HOME }}",
            "8080 true web1 /home/me",
        ),
        ('{{ lookup "data.name" }} {{ lookup "data.nope" "d" }}', "web d"),
        ("{{ range $i, $v := .data.list }}{{ $i }}{{ $v }}{{ end }}", "0a1b2c"),
        ("{{ with .data.map }}{{ .a }}{{ end }}{{ if eq .data.port 8080 }}!{{ end }}", "1!"),
        ('{{ .data.name | upper | quote }} {{ join "," .data.list }}', '"WEB" a,b,c'),
        ('{{ env "HOME" }} {{ expandenv "$HOME/x" }}', "/home/me /home/me/x"),
        ('{{ define "T" }}<{{ . }}>{{ end }}{{ template "T" 1 }}', "<1>"),
        ("{{- /* gone */ -}} x {{- 1 }}", "x1"),
        ('{{ get .data "nope" | default "d" }}{{ dig "nope" "e" .data }}', "de"),
        ("{{ toJson .data.map }}", '{"a":1,"b":2}'),
        ("<&> {{ `<&>` }}", "<&> <&>"),
    ],
)
def test_go_with_sprig(template: str, expected: str, tmp_path: Path) -> None:
    """Go's own language, Sprig's functions and those of ccm."""
    assert text(tmp_path, "go", template) == expected


@needs_gotpl
@pytest.mark.parametrize(
    ("template", "place", "message"),
    [
        ("{{ .data.nope }}", "t/a:1:4", "data.nope: there is no key 'nope'"),
        (
            "{{ with $x := .Facts.host }}{{ $x.nope.y }}{{ end }}",
            "t/a:1:",
            "$x.nope: there is no key 'nope'",
        ),
        ("\n {{ nofunction 1 }}", "t/a:2:5", "not defined"),
        ("{{ if }}", "t/a:1:", "missing value"),
        ("{{ uper `x` }}", "t/a:1:4", "did you mean upper"),
        ("\n{{ lookup `data.nope` }}", "t/a:2:", "no such path"),
        ("{{ .data.name.upper }}", "t/a:1:4", "not allowed"),
        ("{{ .data.list.__class__ }}", "t/a:1:4", "__class__"),
        ("{{ repeat 1000000000 `x` }}", "t/a:1:", "too large"),
        ("{{ range until 9999 }}{{ range until 9999 }}{{ end }}{{ end }}", "t/a:1:", "budget"),
        ("{{ getHostByName `x` }}", "t/a:1:4", "not defined"),
        ("{{ fail `on purpose` }}", "t/a:1:4", "on purpose"),
    ],
)
def test_go_mistakes(template: str, place: str, message: str, tmp_path: Path) -> None:
    """A mistake carries the file, line and column of the template, and what it costs is bounded."""
    told = refused if message in ("not defined", "missing value", "did you mean upper") else failure
    found = told(tmp_path, {"a": template}, engine="go")
    assert place in found
    assert message in found


@needs_gotpl
def test_go_changes_no_shared_data(tmp_path: Path) -> None:
    """A template that sets keys of the data changes its own host's copy only."""
    made = tree(
        tmp_path, {"a": '{{ $_ := set .data "name" "changed" }}{{ .data.name }}'}, engine="go"
    )
    assert [file.content for file in made.render(host().names)] == ["changed"]
    assert DATA["name"] == "web"


@needs_gotpl
@pytest.mark.parametrize(
    "template", ["{{ .Environ.DB_TOKEN }}", '{{ env "DB_TOKEN" }}', '{{ expandenv "$DB_TOKEN" }}']
)
def test_go_reads_no_secret_unheard(template: str, tmp_path: Path) -> None:
    """A secret of the environment is one in whatever way Go's language reads it."""
    environ = Environ({"DB_TOKEN": "hunter2", "API_TOKEN": "not-read"})
    made = tree(tmp_path, {"a": template}, engine="go")
    assert [file.content for file in made.render(host(environ=environ).names)] == ["hunter2"]
    assert list(environ.secrets_read) == ["hunter2"]


@needs_gotpl
def test_go_partials_get_a_context(tmp_path: Path) -> None:
    """The second argument of render is the partial's dot."""
    main = '{{ range .data.users }}{{ render "_partials/u" . }},{{ end }}'
    assert text(tmp_path, "go", main, **{"_partials/u": "{{ .name }}"}) == "Eva,Udo,"


def test_without_gotpl_go_says_how_to_install_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The optional package that is missing is named before any host, with the command for it."""
    original = builtins.__import__

    def without_gotpl(name: str, *arguments: Any, **more: Any) -> Any:
        if name.split(".")[0] == "gotpl":
            raise ImportError(name)
        return original(name, *arguments, **more)

    go._environment.cache_clear()
    monkeypatch.setattr(builtins, "__import__", without_gotpl)
    told = refused(tmp_path, {"a": "x"}, engine="go")
    expect_text(told)
    assert "pip install 'ccm-push[go]'" in told


# Jinja


@pytest.mark.parametrize(
    ("template", "expected"),
    [
        (
            "{{ data.port + 1 }} {{ Data.name }} {{ Host.name }} {{ environ.HOME }}",
            "8081 web web1 /home/me",
        ),
        (
            "{% for x in data.list %}\n{{ loop.index }}{{ x }}\n{% endfor %}\nend\n",
            "1a\n2b\n3c\nend\n",
        ),
        ("a\n  {% if data.on %}\n  on\n  {% endif %}\n", "a\n  on\n"),
        ("{% set x = 2 %}{{ x }}{# gone #}", "2"),
        ("{{ lookup('data.nope', 'd') }} {{ data.nope | default('e') }}", "d e"),
        ("{% macro m(x) %}<{{ x }}>{% endmacro %}{{ m('&') }}", "<&>"),
        ("{{ data.list | join(',') }} {{ 'a\nb' | indent(2) }}", "a,b,c a\n  b"),
        ("{% for k, v in data.map.items() | sort %}{{ k }}{{ v }}{% endfor %}", "a1b2"),
        ("{% for x in data.list if x != 'b' %}{{ x }}{{ loop.last }}{% endfor %}", "afalsectrue"),
        ("{% raw %}{{ x }}{% endraw %}", "{{ x }}"),
        (
            "{% set n = namespace(x=1) %}{% for i in [1] %}{% set n.x = 2 %}{% endfor %}{{ n.x }}",
            "2",
        ),
        ("{{ '<' | escape }}{{ '<' }}", "&lt;<"),
    ],
)
def test_jinja(template: str, expected: str, tmp_path: Path) -> None:
    """Whole Jinja2 templates: blocks, loops, macros, filters, comments."""
    assert text(tmp_path, "jinja", template) == expected


@pytest.mark.parametrize(
    ("template", "place", "message"),
    [
        ("\n{{ data.nope }}", "t/a:2:4", "there is no key 'nope'"),
        ("\n\n{% if %}", "t/a:3:7", "Expected an expression"),
        ("\n{{ data.name | nofilter }}", "t/a:2:16", "nofilter"),
        ("\n{{ unknown }}", "t/a:2:4", "'unknown' is not a name or function"),
        ("\n{% if false %}{{ item }}{% endif %}", "t/a:2:18", "'item' is not a name or function"),
        ("{{ data.name.__class__ }}", "t/a:1:4", "unsafe"),
        ("{{ 'x' * 10 ** 9 }}", "t/a:1:4", "at most"),
        (
            "{% for a in range(9999) %}{% for b in range(9999) %}{% endfor %}{% endfor %}",
            "t/a:1:30",
            "steps",
        ),
        ("{% for a in range(9999) %}{{ 'x' * 9999 }}{% endfor %}", "t/a:1:1", "16 MiB"),
        ("{% macro m() %}{{ m() }}{% endmacro %}{{ m() }}", "t/a:1:1", "nested too deeply"),
        ("\n{% include 'nope' %}", "t/a:2:4", "there is no template t/nope"),
        ("\n{% include '../x' %}", "t/a:2:4", "'../x' is not in the manifest's directory"),
        ("{% include 'b' %}", "t/b:3:4", "there is no key 'nope'"),
    ],
)
def test_jinja_mistakes(template: str, place: str, message: str, tmp_path: Path) -> None:
    """A mistake carries file, line and column of the template, and what it costs is bounded."""
    names = ("'unknown' is not a name or function", "'item' is not a name or function")
    static = message in ("Expected an expression", "nofilter", *names) or template in (
        "\n{% include 'nope' %}",
        "\n{% include '../x' %}",
    )
    told = refused if static else failure
    others = (
        {"_partials/x": "\n\n{{ data.nope }}"}
        if "'b'" not in template
        else {"b": "\n\n{{ data.nope }}"}
    )
    found = told(tmp_path, {"a": template, **others}, engine="jinja")
    assert place in found
    assert message in found


def test_jinja_templates_use_each_other(tmp_path: Path) -> None:
    """extends, include and import find the templates of the directory, partials included."""
    files = {
        "a": "{% extends '_partials/base' %}{% block body %}{% include 'b' %}{% endblock %}",
        "b": "{% from '_partials/m' import m %}{{ m(data.name) }}",
        "_partials/base": "<{% block body %}{% endblock %}>",
        "_partials/m": "{% macro m(x) %}[{{ x }}]{% endmacro %}",
    }
    assert render(tmp_path, files, "jinja") == {"a": "<[web]>", "b": "[web]"}


def test_a_jinja_partial_gets_names(tmp_path: Path) -> None:
    """A map as the second argument of render() adds names to those of every template."""
    main = "{% for u in data.users %}{{ render('_partials/u', u) }},{% endfor %}"
    partial = {"_partials/u": "{{ name }}@{{ data.name }}"}
    assert text(tmp_path, "jinja", main, **partial) == "Eva@web,Udo@web,"


def test_an_unknown_engine_is_refused(tmp_path: Path) -> None:
    """Only the three languages are there."""
    expect_text(refused(fill(tmp_path, {}), {}, engine="erb"))
