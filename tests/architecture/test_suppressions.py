"""What silences a checker says why: no reader guesses at it."""

import io
import re
import tokenize

from tests.architecture.source import PRODUCT, modules, shown

# The words, codes and all; what is behind them, or a comment before them, is the reason.
_SILENCER = re.compile(r"#\s*(?:type:\s*ignore|noqa|pragma)\b:?[^\s\[]*(?:\[[^\]]*\]|[ \w,]*)")


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
