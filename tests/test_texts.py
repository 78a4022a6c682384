"""Texts that tests expect stand in files, which are compared and written."""

import ast
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
MODULE = """\
import sys
sys.path.insert(0, {root!r})
import unittest
import pytest
from tests import texts
texts.ROOT = texts.Path(__file__).parent

def test_plain():
    texts.expect_text("one word: {word}")
    texts.expect_text(["two", "lines"])

@pytest.mark.parametrize("number", ["a", "b"])
def test_each(number, tmp_path):
    texts.expect_text(f"{{number}} in {{tmp_path}}/file")

class Case(unittest.TestCase):
    def test_unit(self):
        texts.expect_text(ValueError("of unittest"), self)
"""


def _run(directory: Path, word: str, write: bool = False) -> subprocess.CompletedProcess[str]:
    (directory / "pytest.ini").write_text("[pytest]\n")
    (directory / "test_it.py").write_text(MODULE.format(root=str(ROOT), word=word))
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", "pytest.ini", "test_it.py"]
    environment = {"PATH": "/usr/bin:/bin", **({"CCM_WRITE_TEXTS": "1"} if write else {})}
    return subprocess.run(
        [sys.executable, *words], cwd=directory, env=environment, capture_output=True, text=True,
        timeout=120,
    )  # fmt: skip


def test_texts_are_written_and_compared(tmp_path: Path) -> None:
    """A changed word fails the test and names the file; writing again accepts the word."""
    assert "4 failed" in _run(tmp_path, "old").stdout
    assert "4 passed" in _run(tmp_path, "old", write=True).stdout
    stored = json.loads((tmp_path / "texts.json").read_text())
    assert stored == {
        "test_it.py::Case::test_unit": ["of unittest"],
        "test_it.py::test_each[a]": ["a in TMP/file"],
        "test_it.py::test_each[b]": ["b in TMP/file"],
        "test_it.py::test_plain": ["one word: old", ["two", "lines"]],
    }
    assert "4 passed" in _run(tmp_path, "old").stdout
    refused = _run(tmp_path, "new").stdout
    assert "1 failed, 3 passed" in refused
    assert "texts.json, test_it.py::test_plain, number 0:" in refused
    assert "4 passed" in _run(tmp_path, "new", write=True).stdout
    assert "4 passed" in _run(tmp_path, "new").stdout


@pytest.mark.parametrize("file", sorted((ROOT / "tests").rglob("texts.json")), ids=str)
def test_each_stored_text_belongs_to_a_test(file: Path) -> None:
    """No text stays behind when its test goes or gets another name."""
    stale = []
    for name in json.loads(file.read_text(encoding="utf-8")):
        module, *place = name.partition("[")[0].split("::")
        source = file.parent / module
        names = (
            [
                node.name
                for node in ast.walk(ast.parse(source.read_text(encoding="utf-8")))
                if isinstance(node, (ast.FunctionDef, ast.ClassDef))
            ]
            if source.exists()
            else []
        )
        if not {*place} <= {*names}:
            stale.append(name)
    assert stale == []
