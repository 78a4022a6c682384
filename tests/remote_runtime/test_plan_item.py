"""The record of an item, as the controller writes it and the target reads it."""

import json
import unittest
from itertools import count
from typing import Any, Dict, List

from remote_runtime.errors import ProtocolError
from remote_runtime.plan_item import Item

FULL = Item(
    index=3,
    type="file",
    name="/etc/motd",
    properties={"mode": "0644"},
    alias="motd",
    provider="posix",
    require=("package#nginx",),
    subscribe=("file#/etc/x", "exec#y"),
    managed=False,
    left_out="tags",
    needed=True,
    sensitive=True,
    secrets=("content",),
    redact_hash=True,
    deferred_error="content: no such path",
    deferred_render=True,
    own=True,
    control=({"exists": "/srv/app"},),
    asked=({"name": "conf", "kind": "file", "of": "/etc/x"},),
    health_checks=({"command": "true"},),
    noop=True,
    monitor_only=True,
    applies="web/site.yaml",
    fail_on_error=True,
)


def read(entry: Any, first: int = 0) -> Item:
    return Item.read(json.loads(json.dumps(entry)), count(first))


class TestItem(unittest.TestCase):
    def test_is_read_as_it_was_written(self) -> None:
        """Every field but those of its place crosses the wire, whatever its value."""
        self.assertEqual(read(FULL.entry(), first=3), FULL)
        left_out = {"index", "manifest", "children", "stage"}
        self.assertEqual(set(FULL.entry()), set(Item._fields) - left_out)

    def test_leaves_defaults_out(self) -> None:
        """Of a plain item the record says type and name only."""
        plain = Item(0, "exec", "x", {})
        self.assertEqual(plain.entry(), {"type": "exec", "name": "x"})
        self.assertEqual(read(plain.entry()), plain)

    def test_what_holds_for_an_apply_holds_for_its_children(self) -> None:
        """They are numbered after it, stand in its manifest and are as weak as it is."""
        child: Dict[str, Any] = {"type": "exec", "name": "x"}
        item = read(
            {"type": "apply", "name": "a", "applies": "b", "noop": True, "children": [child]}
        )
        (found,) = item.children
        self.assertEqual((found.index, found.manifest), (1, "b"))
        self.assertEqual((found.noop, found.monitor_only), (True, False))

    def test_refuses_a_broken_record(self) -> None:
        """What is not of its kind is named, in a child as well."""
        plain: Dict[str, Any] = {"type": "exec", "name": "x"}
        cases: List[Any] = [
            ("resources", 1),
            ("name", {"type": "exec"}),
            ("managed", dict(plain, managed="no")),
            ("require", dict(plain, require="a#b")),
            ("children", dict(plain, children={})),
            ("alias", dict(plain, children=[dict(plain, alias=1)])),
        ]
        for key, entry in cases:
            with self.subTest(key=key), self.assertRaisesRegex(ProtocolError, key + " must be"):
                read(entry)


if __name__ == "__main__":
    unittest.main()
