import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

RUNTIME = Path(__file__).resolve().parents[2] / "remote_runtime"
_DESTROYS = re.compile(r"\b(remove|delete|force|purge|rm|kill|overwrite)\b")


def hints(path: Path) -> Iterator[str]:
    """Every text that a file gives as a hint, by keyword or by name."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        given: ast.expr | None = None
        if isinstance(node, ast.keyword):
            given = node.value if node.arg == "hint" else None
        elif isinstance(node, ast.Assign) and {"hint", "_WORDS"} & set(
            map(ast.unparse, node.targets)
        ):
            given = node.value
        for constant in ast.walk(given) if given else ():
            if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
                yield constant.value


# Most files have none; to parse them all where tests are collected would take each process seconds.
FILES = [
    str(path.relative_to(RUNTIME))
    for path in sorted(RUNTIME.rglob("*.py"))
    if re.search(r"\b(hint|_WORDS)\b", path.read_text("utf-8"))
]


@pytest.mark.parametrize("name", FILES)
def test_no_hint_destroys(name: str) -> None:
    """Whoever follows a hint without thinking, on /etc say, loses nothing."""
    assert [text for text in hints(RUNTIME / name) if _DESTROYS.search(text)] == []


def test_hints_are_found() -> None:
    """The rule above has something to hold."""
    for name in ("resources/file/removal.py", "system/files.py"):
        assert name in FILES
        assert list(hints(RUNTIME / name))
