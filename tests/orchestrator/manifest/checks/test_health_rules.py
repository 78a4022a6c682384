import subprocess
import sys
from typing import Any

import pytest

from orchestrator.manifest.checks.health_rules import health_problems

RULE = {"file": {"/x": {"exists": True}}}


@pytest.mark.parametrize(
    ("check", "path"),
    [
        ({"goss_rules": {"nope": {}}}, (0, "goss_rules", "nope")),
        (
            {"goss_rules": {"file": {"/x": {"exists": 1}}}},
            (0, "goss_rules", "file", "/x", "exists"),
        ),
        ({"command": "true", "format": "goss"}, (0, "format")),
        ({"goss_rules": RULE, "format": "nagios"}, (0, "format")),
    ],
)
def test_the_way_to_a_mistake(check: dict[str, Any], path: tuple[object, ...]) -> None:
    """A mistake is told with the way to it, from which its position comes."""
    assert [c.path for c in health_problems([check], templated=False)] == [path]


@pytest.mark.parametrize("check", [{"goss_rules": RULE, "format": "goss"}, {"command": "true"}, 5])
def test_nothing_to_say(check: object) -> None:
    """What is right, or what the schema refuses already, is left alone."""
    assert health_problems([check], templated=False) == []
    assert health_problems(check, templated=False) == []


def test_templates() -> None:
    """What an expression comes to is not judged before it is known, in keys and in values."""
    checks = [{"goss_rules": {"file": {"{{ x }}": {"exists": "{{ y }}", "{{ z }}": 1}}}}]
    assert health_problems(checks, templated=True) == []
    assert len(health_problems(checks, templated=False)) == 2


def test_a_manifest_without_goss_rules_loads_nothing_of_them() -> None:
    """The kinds are imported for those who use them."""
    code = (
        "import sys; from orchestrator.manifest.checks.health_rules import health_problems as h;"
        "h([{'command': 'x'}], True); print([m for m in sys.modules if 'runtime.health' in m])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
