"""The page "Add a type to ccm": its files, put into a copy of the tree, are a type."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from docs.type_pages import TO_WRITE
from tests.docs.pages import DOCS, ROOT, named_files

FILES = named_files(DOCS / "design" / "add-a-type.md")
LEFT_OUT = shutil.ignore_patterns(".*", "__pycache__", "build", "*.egg-info")
GENERATED = {"docs/README.md", "docs/reference/cli.md", "docs/reference/manifest.md"}
PAGE = "docs/reference/resources/note.md"


def run(tree: Path, *words: str) -> tuple[int, str]:
    """The exit code of a Python program of a tree, and what it prints."""
    environ = {**os.environ, "PYTHONPATH": str(tree), "PYTHONDONTWRITEBYTECODE": "1"}
    done = subprocess.run(
        [sys.executable, "-m", *words], cwd=tree, env=environ, capture_output=True, text=True
    )
    return done.returncode, done.stdout + done.stderr


def files(tree: Path) -> dict[str, bytes]:
    return {
        path.relative_to(tree).as_posix(): path.read_bytes()
        for path in tree.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The tree with the type of the page, and the page of the type."""
    top = tmp_path_factory.mktemp("copy") / "ccm"
    shutil.copytree(ROOT, top, ignore=LEFT_OUT)
    before = files(top)
    for name, text in FILES.items():
        assert name not in before
        (top / name).parent.mkdir(parents=True, exist_ok=True)
        (top / name).write_text(text, encoding="utf-8")
    code, told = run(top, "docs.generate")
    assert code == 0, told
    after = files(top)
    assert after.keys() - before.keys() == {*FILES, PAGE}
    assert {name for name in before if after[name] != before[name]} == GENERATED
    return top


def test_it_takes_no_shared_file_and_keeps_the_contract(tree: Path) -> None:
    """No file that was there is edited by hand; the type passes the suite of all types."""
    words = ("pytest", "-q", "-p", "no:cacheprovider", "tests/contract", "-k", "note")
    code, told = run(tree, *words)
    assert code == 0, told
    assert int(told.split(" passed")[0].split()[-1]) > 10, told


def test_it_keeps_to_the_rules_of_the_tree(tree: Path) -> None:
    """Its own tests pass, and the linter finds nothing to say."""
    modules = [name for name in FILES if name.endswith(".py")]
    for words in (
        ("pytest", "-q", "-p", "no:cacheprovider", "tests/remote_runtime/note"),
        ("ruff", "check", *modules),
        ("ruff", "format", "--check", *modules),
    ):
        code, told = run(tree, *words)
        assert code == 0, told


@pytest.mark.long
def test_the_architecture_has_room_for_it(tree: Path) -> None:
    """The rules of imports find nothing to say."""
    tests = [f"tests/architecture/test_{name}.py" for name in ("imports", "rooms")]
    code, told = run(tree, "pytest", "-q", "-p", "no:cacheprovider", *tests)
    assert code == 0, told


def test_the_page_is_begun_and_the_rest_is_for_a_person(tree: Path) -> None:
    """With what was left to write, the page is current and keeps to the style of all of them."""
    page = tree / PAGE
    text = page.read_text(encoding="utf-8")
    assert TO_WRITE in text
    page.write_text(text.replace(TO_WRITE, "what is written"), encoding="utf-8")
    tests = [f"tests/docs/test_{name}.py" for name in ("style", "links", "generated")]
    words = ("pytest", "-q", "-p", "no:cacheprovider", *tests, "-k", "note or current or left")
    code, told = run(tree, *words)
    assert code == 0, told
