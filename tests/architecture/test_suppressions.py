"""What silences a checker says why: no reader guesses at it."""

import ast
import io
import re
import subprocess
import sys
import tokenize
from collections.abc import Iterable
from pathlib import Path
from typing import TypeGuard

from tests.architecture.source import PRODUCT, ROOT, modules, nodes, shown

# The words, codes and all; what is behind them, or a comment before them, is the reason.
_SILENCER = re.compile(
    r"#\s*(?:(?:mypy|pylint):\s*\S+|(?:type:\s*ignore|(?:(?:ruff|flake8):\s*)?noqa|pragma|nosec)"
    r"\b:?[^\s\[]*(?:\[[^\]]*\]|[ \w,]*))"
)

_BY_HAND = re.compile(r"  # fmt: skip$", re.MULTILINE)

_COMMENT = re.compile(r"(^|\s)# ")

# The lines that a layout by hand saves at least; below that the formatter's is as good.
_SAVED = 3


def unexplained(text: str) -> list[int]:
    """The lines that silence a checker without a reason on them or on the line above."""
    if not _SILENCER.search(text):  # as in most files, whose tokens take seconds together
        return []
    found, explained = [], set()
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type != tokenize.COMMENT:
            continue
        line = token.start[0]
        words = re.findall(r"\w+", _SILENCER.sub("", token.string))
        if words or line - 1 in explained:
            explained.add(line)
        elif _SILENCER.search(token.string):
            found.append(line)
    return found


def test_a_silenced_checker_has_its_reason() -> None:
    """On its line, or on the line above; of several lines in a row the first may have it."""
    assert [
        f"{shown(path)}:{line}"
        for path in modules(*PRODUCT, "docs", "tests", "benchmarks")
        for line in unexplained(path.read_text(encoding="utf-8"))
    ] == []


def test_a_reason_is_more_than_the_code() -> None:
    """What is silenced is no reason for it, and neither is a comment that is further away."""
    codes = (
        "type: ignore",
        "type: ignore[arg-type, misc]",
        "noqa",
        "noqa: E731,N802",
        "pragma: no cover",
        "ruff: noqa: F401",
        "flake8: noqa",
        "mypy: ignore-errors",
        "nosec B602",
        "pylint: disable=all",
    )
    for code in codes:
        assert unexplained(f"x = 1  # {code}\n") == [1], code
        assert unexplained(f"# why\n\nx = 1  # {code}\n") == [3], code
        for well in (
            f"x = 1  # {code} - why\n",
            f"x = 1  # {code}  # why\n",
            f"# why\nx = 1  # {code}\n",
        ):
            assert unexplained(well) == [], well


def needless_layouts(texts: dict[str, str], directory: Path) -> list[str]:
    """The places of ``# fmt: skip`` without which the formatter adds fewer lines than that."""
    places: dict[Path, tuple[str, int]] = {}
    for name, text in texts.items():
        for found in _BY_HAND.finditer(text):
            trial = directory / f"{len(places)}.py"
            trial.write_text(text[: found.start()] + text[found.end() :], encoding="utf-8")
            line = text.count("\n", 0, found.start()) + 1
            places[trial] = f"{name}:{line}", text.count("\n") + _SAVED
    settings = ["--config", str(ROOT / "pyproject.toml")]
    subprocess.run([sys.executable, "-m", "ruff", "format", "-q", *settings, directory], check=True)
    return [
        place
        for trial, (place, enough) in places.items()
        if trial.read_text(encoding="utf-8").count("\n") < enough
    ]


def test_a_layout_by_hand_saves_lines(tmp_path: Path) -> None:
    """A table or a long list keeps its own layout where the formatter's has three lines more."""
    paths = modules(*PRODUCT, "tests")
    texts = {shown(path): path.read_text(encoding="utf-8") for path in paths}
    assert needless_layouts(texts, tmp_path) == []


def test_a_layout_that_saves_nothing_is_needless(tmp_path: Path) -> None:
    """What the formatter writes in as many lines has no reason to differ."""
    words = ", ".join(f'"{number:020}"' for number in range(8))
    halves = words.replace(', "00000000000000000004"', ',\n     "00000000000000000004"')
    texts = {"few": "x = [1,\n     2]  # fmt: skip\n", "many": f"x = [{halves}]  # fmt: skip\n"}
    assert needless_layouts(texts, tmp_path) == ["few:2"]


def _takes_all(kind: ast.expr | None) -> bool:
    kinds = kind.elts if isinstance(kind, ast.Tuple) else [kind]
    return any(one is None or ast.unparse(one) in ("Exception", "BaseException") for one in kinds)


def _is_suppress(node: ast.AST) -> TypeGuard[ast.Call]:
    return isinstance(node, ast.Call) and ast.unparse(node.func).endswith("suppress")


def swallowed(parts: Iterable[ast.AST], text: str) -> list[int]:
    """The lines that take any error, do not raise it again, and do not say why."""
    found: list[tuple[int, int]] = []
    for node in parts:
        if isinstance(node, ast.ExceptHandler) and _takes_all(node.type):
            if not isinstance(node.body[-1], ast.Raise):
                found.append((node.lineno, node.body[0].lineno))
        elif _is_suppress(node) and any(map(_takes_all, node.args)):
            found.append((node.lineno, node.lineno))
    lines = ["", *text.splitlines()]
    return [
        first for first, last in found if not any(map(_COMMENT.search, lines[first - 1 : last + 1]))
    ]


def test_who_takes_any_error_says_why() -> None:
    """On its line, or on the line before or after."""
    assert [
        f"{shown(path)}:{line}"
        for path in modules(*PRODUCT, "tests")
        for line in swallowed(nodes(path), path.read_text(encoding="utf-8"))
    ] == []


def test_an_error_is_swallowed_by_what_does_not_raise_it() -> None:
    """One that is named, or raised again, needs no reason."""
    for handler, says in (
        ("except Exception:\n    x", True),
        ("except (OSError, BaseException):\n    x", True),
        ("except:\n    x", True),
        ("except Exception:  # why\n    x", False),
        ("# why\nexcept Exception:\n    x", False),
        ("except Exception:\n    x\n    raise", False),
        ("except OSError:\n    x", False),
    ):
        text = f"try:\n    y\n{handler}\n"
        assert bool(swallowed(ast.walk(ast.parse(text)), text)) == says, handler
    text = "with suppress(Exception):\n    x\n"
    assert swallowed(ast.walk(ast.parse(text)), text) == [1]
