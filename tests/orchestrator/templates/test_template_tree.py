"""A directory of templates: which files come of it, whatever the language."""

import os
from pathlib import Path

import pytest

from orchestrator.expressions import FactsUnavailableError, NeedFileError
from orchestrator.templates.template_tree import below_directory
from remote_runtime.errors import CcmError
from tests.orchestrator.language.jet.fakes import host
from tests.orchestrator.templates.trees import failure, fill, needs_gotpl, refused, render, tree
from tests.texts import expect_text

ENGINES = {
    "jet": ("[[ data.name ]]", '[[ render("_partials/p", .) ]]', '[[ write("{}", "{}") ]]'),
    "go": ("{{ .data.name }}", '{{ render "_partials/p" . }}', '{{{{ write "{}" "{}" }}}}'),
    "jinja": ("{{ data.name }}", '{{ render("_partials/p") }}', '{{{{ write("{}", "{}") }}}}'),
}
engines = pytest.mark.parametrize(
    "engine", [pytest.param(name, marks=needs_gotpl if name == "go" else ()) for name in ENGINES]
)


def writing(engine: str, path: str, text: str = "x") -> str:
    return ENGINES[engine][2].format(path, text)


@engines
def test_every_file_is_rendered(engine: str, tmp_path: Path) -> None:
    """Files of all directories come out under their own paths, hidden ones included."""
    name = ENGINES[engine][0]
    files = {"a": f"a {name}\n", "sub/deep/b": name, ".hidden": name}
    assert render(tmp_path, files, engine) == {
        "a": "a web\n",
        "sub/deep/b": "web",
        ".hidden": "web",
    }


@engines
def test_partials_are_rendered_into_others_and_not_copied(engine: str, tmp_path: Path) -> None:
    """What lies below a directory called _partials, at any depth, is for render() only."""
    name, partial, _ = ENGINES[engine]
    files = {"a": f"<{partial}>", "_partials/p": name, "sub/_partials/q": "q"}
    assert render(tmp_path, files, engine) == {"a": "<web>"}


@engines
def test_write_adds_a_file(engine: str, tmp_path: Path) -> None:
    """write() leaves nothing where it is called and a file where it says."""
    found = render(tmp_path, {"a": f"<{writing(engine, 'sub/b.conf')}>"}, engine)
    assert found == {"a": "<>", "sub/b.conf": "x"}


@engines
@pytest.mark.parametrize("path", ["../out", "/etc/out", "a/../../out", "..", ".", "sub/", "a\\nb"])
def test_write_does_not_lead_out(engine: str, path: str, tmp_path: Path) -> None:
    """A path of write() that leaves the directory, or names no file, fails with its place."""
    told = failure(tmp_path, {"a": f"\n{writing(engine, path)}"}, engine=engine)
    assert "the path" in told
    assert "t/a:2" in told


@engines
def test_render_does_not_lead_out(engine: str, tmp_path: Path) -> None:
    """render() reads nothing outside of the directory."""
    fill(tmp_path, {"secret": "s"})
    partial = ENGINES[engine][1].replace("_partials/p", "../secret")
    with pytest.raises(CcmError) as refused:
        render(tmp_path / "t", {"a": partial}, engine)
    expect_text(refused.value)


@engines
def test_two_templates_cannot_give_one_file(engine: str, tmp_path: Path) -> None:
    """A file that is written twice must hold the same both times."""
    same = {"a": writing(engine, "c"), "b": writing(engine, "c")}
    assert render(tmp_path / "same", same, engine)["c"] == "x"
    differing = {"a": writing(engine, "c"), "b": writing(engine, "c", "y")}
    expect_text(failure(tmp_path / "other", differing, engine=engine))
    late = {"a": writing(engine, "c"), "c": "of the folder"}
    expect_text(failure(tmp_path / "late", late, engine=engine))


@engines
def test_a_file_is_no_directory(engine: str, tmp_path: Path) -> None:
    """A path that would be both a file and a directory is refused."""
    files = {"a": writing(engine, "sub"), "sub/b": "b"}
    expect_text(failure(tmp_path, files, engine=engine))


@engines
def test_blank_files_can_be_left_out(engine: str, tmp_path: Path) -> None:
    """skip_empty leaves out what is empty or blank, written and copied files included."""
    files = {"a": "a", "b": "", "c": " \n", "d": "\n" + writing(engine, "e", " ")}
    assert sorted(render(tmp_path / "1", files, engine)) == ["a", "b", "c", "d", "e"]
    assert sorted(render(tmp_path / "2", files, engine, skip_empty=True)) == ["a"]


@engines
def test_what_is_no_template_is_copied(engine: str, tmp_path: Path) -> None:
    """A file with a NUL byte, or with nothing to render, goes as it is, byte by byte."""
    name = ENGINES[engine][0].encode()
    binary, latin = b"\0\xff" + name, b"caf\xe9\n"
    made = tree(tmp_path, {"binary": binary, "latin": latin}, engine=engine).render(host().names)
    assert [(f.path, Path(str(f.content)).read_bytes()) for f in made] == [
        ("binary", binary),
        ("latin", latin),
    ]


