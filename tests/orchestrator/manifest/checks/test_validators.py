"""The conditions of @validate."""

from typing import Any

import pytest

from orchestrator.manifest.checks.validators import VALIDATORS


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("isIP", ["10.0.0.1", "::1"], ["10.0.0.256", "x", 5]),
        ("isIPv4", ["10.0.0.1"], ["::1", "010.0.0.1"]),
        ("isIPv6", ["fe80::1"], ["10.0.0.1"]),
        ("isInt", [1, "-5"], [True, 1.5, "1.0", "5\n", "٣"]),
        ("isFloat", [1, 1.5, "1e3"], [True, "x", "1_0", " 1"]),
        ("isDuration", ["1h30m", "500ms"], ["5", "1y", 5]),
        ("isRegex", ["a+", ""], ["(", 5]),
        ("isShellSafe", ["abc-1.2/x y", ""], ["a;b", "$(x)", "a'b", "a\nb"]),
        ("isHostname", ["web1", "a.b.c"], ["-a", "a_b", "a..b", "a b", "x" * 64]),
        ("isFQDN", ["a.example.org"], ["web1", "10.0.0.1", "a.-b.c"]),
    ],
)
def test_a_condition_knows_good_from_bad(name: str, good: list[Any], bad: list[Any]) -> None:
    """Each condition accepts what it names and nothing else."""
    check = VALIDATORS[name]
    assert [value for value in good if not check(value)] == []
    assert [value for value in bad if check(value)] == []


def test_a_list_is_held_entry_by_entry() -> None:
    """Of a list every entry must satisfy the condition."""
    check = VALIDATORS["isIP"]
    assert [check(v) for v in ([], ["10.0.0.1", "::1"], ["10.0.0.1", "x"])] == [True, True, False]


def test_a_text_may_be_held_against_a_pattern() -> None:
    """isRegex with a pattern asks whether it matches; each entry of a list."""
    check = VALIDATORS["isRegex"]
    assert [check(v, "^v[0-9]+$") for v in ("v1", "1", 5, ["v1", "v22"], ["v1", "x"])] == [
        True, False, False, True, False,
    ]  # fmt: skip


def test_every_condition_has_two_spellings() -> None:
    """The snake_case spellings stand for the same conditions."""
    camel = [name for name in VALIDATORS if name.startswith("is") and "_" not in name]
    assert len(VALIDATORS) == 2 * len(camel) == 20
    assert VALIDATORS["is_shell_safe"] is VALIDATORS["isShellSafe"]
