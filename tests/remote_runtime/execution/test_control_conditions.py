import unittest
from typing import Any, Dict, List, Tuple

from remote_runtime.effects import PathEffect, UnknownEffect, everything
from remote_runtime.uncertainty import ASSUMED, Uncertainty
from tests.remote_runtime.fakes import DirectoryTest, Script, ScriptRegistry, item, run_items


def asks(**conditions: Any) -> Tuple[Dict[str, Any], ...]:
    """What a plan says of such a control."""
    return tuple({key: value} for key, value in conditions.items())


class ControlTest(DirectoryTest):
    def run_names(self, *items: Any, **options: Any) -> Dict[str, Any]:
        self.scripts = {one.name: Script() for entry in items for one in (entry, *entry.children)}
        self.scripts.update(options.pop("scripts", {}))
        events = run_items(list(items), ScriptRegistry(**self.scripts), **options)
        return {event["name"]: event for event in events}

    def statuses(self, events: Dict[str, Any]) -> List[str]:
        return [event["status"] for event in events.values()]

    def test_paths(self) -> None:
        """exists and absent are looked up at the turn; one that does not hold skips."""
        there, gone = self.write("there"), self.path("gone")
        for conditions, status in (
            (asks(exists=there), "changed"),
            (asks(exists=gone), "skipped"),
            (asks(absent=gone), "changed"),
            (asks(absent=there), "skipped"),
            (asks(exists=there, absent=there), "skipped"),
        ):
            events = self.run_names(item("t", "a", control=conditions))
            self.assertEqual(events["a"]["status"], status, conditions)

    def test_commands(self) -> None:
        """One that exits 0, or with an accepted code, lets the resource be managed."""
        for command, status in (
            ("true", "changed"),
            ("false", "skipped"),
            ({"command": "false", "returns": [1]}, "changed"),
            ({"command": "test -d .", "cwd": self.root}, "changed"),
        ):
            events = self.run_names(item("t", "a", control=asks(command=command)))
            self.assertEqual(events["a"]["status"], status, command)

    def test_a_command_that_cannot_start_fails(self) -> None:
        """As a guard of exec does; nothing of the resource is done."""
        events = self.run_names(
            item("t", "a", control=asks(command="no-such-program")),
            item("t", "b", require=("t#a",)),
        )
        self.assertIn("control.command", events["a"]["error"][0])
        self.assertEqual(self.statuses(events), ["failed", "skipped"])
        self.assertEqual(self.scripts["a"].acted, 0)

    def test_one_that_is_left_out_stands_in_nobodys_way(self) -> None:
        """Who requires it goes on, whatever it requires itself."""
        gone = asks(exists=self.path("gone"))
        broken = item("t", "broken", control=asks(command="no-such-program"))
        events = self.run_names(
            broken,
            item("t", "a", control=gone, require=("t#broken",)),
            item("t", "b", require=("t#a",)),
        )
        self.assertEqual(self.statuses(events), ["failed", "skipped", "changed"])
        self.assertEqual(events["a"]["unmet_requirements"], [])

    def test_an_unmet_requirement_behind_conditions_that_hold(self) -> None:
        """It is told as such, also where the conditions cannot be asked."""
        fails = Script(act=OSError())
        for command in ("true", "no-such-program"):
            events = self.run_names(
                item("t", "x"),
                item("t", "a", control=asks(command=command), require=("t#x",)),
                scripts={"x": fails},
            )
            self.assertEqual(events["a"]["unmet_requirements"], ["t#x"])

    def test_a_child(self) -> None:
        """What a child manifest is made of has no events where its control leaves it out."""
        child = item("t", "inside")
        events = self.run_names(
            item("t", "a", applies="x.yaml", children=(child,), control=asks(command="false")),
            item("t", "b", require=("t#inside",)),
        )
        self.assertEqual(
            {name: e["status"] for name, e in events.items()}, {"a": "skipped", "b": "changed"}
        )

    def test_a_preview_asks_the_host_as_it_will_be(self) -> None:
        """A path that an earlier resource makes is there at the turn."""
        path = self.path("made")
        makes = Script(effects=[PathEffect(path, "something")])
        events = self.run_names(
            item("t", "x"),
            item("t", "a", control=asks(exists=path)),
            item("t", "b", control=asks(absent=path)),
            noop=True,
            scripts={"x": makes},
        )
        self.assertEqual(self.statuses(events), ["changed", "changed", "skipped"])
        self.assertEqual(events["a"]["prediction"], "certain")

    def test_a_preview_says_how_sure_it_is(self) -> None:
        """In the fog of a command the answer is assumed, for skipped resources and children too."""
        why = UnknownEffect(Uncertainty(ASSUMED, "t#x may change this"), everything)
        path = self.path("nothing")
        inside = item("t", "inside")
        events = self.run_names(
            item("t", "x"),
            item("t", "a", control=asks(absent=path)),
            item("t", "b", control=asks(exists=path)),
            item("t", "c", applies="x.yaml", children=(inside,), control=asks(absent=path)),
            noop=True,
            scripts={"x": Script(effects=[why])},
        )
        self.assertEqual(
            {name: events[name].get("prediction") for name in ("a", "b", "inside", "c")},
            {"a": "assumed", "b": "assumed", "inside": "assumed", "c": "assumed"},
        )
        self.assertEqual(events["b"]["status"], "skipped")
        self.assertIn("control: ", events["a"]["prediction_reason"])

    def test_a_sensitive_resource_tells_nothing_of_its_conditions(self) -> None:
        """What a failing condition says is masked."""
        events = self.run_names(
            item("t", "a", sensitive=True, control=asks(command="no-such-hunter22"))
        )
        self.assertNotIn("hunter22", str(events["a"]["error"]))


if __name__ == "__main__":
    unittest.main()
