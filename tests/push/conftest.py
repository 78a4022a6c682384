"""Fixtures of the end-to-end tests."""

from pathlib import Path

import pytest

from tests.push.command import Ccm


@pytest.fixture
def ccm(tmp_path: Path) -> Ccm:
    """The command line with a scratch HOME of its own."""
    return Ccm(tmp_path)
