import random

import pytest

from tests.hostile import false_packages
from tests.lab import Host, Lab


@pytest.mark.long("extra", "scripts", "link")
@pytest.mark.parametrize("lie", ["content", "extra", "scripts", "link"])
def test_a_host_that_lies_about_a_package(lab: Lab, hosts: list[Host], lie: str) -> None:
    """The previews of the hosts beside it are certain of nothing that the push belies."""
    certain, found = false_packages.one_turn(lab, 0, lie, random.Random(7))
    assert found == []
    assert certain
