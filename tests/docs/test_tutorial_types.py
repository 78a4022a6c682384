"""The tutorial of a site's own type shows the example's files, and what they do."""

import re
from importlib.util import find_spec
from pathlib import Path

import pytest

from orchestrator.site_types.module_checks import PUBLIC_MODULES
from tests.docs.pages import DOCS, ROOT, named_files
from tests.push.command import Ccm

PAGE = DOCS / "tutorial-types.md"
EXAMPLE = ROOT / "examples" / "own-type"


def example_files() -> dict[str, str]:
    return {
        path.relative_to(EXAMPLE).as_posix(): path.read_text(encoding="utf-8")
        for path in EXAMPLE.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def test_the_code_is_that_of_the_example() -> None:
    """Every file of the example stands on the page as it is, and nothing else does."""
    assert named_files(PAGE) == example_files()


def test_what_a_type_may_import_is_listed() -> None:
    """The page names every module of the runtime that types may use, and each is there."""
    text = " ".join(PAGE.read_text(encoding="utf-8").split())
    rules = text[text.index("A module may import") : text.index("Anything else is refused")]
    named = re.findall(r"`(?:remote_runtime\.)?([a-z_.]+)`", rules)
    assert tuple(named) == PUBLIC_MODULES
    assert all(find_spec(f"remote_runtime.{name}") for name in PUBLIC_MODULES)


@pytest.fixture
def site(tmp_path: Path) -> Ccm:
    """The files of the page in a directory of their own, and a host: this machine."""
    for name, text in named_files(PAGE).items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    (tmp_path / "hosts.yaml").write_text("hosts: {web1: {connection: local}}\n")
    return Ccm(tmp_path)


def test_the_commands_print_what_the_page_says(site: Ccm) -> None:
    """Typed in after the page, ``validate`` and the preview print the lines that it shows."""
    text = PAGE.read_text(encoding="utf-8")
    shown = text[text.index("```console") :].partition("```console\n")[2].partition("```")[0]
    checked = 0
    for part in shown.split("$ ccm ")[1:]:
        command, _, wanted = part.partition("\n")
        done = site.run(*command.split())
        assert done.code == 0, done.output
        for line in wanted.splitlines():
            if line != "..." and " s)" not in line:
                checked += 1
                assert line in done.stdout.splitlines(), done.stdout
    assert checked >= 4
