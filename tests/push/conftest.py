"""Fixtures of the end-to-end tests."""

from pathlib import Path

import pytest

from tests.lab import Host, Lab
from tests.push.command import Ccm
from tests.push.target import Target, on_this_machine, over_ssh


@pytest.fixture
def ccm(tmp_path: Path) -> Ccm:
    """The command line with a scratch HOME of its own."""
    return Ccm(tmp_path)


@pytest.fixture
def remote(ccm: Ccm, lab: Lab, host: Host) -> Target:
    """A lab host, as new, over SSH."""
    return over_ssh(ccm, lab, host)


@pytest.fixture
def local(ccm: Ccm, tmp_path: Path) -> Target:
    """A directory of this machine."""
    return on_this_machine(ccm, tmp_path)


@pytest.fixture(params=["ssh", "local"])
def target(request: pytest.FixtureRequest) -> Target:
    """Both ways to reach a host, one after the other."""
    chosen: Target = request.getfixturevalue("remote" if request.param == "ssh" else "local")
    return chosen
