"""Fixtures for tests on lab hosts. tests/conftest.py imports them; none boots before it is asked.

`CCM_LAB=off` skips all such tests, `CCM_LAB=required` fails them where no lab can be run.
"""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest

from .host import Host
from .lab import Lab
from .machine import available


def require_lab() -> None:
    """Skip the test that asks, or fail it with CCM_LAB=required, where no lab can be run."""
    wish = os.environ.get("CCM_LAB", "")
    reason = "switched off with CCM_LAB=off" if wish == "off" else available()
    if reason and wish == "required":
        pytest.fail(f"CCM_LAB=required, but: {reason}")
    if reason:
        pytest.skip(reason)


@pytest.fixture(scope="session")
def needs_lab() -> None:
    """For tests that make a Lab of their own: skips them where none can be run."""
    require_lab()


@pytest.fixture(scope="session")
def lab() -> Iterator[Lab]:
    """Three hosts for the whole session: web1, web2, web3. Earlier tests may have changed them."""
    require_lab()
    with Lab(count=3) as opened:
        yield opened


@pytest.fixture
def host(lab: Lab) -> Host:
    """The session's web1, as new."""
    lab.hosts["web1"].reset()
    return lab.hosts["web1"]


@pytest.fixture
def hosts(lab: Lab) -> list[Host]:
    """The session's three hosts, as new."""
    lab.reset()
    return list(lab.hosts.values())
