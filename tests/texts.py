"""The texts that tests expect, one file for the tests of a directory: ``texts.json``.

A test states the kind of an error and the place of a problem; the words that people read stand in
this file, where one who edits them finds them together. ``CCM_WRITE_TEXTS=1`` makes the tests that
run write their texts there instead of comparing them: review the difference before you commit it.
Runs on Python 3.6, as the tests of the runtime do.
"""

import json
import os
import re
import sys
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple
from unittest import TestCase

ROOT = Path(__file__).resolve().parents[1]
WRITES = os.environ.get("CCM_WRITE_TEXTS") == "1"
# What differs from run to run: the directories that pytest and tempfile make, descriptors, and the
# place of a character behind a path.
_TEMPORARY = re.compile(
    r"/tmp/(pytest-of-[^/]+/pytest-\d+/(popen-gw\d+/)?[\w-]+?\d+|ccm-test-\w{8}|tmp\w{8})\b"
)

_texts: Dict[Path, Dict[str, List[Any]]] = {}
_last: Tuple[Optional[Path], str, int] = (None, "", 0)


def expect_text(text: object, test: Optional[TestCase] = None) -> None:
    """Compare a text, or lines of text, with the next one that is stored for the running test.

    A test of unittest names itself as ``test``. Raise an AssertionError where the texts differ.
    """
    global _last
    file, name = _test_of(test)
    number = _last[2] + 1 if _last[:2] == (file, name) else 0
    _last = (file, name, number)
    lines = [_stable(line) for line in _lines(text)]
    actual = lines[0] if len(lines) == 1 else lines
    stored = _texts.setdefault(file, _read(file))
    if WRITES:
        stored[name] = stored.get(name, [])[:number] + [actual]
        _write(file, stored)
        return
    known = stored.get(name, [])
    expected = known[number] if number < len(known) else None
    where = "%s, %s, number %d" % (file, name, number)
    assert actual == expected, "%s: found %s\nexpected %s" % (where, actual, expected)


def _lines(text: object) -> List[str]:
    if isinstance(text, list):
        return [str(line) for line in text]
    return str(text).split("\n")


def _stable(line: str) -> str:
    line = _TEMPORARY.sub("TMP", line).replace(str(ROOT), "ROOT")
    line = re.sub(r"/dev/fd/\d+", "/dev/fd/N", line)
    return re.sub(r"at character [\d,]+", "at character N", line)


def _test_of(test: Optional[TestCase]) -> Tuple[Path, str]:
    if test is None:
        path, _, name = os.environ["PYTEST_CURRENT_TEST"].rpartition(" (")[0].partition("::")
        return (ROOT / path).parent / "texts.json", Path(path).name + "::" + name
    source = Path(str(sys.modules[type(test).__module__].__file__))
    name = "::".join([source.name, *test.id().split(".")[-2:]])
    return source.resolve().parent / "texts.json", name


def _read(file: Path) -> Dict[str, List[Any]]:
    if not file.exists():
        return {}
    stored: Dict[str, List[Any]] = json.loads(file.read_text(encoding="utf-8"))
    return stored


def _write(file: Path, stored: Dict[str, List[Any]]) -> None:
    assert "PYTEST_XDIST_WORKER" not in os.environ, "write texts in one process, without -n"
    text = json.dumps(stored, ensure_ascii=False, indent=1, sort_keys=True)
    file.write_text(text + "\n", encoding="utf-8")
