"""The record of one resource in a plan."""

import schemas
from remote_runtime.plan_item import Item


def test_the_schema_of_a_plan_lists_what_an_item_carries() -> None:
    """``ccm schema plan`` names every field of an item but those that its place gives it."""
    listed = set(schemas.load("plan")["$defs"]["item"]["properties"])
    assert listed == set(Item._fields) - {"index", "manifest", "stage"}
