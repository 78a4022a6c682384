"""The long form of the suite: rare and slow variants of what the short form holds as well.

``@pytest.mark.long`` puts a test into it, ``@pytest.mark.long("dask", ...)`` those variants of a
parametrized test that have one of these words as a part of their name. ``scripts/test --long`` runs
them together with all others.
"""

from __future__ import annotations

import os

import pytest

VARIABLE = "CCM_TEST_LONG"


def is_long(item: pytest.Item) -> bool:
    """Whether a test, or this variant of it, is run in the long form only."""
    marker = item.get_closest_marker("long")
    if marker is None or not marker.args:
        return marker is not None
    parts = item.name.partition("[")[2].removesuffix("]").split("-")
    return any(part in marker.args for part in parts)


def leave_out(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Deselect what is of the long form, unless that is wanted."""
    if os.environ.get(VARIABLE):
        return
    long = [item for item in items if is_long(item)]
    if long:
        config.hook.pytest_deselected(items=long)
        items[:] = [item for item in items if not is_long(item)]