@engines
def test_a_template_is_utf_8(engine: str, tmp_path: Path) -> None:
    """A template in another encoding is refused where it stops being UTF-8."""
    text = b"fine\nab\xe9 " + ENGINES[engine][0].encode()
    expect_text(refused(tmp_path, {"a": text}, engine=engine))


@engines
def test_custom_delimiters(engine: str, tmp_path: Path) -> None:
    """Other delimiters take the place of the language's own."""
    inner = "data.name" if engine != "go" else ".data.name"
    files = {"a": f"<< {inner} >> {{{{ x }}}} [[ y ]]"}
    found = render(tmp_path, files, engine, delimiters=("<<", ">>"))
    assert found == {"a": "web {{ x }} [[ y ]]"}


@engines
def test_templates_that_render_themselves_end(engine: str, tmp_path: Path) -> None:
    """Endless recursion through render() is an error, not a crash."""
    files = {"a": ENGINES[engine][1], "_partials/p": ENGINES[engine][1]}
    assert "nested" in failure(tmp_path, files, engine=engine)


@engines
def test_values_are_not_rendered_again(engine: str, tmp_path: Path) -> None:
    """What a host reported is text, whatever it holds."""
    text = {"jet": "[[ facts.evil ]]", "go": "{{ .facts.evil }}", "jinja": "{{ facts.evil }}"}
    assert render(tmp_path, {"a": text[engine]}, engine) == {"a": "{{ 1 + 1 }}"}


@engines
def test_facts_that_are_not_there_are_told_as_such(engine: str, tmp_path: Path) -> None:
    """Touching a family of facts that was not gathered refuses the host."""
    text = {"jet": "[[ facts.cpu ]]", "go": "{{ .facts.cpu }}", "jinja": "{{ facts.cpu }}"}
    with pytest.raises(FactsUnavailableError) as refused:
        render(tmp_path, {"a": text[engine]}, engine)
    expect_text(refused.value)


@engines
def test_files_of_the_target_are_refused(engine: str, tmp_path: Path) -> None:
    """file() with an absolute path asks for what a scaffold cannot wait for."""
    call = {"jet": "[[ file(`/etc/x`) ]]", "go": '{{ file "/etc/x" }}'}
    with pytest.raises(NeedFileError, match="/etc/x"):
        render(tmp_path, {"a": call.get(engine, "{{ file('/etc/x') }}")}, engine)


def test_executables_are_told(tmp_path: Path) -> None:
    """A file that may be executed here may be executed there; what is written may not."""
    fill(tmp_path, {"run": "[[ write(`w`, `w`) ]]", "plain": ""})
    (tmp_path / "run").chmod(0o700)
    made = {file.path: file.executable for file in tree(tmp_path, {}).render(host().names)}
    assert made == {"run": True, "plain": False, "w": False}


def test_empty_directories_are_kept(tmp_path: Path) -> None:
    """Directories are known apart from the files in them, except _partials."""
    made = tree(tmp_path, {"a/b/": "", "_partials/x/": "", "c": ""})
    assert made.directories == ["a", "a/b"]


@pytest.mark.parametrize("kind", ["link", "pipe"])
def test_only_files_and_directories(kind: str, tmp_path: Path) -> None:
    """A symlink or a pipe in the directory is refused, so that nothing else is read."""
    if kind == "link":
        (tmp_path / "x").symlink_to("/etc/passwd")
        assert "t/x is a symlink" in refused(tmp_path, {})
    else:
        os.mkfifo(tmp_path / "x")
        expect_text(refused(tmp_path, {}))


def test_hostile_names_are_refused(tmp_path: Path) -> None:
    """Names that a report could not show are refused with what is wrong with them."""
    fill(tmp_path, {"a\nb": "", "\x1b[2J": ""})
    (Path(os.fsdecode(os.fsencode(tmp_path) + b"/caf\xe9"))).write_text("")
    told = refused(tmp_path, {})
    assert told.count("its name contains a control character") == 2
    expect_text(told)


def test_every_mistake_is_told_at_once(tmp_path: Path) -> None:
    """All templates are checked, each mistake with the template's file, line and column."""
    files = {"a": "[[ if ]]", "sub/b": "x\n [[ nothing ]]", "c": "[[ data.name ]]"}
    told = refused(tmp_path, {**files, "_partials/d": "[[ end ]]"})
    assert [place in told for place in ("t/a:1:", "t/sub/b:2:5", "t/_partials/d:1:")] == [True] * 3


@pytest.mark.parametrize(
    ("path", "clean"), [("a", "a"), ("a//b", "a/b"), ("./a", "a"), ("a/../b", "b"), ("..a", "..a")]
)
def test_paths_are_made_plain(path: str, clean: str) -> None:
    """A path that stays below the directory is taken in its plain form."""
    assert below_directory(path) == clean
