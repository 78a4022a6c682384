"""Templates that name other templates."""

from pathlib import Path

import pytest

from orchestrator.language.jet import Library, render
from orchestrator.language.manifest_directory import Directory
from remote_runtime.errors import InputError
from tests.orchestrator.language.jet.fakes import JET, host, render_files, write

HELLO = '{{block hello() "Buddy" }}Hello {{ . }}{{end}},{{yield hello() data.name}}'


def test_extends_runs_the_other_template_with_these_blocks(tmp_path: Path) -> None:
    """What stands outside of blocks is discarded, and a nearer block goes before a farther one."""
    main = '{{extends "base"}} dropped {{block hello() "Buddy" }}Hey {{ . }}{{end}} dropped'
    assert render_files(tmp_path, main_jet=main, base_jet=HELLO) == "Hey Buddy,Hey web"


def test_extends_may_go_on(tmp_path: Path) -> None:
    """The last template of a chain is the one that runs."""
    texts = {
        "main_jet": '{{ extends "mid.jet" }}{{ block body() }}B{{ end }}',
        "mid_jet": '{{ extends "base.jet" }}{{ block head() }}H{{ end }}',
        "base_jet": "{{ yield head() }}-{{ yield body() }}",
    }
    assert render_files(tmp_path, **texts) == "H-B"


def test_import_brings_blocks_and_runs_nothing(tmp_path: Path) -> None:
    """The blocks of an imported template run only when they are yielded."""
    main = '{*c*} {{import "lib"}}\n{{yield hello() "Eva"}}'
    assert render_files(tmp_path, main_jet=main, lib_jet=HELLO) == "Hello Eva"


def test_an_included_template_sees_blocks_variables_and_context(tmp_path: Path) -> None:
    """It runs as if it stood there; what it sets ends with it."""
    main = (
        '{{import "lib"}}{{ x := 1 }}{{include "sub/part.jet" "ctx"}}|{{ include "sub/part.jet" }}'
        "|{{ x }}{{ isset(y) }}"
    )
    part = '{{yield hello() "Eva"}} {{ x }} {{ y := 2 }}{{ isset(.Data) ? "env" : . }}'
    made = render_files(tmp_path, main_jet=main, lib_jet=HELLO, sub__part_jet=part)
    assert made == "Hello Eva 1 ctx|Hello Eva 1 env|1false"


def test_paths_are_relative_to_the_template_that_names_them(tmp_path: Path) -> None:
    """A slash in front means the directory, and no path leads out of it."""
    texts = {
        "main_jet": '{{ include "a/x.jet" }}',
        "a__x_jet": '{{ include "y" }}{{ include "/z.jet" }}{{ include "../../z.jet" }}',
        "a__y_jet": "y",
        "z_jet": "z",
    }
    assert render_files(tmp_path, **texts) == "yzz"


def test_include_if_exists_and_exec(tmp_path: Path) -> None:
    """A missing optional template is nothing; exec gives what the template returned."""
    main = (
        '{{ includeIfExists("no.jet") }}{{ includeIfExists("part.jet", 7) }}'
        '{{ v := exec("value.jet", "x") }}{{ v }}'
    )
    texts = {"main_jet": main, "part_jet": "<{{ . }}>", "value_jet": "lost{{ return . + `y` }}"}
    assert render_files(tmp_path, **texts) == "<7>xy"


def test_computed_paths_are_found_when_they_run(tmp_path: Path) -> None:
    """An included path may be computed, also from a host's values."""
    main = '{{ x := 1 }}{{ include data.name + ".jet" }}'
    assert render_files(tmp_path, main_jet=main, web_jet="{{ . | len }}{{ x }}") == "101"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('\n {{ include "no.jet" }}', "main.jet:2:13: there is no template 'no.jet'"),
        ('{{ import "no.jet" }}', "main.jet:1:11: there is no template 'no.jet'"),
        ('{{ extends "main.jet" }}', "extends or imports itself"),
        ('{{ include "bad.jet" }}', "bad.jet:1:4: there is no function 'uper'"),
        ('{{ include "out.jet" }}', "is outside the manifest's directory"),
    ],
)
def test_other_templates_are_checked_with_the_first(
    tmp_path: Path, text: str, message: str
) -> None:
    """Mistakes in what is named by a literal path show before anything is rendered."""
    (tmp_path / "folder").mkdir()
    (tmp_path / "secret").write_text("secret")
    (tmp_path / "folder/out.jet").symlink_to("../secret")
    write(tmp_path / "folder", main_jet=text, bad_jet='{{ uper("x") }}')
    with pytest.raises(InputError) as caught:
        Library(Directory(tmp_path / "folder"), JET).load("main.jet")
    assert message in str(caught.value)


def test_a_template_is_compiled_once(tmp_path: Path) -> None:
    """The same text at the same place is the same template for every host."""
    write(tmp_path, main_jet='{{ include "part.jet" }}', part_jet="{{ Host.name }}")
    library = Library(Directory(tmp_path), JET)
    first = library.load("main.jet")
    assert render(first, host(tmp_path).names) == "web1"
    assert library.load("main.jet") is first
    assert render(first, host(tmp_path, host={"name": "web2"}).names) == "web2"


def test_file_reads_beside_the_manifest(tmp_path: Path) -> None:
    """file() gives a text as it is: what is in it is no template."""
    write(tmp_path, motd_txt="{{ 1 }}\n")
    made = render_files(tmp_path, main_jet='{{ file("motd_txt") }}{{ readFile("motd_txt") }}')
    assert made == "{{ 1 }}\n{{ 1 }}\n"
