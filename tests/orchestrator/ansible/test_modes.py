"""Modes that depend on the mode that is there."""

import pytest

from orchestrator.ansible.source.symbolic_modes import mode_of_new_directory, relative_mode


@pytest.mark.parametrize(
    ("mode", "expected"),
    [("u+rwX,g+rwX,o=rX", "0775"), ("go-w", "0755"), ("o-rx", "0750"), ("a-x,u+x", "0744")],
)
def test_the_mode_of_a_new_directory(mode: str, expected: str) -> None:
    """It is what the bits make of 0755."""
    assert mode_of_new_directory(mode) == expected


def test_the_tests_of_a_mode() -> None:
    """Bits that are set are asked for, and those that are not are refused."""
    assert relative_mode("u+x,o=r") == ["-perm -u+x", "-perm -o+r", "! -perm /o+wx"]
    assert relative_mode("0644") == []
    assert relative_mode("u=rw,g=r,o=") == []
