"""The recipe for editors: the schema that a manifest names is there and knows its keys."""

import json
import re
from pathlib import Path

import jsonschema
import pytest
import yaml

from orchestrator.cli.app import main
from tests.docs.pages import DOCS, blocks

PAGE = DOCS / "reference" / "manifest.md"
FIRST_LINE = re.compile(r"# yaml-language-server: \$schema=(\S+)\n")


def test_the_schema_of_the_first_line_fits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The page's command writes the file that the manifest names, which finds a misspelling."""
    monkeypatch.chdir(tmp_path)
    for block in blocks(PAGE, "console"):
        for words, target in re.findall(r"^\$ ccm (schema.*?) > (\S+)$", block.text, re.MULTILINE):
            assert main(words.split()) == 0
            Path(target).write_text(capsys.readouterr().out, encoding="utf-8")
    found = [block.text for block in blocks(PAGE, "yaml") if FIRST_LINE.match(block.text)]
    assert found
    for text in found:
        named = FIRST_LINE.match(text)
        assert named
        schema = json.loads(Path(named[1]).read_text(encoding="utf-8"))
        check = jsonschema.Draft202012Validator(schema)
        check.validate(yaml.safe_load(text))
        assert not check.is_valid(yaml.safe_load(text.replace("owner:", "ownr:")))
